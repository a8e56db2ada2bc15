import { join } from 'node:path';
import { toTributaryError } from '../base/errors';
import { type Checkout, caseSettings, inCheckout } from './checkouts';
import { kindOf } from './gitErrors';
import { canGrow, grownTree } from './grownTree';
import { fileAt } from './parsers/pathBytes';
import { type Head, parseStatus } from './parsers/statusV2';
import type { Git } from './plumbing';
import { sharedLinks } from './sharedLinks';
import { settledStampOf, stampOf } from './stampedFiles';
import { statusCommand, type TemporaryIndex, withTemporaryIndex } from './temporaryIndex';
import { treeOfCheckout } from './workTreeState';

interface Look {
  /** Tells whether the checkout's own index, and what git reads beside it, are still those of this look. */
  readonly around: string;
  /** The same of the index that was kept: another process may look at this worktree too. */
  readonly kept: string;
  /** What the kept index holds. */
  readonly tree: string;
  /** How it stood later, with few files that differ from that: none is read again while its stamp is the same. */
  readonly since?: { readonly stamps: string; readonly tree: string };
}

/** How a checkout stands. */
export interface CheckoutLook {
  readonly tree: string;
  /** Where HEAD stood then; absent where the look did not tell. */
  readonly head?: Head;
}

/** How a worktree stands now, told by its last look; `onto` is absent where that cannot tell. */
interface SinceLast {
  /** Nothing changed. */
  readonly tree?: string;
  /** These files did since the index was kept, and nothing else. */
  readonly onto?: { readonly last: Look; readonly paths: readonly string[] };
  readonly head?: Head;
}

/**
 * Remembers how linked worktrees looked when they were last recorded, each as an index in its administration
 * directory: a look at one in which nothing has changed costs a single git, and one in which files were edited or
 * added does not begin from the start. In memory only: what another process left there is never trusted.
 */
export class LastLooks {
  private readonly git: Git;
  private readonly looks = new Map<string, Look>();

  constructor(git: Git) {
    this.git = git;
  }

  /** The tree of what stands in a checkout, as `treeOfCheckout` finds it. */
  async treeOf(checkout: Checkout, signal?: AbortSignal): Promise<string> {
    return (await this.look(checkout, signal)).tree;
  }

  /** The same, with what git said on the way. */
  async look(checkout: Checkout, signal?: AbortSignal): Promise<CheckoutLook> {
    const { tree, onto, head } = await this.sinceLast(checkout, signal);
    const known = onto === undefined ? tree : await this.onto(checkout, onto, signal);
    if (known !== undefined && (await this.isThere(checkout, known, signal)))
      return { tree: known, ...(head === undefined ? {} : { head }) };
    return { tree: await treeOfCheckout(this.git, checkout, signal, await this.begin(checkout)) };
  }

  /** What no ref names may be thrown away by a `git gc`; git is asked only where it lies in no file of its own. */
  private async isThere(checkout: Checkout, tree: string, signal: AbortSignal | undefined): Promise<boolean> {
    const file = join(checkout.commonDir, 'objects', tree.slice(0, 2), tree.slice(2));
    if ((await stampOf(file)) !== '') return true;
    const args = ['cat-file', '-e', tree];
    return (await this.git({ ...inCheckout(checkout), args, okCodes: [0, 1, 128], signal })).exitCode === 0;
  }

  private async sinceLast(checkout: Checkout, signal: AbortSignal | undefined): Promise<SinceLast> {
    const last = this.looks.get(checkout.gitDir);
    if (last === undefined || !(await holds(last, checkout))) return {};
    const { stdout } = await this.git({
      ...inCheckout(checkout, keptAt(checkout)),
      args: [...statusCommand.args, '--branch', '--no-ahead-behind'],
      config: [...(await caseSettings(checkout.workTree)), ...(statusCommand.config ?? [])],
      signal,
    });
    const { modified, deleted, untracked, isUnmerged, head } = parseStatus(stdout);
    const links = await sharedLinks(checkout);
    const changed = [...modified, ...deleted, ...untracked].filter((path) => !links.has(path));
    const found = head === undefined ? {} : { head };
    if (changed.length === 0) return { tree: last.tree, ...found };
    const isPlain = !isUnmerged && deleted.length === 0 && !changed.some(decidesMore);
    return isPlain ? { onto: { last, paths: changed }, ...found } : {};
  }

