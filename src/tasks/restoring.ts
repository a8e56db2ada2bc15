import { TributaryError } from '../base/errors';
import type { Care, RecordedSnapshot } from '../git/care';
import type { Snapshots } from '../git/snapshots';
import { baseOf, movedBasesAt } from '../model/movedBase';
import type { Task } from '../model/task';
import type { Endings } from './endings';
import { expectState } from './endings';
import type { RestoredTo, RestorePoint, TaskSnapshot } from './housekeepingApi';
import { type WorktreeKeeper, withWorktree } from './worktreeKeeper';

export interface RestoringDeps {
  readonly care: Care;
  readonly snapshots: Snapshots;
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
      const { keeper, snapshots, endings } = this.deps;
      const standing = withWorktree(current);
      const target = this.targetOf(current, await this.deps.care.snapshots(task.id), point);
      refuseBeforeMerge(current, target.number);
      if (!(await keeper.stands(standing))) {
        await keeper.bringBack(standing, undefined);
        await keeper.release(standing);
      }
      const before = await endings.fresh(current);
      const { restored, removed } = await snapshots.restoreFiles(standing.worktreePath, target.tree);
      const after = await endings.fresh(before);
      return { task: after, to: target.number, before: numberOf(before), restored, removed };
    });
  }

  private targetOf(
    task: Task,
    recorded: readonly RecordedSnapshot[],
    point: RestorePoint,
  ): { readonly number: number; readonly tree: string } {
    const base = { number: 0, tree: baseOf(task) };
    if ('snapshot' in point) {
      const found = point.snapshot === 0 ? base : recorded.find((one) => one.number === point.snapshot);
      if (found !== undefined) return found;
      throw noSuch(`task ${task.slug} has no snapshot ${point.snapshot}`, String(point.snapshot));
    }
    const run = task.runs.findIndex((one) => one.id === point.run);
    if (run === -1) throw noSuch(`task ${task.slug} has no run ${point.run}`, point.run);
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

/** The change counts from the checkout as it was merged in: what was before that merge has another base. */
function refuseBeforeMerge(task: Task, number: number): void {
  if (number === 0 || movedBasesAt(task, number).length === task.movedBases.length) return;
  throw new TributaryError(
    'wrongState',
    `snapshot ${number} of ${task.slug} is from before your checkout was merged into its worktree`,
    { details: { taskId: task.id, verb: 'restore' } },
  );
}

function noSuch(message: string, text: string): TributaryError {
  return new TributaryError('unknownId', message, { details: { text } });
}
