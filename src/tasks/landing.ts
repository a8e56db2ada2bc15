import { TributaryError } from '../base/errors';
import type { HookFailure } from '../git/branchLandings';
import type { MergePreview, Merges } from '../git/merges';
import type { LandingId } from '../model/ids';
import { type LandedBranch, type LandingRecord, sameSide } from '../model/landing';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import type { Store } from '../store/store';
import type { GateFailure } from './gate';
import {
  type LandingAim,
  type LandingModes,
  type MovedOn,
  movedHead,
  type PlannedLanding,
  type ReadyLanding,
  unseenPaths,
} from './landingModes';
import type { SeenPlan } from './taskApi';

export interface LandingDeps {
  readonly merges: Merges;
  readonly modes: LandingModes;
  readonly store: Pick<Store, 'journal' | 'locks'>;
  readonly now: () => string;
}

/** What the caller writes down beside the journal. */
export interface LandingSteps {
  /** The journal stands, and nothing is written yet. */
  readonly journalled: (id: LandingId) => Promise<void>;
  /** Nothing is written, and the journal is gone again. */
  readonly dropped: () => Promise<void>;
}

/** What of a Task lands: the change from `base` to `theirs`. */
export interface LandingPart {
  /** The Task's base, with whatever of the Task has landed already. */
  readonly base: string;
  readonly theirs: string;
  /** The Task's newest tree, of which `theirs` holds all or a part. */
  readonly tree: string;
}

export type LandOutcome =
  | {
      readonly kind: 'landed';
      readonly id: LandingId;
      readonly paths: readonly string[];
      /** Of the modes that make commits. */
      readonly branch?: LandedBranch;
    }
  | { readonly kind: 'conflict'; readonly preview: MergePreview }
  | { readonly kind: 'hookFailed'; readonly failure: HookFailure }
  | { readonly kind: 'gateFailed'; readonly failure: GateFailure }
  | { readonly kind: 'stale'; readonly paths: readonly string[]; readonly isHeadMoved: boolean };

export type LandUndone =
  | { readonly kind: 'undone'; readonly paths: readonly string[] }
  | { readonly kind: 'stale'; readonly paths: readonly string[] }
  | ({ readonly kind: 'movedOn' } & MovedOn);

type Side = 'before' | 'after';

/**
 * Brings an accepted ChangeSet into the user's checkout and takes it back: previewed, journalled before the
 * first byte is written, each file checked against what the preview saw. Commits, index and branch, where the mode
 * makes any, are `LandingModes`' part: they come after the files, the branch last.
 */
export class Landing {
  private readonly deps: LandingDeps;

  constructor(deps: LandingDeps) {
    this.deps = deps;
  }

  plan(task: Task, part: LandingPart, aim: LandingAim): Promise<PlannedLanding> {
    return this.deps.modes.plan(checkoutOf(task), part, aim);
  }

  /**
   * Lands `part`, with `expected` only if that is what was seen. Whatever goes wrong, nothing of it stays
   * written; if it cannot be taken back now, `finish` does.
   */
  async land(
    task: Task,
    part: LandingPart,
    aim: LandingAim,
    { steps, expected }: { steps: LandingSteps; expected?: SeenPlan | undefined },
  ): Promise<LandOutcome> {
    return this.deps.store.locks.withLock('landing', async () => {
      const ready = await this.ready(task, part, aim, expected);
      if (ready.kind !== 'ready') return ready;
      const record = await this.journal(task, ready, aim);
      try {
        const stale = await this.landJournalled(record, ready.preview, steps);
        if (stale.length > 0) {
          await this.drop(record, steps);
          return { kind: 'stale', paths: stale, isHeadMoved: stale.includes(movedHead) };
        }
      } catch (error) {
        if (await this.isUnwritten(record)) await this.drop(record, steps);
        throw error;
      }
      // Nothing that a hook does now changes that it has landed.
      await this.deps.modes.landed(record, aim.signal);
      const { branch } = record;
      return {
        kind: 'landed',
        id: record.id,
        paths: pathsOf(record),
        ...(branch === undefined ? {} : { branch }),
      };
    });
  }

