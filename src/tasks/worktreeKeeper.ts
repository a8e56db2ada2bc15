import { TributaryError, toTributaryError, wasRefused } from '../base/errors';
import type { MergeIns } from '../git/mergeIn';
import type { Repository } from '../git/repository';
import type { RestoredFiles } from '../git/restoredTree';
import type { Snapshots, TakenSnapshot } from '../git/snapshots';
import type { Worktrees } from '../git/worktrees';
import type { RunId } from '../model/ids';
import { baseOf } from '../model/movedBase';
import type { Snapshot } from '../model/snapshot';
import type { Task } from '../model/task';
import type { Worktree, WorktreeState } from '../model/worktree';
import type { HeldLock, Store } from '../store/store';
import type { NewBoardEvent, TaskRecords } from './taskRecords';
import type { WorktreeSetup } from './worktreeSetup';

export interface WorktreeKeeperDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly repository: Repository;
  readonly worktrees: Worktrees;
  readonly snapshots: Snapshots;
  readonly mergeIns: Pick<MergeIns, 'moveHead'>;
  readonly setup: WorktreeSetup;
  /** `tributary.worktrees.root`. */
  readonly rootSetting: () => string | undefined;
}

/** A Task whose Worktree stands: both names are set. */
export type TaskWithWorktree = Task & { readonly branch: string; readonly worktreePath: string };

/** A Task whose Worktree is registered, on its branch and locked. */
export interface BegunTask {
  readonly task: TaskWithWorktree;
  /** The tree of what stands there, or will, where it is known without a look. */
  readonly tree?: string;
  /** Resolves when its files are there; rejects when the Worktree has been taken back instead. */
  readonly files: Promise<void>;
}

/** The life of Tasks' Worktrees: makes, records, snapshots, removes and brings them back. */
export class WorktreeKeeper {
  private readonly deps: WorktreeKeeperDeps;

  constructor(deps: WorktreeKeeperDeps) {
    this.deps = deps;
  }

  /** One writer per Worktree, and no two Tasks on a branch: held by a Run and by every ending. */
  async lockFor(task: Task, signal?: AbortSignal, waitMs = 2_000): Promise<HeldLock> {
    const name = `worktree-${task.branch ?? task.id}`;
    return this.deps.store.locks.acquire(name, { waitMs, ...(signal ? { signal } : {}) });
  }

  /** The same, for whoever cannot do without: throws `wrongState`, naming the process that is at work there. */
  async writerLock(task: Task, signal?: AbortSignal): Promise<HeldLock> {
    try {
      return await this.lockFor(task, signal);
    } catch (error) {
      const failure = toTributaryError(error);
      if (failure.code !== 'lockTimeout') throw failure;
      const { pid, host } = failure.details;
      const who = pid === undefined ? 'another process' : `process ${String(pid)} on ${String(host)}`;
      throw new TributaryError(
        'wrongState',
        `${who} is at work on task ${task.slug}; wait for it, or stop it`,
        {
          cause: error,
          details: { taskId: task.id },
        },
      );
    }
  }

  /** Chooses a free name and records it as `creating`, so that no other process takes it. */
  async reserve(slug: string, task: Task): Promise<TaskWithWorktree & { readonly slug: string }> {
    const { store, worktrees, records } = this.deps;
    const { root } = await worktrees.chooseRoot(this.deps.rootSetting());
    return store.locks.withLock('names', async () => {
      const taken = new Set((await store.worktrees.list()).map((known) => known.branch));
      const chosen = await worktrees.chooseName(root, slug || task.id, (candidate) =>
        [...taken].some(
          (branch) => branch.endsWith(`/${candidate}`) || branch.endsWith(`/tributary-${candidate}`),
        ),
      );
      const named = { branch: chosen.branch, worktreePath: chosen.path, slug: chosen.slug };
      const saved = await records.change(task.id, (current) => ({ ...current, ...named }));
      await this.record({ ...saved, ...named }, 'creating');
      return { ...saved, ...named };
    });
  }