  /** The last look with these files as they stand now; `undefined`: the whole has to be looked at. */
  private async onto(
    checkout: Checkout,
    at: { readonly last: Look; readonly paths: readonly string[] },
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    try {
      return await (canGrow(at.paths)
        ? this.grown(checkout, at, signal)
        : this.recorded(checkout, at, signal));
    } catch (error) {
      // Files, or what was kept, went away or changed meanwhile: whoever looks from the start tries again.
      if (kindOf(error) === 'moving' || toTributaryError(error).code === 'stale') return undefined;
      throw error;
    }
  }

  /** Few files: what was kept is left as it is. */
  private async grown(
    checkout: Checkout,
    { last, paths }: { last: Look; paths: readonly string[] },
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    // An index that went away meanwhile looked like an empty one.
    if (!(await holds(last, checkout))) return undefined;
    // Before they are read.
    const stamps = await settledStamps(checkout.workTree, paths);
    if (stamps !== undefined && stamps === last.since?.stamps) return last.since.tree;
    const tree = await grownTree({ git: this.git, checkout, signal }, last.tree, paths);
    const { since: _, ...kept } = last;
    this.looks.set(checkout.gitDir, stamps === undefined ? kept : { ...kept, since: { stamps, tree } });
    return tree;
  }

  /** Many: what is kept is made anew. It stays whole if this is cut off, and is then no longer trusted. */
  private async recorded(
    checkout: Checkout,
    { last, paths }: { last: Look; paths: readonly string[] },
    signal: AbortSignal | undefined,
  ): Promise<string> {
    this.looks.delete(checkout.gitDir);
    const deps = { git: this.git, checkout, signal, from: keptAt(checkout) };
    return withTemporaryIndex(deps, async (index) => {
      await index.record(paths);
      const tree = await index.writeTree();
      await index.moveTo(keptAt(checkout));
      await this.remember(checkout, tree, last.around);
      return tree;
    });
  }

  /** Begins a look; what it answers is called with the index that came out of it, if that holds all there is. */
  private async begin(checkout: Checkout): Promise<(index: TemporaryIndex, tree: string) => Promise<void>> {
    this.looks.delete(checkout.gitDir);
    const around = await aroundOf(checkout);
    return async (index, tree) => {
      // The main worktree is the user's: nothing is written there.
      if (checkout.gitDir === checkout.commonDir) return;
      await index.copyTo(keptAt(checkout));
      await this.remember(checkout, tree, around);
    };
  }

  private async remember(checkout: Checkout, tree: string, around: string): Promise<void> {
    this.looks.set(checkout.gitDir, { around, tree, kept: await stampOf(keptAt(checkout)) });
  }
}

/** Tells whether files, and which, are still as they were; `undefined` for one that was written just now. */
async function settledStamps(root: string, paths: readonly string[]): Promise<string | undefined> {
  const stamps: string[] = [];
  for (const path of paths) {
    const stamp = await settledStampOf(fileAt(root, path));
    if (stamp === undefined) return undefined;
    stamps.push(`${path}\0${stamp}`);
  }
  return stamps.join('\0');
}

/** Whether what the look stands on is as it was. */
async function holds(last: Look, checkout: Checkout): Promise<boolean> {
  const [around, kept] = await Promise.all([aroundOf(checkout), stampOf(keptAt(checkout))]);
  return last.around === around && last.kept === kept;
}

/** Repositories inside, and files that decide what is ignored or how others are recorded. */
function decidesMore(path: string): boolean {
  return path.endsWith('/') || /(?:^|\/)\.git(?:ignore|attributes|modules)$/i.test(path);
}

function keptAt(checkout: Checkout): string {
  return join(checkout.gitDir, 'tributary-index');
}

/** Files that decide, beside those of the checkout itself, what a look finds. */
async function aroundOf({ gitDir, commonDir }: Checkout): Promise<string> {
  const shared = ['config', 'info/exclude', 'info/attributes'].map((name) => join(commonDir, name));
  const own = ['index', 'config.worktree'].map((name) => join(gitDir, name));
  return (await Promise.all([...own, ...shared].map(stampOf))).join('\n');
}
