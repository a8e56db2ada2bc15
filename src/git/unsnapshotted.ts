import { readdir } from 'node:fs/promises';
import { allOf } from '../base/async';
import { opened } from '../base/removeTree';
import { type Checkout, inCheckout, unlessMissing } from './checkouts';
import { kindOf } from './gitErrors';
import type { LastLooks } from './lastLook';
import type { AsideFolder } from './movedFiles';
import { parseRawDiff, rawDiffOf } from './parsers/diffTree';
import { decodePath, fileAt, splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { looksLikeGit } from './safePath';
import { withTemporaryIndex } from './temporaryIndex';

export interface SetAsideDeps {
  readonly git: Git;
  readonly looks: LastLooks;
}

/**
 * Moves aside whatever stands in a worktree that is about to be deleted and is not, just so, in the kept commit:
 * ignored files, repositories, later edits, names git refuses. Where git cannot read the worktree, everything.
 */
export async function setAsideUnsnapshotted(
  deps: SetAsideDeps,
  checkout: Checkout,
  to: { keptCommit: string; aside: AsideFolder },
): Promise<void> {
  // Also folders that their owner may not enter or empty.
  await opened(checkout.workTree, () => setAsideOnce(deps, checkout, to));
}

async function setAsideOnce(
  deps: SetAsideDeps,
  checkout: Checkout,
  { keptCommit, aside }: { keptCommit: string; aside: AsideFolder },
): Promise<void> {
  const { workTree } = checkout;
  const known = await knownToGit(deps, checkout, keptCommit);
  if (known === undefined) {
    return setAsideWhole(workTree, aside);
  }
  for (const path of known.notKept) await aside.take(workTree, path);
  // git says nothing of names it refuses, nor of a `.git` beside tracked files: the disk itself has the last word.
  for (const path of await strays(workTree, known.kept)) await aside.take(workTree, path);
}

/** Moves aside all there is, but for the worktree's own `.git`. */
export async function setAsideWhole(workTree: string, aside: AsideFolder): Promise<void> {
  const names = (await readdir(workTree, { encoding: 'buffer' })).map(decodePath);
  for (const name of names.filter((one) => one !== '.git')) await aside.take(workTree, name);
}

/**
 * Paths (folders whole) that git knows to hold something the kept commit does not, and the paths it holds.
 * `undefined`: git cannot tell, be it for a broken index, a missing commit or a filter that fails.
 */
async function knownToGit(
  deps: SetAsideDeps,
  checkout: Checkout,
  keptCommit: string,
): Promise<{ notKept: readonly string[]; kept: ReadonlySet<string> } | undefined> {
  try {
    const notKept = await unsnapshotted(deps, checkout, keptCommit);
    const args = ['ls-tree', '-r', '-z', '--name-only', '--full-tree', keptCommit];
    const kept = new Set(splitPaths((await deps.git({ ...inCheckout(checkout), args })).stdout));
    return { notKept, kept };
  } catch (error) {
    // Only what git itself says: that it cannot be started, say, is no reason to tear a worktree down.
    if (kindOf(error) === undefined) throw error;
    return undefined;
  }
}

async function unsnapshotted(
  { git, looks }: SetAsideDeps,
  checkout: Checkout,
  keptCommit: string,
): Promise<string[]> {
  const { nested, ignored } = await withTemporaryIndex({ git, checkout }, async (index) => {
    const listed = async (...args: string[]): Promise<string[]> =>
      splitPaths((await index.run({ args: ['ls-files', '--others', ...args, '-z'] })).stdout);
    // All of them only read the index.
    const [untracked, special, found] = await allOf([
      listed('--exclude-standard'),
      index.specialEntries(),
      listed('--ignored', '--exclude-standard', '--directory'),
    ]);
    const submodules: string[] = [];
    for (const { path } of special.filter((entry) => entry.isGitlink)) {
      if ((await readdir(fileAt(checkout.workTree, path)).catch(unlessMissing))?.length)
        submodules.push(path);
    }
    return { nested: [...untracked.filter((path) => path.endsWith('/')), ...submodules], ignored: found };
  });
  const tree = await looks.treeOf(checkout);
  const output = await git({ ...inCheckout(checkout), args: rawDiffOf(`${keptCommit}^{tree}`, tree) });
  const edited = parseRawDiff(output.stdout).filter((change) => change.letter !== 'D');
  return [...new Set([...nested, ...ignored, ...edited.map((change) => change.path)])].map((path) =>
    path.replace(/\/$/, ''),
  );
}

/**
 * Files and links that stand on disk and are not in `kept`, and anything some file system takes for `.git`, whole;
 * not the worktree's own `.git`. Level by level, one folder open at a time.
 */
async function strays(root: string, kept: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  const folders = [''];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const place = folder === '' ? root : fileAt(root, folder);
    for (const entry of await readdir(place, { encoding: 'buffer', withFileTypes: true })) {
      const name = decodePath(entry.name);
      const path = folder === '' ? name : `${folder}/${name}`;
      if (path === '.git') continue;
      if (looksLikeGit(name)) found.push(path);
      else if (entry.isDirectory()) folders.push(path);
      // Pipes and sockets hold nothing.
      else if ((entry.isFile() || entry.isSymbolicLink()) && !kept.has(path)) found.push(path);
    }
  }
  return found;
}
