import { plainLine } from '../../model/plainText';
import type { TargetCommand } from '../arguments';
import { describe } from '../messages';
import { taskData } from '../records';
import { taskOf, type VerbRunner } from '../verbContext';

export const undo: VerbRunner<TargetCommand> = async ({ target }, context) => {
  const { id } = await taskOf(target, context);
  context.interruption.begin('files');
  const { kind, task, paths } = await context.tasks.undo(id);
  const data = { outcome: kind, task: taskData(task), paths };
  if (kind === 'stale') {
    const edited = `edited since they were accepted: ${paths.map(plainLine).join(', ')}`;
    const error = describe('stale', edited, task.slug);
    const hint = 'Put your later edits aside (commit or copy them), then undo again.';
    return { exitCode: 3, data, error: { ...error, hint } };
  }
  const slug = plainLine(task.slug);
  const place =
    task.worktreePath === undefined ? '' : ` Its worktree is back: ${plainLine(task.worktreePath)}`;
  const count = `${paths.length} ${paths.length === 1 ? 'path is' : 'paths are'} as before.`;
  return { exitCode: 0, data, text: `Undone ${slug}: ${count}${place}\n` };
};
