import { throwIfCancelled } from '../base/async';
import { toTributaryError } from '../base/errors';
import type { Care, OwnRef } from '../git/care';
import type { ContentDrivers } from '../git/contentDrivers';
import type { Repository } from '../git/repository';
import type { LandingId } from '../model/ids';
import { baseOf } from '../model/movedBase';
import type { Settings } from '../model/settings';
import type { Task } from '../model/task';
import type { Worktree } from '../model/worktree';
import type { Store } from '../store/store';
import type { Endings } from './endings';
import type { SweepOptions, SweptItem } from './housekeepingApi';
import { isAtWork, lastUseOf } from './inventory';
import type { TaskRecords } from './taskRecords';
import { type WorktreeKeeper, withWorktree } from './worktreeKeeper';

/** How long nobody was at an unchanged Worktree before it goes. */
const idleMs = 15 * 60 * 1_000;
const dayMs = 24 * 60 * 60 * 1_000;

export interface SweepDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly care: Care;
  readonly keeper: WorktreeKeeper;
  readonly endings: Endings;
  readonly repository: Repository;
  readonly drivers: ContentDrivers;
  readonly settings: () => Settings;
  readonly now: () => Date;
}

/** What is kept of an ended Task, to bring it back. */
interface Kept {
  readonly refs: readonly OwnRef[];
  readonly landings: readonly LandingId[];
  readonly hasAside: boolean;
}

/** Takes away what nobody needs; each thing is looked at again under the Task's lock, at the moment it goes. */
export class Sweep {
  private readonly deps: SweepDeps;

  constructor(deps: SweepDeps) {
    this.deps = deps;
  }

  async run(tasks: readonly Task[], options: SweepOptions = {}): Promise<readonly SweptItem[]> {
    const items: SweptItem[] = [];
    for (const task of tasks) {
      throwIfCancelled(options.signal);
      const isWanted = (kind: SweptItem['kind']): boolean =>
        options.only?.some((one) => one.taskId === task.id && one.kind === kind) ?? true;
      const idle = isWanted('worktree') ? await this.idleWorktree(task, options) : undefined;
      if (idle !== undefined) items.push(idle);
      const expired = isWanted('kept') ? await this.expired(task, options) : undefined;
      if (expired !== undefined) items.push(expired);
    }
    return items;
  }

  private async idleWorktree(task: Task, options: SweepOptions): Promise<SweptItem | undefined> {
    const { care, endings } = this.deps;
    const why = await this.whyNeedless(task);
    if (why === undefined || task.worktreePath === undefined) return undefined;
    const size = await care.size(task.worktreePath, options.signal);
    const item = {
      kind: 'worktree',
      taskId: task.id,
      slug: task.slug,
      path: task.worktreePath,
      size,
      why,
    } as const;
    if (options.isDryRun === true) return { ...item, outcome: 'wouldRemove' };
    return this.attempt(item, () =>
      endings.underLock(task, 0, async (current) => {
        if ((await this.whyNeedless(current)) === undefined) return false;
        const ready = await endings.fresh(current);
        // Something came while it was looked at: then it is not unchanged any more.
        if (current.state === 'open' && !(await this.isUnchanged(ready))) return false;
        await this.deps.keeper.remove(ready);
        return true;
      }),
    );
  }

  /** Why the Task's Worktree may go; `undefined`: it stays. Asked at the moment of removal, never remembered. */
  private async whyNeedless(task: Task): Promise<string | undefined> {
    const { keeper } = this.deps;
    if (task.branch === undefined || isAtWork(task)) return undefined;
    const record = await keeper.recordOf(task);
    if (record?.openedAt !== undefined || !this.isIdle(task, record)) return undefined;
    if (!(await keeper.stands(withWorktree(task)))) return undefined;
    if (task.state !== 'open') return `its Task is ${task.state}`;
    return (await this.isUnchanged(task))
      ? 'nothing is changed in it and nobody was at it for 15 minutes'
      : undefined;
  }

