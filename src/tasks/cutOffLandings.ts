import { TributaryError } from '../base/errors';
import type { Merges } from '../git/merges';
import type { LandingId } from '../model/ids';
import { type LandingRecord, pathsOf } from '../model/landing';
import type { Store } from '../store/store';
import { type LandingFiles, type Side, writingOrder } from './landingFiles';
import type { LandingModes } from './landingModes';

export interface CutOffLandingsDeps {
  readonly merges: Pick<Merges, 'sweep'>;
  readonly modes: LandingModes;
  readonly files: LandingFiles;
  readonly store: Pick<Store, 'journal' | 'locks'>;
}

/** What became of a Landing that was cut off. */
export interface FinishedLanding {
  /** `writing` and `undoing`: HEAD moved just now, so it waits for the next look. */
  readonly state: LandingRecord['state'];
  /** Files that its user edited meanwhile, left as they stand. */
  readonly left: readonly string[];
  readonly isCommitted?: true;
}

/**
 * Finishes a Landing, or an undo, whose process died while it wrote. It goes on where it can; where its user edited
 * files before they were written, it goes back instead, so that all of it can be asked for again. What the user edited
 * is never written over, and never keeps the rest from coming to an end.
 */
export class CutOffLandings {
  private readonly deps: CutOffLandingsDeps;

  constructor(deps: CutOffLandingsDeps) {
    this.deps = deps;
  }

  async finish(id: LandingId): Promise<FinishedLanding> {
    return this.deps.store.locks.withLock('landing', async () => {
      const record = await this.loadIfKept(id);
      if (record === undefined) return { state: 'undone', left: [] };
      const { state, left = [] } = record;
      if (state === 'landed' || state === 'undone') return finishedAs(record, state, left);
      await this.deps.merges.sweep(record.checkout, pathsOf(record));
      await this.deps.modes.sweep(record, this.deps.store.journal.directory(id));
      return this.end(record);
    });
  }

  private async end(record: LandingRecord): Promise<FinishedLanding> {
    const { modes, files } = this.deps;
    const standing = await modes.standing(record);
    // The user went on with it: what stands is theirs, and nothing is left to write.
    if (standing === 'neither' && (await modes.isHeld(record))) return this.ended(record, 'after', []);
    const edited = new Set(await files.neither(record, ['before', 'after']));
    for (;;) {
      const left = pathsOf(record).filter((path) => isHeldBy(path, edited));
      const to = await this.sideFor(record, standing, left);
      const inTheWay = await files.write(record, { from: otherSide(to), to }, new Set(left));
      if (inTheWay.length === 0) return this.endAt(record, { to, standing, left });
      // Edited just now, or something stands where a folder is needed.
      for (const path of inTheWay) edited.add(path);
    }
  }

  /** Index and branch, once the files stand. */
  private async endAt(
    record: LandingRecord,
    { to, standing, left }: { to: Side; standing: Side | 'neither'; left: readonly string[] },
  ): Promise<FinishedLanding> {
    const { modes, store } = this.deps;
    const directory = store.journal.directory(record.id);
    if (standing === 'neither') await modes.unstage(record, directory);
    else if (!(await modes.settle(record, directory, to))) return { state: record.state, left: [] };
    const ended = await this.ended(record, to, left);
    if (record.state === 'writing' && to === 'after' && standing === 'before') await modes.landed(record);
    return ended;
  }

  /** Where it is brought to: on, unless the user went on without it, or edited a file before it was written. */
  private async sideFor(
    record: LandingRecord,
    standing: Side | 'neither',
    left: readonly string[],
  ): Promise<Side> {
    // From another commit: what was begun is taken back.
    if (standing === 'neither') return 'before';
    const on = record.state === 'writing' ? 'after' : 'before';
    if (left.length === 0) return on;
    // The branch moves after the files, and back before them.
    if (standing === 'after') return 'after';
    return (await this.wereWritten(record, on, left)) ? on : otherSide(on);
  }

  /** Whether all of `left` had been written when it was cut off: one after them was, and all of the others before it. */
  private async wereWritten(record: LandingRecord, to: Side, left: readonly string[]): Promise<boolean> {
    const due = new Set(await this.deps.files.neither(record, [to]));
    const order = writingOrder(record, to).flatMap((index) => record.paths[index]?.path ?? []);
    const written = order.filter((path) => !due.has(path));
    const last = order.indexOf(written.at(-1) ?? '');
    return order.every((path, at) =>
      at < last ? !due.has(path) || left.includes(path) : !left.includes(path),
    );
  }

  private async ended(record: LandingRecord, side: Side, left: readonly string[]): Promise<FinishedLanding> {
    const state = side === 'after' ? 'landed' : 'undone';
    await this.deps.store.journal.save({
      ...record,
      state,
      ...(left.length === 0 ? {} : { left: [...left] }),
    });
    return finishedAs(record, state, left);
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
}

function finishedAs(
  { branch }: LandingRecord,
  state: LandingRecord['state'],
  left: readonly string[],
): FinishedLanding {
  return { state, left, ...(branch === undefined ? {} : { isCommitted: true }) };
}

function otherSide(side: Side): Side {
  return side === 'after' ? 'before' : 'after';
}

/** Whether it was edited, or what was edited stands above or below it. */
function isHeldBy(path: string, edited: ReadonlySet<string>): boolean {
  return [...edited].some((one) => one === path || one.startsWith(`${path}/`) || path.startsWith(`${one}/`));
}
