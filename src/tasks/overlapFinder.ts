import { mapBounded } from '../base/async';
import type { ChangeSide, Overlaps } from '../git/overlaps';
import { baseOf } from '../model/movedBase';
import type { BoardOverlaps, Overlap, OverlapPath } from '../model/overlap';
import type { Task } from '../model/task';
import type { OverlapCache } from '../store/store';
import { landingOrder } from './landingOrder';

export interface OverlapFinderDeps {
  readonly overlaps: Overlaps;
  readonly cache: OverlapCache;
}

interface Member {
  readonly task: Task;
  readonly side: ChangeSide;
  readonly paths: readonly string[];
}

/** At most so many git at once. */
const width = 4;

/**
 * Finds which open Tasks touch the same files, and which of those git cannot merge: among themselves and with what
 * the checkout holds. Goes by the newest Snapshots; only changes that share a path are merged, each pair once.
 */
export class OverlapFinder {
  private readonly deps: OverlapFinderDeps;
  private known: ReadonlyMap<string, readonly string[]> | undefined;

  constructor(deps: OverlapFinderDeps) {
    this.deps = deps;
  }

  async among(tasks: readonly Task[]): Promise<BoardOverlaps> {
    const asked = new Memo(await this.remembered());
    const members = (await mapBounded(sidesOf(tasks), width, async (one) => this.member(one, asked))).filter(
      ({ paths }) => paths.length > 0,
    );
    if (members.length === 0) return { overlaps: [], order: [] };
    const pairs = members.flatMap((one, index) =>
      members.slice(index + 1).map((other) => [one, other] as const),
    );
    const [ofPairs, ofCheckout] = await Promise.all([
      mapBounded(pairs, width, ([one, other]) => this.pair(one, other, asked)),
      this.withCheckout(members, asked),
    ]);
    const overlaps = [...ofPairs, ...ofCheckout].flatMap((found) => (found === undefined ? [] : [found]));
    this.known = asked.used;
    if (asked.isNew) await this.deps.cache.save(asked.used);
    return {
      overlaps,
      order: landingOrder(
        members.map(({ task }) => task),
        overlaps,
      ),
    };
  }

  private async remembered(): Promise<ReadonlyMap<string, readonly string[]>> {
    const known = this.known ?? (await this.deps.cache.load());
    this.known = known;
    return known;
  }

  private async member({ task, side }: Omit<Member, 'paths'>, asked: Memo): Promise<Member> {
    return { task, side, paths: await this.changed(side, asked) };
  }

  private changed(side: ChangeSide, asked: Memo): Promise<readonly string[]> {
    return asked.get(`changed ${keyOf(side)}`, () => this.deps.overlaps.changedPaths(side));
  }

  private async pair(one: Member, other: Member, asked: Memo): Promise<Overlap | undefined> {
    const shared = sharedPaths(one.paths, other.paths);
    if (shared.size === 0) return undefined;
    const found = await this.conflicts(one.side, other.side, asked);
    // Between different bases git also sees what these changed: that is no matter of the two Tasks.
    const isAlike = one.side.base === other.side.base;
    const paths = pathsOf(shared, isAlike ? found : found.filter((path) => shared.has(path)));
    return { a: one.task.id, b: other.task.id, paths };
  }

  private async withCheckout(
    members: readonly Member[],
    asked: Memo,
  ): Promise<readonly (Overlap | undefined)[]> {
    const touched = new Set(members.flatMap(({ paths }) => paths));
    const tree = await this.deps.overlaps.checkoutTree([...touched]);
    return mapBounded(members, width, async ({ task, side, paths }) => {
      const ours = { base: side.base, tree };
      const shared = sharedPaths(paths, await this.changed(ours, asked));
      if (shared.size === 0) return undefined;
      return { a: task.id, b: 'checkout', paths: pathsOf(shared, await this.conflicts(ours, side, asked)) };
    });
  }

  private conflicts(one: ChangeSide, other: ChangeSide, asked: Memo): Promise<readonly string[]> {
    const key = `merged ${keyOf(one)} ${keyOf(other)}`;
    return asked.get(key, () => this.deps.overlaps.conflicts(one, other));
  }
}

/** Answers by name: taken from those of an earlier time, else worked out once. `used` is what is worth keeping. */
class Memo {
  readonly used = new Map<string, readonly string[]>();
  isNew = false;
  private readonly before: ReadonlyMap<string, readonly string[]>;
  private readonly running = new Map<string, Promise<readonly string[]>>();

  constructor(before: ReadonlyMap<string, readonly string[]>) {
    this.before = before;
  }

  async get(key: string, ask: () => Promise<readonly string[]>): Promise<readonly string[]> {
    const known = this.before.get(key) ?? this.used.get(key);
    if (known !== undefined) {
      this.used.set(key, known);
      return known;
    }
    const asked = this.running.get(key) ?? ask();
    this.running.set(key, asked);
    const answer = await asked;
    this.used.set(key, answer);
    this.isNew = true;
    return answer;
  }
}

function sidesOf(tasks: readonly Task[]): Omit<Member, 'paths'>[] {
  return tasks.flatMap((task) => {
    const { state, snapshot } = task;
    if (state !== 'open' || snapshot === undefined) return [];
    return [{ task, side: { base: baseOf(task), tree: snapshot.tree } }];
  });
}

function keyOf({ base, tree }: ChangeSide): string {
  return `${base} ${tree}`;
}

/** Paths that both touch, and those where one has a file and the other a folder. */
function sharedPaths(one: readonly string[], other: readonly string[]): ReadonlySet<string> {
  const [files, others] = [new Set(one), new Set(other)];
  const [folders, otherFolders] = [foldersOf(one), foldersOf(other)];
  return new Set([
    ...one.filter((path) => others.has(path) || otherFolders.has(path)),
    ...other.filter((path) => files.has(path) || folders.has(path)),
  ]);
}

function foldersOf(paths: readonly string[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of paths)
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) folders.add(path.slice(0, at));
  return folders;
}

function pathsOf(shared: ReadonlySet<string>, conflicts: readonly string[]): OverlapPath[] {
  const inConflict = new Set(conflicts);
  return [...new Set([...conflicts, ...shared])]
    .toSorted()
    .map((path) => ({ path, kind: inConflict.has(path) ? 'conflict' : 'same' }));
}
