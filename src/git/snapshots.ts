import { lstat, rmdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { errnoOf, TributaryError } from '../base/errors';
import { ancestorsOf, removeFile } from './checkoutFiles';
import { type Checkout, inCheckout, locateCheckout, unlessMissing } from './checkouts';
import { kindOf } from './gitErrors';
import { ignoredAmong } from './ignoredFiles';
import type { CheckoutLook, LastLooks } from './lastLook';
import { AsideFolder } from './movedFiles';
import { zeroName } from './objectNames';
import { absentMode, gitlinkMode, parseRawDiff, type RawChange, rawDiffOf } from './parsers/diffTree';
import { fileAt, joinPaths, splitPaths } from './parsers/pathBytes';
import type { Head } from './parsers/statusV2';
import { type Git, type GitOutput, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { withTemporaryIndex } from './temporaryIndex';
import { treeOfCheckout } from './workTreeState';

/** A full state of a Worktree: what `take` recorded. */
export interface TakenSnapshot {
  readonly ref: string;
  readonly commit: string;
  readonly tree: string;
  readonly headCommit: string;
  /** The branch the Worktree's HEAD is on; absent when detached. */
  readonly headRef?: string;
}

/**
 * Records and restores a Worktree's files (tracked and untracked, not ignored) through a temporary index;
 * branch, index, stash and hooks are never touched.
 */
export interface Snapshots {
  /** The tree of what stands in the Worktree now; objects are written, no ref. */
  treeOf(worktreePath: string, signal?: AbortSignal): Promise<string>;
  /** The same with what else is known of that moment, for `take`. */
  look(worktreePath: string, signal?: AbortSignal): Promise<CheckoutLook>;
  /**
   * Commits the tree of `look` (default: of a look now) under `refs/tributary/<taskId>/<number>`. Parents: the Worktree's
   * HEAD commit first, so that the agent's own commits stay reachable, then `previous` if given. On a branch
   * without a commit `previous`, or else `base`, takes the place of HEAD.
   */
  take(request: {
    worktreePath: string;
    taskId: string;
    number: number;
    message: string;
    look?: CheckoutLook;
    previous?: string;
    base?: string;
    signal?: AbortSignal;
  }): Promise<TakenSnapshot>;
  /**
   * Makes the Worktree's files equal `tree`: changed and deleted files come back, files that `tree` does not
   * have are removed, except what git or the ignore rules in `tree` ignore. What no tree holds and stands in the way, as ignored files and
   * repositories may, is moved to `asideDirectory`. Index and branch stay. Answers the paths that were put right.
   */
  restoreFiles(worktreePath: string, tree: string, asideDirectory: string): Promise<RestoredFiles>;
}

/** The paths that were put right, and those that had to give way. */
export interface RestoredFiles {
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  readonly aside: readonly string[];
}

export class GitSnapshots implements Snapshots {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly looks: LastLooks;

  constructor(deps: { git: Git; facts: RepositoryFacts; looks: LastLooks }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.looks = deps.looks;
  }

  async treeOf(worktreePath: string, signal?: AbortSignal): Promise<string> {
    return this.looks.treeOf(await locateCheckout(this.facts, worktreePath), signal);
  }

  async look(worktreePath: string, signal?: AbortSignal): Promise<CheckoutLook> {
    return this.looks.look(await locateCheckout(this.facts, worktreePath), signal);
  }

  async take(request: Parameters<Snapshots['take']>[0]): Promise<TakenSnapshot> {
    const { worktreePath, taskId, number, signal } = request;
    const checkout = await locateCheckout(this.facts, worktreePath);
    const look = request.look ?? (await this.looks.look(checkout, signal));
    const { tree } = look;
    const head = look.head ?? (await headOf(this.git, checkout, signal));
    // Without one after an agent's `checkout --orphan`, say.
    const headCommit = head.commit ?? request.previous ?? request.base;
    if (headCommit === undefined) {
      throw new TributaryError(
        'unbornBranch',
        `the worktree ${worktreePath} is on a branch without a commit`,
        {
          details: { path: worktreePath },
        },
      );
    }
    const ref = `refs/tributary/${taskId}/${number}`;
    const parents = [headCommit, ...(request.previous === undefined ? [] : [request.previous])];
    const commit = await this.store({ checkout, ref, tree, parents, message: request.message, signal });
    return { ref, commit, tree, headCommit, ...(head.ref === undefined ? {} : { headRef: head.ref }) };
  }

  async restoreFiles(worktreePath: string, tree: string, asideDirectory: string): Promise<RestoredFiles> {
    const checkout = await locateCheckout(this.facts, worktreePath);
    return restoreTree(this.git, checkout, { tree, asideDirectory, signal: undefined });
  }

  /** Commits and names the commit. A name that is taken already is kept reachable as one more parent. */
  private async store(request: {
    checkout: Checkout;
    ref: string;
    tree: string;
    parents: readonly string[];
    message: string;
    signal: AbortSignal | undefined;
  }): Promise<string> {
    const { checkout, ref, signal } = request;
    const place = { ...inCheckout(checkout), signal };
    const commit = await commitTree(this.git, place, request);
    try {
      await this.git({ ...place, args: ['update-ref', ref, commit, zeroName(commit)] });
      return commit;
    } catch (error) {
      if (kindOf(error) !== 'refExists') throw error;
      const taken = lineOf(await this.git({ ...place, args: ['rev-parse', '--verify', ref] }));
      const parents = [...request.parents, taken];
      const joined = await commitTree(this.git, place, { ...request, parents });
      await this.git({ ...place, args: ['update-ref', ref, joined, taken] });
      return joined;
    }
  }
}

/** As `Snapshots.restoreFiles`, for a checkout that was found already; without a folder, nothing can be in the way. */
export async function restoreTree(
  git: Git,
  checkout: Checkout,
  {
    tree,
    asideDirectory,
    signal,
  }: { tree: string; asideDirectory: string | undefined; signal: AbortSignal | undefined },
): Promise<RestoredFiles> {
  const current = await treeOfCheckout(git, checkout, signal);
  const output = await git({ ...inCheckout(checkout), args: rawDiffOf(current, tree), signal });
  const changes = parseRawDiff(output.stdout).filter((change) => !touchesGitlink(change));
  const gone = changes.filter((change) => change.newMode === absentMode).map((change) => change.path);
  const restored = changes.filter((change) => change.newMode !== absentMode).map((change) => change.path);
  // The other removals wait for the tree's own ignore rules, where it has others.
  const isFirst = hasOtherRules(changes) ? isInTheWayOf(restored) : () => true;
  for (const path of gone.filter(isFirst)) await removeFile(checkout.workTree, path);
  const added = changes.filter((change) => change.oldMode === absentMode).map((change) => change.path);
  const aside = asideDirectory === undefined ? [] : await clear(checkout.workTree, added, asideDirectory);
  if (restored.length > 0) await checkOut(git, checkout, { tree, paths: restored });
  const waiting = gone.filter((path) => !isFirst(path));
  const ignored = await leftByRules(git, checkout, waiting, signal);
  for (const path of waiting) if (!ignored.has(path)) await removeFile(checkout.workTree, path);
  const removed = gone.filter((path) => !ignored.has(path));
  return { restored, removed, aside };
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

function hasOtherRules(changes: readonly RawChange[]): boolean {
  return changes.some(({ path }) => isIgnoreFile(path));
}

function isIgnoreFile(path: string): boolean {
  return basename(path) === '.gitignore';
}

/** Whether a file has to go before `restored` are written: a folder takes its name, or a file that of its folder. */
function isInTheWayOf(restored: readonly string[]): (path: string) => boolean {
  const files = new Set(restored);
  const folders = new Set(restored.flatMap(ancestorsOf));
  return (path) =>
    isIgnoreFile(path) || folders.has(path) || ancestorsOf(path).some((folder) => files.has(folder));
}

/** Moves aside what stands at paths that nothing recorded stood at, or where one of their folders has to be. */
async function clear(root: string, paths: readonly string[], asideDirectory: string): Promise<string[]> {
  const aside = new AsideFolder(asideDirectory);
  const taken: string[] = [];
  for (const path of paths) {
    const standing = await inTheWayOf(root, path);
    if (standing === undefined) continue;
    await aside.take(root, standing);
    taken.push(standing);
  }
  return taken;
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

/** Writes some files of a tree over what stands there; links in place of folders are replaced, not followed. */
async function checkOut(
  git: Git,
  checkout: Checkout,
  { tree, paths }: { tree: string; paths: readonly string[] },
): Promise<void> {
  await withTemporaryIndex({ git, checkout, isEmpty: true }, async (index) => {
    // A path outside a sparse checkout is restored like any other.
    const config = ['core.sparseCheckout=false'];
    await index.run({ args: ['read-tree', tree], config });
    const args = ['checkout-index', '--force', '-z', '--stdin'];
    await index.run({ args, config, input: joinPaths(paths) });
  });
}

/** Where HEAD stands, asked of git. */
export async function headOf(git: Git, checkout: Checkout, signal: AbortSignal | undefined): Promise<Head> {
  const both = await git({
    ...inCheckout(checkout),
    args: ['rev-parse', '--quiet', 'HEAD^{commit}', '--symbolic-full-name', 'HEAD'],
    okCodes: [0, 1, 128],
    signal,
  });
  const [name, symbolic] = both.exitCode === 0 ? lineOf(both).split('\n') : [];
  if (name !== undefined && symbolic?.startsWith('refs/')) return { commit: name, ref: symbolic };
  // Detached, or on a branch without a commit.
  const ask = (...args: string[]): Promise<GitOutput> =>
    git({ ...inCheckout(checkout), args, okCodes: [0, 1, 128], signal });
  const [ref, commit] = await Promise.all([
    ask('symbolic-ref', '--quiet', 'HEAD'),
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
  ]);
  return {
    ...(commit.exitCode === 0 ? { commit: lineOf(commit) } : {}),
    ...(ref.exitCode === 0 ? { ref: lineOf(ref) } : {}),
  };
}

/** Writes a commit object; no ref moves, nothing is signed. */
export async function commitTree(
  git: Git,
  place: Pick<Parameters<Git>[0], 'cwd' | 'env' | 'signal'>,
  commit: { tree: string; parents: readonly string[]; message: string },
): Promise<string> {
  const parents = [...new Set(commit.parents)].flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', '--no-gpg-sign', ...parents, '-F', '-', `${commit.tree}^{tree}`];
  return lineOf(await git({ ...place, args, input: commit.message }));
}

function touchesGitlink(change: RawChange): boolean {
  return change.oldMode === gitlinkMode || change.newMode === gitlinkMode;
}
