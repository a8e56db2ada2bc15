import { plainLine } from '../../model/plainText';
import type { Task } from '../../model/task';
import type { UndoOutcome, UndoPlan } from '../../tasks/taskApi';
import type { UndoCommand } from '../arguments';
import { describe } from '../messages';
import { taskData } from '../records';
import type { Outcome } from '../report';
import { conflictText } from '../texts';
import { taskOf, type VerbRunner } from '../verbContext';

export const undo: VerbRunner<UndoCommand> = async ({ target, isMerge, isDryRun }, context) => {
  const { id, state } = await taskOf(target, context);
  if (isDryRun) return planned(await context.tasks.previewUndo(id), isMerge);
  context.interruption.begin('files');
  const outcome = await context.tasks.undo(id, { merge: isMerge });
  switch (outcome.kind) {
    case 'movedOn':
      return movedOn(outcome);
    case 'stale':
      return edited(outcome.task, outcome.paths);
    case 'conflict':
      return conflicting(outcome.task, outcome.conflicts);
    case 'undone':
      return undone(outcome, state);
  }
};

function undone(
  { task, paths, merge }: Extract<UndoOutcome, { kind: 'undone' }>,
  stateBefore: Task['state'],
): Outcome {
  const slug = plainLine(task.slug);
  // That of an open Task was there all the time.
  const place =
    task.worktreePath === undefined || stateBefore === 'open'
      ? ''
      : ` Its worktree is back: ${plainLine(task.worktreePath)}`;
  const merged = merge?.paths ?? [];
  const before = paths.length - merged.length;
  const count =
    paths.length === 0
      ? 'you had taken it back already, nothing was written.'
      : `${before} ${before === 1 ? 'path is' : 'paths are'} as before.`;
  const kept =
    merge === undefined || merged.length === 0
      ? ''
      : `Merged with your edits: ${merged.map(plainLine).join(', ')}\nAs they were before the merge: ${plainLine(merge.kept)}\n`;
  return {
    exitCode: 0,
    data: { outcome: 'undone', task: taskData(task), paths, ...(merge === undefined ? {} : { merge }) },
    text: `Undone ${slug}: ${count}${place}\n${kept}`,
  };
}

/** What was committed since, or another branch, is never written over. */
function movedOn({
  task,
  commit,
  ref,
  why,
  revert,
}: Omit<Extract<UndoOutcome, { kind: 'movedOn' }>, 'kind'>): Outcome {
  const branch = ref === undefined ? 'HEAD' : plainLine(ref.replace(/^refs\/heads\//, ''));
  const words = {
    onTop: [
      `commits came on top of ${commit}`,
      `Take it back with a commit of its own: git revert ${revert.join(' ')}\nThen undo again, which opens the Task.`,
    ],
    elsewhere: [
      `${commit} is on ${branch}, which is not checked out`,
      `Switch to ${branch}, then undo again.`,
    ],
    gone: [
      `${branch} does not hold ${commit} any more, and its files are not as before it`,
      'What is left of it is yours to change; once its files are as before, undo opens the Task.',
    ],
  } as const;
  const [detail, hint] = words[why];
  return {
    exitCode: 3,
    data: { outcome: 'movedOn', task: taskData(task), commit, ref, why, revert },
    error: { ...describe('stale', detail, task.slug), hint },
  };
}

function planned({ task, paths, merged, conflicts, left }: UndoPlan, isMerge: boolean): Outcome {
  if (left === 'takenBack') {
    const text = 'You have taken it back already: undo would write nothing, and open the Task. (--dry-run)\n';
    return { exitCode: 0, data: { outcome: 'preview', task: taskData(task), paths: [], merged: [] }, text };
  }
  if (left !== undefined) return movedOn({ ...left, task });
  const stale = [...merged, ...conflicts.map((conflict) => conflict.path)];
  if (!isMerge && stale.length > 0) return edited(task, stale);
  if (conflicts.length > 0) return conflicting(task, conflicts);
  const rows = paths.map(
    (path) => `  ${plainLine(path)}${merged.includes(path) ? ' (merged with your edits)' : ''}`,
  );
  return {
    exitCode: 0,
    data: { outcome: 'preview', task: taskData(task), paths, merged },
    text: `Undo would write:\n${rows.join('\n')}\nNothing was written (--dry-run).\n`,
  };
}

function edited(task: Task, paths: readonly string[]): Outcome {
  const error = describe(
    'stale',
    `edited since they were accepted: ${paths.map(plainLine).join(', ')}`,
    task.slug,
  );
  const hint = `Put your later edits aside (commit or copy them), then undo again; or keep them: tributary undo ${plainLine(task.slug)} --merge`;
  return { exitCode: 3, data: { outcome: 'stale', task: taskData(task), paths }, error: { ...error, hint } };
}

function conflicting(task: Task, conflicts: UndoPlan['conflicts']): Outcome {
  const error = describe('conflict', conflicts.map(conflictText).join('\n'), task.slug);
  const hint = 'Put your edits of these files aside (commit or copy them), then undo again.';
  const data = { outcome: 'conflict', task: taskData(task), conflicts };
  return { exitCode: 3, data, error: { ...error, hint } };
}
