import type { Merges, StagedUndo } from '../git/merges';
import type { LandingId } from '../model/ids';
import { type Conflict, type LandingRecord, pathsOf } from '../model/landing';
import type { Store } from '../store/store';
import type { FinishedLanding } from './cutOffLandings';
import type { Landing, LandingSteps } from './landing';

export interface MergingUndoDeps {
  readonly merges: Pick<Merges, 'stageUndo'>;
  readonly landing: Landing;
  readonly store: Pick<Store, 'journal' | 'locks'>;
  readonly now: () => string;
}

export type MergedUndo =
  | {
      readonly kind: 'undone';
      readonly by: LandingId;
      readonly paths: readonly string[];
      readonly merged: readonly string[];
      /** The folder with the bytes that were written over. */
      readonly kept: string;
    }
  | { readonly kind: 'conflict'; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'stale'; readonly paths: readonly string[] };

/**
 * Takes a Landing back where its files were edited since: what landed is the base, the file as it is now one side,
 * what stood before it the other. It is journalled as a Landing of its own, so that a kill leaves nothing half done.
 */
export class MergingUndo {
  private readonly deps: MergingUndoDeps;

  constructor(deps: MergingUndoDeps) {
    this.deps = deps;
  }

  /** What it would do; nothing is written. */
  async plan(
    id: LandingId,
  ): Promise<Pick<StagedUndo, 'merged' | 'conflicts'> & { paths: readonly string[] }> {
    const { merges, store } = this.deps;
    const landed = await store.journal.load(id);
    const { checkout, branch } = landed;
    const request = { checkout, paths: landed.paths, landed: store.journal.directory(id) };
    const staged = await merges.stageUndo(request);
    const paths = pathsOf(landed);
    const committed = branch === undefined ? [] : staged.merged.map(notMerged);
    if (committed.length > 0) return { merged: [], conflicts: [...committed, ...staged.conflicts], paths };
    return { ...staged, paths };
  }

  /** Conflicts write nothing; nor does a file that changes while this looks. */
  async undo(id: LandingId, steps: LandingSteps): Promise<MergedUndo> {
    const { journal, locks } = this.deps.store;
    return locks.withLock('landing', async () => {
      const landed = await journal.load(id);
      if (landed.branch !== undefined) {
        const { merged, conflicts } = await this.plan(id);
        return { kind: 'conflict', conflicts: [...merged.map(notMerged), ...conflicts] };
      }
      const { id: by, directory } = await journal.create();
      const staged = await this.staged(landed, by);
      if (staged.conflicts.length > 0) {
        await journal.drop(by);
        return { kind: 'conflict', conflicts: staged.conflicts };
      }
      const record = this.recordOf(landed, by, staged);
      const strange = await this.write(record, steps);
      if (strange.length > 0) return { kind: 'stale', paths: strange };
      await journal.save({ ...record, state: 'landed' });
      await journal.save({ ...landed, state: 'undone' });
      const paths = pathsOf(landed);
      return { kind: 'undone', by, paths, merged: staged.merged, kept: `${directory}/before` };
    });
  }

  /** Goes on after a kill; `landed`: it had not begun, or was taken back, so the Landing stands. */
  async finish(id: LandingId, by: LandingId): Promise<FinishedLanding> {
    const { landing, store } = this.deps;
    const { state, left } = await landing.finish(by);
    if (state === 'undone') return { state: 'landed', left };
    if (state !== 'landed') return { state, left };
    const landed = await store.journal.load(id);
    await store.journal.save({ ...landed, state: 'undone' });
    return { state: 'undone', left };
  }

  private async staged(landed: LandingRecord, by: LandingId): Promise<StagedUndo> {
    const { merges, store } = this.deps;
    const { checkout, paths, id } = landed;
    try {
      const places = { landed: store.journal.directory(id), directory: store.journal.directory(by) };
      return await merges.stageUndo({ checkout, paths, ...places });
    } catch (error) {
      await store.journal.drop(by);
      throw error;
    }
  }

  private recordOf(landed: LandingRecord, by: LandingId, { paths }: StagedUndo): LandingRecord {
    const { v, taskId, checkout, folders, ours, merged, id: undoes } = landed;
    return {
      v,
      id: by,
      taskId,
      at: this.deps.now(),
      checkout,
      state: 'writing',
      ours: merged,
      merged: ours,
      undoes,
      ...(folders === undefined ? {} : { folders }),
      paths: [...paths],
    };
  }

  /** Answers the paths that changed meanwhile; then nothing of it stays. */
  private async write(record: LandingRecord, steps: LandingSteps): Promise<readonly string[]> {
    const { landing, store } = this.deps;
    const drop = async (): Promise<void> => {
      await store.journal.drop(record.id);
      await steps.dropped();
    };
    try {
      await store.journal.save(record);
      await steps.journalled(record.id);
      const strange = await landing.files.write(record, { from: 'before', to: 'after' });
      if (strange.length > 0) await drop();
      return strange;
    } catch (error) {
      if ((await landing.files.neither(record, ['before'])).length === 0) await drop();
      throw error;
    }
  }
}

/** Files, index and branch of a commit go back together or not at all. */
function notMerged(path: string): Conflict {
  return { path, kind: 'committed', message: `${path} was accepted by a commit and edited since` };
}
