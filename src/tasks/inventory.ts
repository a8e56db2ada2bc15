import type { Care, Registration, Standing } from '../git/care';
import type { ContentDrivers } from '../git/contentDrivers';
import type { Repository } from '../git/repository';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import type { Worktree } from '../model/worktree';
import type { Store } from '../store/store';
import type { StrangerReport, WorktreeReport, WorktreesReport } from './housekeepingApi';
import { isLive } from './runMachine';
import { type WorktreeKeeper, withWorktree } from './worktreeKeeper';

export interface InventoryDeps {
  readonly store: Store;
  readonly care: Care;
  readonly keeper: WorktreeKeeper;
  readonly repository: Repository;
  readonly drivers: ContentDrivers;
}

/** Every Worktree of ours, from the board, from git and from what lies under our folders. */
export class Inventory {
  private readonly deps: InventoryDeps;

  constructor(deps: InventoryDeps) {
    this.deps = deps;
  }

  async of(tasks: readonly Task[], signal?: AbortSignal): Promise<WorktreesReport> {
    const { store, care } = this.deps;
    const records = await store.worktrees.list();
    const registrations = await care.registrations();
    const worktrees: WorktreeReport[] = [];
    for (const task of tasks) {
      const record = records.find((one) => one.taskId === task.id);
      const report = await this.ofTask(task, record, registrations, signal);
      if (report !== undefined) worktrees.push(report);
    }
    const known = new Set(worktrees.map((one) => one.path));
    for (const one of registrations.filter(({ path }) => !known.has(path))) {
      const { branch, path } = one;
      worktrees.push({
        state: 'unknown',
        stands: standsAs(one.standing),
        branch,
        path,
        ...(await this.size(path, signal)),
      });
    }
    return { worktrees, strangers: await this.strangers(tasks, worktrees, signal) };
  }

  private async ofTask(
    task: Task,
    record: Worktree | undefined,
    registrations: readonly Registration[],
    signal?: AbortSignal,
  ): Promise<WorktreeReport | undefined> {
    if (task.branch === undefined || task.worktreePath === undefined) return undefined;
    const { care, store } = this.deps;
    const { worktreePath: path, branch } = task;
    const standing = await care.standingAt(path);
    const isRegistered = registrations.some((one) => one.path === path);
    const isOver = record === undefined || record.state === 'removed' || record.state === 'failed';
    if (isOver && standing.kind === 'gone' && !isRegistered) return undefined;
    const heldBy = await store.care.holderOf(`worktree-${branch}`);
    const isChanged = standing.kind === 'whole' ? await this.isChanged(task) : undefined;
    return {
      ...{ taskId: task.id, slug: task.slug, taskState: task.state, branch, path },
      state: record?.state ?? 'unknown',
      stands: standsAs(standing),
      base: baseOf(task),
      lastUsedAt: lastUseOf(task, record),
      ...(await this.size(path, signal)),
      ...(isChanged === undefined ? {} : { isChanged }),
      ...(record?.openedAt === undefined ? {} : { openedAt: record.openedAt }),
      ...(heldBy === undefined ? {} : { heldBy }),
    };
  }

  /** Whether the Worktree differs from its base; `undefined` where git cannot tell, or while it is being written. */
  private async isChanged(task: Task): Promise<boolean | undefined> {
    const { keeper, repository, drivers } = this.deps;
    try {
      const tree = await drivers.during(task.drivers, () => keeper.treeOf(withWorktree(task)));
      return tree !== (await repository.treeOf(baseOf(task)));
    } catch {
      // A list of what there is must not fail for the one that is broken; `doctor` says what is wrong with it.
      return undefined;
    }
  }

  private async strangers(
    tasks: readonly Task[],
    worktrees: readonly WorktreeReport[],
    signal?: AbortSignal,
  ): Promise<StrangerReport[]> {
    const { care, keeper } = this.deps;
    const ours = new Set([...tasks.map((task) => task.worktreePath), ...worktrees.map((one) => one.path)]);
    const found: StrangerReport[] = [];
    for (const { places } of await care.rootContents(await keeper.root())) {
      for (const path of places.filter((one) => !ours.has(one)))
        found.push({ path, ...(await this.size(path, signal)) });
    }
    return found;
  }

  private async size(path: string, signal?: AbortSignal): Promise<Pick<WorktreeReport, 'size'>> {
    const { kind } = await this.deps.care.standingAt(path);
    return kind === 'gone' || kind === 'other' ? {} : { size: await this.deps.care.size(path, signal) };
  }
}

/** When anything last happened to a Task's Worktree. */
export function lastUseOf(task: Task, record: Worktree | undefined): string {
  const times = [task.changedAt, record?.changedAt, record?.openedAt].filter((at) => at !== undefined);
  return times.sort().at(-1) ?? task.changedAt;
}

/** Whether a Run of the Task lives, or anything else is under way with it. */
export function isAtWork(task: Task): boolean {
  return task.pending !== undefined || task.runs.some(isLive);
}

function standsAs(standing: Standing): WorktreeReport['stands'] {
  return standing.kind === 'other' ? standing.is : standing.kind;
}
