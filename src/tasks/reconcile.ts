import { messageOf, toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { ContentDrivers } from '../git/contentDrivers';
import { type CutOff, cutOffText } from '../model/cutOff';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import { afterWaiting, noWaits } from '../model/transcript';
import { addUsage, noUsage } from '../model/usage';
import type { Worktree } from '../model/worktree';
import type { HeldLock, Store, StoreProblem } from '../store/store';
import type { Endings } from './endings';
import { isLive, transition } from './runMachine';
import { type TaskRecords, withRun } from './taskRecords';
import type { WorktreeKeeper } from './worktreeKeeper';

export interface ReconcileDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly keeper: WorktreeKeeper;
  readonly endings: Endings;
  readonly drivers: ContentDrivers;
  /** Runs of this process are never dead. */
  readonly isOurs: (run: Run) => boolean;
  /** Ends what dead processes, named by their boot ids, left running. */
  readonly endLeftovers: (bootIds: ReadonlySet<string>) => Promise<void>;
  readonly logger: Logger;
}

/**
 * Brings the board to what is true after a crash: what a dead process left running is ended, its Runs are
 * `interrupted`, its Worktrees made whole or, half-made, taken back, its half-done endings finished.
 */
export async function reconcile(
  deps: ReconcileDeps,
  tasks: readonly Task[],
): Promise<{ tasks: readonly Task[]; problems: readonly StoreProblem[] }> {
  const problems: StoreProblem[] = [];
  const settled: Task[] = [];
  const worktrees = new Map((await deps.store.worktrees.list()).map((one) => [one.taskId, one]));
  for (const task of tasks) {
    const dead = await deadRuns(deps, task);
    try {
      const found = { dead, worktree: worktrees.get(task.id) };
      settled.push(await deps.drivers.during(task.drivers, () => settle(deps, task, found, problems)));
    } catch (error) {
      // One Task that cannot be settled must not hide the others, nor be shown as what it is not.
      deps.logger.error('reconcile failed', { taskId: task.id, error });
      const path = deps.store.directory;
      problems.push({
        path,
        code: 'unsettled',
        taskId: task.id,
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
  found: { readonly dead: readonly Run[]; readonly worktree: Worktree | undefined },
  problems: StoreProblem[],
): Promise<Task> {
  const isCut = found.dead.length > 0 || isAbandoned(task, found.worktree);
  const current = isCut ? await settleCut(deps, task) : task;
  if (current.pending === undefined) return current;
  return finishEnding(deps, current, problems);
}

/** Nobody says that they are at it, and yet it is not at rest; whether somebody is, its lock tells. */
export function isAbandoned(task: Task, worktree: Worktree | undefined): boolean {
  if (task.pending !== undefined || task.runs.some(isLive)) return false;
  if (worktree?.state === 'removing') return true;
  // Before its first Run a Task is being begun.
  return task.runs.length > 0 && (worktree?.state === 'busy' || worktree?.state === 'creating');
}

/** How long another process that settles the same Task is waited for. */
const settlingMs = 5_000;

/** Under the writer lock: what it finds at work there belongs to nobody alive. */
async function settleCut(deps: ReconcileDeps, task: Task): Promise<Task> {
  const lock = await lockUnlessHeld(deps, task);
  try {
    const current = await deps.records.load(task.id);
    const dead = await deadRuns(deps, current);
    try {
      if (lock !== undefined) await settleWorktree(deps, current, dead);
    } finally {
      for (const run of dead) await interrupt(deps, current, run);
    }
    return await deps.records.load(task.id);
  } finally {
    await lock?.release();
  }
}

/** `undefined`: a living process has it, so the Worktree is that one's business. */
async function lockUnlessHeld(deps: ReconcileDeps, task: Task): Promise<HeldLock | undefined> {
  try {
    return await deps.keeper.lockFor(task, undefined, task.runs.some(isLive) ? settlingMs : 0);
  } catch (error) {
    if (toTributaryError(error).code === 'lockTimeout') return undefined;
    throw error;
  }
}

async function settleWorktree(deps: ReconcileDeps, task: Task, dead: readonly Run[]): Promise<void> {
  const owners = [...(await deps.store.owners.dead()), ...dead.map((run) => run.owner.bootId)];
  await deps.endLeftovers(new Set(owners));
  if (task.branch === undefined || task.worktreePath === undefined) return;
  await deps.keeper.settle({ ...task, branch: task.branch, worktreePath: task.worktreePath });
}

function interrupted(run: Run, at: string): Run {
  const end = { reason: 'crash', message: goneMessage, at };
  return isLive(run) ? transition(run, { kind: 'interrupt', end }) : run;
}

async function interrupt(deps: ReconcileDeps, task: Task, run: Run): Promise<void> {
  const at = deps.records.now();
  const told = await toldBy(deps, task, run);
  let isFirst = false;
  const saved = await deps.records.changeRun(task.id, run.id, (current) => {
    // Somebody else may have come to the same end meanwhile, and has told of it.
    isFirst = isLive(current);
    return isFirst ? { ...interrupted(current, at), ...told } : current;
  });
  if (!isFirst) return;
  await noteInTranscript(deps, run, saved);
  await deps.records.report(saved, {
    type: 'run.ended',
    runId: run.id,
    state: 'interrupted',
    reason: 'crash',
    message: goneMessage,
    usage: told.usage,
  });
}

/** The dead process could not say; its transcript can. */
async function toldBy(deps: ReconcileDeps, task: Task, run: Run): Promise<Pick<Run, 'usage' | 'waitedMs'>> {
  try {
    const { entries } = await deps.store.transcripts.read(task.id, run.id);
    const parts = entries.flatMap((entry) => (entry.type === 'usage' ? [entry.usage] : []));
    const { waitedMs } = entries.reduce(afterWaiting, noWaits);
    return { usage: parts.reduce(addUsage, noUsage), ...(waitedMs === 0 ? {} : { waitedMs }) };
  } catch (error) {
    deps.logger.debug('what a dead run had spent is not known', { runId: run.id, error });
    return { usage: run.usage };
  }
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
  const cutOff = await finished(deps, task);
  if (cutOff !== undefined)
    problems.push({
      path: deps.store.directory,
      code: 'cutOff',
      message: cutOffText(task.slug, cutOff),
      taskId: task.id,
    });
  return deps.store.tasks.load(task.id);
}

/** Another process that is in the middle of the ending holds the lock: it will finish by itself. */
async function finished(deps: ReconcileDeps, task: Task): Promise<CutOff | undefined> {
  try {
    return await deps.endings.finish(task);
  } catch (error) {
    if (toTributaryError(error).code === 'lockTimeout') return undefined;
    throw error;
  }
}
