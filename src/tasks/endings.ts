import { assertNever, TributaryError, toTributaryError, wasRefused } from '../base/errors';
import type { ContentDrivers } from '../git/contentDrivers';
import type { Repository } from '../git/repository';
import type { CutOff } from '../model/cutOff';
import type { LandingId, TaskId } from '../model/ids';
import type { Snapshot } from '../model/snapshot';
import type { PendingEnding, Task, TaskStateName } from '../model/task';
import { type Aims, modeOf } from './aims';
import type { FinishedLanding } from './cutOffLandings';
import type { KeptBranches } from './keptBranches';
import type { Landing, LandingSteps, LandOutcome } from './landing';
import type { LandingParts, PlannedPart } from './landingParts';
import type { MergingUndo } from './mergingUndo';
import { isLive } from './runMachine';
import type { AcceptOptions, AcceptOutcome, UndoOptions, UndoOutcome, UndoPlan } from './taskApi';
import type { TaskRecords } from './taskRecords';
import { conflictsLeft } from './unresolved';
import { type TaskWithWorktree, type WorktreeKeeper, withWorktree } from './worktreeKeeper';

/** Codes of what keeps a Worktree from coming back for now: its folder, or its branch, is taken. */
const inTheWay: ReadonlySet<string> = new Set(['worktreeFailed', 'branchInUse']);

export interface EndingsDeps {
  readonly records: TaskRecords;
  readonly keeper: WorktreeKeeper;
  readonly landing: Landing;
  readonly drivers: ContentDrivers;
  readonly repository: Pick<Repository, 'readFiles'>;
  readonly aims: Aims;
  readonly keptBranches: KeptBranches;
  readonly parts: LandingParts;
  readonly mergingUndo: MergingUndo;
}

/**
 * How a Task ends and how an ending is taken back. Its state and the fate of its Worktree are one action: it is
 * written down as `pending` before the first half, and cleared with the last.
 */
export class Endings {
  private readonly deps: EndingsDeps;

  constructor(deps: EndingsDeps) {
    this.deps = deps;
  }

  /** The Task with a Snapshot of its Worktree as it stands now, if that is there; needs the writer lock. */
  async fresh(task: Task): Promise<TaskWithWorktree> {
    const standing = withWorktree(task);
    const { keeper } = this.deps;
    const runId = task.runs.at(-1)?.id;
    if (runId === undefined || !(await keeper.stands(standing))) return standing;
    return keeper.snapshot(standing, { runId, turn: 0 });
  }

  /** A Worktree that git can no longer read must not keep a Task from ending: its removal sets it aside whole. */
  private async freshOrAsItWas(task: Task): Promise<Task> {
    try {
      return await this.fresh(task);
    } catch (error) {
      const { code } = toTributaryError(error);
      if (code === 'diskFull' || code === 'cancelled') throw error;
      return this.deps.records.load(task.id);
    }
  }

  /**
   * Lands all of the newest tree that is not rejected and ends the Task, or a selection of it and leaves the Task as it
   * is; with `expected` only if that is what the user saw.
   */
  async accept(task: Task, options: AcceptOptions): Promise<AcceptOutcome> {
    return this.from(task, ['open'], 'accept', async (current) => {
      const ready = await this.fresh(current);
      if (ready.snapshot === undefined) throw nothingChanged(task);
      const left = await conflictsLeft(this.deps.repository, ready, ready.snapshot.tree);
      if (left.length > 0) return { kind: 'conflict', task: ready, conflicts: left };
      if (modeOf(options) === 'keepBranch') return this.keepBranch(ready, ready.snapshot, options);
      const { tree } = ready.snapshot;
      const part = await this.deps.parts.partOf(ready, tree, { mode: modeOf(options), ...options });
      const outcome = await this.land(ready, part, options);
      switch (outcome.kind) {
        case 'conflict':
          return { kind: 'conflict', task: ready, conflicts: outcome.preview.conflicts };
        case 'stale':
          return { ...outcome, task: ready };
        case 'hookFailed':
          return { kind: 'hookFailed', task: ready, ...outcome.failure };
        case 'gateFailed':
          return { kind: 'gateFailed', task: ready, ...outcome.failure };
        case 'landed':
          break;
        default:
          return assertNever(outcome);
      }
      const ended = await this.landed({ ...ready, pending: this.pendingOf(part, outcome.id) });
      const { paths, branch } = outcome;
      const place = branch?.ref === undefined ? {} : { ref: branch.ref };
      const made = branch === undefined ? {} : { commit: branch.to, ...place };
      return { kind: 'landed', task: ended, paths, ...made };
    });
  }

