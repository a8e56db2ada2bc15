import { TributaryError } from '../base/errors';
import type { HookFailure } from '../git/branchLandings';
import type { MergePreview, Merges } from '../git/merges';
import type { LandingId } from '../model/ids';
import { type LandedBranch, type LandingRecord, pathsOf } from '../model/landing';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import type { Store } from '../store/store';
import { CutOffLandings, type FinishedLanding } from './cutOffLandings';
import type { GateFailure } from './gate';
import { LandingFiles } from './landingFiles';
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

/**
 * Brings an accepted ChangeSet into the user's checkout and takes it back: previewed, journalled before the
 * first byte is written, each file checked against what the preview saw. Commits, index and branch, where the mode
 * makes any, are `LandingModes`' part: they come after the files, the branch last.
 */
export class Landing {
  readonly files: LandingFiles;
  private readonly deps: LandingDeps;
  private readonly cutOff: CutOffLandings;

  constructor(deps: LandingDeps) {
    this.deps = deps;
    this.files = new LandingFiles(deps);
    this.cutOff = new CutOffLandings({ ...deps, files: this.files });
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

  /**
   * Takes a Landing back byte for byte; `stale` when the user changed one of its files since. One whose commits the
   * user took back by commits, or left, is over: nothing is written, and no path is answered.
   */
  async undo(id: LandingId): Promise<LandUndone> {
    return this.deps.store.locks.withLock('landing', async () => {
      const record = await this.deps.store.journal.load(id);
      const paths = pathsOf(record);
      if (record.state === 'undone') return { kind: 'undone', paths };
      const left = await this.leftBy(record);
      if (left === 'takenBack') {
        await this.deps.store.journal.save({ ...record, state: 'undone' });
        return { kind: 'undone', paths: [] };
      }
      if (left !== undefined) return { kind: 'movedOn', ...left };
      const stale = await this.files.neither(
        record,
        record.state === 'landed' ? ['after'] : ['before', 'after'],
      );
      if (stale.length > 0) return { kind: 'stale', paths: stale };
      await this.deps.store.journal.save({ ...record, state: 'undoing' });
      try {
        const strange = await this.bringAllBack(record);
        await this.deps.store.journal.save({ ...record, state: strange.length > 0 ? 'landed' : 'undone' });
        return strange.length > 0 ? { kind: 'stale', paths: strange } : { kind: 'undone', paths };
      } catch (error) {
        // All of it was put back: the Landing stands as before. Otherwise `finish` goes on.
        const isWhole = (await this.files.neither(record, ['after'])).length === 0;
        if (isWhole && (await this.deps.modes.movedOn(record)) === undefined)
          await this.deps.store.journal.save({ ...record, state: 'landed' });
        throw error;
      }
    });
  }

  /** What the user did with its commits since; `undefined`: they stand as they landed, or there are none. */
  async left(id: LandingId): Promise<MovedOn | 'takenBack' | undefined> {
    return this.leftBy(await this.deps.store.journal.load(id));
  }

  private async leftBy(record: LandingRecord): Promise<MovedOn | 'takenBack' | undefined> {
    const { modes } = this.deps;
    const movedOn = await modes.movedOn(record);
    if (movedOn === undefined || movedOn.why === 'elsewhere') return movedOn;
    return (await modes.isTakenBack(record)) ? 'takenBack' : movedOn;
  }

  /** Index and branch first, then the files. Answers what stands in the way; then all is as it was. */
  private async bringAllBack(record: LandingRecord): Promise<readonly string[]> {
    const { modes } = this.deps;
    const held = await modes.back(record, this.directoryOf(record));
    if (held.length > 0) return held;
    const strange = await this.files.write(record, { from: 'after', to: 'before' });
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

  /** Finishes one whose process died while it wrote; see `CutOffLandings`. */
  finish(id: LandingId): Promise<FinishedLanding> {
    return this.cutOff.finish(id);
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
    const strange = await this.files.write(record, { from: 'before', to: 'after' });
    const held = strange.length > 0 ? strange : await this.forwardOrBack(record);
    if (held.length === 0) await this.deps.store.journal.save({ ...record, state: 'landed' });
    return held;
  }

  /** Index and branch; the files go back where these cannot follow. */
  private async forwardOrBack(record: LandingRecord): Promise<readonly string[]> {
    try {
      const held = await this.deps.modes.forward(record, this.directoryOf(record));
      if (held.length > 0) await this.files.writeBack(record);
      return held;
    } catch (error) {
      await this.deps.modes.back(record, this.directoryOf(record));
      await this.files.writeBack(record);
      throw error;
    }
  }

  /** Whether nothing of it stands anywhere. */
  private async isUnwritten(record: LandingRecord): Promise<boolean> {
    if (record.branch !== undefined && (await this.deps.modes.standing(record)) === 'after') return false;
    return (await this.files.neither(record, ['before'])).length === 0;
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
      await this.deps.modes.keep(checkout, directory, branch && { ...branch, name: task.slug });
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