  /** Looks at everything again and asks gate and hooks, before anything is journalled. */
  private async ready(
    task: Task,
    part: LandingPart,
    aim: LandingAim,
    expected: SeenPlan | undefined,
  ): Promise<ReadyLanding> {
    const planned = await this.plan(task, part, aim);
    const { preview, branch } = planned;
    if (preview.conflicts.length > 0) return { kind: 'conflict', preview };
    if (expected !== undefined) {
      const paths = unseenPaths(preview.paths, expected.paths);
      const isHeadMoved = expected.branch?.head !== branch?.head || expected.branch?.ref !== branch?.ref;
      if (paths.length > 0 || isHeadMoved || expected.tree !== part.tree)
        return { kind: 'stale', paths, isHeadMoved };
    }
    const failure = await aim.gate(planned.tree);
    if (failure !== undefined) return { kind: 'gateFailed', failure };
    return this.deps.modes.ready(checkoutOf(task), planned, aim);
  }

  /** Takes a Landing back byte for byte; `stale` when the user changed one of its files since. */
  async undo(id: LandingId): Promise<LandUndone> {
    return this.deps.store.locks.withLock('landing', async () => {
      const record = await this.deps.store.journal.load(id);
      const paths = pathsOf(record);
      if (record.state === 'undone') return { kind: 'undone', paths };
      const movedOn = await this.deps.modes.movedOn(record);
      if (movedOn !== undefined) return { kind: 'movedOn', ...movedOn };
      const stale = await this.neither(record, record.state === 'landed' ? ['after'] : ['before', 'after']);
      if (stale.length > 0) return { kind: 'stale', paths: stale };
      await this.deps.store.journal.save({ ...record, state: 'undoing' });
      try {
        const strange = await this.bringAllBack(record);
        await this.deps.store.journal.save({ ...record, state: strange.length > 0 ? 'landed' : 'undone' });
        return strange.length > 0 ? { kind: 'stale', paths: strange } : { kind: 'undone', paths };
      } catch (error) {
        // All of it was put back: the Landing stands as before. Otherwise `finish` goes on.
        const isWhole = (await this.neither(record, ['after'])).length === 0;
        if (isWhole && (await this.deps.modes.movedOn(record)) === undefined)
          await this.deps.store.journal.save({ ...record, state: 'landed' });
        throw error;
      }
    });
  }

  /** Index and branch first, then the files. Answers what stands in the way; then all is as it was. */
  private async bringAllBack(record: LandingRecord): Promise<readonly string[]> {
    const { modes } = this.deps;
    const held = await modes.back(record, this.directoryOf(record));
    if (held.length > 0) return held;
    const strange = await this.write(record, 'after', 'before');
    if (strange.length > 0) await modes.forward(record, this.directoryOf(record));
    return strange;
  }

  /** The files that the Landing wrote, or would. */
  async paths(id: LandingId): Promise<readonly string[]> {
    return pathsOf(await this.deps.store.journal.load(id));
  }

  /** Whether the Landing stands whole, as far as the journal knows. */
  async isLanded(id: LandingId): Promise<boolean> {
    return (await this.deps.store.journal.load(id)).state === 'landed';
  }