  /** The acceptance tests have their say before the lock of all Landings is taken, and are only looked up under it. */
  private async land(task: Task, part: PlannedPart, options: AcceptOptions): Promise<LandOutcome> {
    const { landing, aims } = this.deps;
    const aim = aims.of(task, options, part.isAll);
    if (task.packet.acceptanceTests.length > 0 && options.skipGate !== true) {
      const planned = await landing.plan(task, part, aim);
      const failure = planned.preview.conflicts.length > 0 ? undefined : await aim.gate(planned.tree);
      if (failure !== undefined) return { kind: 'gateFailed', failure };
    }
    return landing.land(task, part, aim, { steps: this.stepsOf(task.id, part), expected: options.expected });
  }

  /** The Task's branch stays with all of the change that is not rejected, its Worktree goes; the checkout is not written to. */
  private async keepBranch(task: Task, snapshot: Snapshot, options: AcceptOptions): Promise<AcceptOutcome> {
    const { records, keptBranches } = this.deps;
    const standing = withWorktree(task);
    const { expected } = options;
    if (expected !== undefined && expected.tree !== snapshot.tree)
      return { kind: 'stale', task, paths: [], isHeadMoved: false };
    const { theirs } = await this.deps.parts.partOf(task, snapshot.tree, { mode: 'keepBranch' });
    const kept = await keptBranches.make(standing, theirs, options);
    const going = await records.change(task.id, (now) => ({
      ...now,
      // Where the Worktree stands when it comes back.
      snapshot: { ...snapshot, headCommit: kept.to },
      pending: { to: 'closed', at: records.now(), kept },
    }));
    if (!(await keptBranches.move(standing.branch, kept))) {
      const open = await records.change(task.id, (now) => ({ ...withoutPending(now), snapshot }));
      return { kind: 'stale', task: open, paths: [], isHeadMoved: true };
    }
    const ended = await this.removeAndEnd(going);
    return { kind: 'kept', task: ended, ref: standing.branch, commit: kept.to };
  }

  private pendingOf(
    { selection, tree, changeBase: base, mode }: PlannedPart,
    landingId: LandingId,
  ): NonNullable<Task['pending']> {
    const at = this.deps.records.now();
    if (selection === undefined) return { to: 'accepted', at, landingId };
    return { to: 'open', at, landingId, part: { base, tree, selection, mode } };
  }

  private stepsOf(id: TaskId, part: PlannedPart): LandingSteps {
    const { records } = this.deps;
    return {
      journalled: async (landingId) => {
        const pending = this.pendingOf(part, landingId);
        await records.change(id, (now) => ({ ...now, pending }));
      },
      dropped: () => this.dropPending(id),
    };
  }

  /** Nothing was written, so nothing is on its way. */
  private async dropPending(id: TaskId): Promise<void> {
    await this.deps.records.change(id, (now) => (now.pending === undefined ? now : withoutPending(now)));
  }

  /** What follows once the files stand: the Task's end, or, after a part, only a line in its record. */
  private landed(task: Task): Promise<Task> {
    const { pending } = task;
    if (pending?.part === undefined || pending.landingId === undefined) return this.removeAndEnd(task);
    const { landingId: id, at, part } = pending;
    return this.deps.records.change(
      task.id,
      (current) => ({ ...atRest(current), landings: [...current.landings, { id, at, part }] }),
      { type: 'task.changed', state: task.state },
    );
  }

  async previewUndo(task: Task): Promise<UndoPlan> {
    const last = standingLanding(task);
    expectUndoable(task);
    if (last === undefined) return { task, paths: [], merged: [], conflicts: [] };
    const left = await this.deps.landing.left(last.id);
    const plan = await this.deps.mergingUndo.plan(last.id);
    return { task, landingId: last.id, ...plan, ...(left === undefined ? {} : { left }) };
  }

  async undo(task: Task, { merge = false }: UndoOptions = {}): Promise<UndoOutcome> {
    refuseExpired(task, 'undo');
    expectUndoable(task);
    return this.from(task, statesToUndo(task), 'undo', async (current) => {
      const last = standingLanding(current);
      if (last === undefined)
        throw new TributaryError('wrongState', `task ${task.id} has no landing to undo`);
      const { records, landing } = this.deps;
      const pending = { to: 'open', at: records.now(), landingId: last.id } as const;
      await records.change(task.id, (now) => ({ ...now, pending }));
      const outcome = await this.orTakenBack(
        task.id,
        () => landing.undo(last.id),
        () => landing.isLanded(last.id),
      );
      if (outcome.kind !== 'undone') {
        const kept = await records.change(task.id, withoutPending);
        if (outcome.kind === 'movedOn') return { ...outcome, task: kept };
        return merge ? this.undoMerging(kept, last.id) : { kind: 'stale', task: kept, paths: outcome.paths };
      }
      const undone = await this.markUndone(task.id, last.id);
      return { kind: 'undone', task: await this.reopenUndone(undone), paths: outcome.paths };
    });
  }

