import { lstat, mkdtemp, rm, rmdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { errnoOf, toTributaryError } from '../base/errors';
import {
  ancestorsOf,
  placeFile,
  removeEmptyParents,
  removeFile,
  stampAt,
  standingParent,
} from './checkoutFiles';
import { type Checkout, inCheckout, unlessMissing } from './checkouts';
import { ignoredAmong } from './ignoredFiles';
import { AsideFolder } from './movedFiles';
import { absentMode, gitlinkMode, parseRawDiff, type RawChange, rawDiffOf } from './parsers/diffTree';
import { fileAt, joinPaths, splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { temporaryPrefix, withTemporaryIndex } from './temporaryIndex';
import { treeOfCheckout } from './workTreeState';

/** The paths that were put right, and those that had to give way. */
export interface RestoredFiles {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  readonly aside: readonly string[];
}

export interface RestoreRequest {
  readonly tree: string;
  /** What was kept of the checkout; absent where nobody but us has ever written there. */
  readonly recorded?: string;
  /** Absent where nothing can be in the way. */
  readonly asideDirectory: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** As `Snapshots.restoreFiles`, for a checkout that was found already. */
export async function restoreTree(
  git: Git,
  checkout: Checkout,
  request: RestoreRequest,
): Promise<RestoredFiles> {
  const { changes, stamps } = await lookedAt(git, checkout, request);
  const restoring = new Restoring({ git, checkout, stamps, ...request });
  const gone = changes.filter((change) => change.newMode === absentMode).map((change) => change.path);
  const restored = changes.filter((change) => change.newMode !== absentMode).map((change) => change.path);
  // The other removals wait for the tree's own rules, where it has others.
  const isFirst = changes.some(({ path }) => isRuleFile(path)) ? isInTheWayOf(restored) : () => true;
  for (const path of gone.filter(isFirst)) await restoring.remove(path);
  const added = changes.filter((change) => change.oldMode === absentMode).map((change) => change.path);
  await restoring.clear(added);
  await restoring.checkOut(restored.filter(isRuleFile));
  await restoring.checkOut(restored.filter((path) => !isRuleFile(path)));
  const waiting = gone.filter((path) => !isFirst(path));
  const ignored = await leftByRules(git, checkout, waiting, request.signal);
  for (const path of waiting) if (!ignored.has(path)) await restoring.remove(path);
  const removed = gone.filter((path) => !ignored.has(path));
  return { restored, removed, aside: restoring.taken };
}

/** How the checkout differs from the tree, and what tells of each file there whether it is still what was recorded. */
interface LookedAt {
  readonly changes: readonly RawChange[];
  /** By path; none for what is not recorded. */
  readonly stamps: ReadonlyMap<string, string>;
}

/**
 * Stamps are taken before the look for what the recorded tree tells, so that whatever is written from then on either
 * shows in the look or has another stamp.
 */
async function lookedAt(
  git: Git,
  checkout: Checkout,
  { tree, recorded, signal }: RestoreRequest,
): Promise<LookedAt> {
  const differing = async (from: string, to: string): Promise<RawChange[]> => {
    const output = await git({ ...inCheckout(checkout), args: rawDiffOf(from, to), signal });
    return parseRawDiff(output.stdout).filter((change) => !touchesGitlink(change));
  };
  const planned = recorded === undefined ? [] : await differing(recorded, tree);
  const stamps = await stampsOf(checkout.workTree, planned);
  const current = await treeOfCheckout(git, checkout, signal);
  const changes = await differing(current, tree);
  if (recorded === undefined) return { changes, stamps: await stampsOf(checkout.workTree, changes) };
  const edited = await differing(`${recorded}^{tree}`, current);
  for (const { path } of edited) stamps.delete(path);
  return { changes, stamps };
}

async function stampsOf(root: string, changes: readonly RawChange[]): Promise<Map<string, string>> {
  const stamps = new Map<string, string>();
  for (const { path, oldMode } of changes)
    if (oldMode !== absentMode) stamps.set(path, await stampAt(fileAt(root, path)));
  return stamps;
}

/** Writes and removes files of a checkout; what is not recorded gives way to a folder of things set aside. */
class Restoring {
  /** The paths that had to give way. */
  readonly taken: string[] = [];
  private readonly deps: RestoreRequest & LookedAtFiles;
  private readonly aside: AsideFolder | undefined;

  constructor(deps: RestoreRequest & LookedAtFiles) {
    this.deps = deps;
    this.aside = deps.asideDirectory === undefined ? undefined : new AsideFolder(deps.asideDirectory);
  }

  /** Removes a file with the folders that become empty by it, or moves it aside where it is not what was recorded. */
  async remove(path: string): Promise<void> {
    const { stamps, checkout } = this.deps;
    const done = await unlessStale(() => removeFile(checkout.workTree, path, stamps.get(path) ?? ''));
    if (done) return;
    await this.take(path);
    await removeEmptyParents(checkout.workTree, ancestorsOf(path));
  }

  /** Moves aside what stands at paths that nothing recorded stood at, or where one of their folders has to be. */
  async clear(paths: readonly string[]): Promise<void> {
    if (this.aside === undefined) return;
    for (const path of paths) {
      const standing = await inTheWayOf(this.deps.checkout.workTree, path);
      if (standing !== undefined) await this.take(standing);
    }
  }

  /** Lets git write files of the tree beside the checkout, then puts each at its place. */
  async checkOut(paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { git, checkout, tree } = this.deps;
    const folder = await mkdtemp(join(checkout.gitDir, `${temporaryPrefix}${process.pid}-`));
    try {
      await withTemporaryIndex({ git, checkout, isEmpty: true }, async (index) => {
        // A path outside a sparse checkout is restored like any other.
        const config = ['core.sparseCheckout=false'];
        await index.run({ args: ['read-tree', tree], config });
        const args = ['checkout-index', '--force', `--prefix=${folder}/`, '-z', '--stdin'];
        await index.run({ args, config, input: joinPaths(paths) });
      });
      for (const path of paths) await this.place(path, fileAt(folder, path));
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    }
  }

  private async place(path: string, from: string | Buffer): Promise<void> {
    const { checkout, stamps } = this.deps;
    const put = (over: string): Promise<void> => placeFile(checkout.workTree, path, { from, over });
    if (await unlessStale(() => put(stamps.get(path) ?? ''))) return;
    await this.clear([path]);
    await put('');
  }

  private async take(path: string): Promise<void> {
    const { workTree } = this.deps.checkout;
    // What is reached through a link is nothing of this checkout.
    if (this.aside === undefined || (await standingParent(workTree, path)) !== 'folder') return;
    await this.aside.take(workTree, path);
    this.taken.push(path);
  }
}

interface LookedAtFiles {
  readonly git: Git;
  readonly checkout: Checkout;
  readonly stamps: ReadonlyMap<string, string>;
}

/** Whether it was done; `false`: what stands there is not what was looked at. */
async function unlessStale(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (toTributaryError(error).code === 'stale') return false;
    throw error;
  }
}

/**
 * Those of `paths` that the rules which stand now ignore, and the index does not name: no part of what a Snapshot
 * records, they stay like any ignored file.
 */
async function leftByRules(
  git: Git,
  checkout: Checkout,
  paths: readonly string[],
  signal: AbortSignal | undefined,
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const listed = await git({ ...inCheckout(checkout), args: ['ls-files', '-z'], signal });
  const named = new Set(splitPaths(listed.stdout));
  const untracked = paths.filter((path) => !named.has(path));
  return ignoredAmong({ git, checkout, signal, isIndexAsked: false }, untracked);
}

/** What decides which files are recorded, and how others are written. */
function isRuleFile(path: string): boolean {
  return ['.gitignore', '.gitattributes'].includes(basename(path));
}

/** Whether a file has to go before `restored` are written: a folder takes its name, or a file that of its folder. */
function isInTheWayOf(restored: readonly string[]): (path: string) => boolean {
  const files = new Set(restored);
  const folders = new Set(restored.flatMap(ancestorsOf));
  return (path) =>
    isRuleFile(path) || folders.has(path) || ancestorsOf(path).some((folder) => files.has(folder));
}

/** `path` itself, or what is no folder above it; an empty folder just goes. */
async function inTheWayOf(root: string, path: string): Promise<string | undefined> {
  for (const ancestor of ancestorsOf(path).reverse()) {
    const stats = await lstat(fileAt(root, ancestor)).catch(unlessMissing);
    if (stats === undefined) return undefined;
    if (!stats.isDirectory()) return ancestor;
  }
  const stats = await lstat(fileAt(root, path)).catch(unlessMissing);
  if (stats === undefined) return undefined;
  if (!stats.isDirectory()) return path;
  try {
    await rmdir(fileAt(root, path));
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'ENOTEMPTY' && errno !== 'EEXIST') throw error;
    return path;
  }
}

function touchesGitlink(change: RawChange): boolean {
  return change.oldMode === gitlinkMode || change.newMode === gitlinkMode;
}