  /**
   * Finishes a Landing whose process died while it wrote. Answers the paths that are neither as before nor as
   * after (the user changed them meanwhile): those are left, and the Landing stays unfinished.
   */
  async finish(id: LandingId): Promise<{ state: LandingRecord['state']; strange: readonly string[] }> {
    return this.deps.store.locks.withLock('landing', async () => {
      const record = await this.loadIfKept(id);
      if (record === undefined) return { state: 'undone', strange: [] };
      if (record.state === 'landed' || record.state === 'undone') return { state: record.state, strange: [] };
      await this.deps.merges.sweep(record.checkout, pathsOf(record));
      await this.deps.modes.sweep(record, this.directoryOf(record));
      const standing = await this.deps.modes.standing(record);
      // The user went on with it: what stands is theirs, and nothing is left to write.
      if (standing === 'neither' && (await this.deps.modes.isHeld(record))) {
        await this.deps.store.journal.save({ ...record, state: 'landed' });
        return { state: 'landed', strange: [] };
      }
      const strange = await this.neither(record, ['before', 'after']);
      if (strange.length > 0) return { state: record.state, strange };
      // The user went on without it: what was begun is taken back.
      const isLanding = record.state === 'writing' && standing !== 'neither';
      const changed = await this.bring(record, isLanding ? 'after' : 'before', standing);
      if (changed.length > 0) return { state: record.state, strange: changed };
      const state = isLanding ? 'landed' : 'undone';
      await this.deps.store.journal.save({ ...record, state });
      if (isLanding && standing === 'before') await this.deps.modes.landed(record);
      return { state, strange: [] };
    });
  }

  /** Everything to one side, whatever of it is there already. */
  private async bring(
    record: LandingRecord,
    to: Side,
    standing: Side | 'neither',
  ): Promise<readonly string[]> {
    const { modes } = this.deps;
    const directory = this.directoryOf(record);
    const strange = await this.write(record, to === 'after' ? 'before' : 'after', to);
    if (strange.length > 0) return strange;
    if (standing === 'neither') {
      await modes.unstage(record, directory);
      return [];
    }
    return to === 'after' ? modes.forward(record, directory) : modes.back(record, directory);
  }

  /** Answers the paths that are not as the preview saw them; then nothing was written. */
  private async landJournalled(
    record: LandingRecord,
    preview: MergePreview,
    steps: LandingSteps,
  ): Promise<readonly string[]> {
    const stale = await this.deps.merges.stalePaths(record.checkout, preview.paths);
    if (stale.length > 0) return stale;
    await steps.journalled(record.id);
    const strange = await this.write(record, 'before', 'after');
    const held = strange.length > 0 ? strange : await this.forwardOrBack(record);
    if (held.length === 0) await this.deps.store.journal.save({ ...record, state: 'landed' });
    return held;
  }

  /** Index and branch; the files go back where these cannot follow. */
  private async forwardOrBack(record: LandingRecord): Promise<readonly string[]> {
    try {
      const held = await this.deps.modes.forward(record, this.directoryOf(record));
      if (held.length > 0) await this.write(record, 'after', 'before');
      return held;
    } catch (error) {
      await this.deps.modes.back(record, this.directoryOf(record));
      await this.write(record, 'after', 'before');
      throw error;
    }
  }

  /** Whether nothing of it stands anywhere. */
  private async isUnwritten(record: LandingRecord): Promise<boolean> {
    if (record.branch !== undefined && (await this.deps.modes.standing(record)) === 'after') return false;
    return (await this.neither(record, ['before'])).length === 0;
  }

  private directoryOf(record: LandingRecord): string {
    return this.deps.store.journal.directory(record.id);
  }

  /** A Landing that wrote nothing leaves nothing. */
  private async drop(record: LandingRecord, steps: LandingSteps): Promise<void> {
    await this.deps.store.journal.drop(record.id);
    await steps.dropped();
  }

  private async journal(
    task: Task,
    { preview, branch }: { preview: MergePreview; branch?: LandedBranch },
    { mode }: LandingAim,
  ): Promise<LandingRecord> {
    const { store, merges, now } = this.deps;
    const checkout = checkoutOf(task);
    const { id, directory } = await store.journal.create();
    try {
      const paths = await merges.stage({ checkout, merged: preview.merged, paths: preview.paths, directory });
      await this.deps.modes.keep(checkout, directory, branch);
      const { ours, merged } = preview;
      const folders = await merges.foldersOf(
        checkout,
        paths.map((one) => one.path),
      );
      const record: LandingRecord = {
        v: 1,
        id,
        taskId: task.id,
        at: now(),
        checkout,
        state: 'writing',
        ours,
        merged,
        mode,
        ...(branch === undefined ? {} : { branch }),
        paths: [...paths],
        folders: [...folders],
      };
      await store.journal.save(record);
      return record;
    } catch (error) {
      await store.journal.drop(id);
      throw error;
    }
  }

