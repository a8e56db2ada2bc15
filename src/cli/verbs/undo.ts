import { plainLine } from '../../model/plainText';
import type { UndoOutcome } from '../../tasks/taskApi';
import type { TargetCommand } from '../arguments';
import { describe } from '../messages';
import { taskData } from '../records';
import type { Outcome } from '../report';
import { taskOf, type VerbRunner } from '../verbContext';

export const undo: VerbRunner<TargetCommand> = async ({ target }, context) => {
  const { id } = await taskOf(target, context);
  context.interruption.begin('files');
  const outcome = await context.tasks.undo(id);
  if (outcome.kind === 'movedOn') return movedOn(outcome);
  const { kind, task, paths } = outcome;
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

/** What was committed since, or another branch, is never written over. */
function movedOn({ task, commit, ref, why }: Extract<UndoOutcome, { kind: 'movedOn' }>): Outcome {
  const branch = ref === undefined ? 'HEAD' : plainLine(ref.replace(/^refs\/heads\//, ''));
  const words = {
    onTop: [
      `commits came on top of ${commit}`,
      `Take it back with a commit of its own: git revert ${commit}`,
    ],
    elsewhere: [
      `${commit} is on ${branch}, which is not checked out`,
      `Switch to ${branch}, then undo again.`,
    ],
    gone: [`${branch} does not hold ${commit} any more`, 'There is nothing left to take back.'],
  } as const;
  const [detail, hint] = words[why];
  return {
    exitCode: 3,
    data: { outcome: 'movedOn', task: taskData(task), commit, ref, why },
    error: { ...describe('stale', detail, task.slug), hint },
  };
}
