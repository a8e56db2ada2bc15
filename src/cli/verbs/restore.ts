import { plainLine } from '../../model/plainText';
import type { TargetCommand } from '../arguments';
import { taskData } from '../records';
import { taskOf, type VerbRunner } from '../verbContext';

export const restore: VerbRunner<TargetCommand> = async ({ target }, context) => {
  const { id } = await taskOf(target, context);
  context.interruption.begin('files');
  const task = await context.tasks.restore(id);
  const place = task.worktreePath === undefined ? '' : ` in ${plainLine(task.worktreePath)}`;
  return {
    exitCode: 0,
    data: { task: taskData(task) },
    text: `Restored ${plainLine(task.slug)}${place}\n`,
  };
};
