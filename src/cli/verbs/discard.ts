import { plainLine } from '../../model/plainText';
import type { TargetCommand } from '../arguments';
import { taskData } from '../records';
import { keptText } from '../texts';
import { taskOf, type VerbRunner } from '../verbContext';

export const discard: VerbRunner<TargetCommand> = async ({ target }, context) => {
  const { id } = await taskOf(target, context);
  context.interruption.begin('files');
  const task = await context.tasks.discard(id);
  const slug = plainLine(task.slug);
  return {
    exitCode: 0,
    data: { task: taskData(task) },
    text: `Discarded ${slug}; a snapshot is kept.\n${keptText(task)}Bring it back with: tributary restore ${slug}\n`,
  };
};
