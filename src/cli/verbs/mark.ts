import type { MarkTargets } from '../../model/marks';
import { plainLine } from '../../model/plainText';
import type { MarkCommand } from '../arguments';
import { taskData } from '../records';
import { resolveSelection } from '../selection';
import { taskOf, type VerbRunner } from '../verbContext';

export const mark: VerbRunner<MarkCommand> = async ({ target, selection, mark: as }, context) => {
  const { tasks } = context;
  const { id } = await taskOf(target, context);
  const targets: MarkTargets =
    selection === undefined ? {} : resolveSelection(await tasks.hunks(id), selection);
  const task = await tasks.mark(id, targets, as);
  const { paths = [], hunks = [] } = targets;
  const named = [...paths.map(plainLine), ...hunks];
  const what = named.length === 0 ? 'the whole change' : named.join(', ');
  const said = as === undefined ? `Unmarked: ${what}` : `Marked as ${words[as]}: ${what}`;
  return { exitCode: 0, data: { task: taskData(task), marks: task.marks }, text: `${said}\n` };
};

const words = { accept: 'to accept', reject: 'rejected', reviewed: 'reviewed' } as const;