  private async undoMerging(task: Task, landingId: LandingId): Promise<UndoOutcome> {
    const { records, mergingUndo } = this.deps;
    const outcome = await mergingUndo.undo(landingId, {
      journalled: async (undoneBy) => {
        const pending = { to: 'open', at: records.now(), landingId, undoneBy } as const;
        await records.change(task.id, (now) => ({ ...now, pending }));
      },
      dropped: () => this.dropPending(task.id),
    });
    if (outcome.kind !== 'undone') return { ...outcome, task };
    const undone = await this.markUndone(task.id, landingId, outcome.by);
    const { paths, merged, kept } = outcome;
    return { kind: 'undone', task: await this.reopenUndone(undone), paths, merge: { paths: merged, kept } };
  }

  async discard(task: Task): Promise<Task> {
    return this.end(task, 'discarded', 'discard');
  }

  /** Nothing to accept: the Worktree goes, the Task is over until somebody follows up. */
  async close(task: Task): Promise<Task> {
    return this.end(task, 'closed', 'close');
  }

  /** Takes away a Worktree in which nothing was done; the Task stays open and makes it anew when it goes on. */
  async putAway(task: Task): Promise<Task> {
    return this.underLock(task, undefined, async (current) => {
      const ready = await this.fresh(current);
      if (ready.snapshot === undefined) await this.deps.keeper.remove(ready);
      return this.deps.records.load(task.id);
    });
  }

  async restore(task: Task): Promise<Task> {
    refuseExpired(task, 'restore');
    return this.from(task, ['discarded', 'closed'], 'restore', async (before) => {
      if (before.branch === undefined) return this.setState(before, 'open');
      const { records } = this.deps;
      const pending = { to: 'open', at: records.now() } as const;
      const going = await records.change(task.id, (current) => ({ ...current, pending }));
      return this.orTakenBack(
        task.id,
        () => this.bringBack(going),
        async () => true,
      );
    });
  }

  /**
   * Finishes what a dead process began. Answers what it had to leave, as its user edited it meanwhile. Throws
   * `lockTimeout` at once when the process that began it is at it still.
   */
  async finish(task: Task): Promise<CutOff | undefined> {
    return this.underLock(task, 0, async (current) => {
      const pending = current.pending;
      if (pending === undefined) return undefined;
      switch (pending.to) {
        case 'open':
          return pending.part === undefined
            ? this.reopen(current, pending)
            : this.finishLanding(current, pending);
        case 'discarded':
        case 'closed':
          if (pending.kept !== undefined)
            await this.deps.keptBranches.move(withWorktree(current).branch, pending.kept);
          await this.removeAndEnd(current);
          return undefined;
        case 'accepted':
          return this.finishLanding(current, pending);
        default:
          return assertNever(pending.to);
      }
    });
  }

  private async finishLanding(task: Task, pending: PendingEnding): Promise<CutOff | undefined> {
    if (pending.landingId === undefined) return undefined;
    const finished = await this.deps.landing.finish(pending.landingId);
    const { state } = finished;
    if (isUnfinished(state)) return undefined;
    const cutOff = await this.noteLeft(task, 'accept', finished);
    if (state === 'undone') await this.deps.records.change(task.id, atRest);
    else await this.landed({ ...task, pending });
    return cutOff;
  }

  /** Beside what is pending, so that it is told with the end of it. */
  private async noteLeft(
    task: Task,
    verb: CutOff['verb'],
    { state, left, isCommitted }: FinishedLanding,
  ): Promise<CutOff | undefined> {
    if (left.length === 0) return undefined;
    const { records } = this.deps;
    const stands = state === 'landed';
    const cutOff = { at: records.now(), verb, stands, ...(isCommitted && { isCommitted }), paths: [...left] };
    await records.change(task.id, ({ pending, ...now }) => ({
      ...now,
      ...(pending === undefined ? {} : { pending: { ...pending, cutOff } }),
    }));
    return cutOff;
  }

  private async end(task: Task, to: TaskStateName, verb: string): Promise<Task> {
    return this.from(task, ['open'], verb, async (current) => {
      if (current.branch === undefined) return this.setState(current, to);
      const ready = await this.freshOrAsItWas(current);
      const { records } = this.deps;
      const pending = await records.change(ready.id, (now) => ({
        ...now,
        pending: { to, at: records.now() },
      }));
      return this.removeAndEnd(pending);
    });
  }

