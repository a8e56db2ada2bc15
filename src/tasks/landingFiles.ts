import { TributaryError, toTributaryError } from '../base/errors';
import type { StandingSide } from '../git/checkoutFiles';
import type { Merges } from '../git/merges';
import { type LandedSide, type LandingRecord, sameSide } from '../model/landing';
import type { Store } from '../store/store';

export type Side = 'before' | 'after';

export interface LandingFilesDeps {
  readonly merges: Merges;
  readonly store: Pick<Store, 'journal'>;
}

const none: ReadonlySet<string> = new Set();

/** The files of a journalled Landing: where they stand, and how they come from one side to the other. */
export class LandingFiles {
  private readonly deps: LandingFilesDeps;

  constructor(deps: LandingFilesDeps) {
    this.deps = deps;
  }

  /**
   * Brings every path but `left` from one side to the other. What its user saves after the look at a file is left: a
   * path that is neither side, whose place is taken or that is written meanwhile, or a failure, takes back what this
   * call wrote. Answers these paths. Throws `stale` where one that it wrote was edited by then: that one stays.
   */
  async write(
    record: LandingRecord,
    { from, to }: { readonly from: Side; readonly to: Side },
    left: ReadonlySet<string> = none,
  ): Promise<readonly string[]> {
    const written: number[] = [];
    try {
      for (const index of writingOrder(record, to)) {
        const one = record.paths[index];
        if (one === undefined || left.has(one.path)) continue;
        const now = await this.standing(record, one.path);
        if (isAt(now, one[to])) continue;
        if (now === undefined || !isAt(now, one[from]) || !(await this.couldPut(record, index, now, to))) {
          await this.takeBack(record, written, { from: to, to: from });
          return [one.path];
        }
        written.push(index);
      }
      await this.putFolders(record, to);
      return [];
    } catch (error) {
      await this.takeBack(record, written, { from: to, to: from });
      throw error;
    }
  }

  /** As `write`, of all that was written: what was edited since stays, and throws `stale`. */
  async writeBack(record: LandingRecord): Promise<void> {
    const strange = await this.write(record, { from: 'after', to: 'before' });
    if (strange.length > 0) throw editedMeanwhile(strange);
  }

  /** The paths that stand as none of `sides` says. */
  async neither(record: LandingRecord, sides: readonly Side[]): Promise<string[]> {
    const strange: string[] = [];
    for (const one of record.paths) {
      const now = await this.standing(record, one.path);
      if (!sides.some((side) => isAt(now, one[side]))) strange.push(one.path);
    }
    return strange;
  }

  /** `false`: something stands in the way, or was saved there just now. */
  private async couldPut(
    record: LandingRecord,
    index: number,
    { stamp }: StandingSide,
    side: Side,
  ): Promise<boolean> {
    const put = this.put(record, index, { side, over: stamp }).then(() => true);
    return (await unlessStale(put)) ?? false;
  }

  /** `undefined`: something that is no file stands there, or it is written at this moment. */
  private standing({ checkout }: LandingRecord, path: string): Promise<StandingSide | undefined> {
    return unlessStale(this.deps.merges.standing(checkout, path));
  }

  /** The side that stood before a Landing has its folders; of one that undoes another, that is the side after. */
  private async putFolders({ checkout, undoes, folders = [] }: LandingRecord, to: Side): Promise<void> {
    if ((undoes === undefined) === (to === 'before')) await this.deps.merges.putFolders(checkout, folders);
  }

  private async takeBack(
    record: LandingRecord,
    written: readonly number[],
    { from, to }: { readonly from: Side; readonly to: Side },
  ): Promise<void> {
    const edited: string[] = [];
    for (const index of [...written].reverse()) {
      const one = record.paths[index];
      if (one === undefined) continue;
      const now = await this.standing(record, one.path);
      if (now === undefined || !isAt(now, one[from])) edited.push(one.path);
      else await this.put(record, index, { side: to, over: now.stamp });
    }
    await this.putFolders(record, to);
    if (edited.length > 0) throw editedMeanwhile(edited);
  }

  private async put(record: LandingRecord, index: number, { side, over }: PutAim): Promise<void> {
    const { checkout, folders = [] } = record;
    const { merges, store } = this.deps;
    const one = record.paths[index];
    if (one === undefined) return;
    // Before their files: a folder that is made again gets the mode it had.
    if (side === 'before' && one.before.kind !== 'absent')
      await merges.putFolders(
        checkout,
        folders.filter(({ path }) => one.path.startsWith(`${path}/`)),
      );
    const contentFile = `${store.journal.directory(record.id)}/${side}/${index}`;
    await merges.putSide(checkout, one.path, one[side], { contentFile, over });
  }
}

/** The side to put, over what had this stamp when it was looked at. */
interface PutAim {
  readonly side: Side;
  readonly over: string;
}

function editedMeanwhile(paths: readonly string[]): TributaryError {
  const [path = ''] = paths;
  return new TributaryError('stale', `${paths.join(', ')} was edited while it was written, and is left`, {
    details: { path, why: 'it was edited while it was written', paths },
  });
}

async function unlessStale<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (toTributaryError(error).code === 'stale') return undefined;
    throw error;
  }
}

function isAt(now: StandingSide | undefined, side: LandedSide): boolean {
  return now !== undefined && sameSide(now.side, side);
}

/** Removals first, deepest first: a file may give way to a folder of the same name, or the reverse. */
export function writingOrder(record: LandingRecord, to: Side): number[] {
  const rank = (index: number): number => {
    const one = record.paths[index];
    return one !== undefined && one[to].kind === 'absent' ? -one.path.length : 1;
  };
  return record.paths.map((_, index) => index).sort((a, b) => rank(a) - rank(b));
}