  private isIdle(task: Task, record: Worktree | undefined): boolean {
    return this.deps.now().getTime() - Date.parse(lastUseOf(task, record)) >= idleMs;
  }

  private async isUnchanged(task: Task): Promise<boolean> {
    const { keeper, repository, drivers } = this.deps;
    const tree = await drivers.during(task.drivers, () => keeper.treeOf(withWorktree(task)));
    return tree === (await repository.treeOf(baseOf(task)));
  }

  private async expired(task: Task, options: SweepOptions): Promise<SweptItem | undefined> {
    const kept = this.isOver(task, options) ? await this.keptOf(task) : undefined;
    if (kept === undefined) return undefined;
    const { care, store, endings } = this.deps;
    const size = kept.hasAside ? await care.size(store.asideDirectory(task.id), options.signal) : undefined;
    const parts = [
      ...(kept.refs.length === 0 ? [] : [`${kept.refs.length} ${kept.refs.length === 1 ? 'ref' : 'refs'}`]),
      ...(kept.hasAside ? ['files set aside'] : []),
      ...(kept.landings.length === 0 ? [] : ['what would undo it']),
    ];
    const why = `its Task is ${task.state} since ${endOf(task).slice(0, 10)}: ${parts.join(', ')}`;
    const item = { kind: 'kept', taskId: task.id, slug: task.slug, ...(size && { size }), why } as const;
    if (options.isDryRun === true) return { ...item, outcome: 'wouldRemove' };
    return this.attempt(item, () =>
      endings.underLock(task, 0, async (current) => {
        const now = this.isOver(current, options) ? await this.keptOf(current) : undefined;
        if (now !== undefined) await this.expire(current, now);
        return now !== undefined;
      }),
    );
  }

  /** Ended, and longer ago than things are kept; never sooner than the setting says. */
  private isOver(task: Task, { olderThanDays = 0 }: SweepOptions): boolean {
    if (task.state === 'open' || isAtWork(task)) return false;
    const days = Math.max(olderThanDays, this.deps.settings().worktrees.retentionDays);
    return this.deps.now().getTime() - Date.parse(endOf(task)) >= days * dayMs;
  }

  private async keptOf(task: Task): Promise<Kept | undefined> {
    const { care, store, keeper } = this.deps;
    // A Worktree that stands is swept first; until then its Snapshots may be all there is.
    if (task.branch !== undefined && (await keeper.stands(withWorktree(task)))) return undefined;
    const own = await care.refs(`refs/tributary/${task.id}/`);
    const refs = [...own, ...(await care.leftRefs(task.slug))];
    const landings = (await store.journal.list()).filter((one) => one.taskId === task.id).map(({ id }) => id);
    const hasAside = !(await care.isFree(store.asideDirectory(task.id)));
    return refs.length > 0 || landings.length > 0 || hasAside ? { refs, landings, hasAside } : undefined;
  }

  private async expire(task: Task, { refs, landings, hasAside }: Kept): Promise<void> {
    const { records, care, store } = this.deps;
    // Said first: half of it gone is not what a restore should build on.
    await records.change(task.id, ({ aside: _aside, ...rest }) => ({
      ...rest,
      expiredAt: rest.expiredAt ?? records.now(),
    }));
    for (const id of landings) await store.journal.drop(id);
    if (hasAside) await store.care.dropAside(task.id);
    await care.deleteRefs(refs);
  }

  /** What another process is at work on, or changed meanwhile, is left without a word. */
  private async attempt(
    item: Omit<SweptItem, 'outcome'>,
    body: () => Promise<boolean>,
  ): Promise<SweptItem | undefined> {
    try {
      return (await body()) ? { ...item, outcome: 'removed' } : undefined;
    } catch (error) {
      const { code, message } = toTributaryError(error);
      return code === 'lockTimeout' ? undefined : { ...item, outcome: 'failed', message };
    }
  }
}

/** When a Task ended, or, where nobody wrote that down, when it was last changed. */
function endOf(task: Task): string {
  return task.endedAt ?? task.changedAt;
}