  /**
   * The Task's Worktree, made or brought back when it is not there. Throws what `Worktrees` throws; nothing is
   * left behind then.
   */
  async ensure(task: Task, runId: RunId, signal: AbortSignal): Promise<TaskWithWorktree> {
    const begun = await this.begin(task, runId, signal);
    await begun.files;
    return begun.task;
  }

  /** As `ensure`, but the files of a new Worktree may still be on their way. */
  async begin(task: Task, runId: RunId, signal: AbortSignal): Promise<BegunTask> {
    const named = await this.named(task);
    if (await this.stands(named)) return this.setUp(await this.busy(named, runId), runId, signal);
    // One that stood before has its branch still; its folder may have been deleted by hand.
    const stood = ['ready', 'busy', 'missing'].includes((await this.recordOf(named))?.state ?? '');
    // What was set aside of an unchanged one comes back with it.
    if (stood || named.snapshot !== undefined || named.aside !== undefined)
      return this.setUp(await this.bringBack(named, runId, signal), runId, signal);
    return this.beginNew(named, runId, signal);
  }

  /** A Worktree with work in it stays, also when what it needs before its tools work fails. */
  private setUp(task: TaskWithWorktree, runId: RunId, signal: AbortSignal): BegunTask {
    const { setup } = this.deps;
    if (!setup.isDue(task)) return { task, files: Promise.resolve() };
    const files = setup.runCommands({ task, runId }, signal).catch(async (error: unknown) => {
      await this.release(task);
      throw error;
    });
    files.catch(() => undefined);
    return { task, files };
  }

  private async named(task: Task): Promise<TaskWithWorktree> {
    const { branch, worktreePath } = task;
    if (branch === undefined || worktreePath === undefined) return this.reserve(task.slug, task);
    return { ...task, branch, worktreePath };
  }

  private async beginNew(task: TaskWithWorktree, runId: RunId, signal: AbortSignal): Promise<BegunTask> {
    await this.makingBegins(task);
    const request = {
      path: task.worktreePath,
      branch: task.branch,
      commit: baseOf(task),
      lockReason: lockReason(task, runId),
      afterFiles: () => this.deps.setup.prepare({ task, runId }, signal),
      signal,
    };
    const { tree, files } = await this.deps.worktrees
      .begin(request)
      .catch((error: unknown) => this.makingFailed(task, error));
    const recorded = files.then(
      async () => {
        await this.makingEnds(task);
        // It was locked when it was registered.
        await this.record(task, 'busy');
      },
      (error: unknown) => this.makingFailed(task, error),
    );
    // Whoever begins a Run on it waits for the files before the Run ends.
    recorded.catch(() => undefined);
    return { task, tree, files: recorded };
  }

  /** Unlocks a Worktree whose Run is over. */
  async release(task: TaskWithWorktree): Promise<void> {
    await this.deps.worktrees.setLock(task.worktreePath, undefined);
    await this.record(task, 'ready');
  }

  /**
   * Records the Worktree as it stands, unless nothing differs from the last Snapshot or, before the first, from
   * the base; `always`: also then. The Task that comes back names the newest Snapshot, if there is one.
   */
  async snapshot(
    task: TaskWithWorktree,
    at: { runId: RunId; turn: number; always?: true },
  ): Promise<TaskWithWorktree> {
    const { snapshots, records, repository } = this.deps;
    const look = await snapshots.look(task.worktreePath);
    const { tree } = look;
    const before = task.snapshot?.tree ?? (await repository.treeOf(baseOf(task)));
    if (tree === before && at.always === undefined) return task;
    const number = (await records.load(task.id)).snapshotCount + 1;
    const taken = await snapshots.take({
      worktreePath: task.worktreePath,
      taskId: task.id,
      number,
      look,
      message: `Tributary snapshot ${number} of ${task.id}\n\nRun ${at.runId}, turn ${at.turn}`,
      ...(task.snapshot ? { previous: task.snapshot.commit } : {}),
      base: baseOf(task),
    });
    const snapshot = toSnapshot(taken, at, records.now());
    const event: NewBoardEvent = {
      type: 'snapshot',
      runId: at.runId,
      turn: at.turn,
      commit: snapshot.commit,
      tree,
    };
    const saved = await records.change(
      task.id,
      (current) => ({ ...current, snapshot, snapshotCount: number }),
      event,
    );
    return { ...saved, branch: task.branch, worktreePath: task.worktreePath };
  }

