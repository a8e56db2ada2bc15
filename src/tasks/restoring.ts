import { TributaryError } from '../base/errors';
import type { Care, RecordedSnapshot } from '../git/care';
import type { MergeIns } from '../git/mergeIn';
import type { RestoredFiles } from '../git/restoredTree';
import { baseOf, countedAt, type MovedBase } from '../model/movedBase';
import type { Task } from '../model/task';
import type { Endings } from './endings';
import { expectState } from './endings';
import type { RestoredTo, RestorePoint, TaskSnapshot } from './housekeepingApi';
import type { TaskRecords } from './taskRecords';
import { type TaskWithWorktree, type WorktreeKeeper, withWorktree } from './worktreeKeeper';

type Target = Pick<RecordedSnapshot, 'number' | 'tree' | 'headCommit'>;

export interface RestoringDeps {
  readonly records: TaskRecords;
  readonly mergeIns: Pick<MergeIns, 'moveHead'>;
  readonly care: Care;
  readonly keeper: WorktreeKeeper;
  readonly endings: Endings;
}

/** Goes back to any recorded state of an open Task's Worktree; what stood there is recorded first. */
export class Restoring {
  private readonly deps: RestoringDeps;

  constructor(deps: RestoringDeps) {
    this.deps = deps;
  }

  /** Oldest first, as the refs of the Task tell them. */
  async list(task: Task): Promise<readonly TaskSnapshot[]> {
    return (await this.deps.care.snapshots(task.id)).map(({ number, commit, tree, committedAt, at }) => ({
      ...{ number, commit, tree, at: committedAt },
      ...(at ?? {}),
      isNewest: task.snapshot?.commit === commit,
    }));
  }

  /** Throws `unknownId` for a state that is not recorded, `wrongState` while a Run lives. */
  async restoreTo(task: Task, point: RestorePoint): Promise<RestoredTo> {
    expectState(task, ['open'], 'restore');
    return this.deps.endings.underLock(task, undefined, async (current) => {
      expectState(current, ['open'], 'restore');
      const { keeper, endings } = this.deps;
      const standing = withWorktree(current);
      const target = this.targetOf(current, await this.deps.care.snapshots(task.id), point);
      // What a dead process left half made stands in the way of the whole one.
      await keeper.settle(standing);
      if (!(await keeper.stands(standing))) {
        await keeper.bringBack(standing, undefined);
        await keeper.release(standing);
      }
      const before = await endings.fresh(current);
      const { task: after, files } = await this.put(before, target);
      const { aside: paths, ...put } = files;
      const aside =
        paths.length === 0 || after.aside === undefined ? {} : { aside: { folder: after.aside, paths } };
      return { task: after, to: target.number, before: numberOf(before), ...put, ...aside };
    });
  }

  /** Files and what they count from; at no moment does an older state count from a newer checkout. */
  private async put(task: TaskWithWorktree, target: Target): Promise<{ task: Task; files: RestoredFiles }> {
    const { endings, keeper, mergeIns } = this.deps;
    const { worktreePath, branch } = task;
    const recorded = task.snapshot?.tree ?? baseOf(task);
    const putFiles = () => keeper.putFiles(task, { tree: target.tree, recorded });
    const counted = target.number === 0 ? task : countedAt(task, target.number);
    if (counted.movedBases.at(-1)?.commit === task.movedBases.at(-1)?.commit) {
      const files = await putFiles();
      return { task: await endings.fresh(task), files };
    }
    const isFirst = isBehind(counted.movedBases, task.movedBases);
    if (isFirst) await this.count(task, counted);
    const files = await putFiles();
    const saved = isFirst ? await this.deps.records.load(task.id) : await this.count(task, counted);
    // Commits of the checkout that were merged in are not the agent's: the branch goes along.
    await mergeIns.moveHead({ worktreePath, branch, commit: target.headCommit, tree: target.tree });
    const runId = task.runs.at(-1)?.id;
    if (runId === undefined) return { task: saved, files };
    const standing = { ...saved, worktreePath, branch };
    return { task: await keeper.snapshot(standing, { runId, turn: 0, always: true }), files };
  }

  private count(task: Task, counted: ReturnType<typeof countedAt>): Promise<Task> {
    const { movedBases, unresolved } = counted;
    const change = (now: Task): Task => ({
      ...now,
      movedBases,
      unresolved,
      leftBases: [
        ...(now.leftBases ?? []),
        { snapshots: now.snapshotCount, movedBases: now.movedBases, unresolved: now.unresolved },
      ],
    });
    return this.deps.records.change(task.id, change, { type: 'task.changed', state: task.state });
  }

  private targetOf(task: Task, recorded: readonly RecordedSnapshot[], point: RestorePoint): Target {
    const base = { number: 0, tree: baseOf(task), headCommit: baseOf(task) };
    if ('snapshot' in point) {
      const found = point.snapshot === 0 ? base : recorded.find((one) => one.number === point.snapshot);
      if (found !== undefined) return found;
      throw noSuch(`task ${task.slug} has no snapshot ${point.snapshot}`, String(point.snapshot));
    }
    const run = task.runs.findIndex((one) => one.id === point.run);
    if (run === -1) throw noSuch(`task ${task.slug} has no run ${point.run}`, point.run);
    const turns = recorded.flatMap(({ at }) => (at?.runId === point.run ? [at.turn] : []));
    const last = Math.max(task.runs[run]?.usage.requests ?? 0, ...turns);
    if (point.turn > last)
      throw noSuch(`run ${point.run} has no turn ${point.turn}; its last is ${last}`, point.run);
    const isBefore = ({ at }: RecordedSnapshot): boolean => {
      if (at === undefined) return false;
      if (at.runId === point.run) return at.turn > 0 && at.turn <= point.turn;
      const other = task.runs.findIndex((one) => one.id === at.runId);
      return other !== -1 && other < run;
    };
    return recorded.filter(isBefore).at(-1) ?? base;
  }
}

function numberOf(task: Task): number {
  return Number(/\/(\d+)$/.exec(task.snapshot?.ref ?? '')?.[1] ?? 0);
}

/** Whether the Task's change would count from an earlier state of the checkout than it does. */
function isBehind(to: readonly MovedBase[], from: readonly MovedBase[]): boolean {
  return (to.at(-1)?.at ?? '') < (from.at(-1)?.at ?? '');
}

function noSuch(message: string, text: string): TributaryError {
  return new TributaryError('unknownId', message, { details: { text } });
}
