import { toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { ScratchCheckouts } from '../git/scratchCheckouts';
import type { Worktrees } from '../git/worktrees';
import type { RunId } from '../model/ids';
import type { Task } from '../model/task';
import type { HeldLock, Store } from '../store/store';
import type { WorktreeSetup } from './worktreeSetup';

export interface ScratchesDeps {
  readonly store: Pick<Store, 'locks' | 'owners'>;
  readonly worktrees: Pick<Worktrees, 'chooseRoot'>;
  readonly scratchCheckouts: ScratchCheckouts;
  readonly setup: WorktreeSetup;
  readonly rootSetting: () => string | undefined;
  readonly newId: () => string;
  readonly logger: Logger;
  /** Ends what dead processes, named by their boot ids, left running. */
  readonly endLeftovers: (bootIds: ReadonlySet<string>) => Promise<void>;
}

/** What a scratch checkout is for. */
export interface ScratchUse {
  readonly task: Task;
  /** Marks the commands that run there. */
  readonly runId: RunId;
  readonly tree: string;
  readonly signal?: AbortSignal | undefined;
}

/** Checkouts of a tree for the host's own commands: made, set up, used once, removed; swept after a crash. */
export class Scratches {
  private readonly deps: ScratchesDeps;

  constructor(deps: ScratchesDeps) {
    this.deps = deps;
  }

  /** Throws `setup` when a set-up command fails, and what `Worktrees.create` throws. */
  async use<T>({ task, runId, tree, signal }: ScratchUse, body: (root: string) => Promise<T>): Promise<T> {
    const { store, worktrees, scratchCheckouts, setup } = this.deps;
    // So that a sweep finds what we leave running when we are killed.
    await store.owners.self();
    const { root } = await worktrees.chooseRoot(this.deps.rootSetting());
    const name = this.deps.newId();
    const path = scratchCheckouts.pathIn(root, name);
    const lock = await store.locks.acquire(lockName(path));
    try {
      const lockReason = `tributary scratch ${task.id}`;
      await scratchCheckouts.create({ path, tree, lockReason, ...(signal === undefined ? {} : { signal }) });
      const place = { task: { ...task, worktreePath: path }, runId };
      try {
        await setup.prepareScratch(place, signal);
        return await body(path);
      } finally {
        await setup.tearDownScratch(place);
        await this.remove(path);
      }
    } finally {
      await lock.release();
    }
  }

  /** Those that killed processes left. */
  async left(): Promise<readonly string[]> {
    const { root } = await this.deps.worktrees.chooseRoot(this.deps.rootSetting());
    const left: string[] = [];
    for (const path of await this.deps.scratchCheckouts.leftIn(root)) {
      const lock = await this.lockOfDead(path);
      if (lock === undefined) continue;
      await lock.release();
      left.push(path);
    }
    return left;
  }

  /** Removes what killed processes left, and ends what they left running there. */
  async sweep(): Promise<void> {
    try {
      await this.sweepAll();
    } catch (error) {
      // Whoever looks at the board is not to be kept from it.
      this.deps.logger.warn('scratch checkouts could not be swept', { error });
    }
  }

  private async sweepAll(): Promise<void> {
    const { worktrees, scratchCheckouts, store, endLeftovers } = this.deps;
    const { root } = await worktrees.chooseRoot(this.deps.rootSetting());
    for (const path of await scratchCheckouts.leftIn(root)) {
      const lock = await this.lockOfDead(path);
      if (lock === undefined) continue;
      try {
        await endLeftovers(new Set(await store.owners.dead()));
        await this.remove(path);
      } finally {
        await lock.release();
      }
    }
  }

  /** One that cannot be removed now is looked at again by the next sweep. */
  private async remove(path: string): Promise<void> {
    try {
      await this.deps.scratchCheckouts.remove(path);
    } catch (error) {
      this.deps.logger.warn('a scratch checkout could not be removed', { path, error });
    }
  }

  /** `undefined`: a living process uses it. */
  private async lockOfDead(path: string): Promise<HeldLock | undefined> {
    try {
      return await this.deps.store.locks.acquire(lockName(path), { waitMs: 0 });
    } catch (error) {
      if (toTributaryError(error).code === 'lockTimeout') return undefined;
      throw error;
    }
  }
}

function lockName(path: string): string {
  return `scratch-${path.slice(path.lastIndexOf('/') + 1)}`;
}