  /**
   * What is changed from here on is not the Task's work: if this process dies, `tree` is put back; or the tree of
   * `merging`, where the Task counts from its base by then.
   */
  async guardTree(task: TaskWithWorktree, tree: string, merging?: Worktree['merging']): Promise<void> {
    await this.record(task, 'busy', { checkedTree: tree, ...(merging === undefined ? {} : { merging }) });
  }

  /** Makes the Worktree what was recorded, keeping what stood there; answers the recorded files that had changed. */
  async putBack(task: TaskWithWorktree, tree: string): Promise<readonly string[]> {
    const now = await this.treeOf(task);
    if (now === tree) return [];
    await this.keepAside(task, now);
    return (await this.putFiles(task, { tree, recorded: now })).restored;
  }

  /**
   * Writes the files of `tree`; what `recorded`, which stood there and is kept, does not hold and was in their way is
   * kept aside, which the record tells.
   */
  async putFiles(
    { id, worktreePath }: TaskWithWorktree,
    trees: { readonly tree: string; readonly recorded: string },
  ): Promise<RestoredFiles> {
    const { store, snapshots, records } = this.deps;
    const aside = store.asideDirectory(id);
    const files = await snapshots.restoreFiles(worktreePath, { ...trees, asideDirectory: aside });
    if (files.aside.length > 0) await records.change(id, (now) => ({ ...now, aside }));
    return files;
  }

  /**
   * Makes whole, or takes back, what a dead process left of the Task's Worktree. Under the writer lock, which
   * says that nobody is at it.
   */
  async settle(task: TaskWithWorktree): Promise<void> {
    const known = await this.recordOf(task);
    switch (known?.state) {
      case 'busy':
        if (!(await this.isRegistered(task))) return this.record(task, 'missing');
        await this.settleFiles(task, known);
        return this.release(task);
      case 'creating':
        await this.record(task, (await this.couldTakeBack(task)) ? 'failed' : 'missing');
        return this.deps.records.report(task, {
          type: 'worktree.create.failed',
          code: 'interrupted',
          message: 'the process that made it is gone',
        });
      case 'removing':
        await this.remove(task);
        return;
      default:
    }
  }

  /** `false`: what stands there now is not the half-made one, such as a folder that git has forgotten; it is left. */
  private async couldTakeBack(task: TaskWithWorktree): Promise<boolean> {
    try {
      await this.takeAway(task);
      return true;
    } catch (error) {
      if (toTributaryError(error).code !== 'worktreeFailed') throw error;
      return false;
    }
  }

  private async settleFiles(task: TaskWithWorktree, { checkedTree, merging }: Worktree): Promise<void> {
    if (merging === undefined || merging.base !== baseOf(task)) {
      if (checkedTree !== undefined) await this.putBack(task, checkedTree);
      return;
    }
    // The merge was recorded: what was cut off after that is done now.
    const { worktreePath, branch } = task;
    const { base: commit, tree } = merging;
    await this.deps.mergeIns.moveHead({ worktreePath, branch, commit, tree });
    await this.putBack(task, tree);
    const runId = task.runs.at(-1)?.id;
    const current = withWorktree(await this.deps.records.load(task.id));
    if (runId !== undefined) await this.snapshot(current, { runId, turn: 0, always: true });
  }

