import { plainLine } from '../../model/plainText';
import type { TargetCommand } from '../arguments';
import { sentence } from '../messages';
import { taskData } from '../records';
import { keptRows } from '../texts';
import { taskOf, type VerbRunner } from '../verbContext';

export const discard: VerbRunner<TargetCommand> = async ({ target }, context) => {
  const { id } = await taskOf(target, context);
  context.interruption.begin('files');
  const task = await context.tasks.discard(id);
  const slug = plainLine(task.slug);
  const kept = keptRows(task)
    .map((row) => `${sentence(row)}\n`)
    .join('');
  return {
    exitCode: 0,
    data: { task: taskData(task) },
    text: `Discarded ${slug}; a snapshot is kept.\n${kept}Bring it back with: tributary restore ${slug}\n`,
  };
};