  /**
   * The second half of an ending: the Worktree goes, and once it is out of its place the Task is in the state that
   * `pending` names; emptying and deleting what it was comes after that.
   */
  private async removeAndEnd(task: Task): Promise<Task> {
    const pending = task.pending;
    if (pending === undefined) return task;
    let stage = 'stands' as 'stands' | 'away' | 'ended';
    const onAway = async (): Promise<void> => {
      stage = 'away';
      await this.setEnded(task.id, pending);
      stage = 'ended';
    };
    try {
      await this.deps.keeper.remove(withWorktree(task), onAway);
    } catch (error) {
      if (stage === 'away') throw error;
      // What has landed has landed: a Worktree that cannot be removed is left where it is, and that is told.
      if (pending.landingId === undefined) return this.notEnded(task, pending, error);
      if (stage === 'stands') {
        await this.deps.keeper.record(withWorktree(task), 'missing');
        await this.setEnded(task.id, pending);
      }
    }
    return this.deps.records.load(task.id);
  }

  /** A Worktree that is not ours to remove, or not proven to be, stands as before: so does its Task. */
  private async notEnded(task: Task, { kept }: PendingEnding, error: unknown): Promise<never> {
    if (kept === undefined && wasRefused(toTributaryError(error)))
      await this.deps.records.change(task.id, withoutPending);
    throw error;
  }

  private setEnded(id: TaskId, { to, at, landingId, kept }: PendingEnding): Promise<Task> {
    const landing = landingId === undefined ? [] : [{ id: landingId, at }];
    return this.deps.records.change(
      id,
      (current) => ({
        ...atRest(current),
        state: to,
        landings: [...current.landings, ...landing],
        ...(kept === undefined ? {} : { keptBranch: kept.to }),
      }),
      { type: 'task.changed', state: to },
    );
  }

  /** The second half of an undo or a restore, wherever it was cut off. */
  private async reopen(task: Task, { landingId, undoneBy }: PendingEnding): Promise<CutOff | undefined> {
    if (landingId === undefined) {
      await (task.state === 'open' ? this.setState(task, 'open') : this.bringBack(task));
      return undefined;
    }
    const { records, landing, mergingUndo } = this.deps;
    const finished = await (undoneBy === undefined
      ? landing.finish(landingId)
      : mergingUndo.finish(landingId, undoneBy));
    const { state } = finished;
    if (isUnfinished(state)) return undefined;
    const cutOff = await this.noteLeft(task, 'undo', finished);
    // Cut off before its first write, or taken back around what was edited: it never was.
    if (state === 'landed') await records.change(task.id, atRest);
    else await this.reopenUndone(await this.markUndone(task.id, landingId, undoneBy));
    return cutOff;
  }

  private markUndone(id: TaskId, landingId: LandingId, undoneBy?: LandingId): Promise<Task> {
    const { records } = this.deps;
    const undoneAt = records.now();
    const by = undoneBy === undefined ? {} : { undoneBy };
    return records.change(id, (now) => {
      const landings = now.landings.map((one) => (one.id === landingId ? { ...one, undoneAt, ...by } : one));
      const { cutOff } = now.pending ?? {};
      return {
        ...now,
        landings,
        pending: { to: 'open', at: undoneAt, ...(cutOff === undefined ? {} : { cutOff }) },
      };
    });
  }

  private async bringBack(task: Task): Promise<Task> {
    const { keeper } = this.deps;
    const standing = withWorktree(task);
    // An earlier try may have been killed half-way, or with only the record missing.
    await keeper.settle(standing);
    const isThere = (await keeper.stands(standing)) || (await keeper.isRegistered(standing));
    if (!isThere) await keeper.bringBack(standing, undefined);
    await keeper.release(standing);
    return this.setState(task, 'open');
  }

  /** Once the files are as before, the Task is open again; a Worktree that something stands in the way of comes later. */
  private async reopenUndone(task: Task): Promise<Task> {
    // One that was open has its Worktree as it stood.
    if (task.state === 'open') return this.setState(task, 'open');
    try {
      return await this.bringBack(task);
    } catch (error) {
      if (!inTheWay.has(toTributaryError(error).code)) throw error;
      await this.deps.keeper.record(withWorktree(task), 'missing');
      return this.setState(task, 'open');
    }
  }