  /** Keeps a tree that is about to be replaced in the Worktree: under a ref of ours, not as the Task's state. */
  private async keepAside(task: Task, tree: string): Promise<void> {
    const standing = withWorktree(task);
    const saved = await this.deps.records.change(task.id, (current) => ({
      ...current,
      snapshotCount: current.snapshotCount + 1,
    }));
    await this.deps.snapshots.take({
      worktreePath: standing.worktreePath,
      taskId: task.id,
      number: saved.snapshotCount,
      look: { tree },
      base: baseOf(task),
      message: `Tributary: what a check or a verification left in the worktree of ${task.id}`,
    });
  }

  /** The folder that new Worktrees go to. */
  async root(): Promise<string> {
    return (await this.deps.worktrees.chooseRoot(this.deps.rootSetting())).root;
  }

  /** The tree of the Worktree as it stands. */
  treeOf(task: TaskWithWorktree): Promise<string> {
    return this.deps.snapshots.treeOf(task.worktreePath);
  }

  /**
   * Takes the Worktree away; its files are in the Task's Snapshot, ignored ones go aside, and the Task's record says
   * so. `onAway` is told as soon as the folder is out of its place: emptying and deleting it takes its time. What is
   * cut off then is finished by `settle`.
   */
  async remove(task: TaskWithWorktree, onAway?: () => Promise<void>): Promise<void> {
    const { records, setup } = this.deps;
    if (await this.stands(task)) await setup.tearDown(task);
    await this.record(task, 'removing');
    await records.report(task, { type: 'worktree.remove.started', path: task.worktreePath });
    try {
      await this.takeAway(task, onAway);
      await this.record(task, 'removed');
      await records.report(task, { type: 'worktree.remove.completed', path: task.worktreePath });
    } catch (error) {
      const failure = toTributaryError(error);
      // It stands, but cannot be relied on.
      if (wasRefused(failure)) await this.record(task, 'missing');
      await records.report(task, {
        type: 'worktree.remove.failed',
        path: task.worktreePath,
        code: failure.code,
        message: failure.message,
      });
      throw failure;
    }
  }

  private async takeAway(task: TaskWithWorktree, onAway?: () => Promise<void>): Promise<void> {
    const asideDirectory = this.deps.store.asideDirectory(task.id);
    const { hasAside, kept } = await this.deps.worktrees.remove({
      path: task.worktreePath,
      branch: task.branch,
      keptCommit: task.snapshot?.commit ?? baseOf(task),
      asideDirectory,
      // The user has asked for it, whoever takes the rest away and when.
      keepsBranch: task.keptBranch !== undefined || task.pending?.kept !== undefined,
      root: await this.root(),
      ...(onAway === undefined ? {} : { onAway }),
    });
    if (!hasAside && kept === undefined) return;
    await this.deps.records.change(task.id, (now) => ({
      ...now,
      ...(hasAside ? { aside: asideDirectory } : {}),
      ...(kept === undefined ? {} : { keptFolders: [...(now.keptFolders ?? []), kept] }),
    }));
  }

  /** Brings a removed Worktree back as its Snapshot had it. */
  async bringBack(
    task: TaskWithWorktree,
    runId: RunId | undefined,
    signal?: AbortSignal,
  ): Promise<TaskWithWorktree> {
    const snapshot = task.snapshot;
    const base = baseOf(task);
    const asideDirectory = this.deps.store.asideDirectory(task.id);
    const { hasAside } = await this.making(task, () =>
      this.deps.worktrees.rebuild({
        path: task.worktreePath,
        branch: task.branch,
        headCommit: snapshot?.headCommit ?? base,
        tree: snapshot?.tree ?? base,
        keptCommit: snapshot?.commit ?? base,
        lockReason: lockReason(task, runId),
        asideDirectory,
        ...(signal ? { signal } : {}),
      }),
    );
    await this.deps.records.change(task.id, ({ aside: _aside, ...now }) => ({
      ...now,
      ...(hasAside ? { aside: asideDirectory } : {}),
    }));
    await this.deps.setup.provideAgain(task, signal);
    return runId === undefined ? task : this.busy(task, runId);
  }

