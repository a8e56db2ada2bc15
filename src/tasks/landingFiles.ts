import { toTributaryError } from '../base/errors';
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
   * Brings every path but `left` from one side to the other, each looked at once more right before its rename. A path
   * that is neither, or whose place is taken, or a failure, takes back what this call wrote. Answers these paths.
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
        if (!isAt(now, one[from]) || !(await this.couldPut(record, index, to))) {
          await this.takeBack(record, written, from);
          return [one.path];
        }
        written.push(index);
      }
      await this.putFolders(record, to);
      return [];
    } catch (error) {
      await this.takeBack(record, written, from);
      throw error;
    }
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

  /** `false`: something stands in the way. */
  private async couldPut(record: LandingRecord, index: number, to: Side): Promise<boolean> {
    const put = this.putAll(record, [index], to).then(() => true);
    return (await unlessStale(put)) ?? false;
  }

  /** `undefined`: something that is no file stands there. */
  private standing({ checkout }: LandingRecord, path: string): Promise<LandedSide | undefined> {
    return unlessStale(this.deps.merges.sideOf(checkout, path));
  }

  /** The side that stood before a Landing has its folders; of one that undoes another, that is the side after. */
  private async putFolders({ checkout, undoes, folders = [] }: LandingRecord, to: Side): Promise<void> {
    if ((undoes === undefined) === (to === 'before')) await this.deps.merges.putFolders(checkout, folders);
  }

  private async takeBack(record: LandingRecord, written: readonly number[], to: Side): Promise<void> {
    await this.putAll(record, [...written].reverse(), to);
    await this.putFolders(record, to);
  }

  private async putAll(record: LandingRecord, indexes: readonly number[], side: Side): Promise<void> {
    const { checkout, folders = [] } = record;
    const { merges, store } = this.deps;
    const directory = store.journal.directory(record.id);
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
}

async function unlessStale<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (toTributaryError(error).code === 'stale') return undefined;
    throw error;
  }
}

function isAt(now: LandedSide | undefined, side: LandedSide): boolean {
  return now !== undefined && sameSide(now, side);
}

/** Removals first, deepest first: a file may give way to a folder of the same name, or the reverse. */
export function writingOrder(record: LandingRecord, to: Side): number[] {
  const rank = (index: number): number => {
    const one = record.paths[index];
    return one !== undefined && one[to].kind === 'absent' ? -one.path.length : 1;
  };
  return record.paths.map((_, index) => index).sort((a, b) => rank(a) - rank(b));
}