  /** A failure that left nothing half done takes the intention back too. */
  private async orTakenBack<T>(
    id: TaskId,
    body: () => Promise<T>,
    isAsBefore: () => Promise<boolean>,
  ): Promise<T> {
    try {
      return await body();
    } catch (error) {
      if (await isAsBefore()) await this.deps.records.change(id, withoutPending);
      throw error;
    }
  }

  private setState(task: Task, state: TaskStateName): Promise<Task> {
    const changed = ({ keptBranch: _, ...current }: Task): Task => ({ ...atRest(current), state });
    return this.deps.records.change(task.id, changed, { type: 'task.changed', state });
  }

  /** Refused at once where the state forbids it, and again under the lock. */
  private from<T>(
    task: Task,
    states: readonly TaskStateName[],
    verb: string,
    body: (current: Task) => Promise<T>,
  ): Promise<T> {
    expectState(task, states, verb);
    return this.underLock(task, undefined, (current) => {
      expectState(current, states, verb);
      return body(current);
    });
  }

  /**
   * Under the writer lock, with the record as it is then: another process may have ended the Task meanwhile. `waitMs`:
   * how long another process is waited for; `undefined`: as for whoever cannot do without.
   */
  async underLock<T>(
    task: Task,
    waitMs: number | undefined,
    body: (current: Task) => Promise<T>,
  ): Promise<T> {
    const { keeper } = this.deps;
    const lock =
      waitMs === undefined ? await keeper.writerLock(task) : await keeper.lockFor(task, undefined, waitMs);
    try {
      const current = await this.deps.records.load(task.id);
      return await this.deps.drivers.during(current.drivers, () => body(current));
    } finally {
      await lock.release();
    }
  }
}

function withoutPending(task: Task): Task {
  const { pending: _pending, ...rest } = task;
  return rest;
}

/** What was pending has come to its end, and tells what it left. */
function atRest({ pending, cutOff: _, ...rest }: Task): Task {
  return pending?.cutOff === undefined ? rest : { ...rest, cutOff: pending.cutOff };
}

function isUnfinished(state: FinishedLanding['state']): boolean {
  return state === 'writing' || state === 'undoing';
}

/** A Task may be open and have landed in part. */
function statesToUndo(task: Task): readonly TaskStateName[] {
  return standingLanding(task)?.part === undefined ? ['accepted'] : ['accepted', 'open'];
}

/** Throws `wrongState` where nothing can be taken back. */
function expectUndoable(task: Task): void {
  if (task.state === 'open' && standingLanding(task) === undefined) {
    throw new TributaryError(
      'wrongState',
      `nothing of task ${task.slug} was accepted, so there is nothing to undo`,
      { details: { taskId: task.id, state: task.state, verb: 'undo' } },
    );
  }
  expectState(task, statesToUndo(task), 'undo');
}

/** The Landing that `undo` takes back. */
export function standingLanding(task: Task): Task['landings'][number] | undefined {
  return task.landings.filter((one) => one.undoneAt === undefined).at(-1);
}

/** Throws `wrongState` for a Task of which nothing is kept any more that could come back. */
function refuseExpired(task: Task, verb: string): void {
  if (task.expiredAt === undefined) return;
  throw new TributaryError(
    'wrongState',
    `task ${task.slug} ended too long ago: its snapshots and kept files went on ${task.expiredAt.slice(0, 10)}`,
    { details: { taskId: task.id, verb } },
  );
}

/** There is no tree yet that differs from the base. */
export function nothingChanged(task: Task): TributaryError {
  return new TributaryError('wrongState', `task ${task.id} has changed nothing; there is nothing to accept`, {
    details: { taskId: task.id },
  });
}

/** Throws `wrongState` unless the Task is in one of `states`, on no way elsewhere, and none of its Runs is alive. */
export function expectState(task: Task, states: readonly TaskStateName[], verb: string): void {
  if (!states.includes(task.state)) {
    throw new TributaryError(
      'wrongState',
      `task ${task.slug} is ${task.state}; ${verb} needs one that is ${states.join(' or ')}`,
      {
        details: { taskId: task.id, state: task.state, verb },
      },
    );
  }
  if (task.pending !== undefined) {
    throw new TributaryError(
      'wrongState',
      `task ${task.slug} is on the way to ${task.pending.to}; ${verb} has to wait for that`,
      { details: { taskId: task.id, state: task.state, verb } },
    );
  }
  const live = task.runs.find(isLive);
  if (live !== undefined) {
    throw new TributaryError(
      'wrongState',
      `task ${task.slug} still has a run going on (${live.id}); stop it first, or wait`,
      {
        details: { taskId: task.id, runId: live.id, verb },
      },
    );
  }
}