  /** Whether git knows the Worktree and its folder is there. */
  async isRegistered(task: TaskWithWorktree): Promise<boolean> {
    const listed = await this.deps.worktrees.list();
    const isListed = listed.some((one) => one.path === task.worktreePath && one.prunableReason === undefined);
    // The registration of a copied or moved repository names folders of the original.
    return isListed && (await this.deps.worktrees.owns(task.worktreePath));
  }

  /**
   * Whether the Worktree is there, whole: the one answer for whoever looks at its files. Git and the disk decide; the
   * record only says whether somebody is half through making it or taking it away.
   */
  async stands(task: TaskWithWorktree): Promise<boolean> {
    const state = (await this.recordOf(task))?.state;
    if (state !== undefined && !standingStates.has(state)) return false;
    return this.isRegistered(task);
  }

  async recordOf(task: Task): Promise<Worktree | undefined> {
    return (await this.deps.store.worktrees.list()).find((known) => known.taskId === task.id);
  }

  async record(
    task: TaskWithWorktree,
    state: WorktreeState,
    guard: Pick<Worktree, 'checkedTree' | 'merging'> = {},
  ): Promise<void> {
    await this.deps.store.worktrees.put({
      path: task.worktreePath,
      branch: task.branch,
      base: task.packet.repository.base,
      taskId: task.id,
      state,
      ...guard,
      changedAt: this.deps.records.now(),
    });
  }

  private async busy(task: TaskWithWorktree, runId: RunId): Promise<TaskWithWorktree> {
    // Recorded first: what says `ready` has no git lock, wherever we are killed.
    await this.record(task, 'busy');
    await this.deps.worktrees.setLock(task.worktreePath, lockReason(task, runId));
    return task;
  }

  private async making<T>(task: TaskWithWorktree, make: () => Promise<T>): Promise<T> {
    await this.makingBegins(task);
    const made = await make().catch((error: unknown) => this.makingFailed(task, error));
    await this.makingEnds(task);
    return made;
  }

  private async makingBegins(task: TaskWithWorktree): Promise<void> {
    // A new Task's is recorded already, together with its name.
    if ((await this.recordOf(task))?.state !== 'creating') await this.record(task, 'creating');
    await this.deps.records.report(task, { type: 'worktree.create.started' });
  }

  private async makingFailed(task: TaskWithWorktree, error: unknown): Promise<never> {
    const failure = toTributaryError(error);
    await this.record(task, 'failed');
    const { code, message } = failure;
    await this.deps.records.report(task, { type: 'worktree.create.failed', code, message });
    throw failure;
  }

  private async makingEnds(task: TaskWithWorktree): Promise<void> {
    await this.deps.records.report(task, {
      type: 'worktree.create.completed',
      path: task.worktreePath,
      branch: task.branch,
      base: task.packet.repository.base.commit,
    });
  }
}

/** `missing`: it was, and may have come back meanwhile, as from a drive. */
const standingStates: ReadonlySet<WorktreeState> = new Set(['ready', 'busy', 'missing']);

/** The Task as one that has a Worktree. Throws `wrongState` for one that ran in place. */
export function withWorktree(task: Task): TaskWithWorktree {
  if (task.branch === undefined || task.worktreePath === undefined) {
    throw new TributaryError(
      'wrongState',
      `task ${task.id} has no worktree: it ran in place and changed nothing`,
      {
        details: { taskId: task.id },
      },
    );
  }
  return { ...task, branch: task.branch, worktreePath: task.worktreePath };
}

function lockReason(task: Task, runId: RunId | undefined): string {
  return runId === undefined ? `tributary ${task.id}` : `tributary ${task.id} ${runId}`;
}

function toSnapshot(taken: TakenSnapshot, at: { runId: RunId; turn: number }, now: string): Snapshot {
  return {
    ref: taken.ref,
    commit: taken.commit,
    tree: taken.tree,
    headCommit: taken.headCommit,
    ...(taken.headRef === undefined ? {} : { headRef: taken.headRef }),
    runId: at.runId,
    turn: at.turn,
    at: now,
  };
}