  /**
   * Brings every path from one side to the other, each looked at once more right before its rename. A path
   * that is neither, or a failure, takes back what this call wrote. Answers the paths that were neither.
   */
  async write(record: LandingRecord, from: Side, to: Side): Promise<readonly string[]> {
    const written: number[] = [];
    try {
      for (const index of writingOrder(record, to)) {
        const one = record.paths[index];
        if (one === undefined) continue;
        const now = await this.deps.merges.sideOf(record.checkout, one.path);
        if (sameSide(now, one[to])) continue;
        if (!sameSide(now, one[from])) {
          await this.takeBack(record, written, from);
          return [one.path];
        }
        await this.putAll(record, [index], to);
        written.push(index);
      }
      await this.putFolders(record, to);
      return [];
    } catch (error) {
      await this.takeBack(record, written, from);
      throw error;
    }
  }

  /** The side that stood before a Landing has its folders; of one that undoes another, that is the side after. */
  private async putFolders({ checkout, undoes, folders = [] }: LandingRecord, to: Side): Promise<void> {
    if ((undoes === undefined) === (to === 'before')) await this.deps.merges.putFolders(checkout, folders);
  }

  private async takeBack(record: LandingRecord, written: readonly number[], to: Side): Promise<void> {
    await this.putAll(record, [...written].reverse(), to);
    await this.putFolders(record, to);
  }

  /** A Landing that was dropped had written nothing. */
  private async loadIfKept(id: LandingId): Promise<LandingRecord | undefined> {
    try {
      return await this.deps.store.journal.load(id);
    } catch (error) {
      if (error instanceof TributaryError && error.code === 'unknownId') return undefined;
      throw error;
    }
  }

  private async putAll(record: LandingRecord, indexes: readonly number[], side: Side): Promise<void> {
    const { checkout, folders = [] } = record;
    const { merges } = this.deps;
    const directory = this.directoryOf(record);
    for (const index of indexes) {
      const one = record.paths[index];
      if (one === undefined) continue;
      // Before their files: a folder that is made again gets the mode it had.
      if (side === 'before' && one.before.kind !== 'absent')
        await merges.putFolders(
          checkout,
          folders.filter(({ path }) => one.path.startsWith(`${path}/`)),
        );
      await merges.putSide(checkout, one.path, one[side], `${directory}/${side}/${index}`);
    }
  }

  /** The paths that stand as none of `sides` says. */
  async neither(record: LandingRecord, sides: readonly Side[]): Promise<string[]> {
    const strange: string[] = [];
    for (const one of record.paths) {
      const now = await this.deps.merges.sideOf(record.checkout, one.path);
      if (!sides.some((side) => sameSide(now, one[side]))) strange.push(one.path);
    }
    return strange;
  }
}

/** Removals first, deepest first: a file may give way to a folder of the same name, or the reverse. */
function writingOrder(record: LandingRecord, to: Side): number[] {
  const rank = (index: number): number => {
    const one = record.paths[index];
    return one !== undefined && one[to].kind === 'absent' ? -one.path.length : 1;
  };
  return record.paths.map((_, index) => index).sort((a, b) => rank(a) - rank(b));
}

function pathsOf(record: LandingRecord): string[] {
  return record.paths.map((one) => one.path);
}

function checkoutOf(task: Task): string {
  const { root } = task.packet.repository;
  if (root === '') throw new TributaryError('internal', `task ${task.id} names no checkout`);
  return root;
}

/** The whole of what a Task changed. */
export function wholeOf(task: Task, tree: string): LandingPart {
  return { base: baseOf(task), theirs: tree, tree };
}
