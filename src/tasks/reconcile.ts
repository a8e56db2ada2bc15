import { messageOf, toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { Store, StoreProblem } from '../store/store';
import type { Endings } from './endings';
import { isLive, transition } from './runMachine';
import { type TaskRecords, withRun } from './taskRecords';
import type { WorktreeKeeper } from './worktreeKeeper';

export interface ReconcileDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly keeper: WorktreeKeeper;
  readonly endings: Endings;
  /** Runs of this process are never dead. */
  readonly isOurs: (run: Run) => boolean;
  readonly logger: Logger;
}

/**
 * Brings the board to what is true after a crash: Runs of dead owners are `interrupted`, half-done endings are
 * finished, Worktrees of dead Runs are unlocked. Deletes nothing.
 */
export async function reconcile(
  deps: ReconcileDeps,
  tasks: readonly Task[],
): Promise<{ tasks: readonly Task[]; problems: readonly StoreProblem[] }> {
  const problems: StoreProblem[] = [];
  const settled: Task[] = [];
  for (const task of tasks) {
    const dead = await deadRuns(deps, task);
    try {
      settled.push(await settle(deps, task, dead, problems));
    } catch (error) {
      // One Task that cannot be settled must not hide the others, nor be shown as what it is not.
      deps.logger.error('reconcile failed', { taskId: task.id, error });
      const path = deps.store.directory;
      problems.push({
        path,
        code: 'corruptFile',
        message: `task ${task.id} could not be brought up to date: ${messageOf(error)}`,
      });
      settled.push(
        dead.reduce(
          (shown, run) => withRun(shown, run.id, (one) => interrupted(one, deps.records.now())),
          task,
        ),
      );
    }
  }
  return { tasks: settled, problems };
}

const goneMessage = 'the process that ran it is gone';

/** Runs that say they live and whose owner does not. */
async function deadRuns(deps: ReconcileDeps, task: Task): Promise<readonly Run[]> {
  const dead: Run[] = [];
  for (const run of task.runs) {
    if (isLive(run) && !deps.isOurs(run) && !(await deps.store.owners.isAlive(run.owner))) dead.push(run);
  }
  return dead;
}

async function settle(
  deps: ReconcileDeps,
  task: Task,
  dead: readonly Run[],
  problems: StoreProblem[],
): Promise<Task> {
  let current = task;
  for (const run of dead) current = await interrupt(deps, current, run);
  if (current.pending === undefined) return current;
  return finishEnding(deps, current, problems);
}

function interrupted(run: Run, at: string): Run {
  const end = { reason: 'crash', message: goneMessage, at };
  return isLive(run) ? transition(run, { kind: 'interrupt', end }) : run;
}

async function interrupt(deps: ReconcileDeps, task: Task, run: Run): Promise<Task> {
  const at = deps.records.now();
  const saved = await deps.records.changeRun(task.id, run.id, (current) => interrupted(current, at), {
    type: 'run.ended',
    runId: run.id,
    state: 'interrupted',
    reason: 'crash',
    message: goneMessage,
    usage: run.usage,
  });
  await noteInTranscript(deps, run, saved);
  if (saved.branch !== undefined && saved.worktreePath !== undefined) {
    const standing = { ...saved, branch: saved.branch, worktreePath: saved.worktreePath };
    if (await deps.keeper.isRegistered(standing)) await deps.keeper.release(standing);
    else if ((await deps.keeper.recordOf(standing)) !== undefined)
      await deps.keeper.record(standing, 'missing');
  }
  return saved;
}

/** The transcript says how it ended too; one that was never begun has nothing to say. */
async function noteInTranscript(deps: ReconcileDeps, run: Run, task: Task): Promise<void> {
  try {
    const writer = await deps.store.transcripts.reopen(task.id, run.id);
    await writer.append({ type: 'state', state: 'interrupted', reason: 'crash' });
    await writer.close();
  } catch (error) {
    if (toTributaryError(error).code !== 'unknownId') throw error;
  }
}

async function finishEnding(deps: ReconcileDeps, task: Task, problems: StoreProblem[]): Promise<Task> {
  const strange = await finished(deps, task);
  if (strange.length > 0) {
    problems.push({
      path: deps.store.directory,
      code: 'corruptFile',
      message: `accepting ${task.slug} was cut off, and these files changed since: ${strange.join(', ')}. Put them right, then run any command again.`,
    });
  }
  return deps.store.tasks.load(task.id);
}

/** Another process that is in the middle of the ending holds the lock: it will finish by itself. */
async function finished(deps: ReconcileDeps, task: Task): Promise<readonly string[]> {
  try {
    return await deps.endings.finish(task);
  } catch (error) {
    if (toTributaryError(error).code === 'lockTimeout') return [];
    throw error;
  }
}
