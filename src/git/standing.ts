import type { Stats } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { ancestorsOf } from './checkoutFiles';
import { unlessMissing } from './checkouts';
import type { SpecialEntry } from './parsers/lsFiles';
import { decodePath, fileAt } from './parsers/pathBytes';
import type { TemporaryIndex } from './temporaryIndex';

/** What stands at a path of a checkout, whatever git knows or hides of it. */
export type Standing =
  | { readonly kind: 'file' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'folder' }
  /** Neither file, link nor folder. */
  | { readonly kind: 'special' }
  /** A file or link stands where a folder would have to be. */
  | { readonly kind: 'blocked'; readonly by: string }
  /** The path lies inside a submodule. */
  | { readonly kind: 'submodule'; readonly at: string };

/**
 * Records into the index what stands on disk at `paths`: ignored, untracked and hidden files too, and files
 * that block a folder. What a sparse checkout left out keeps its entry. Submodules are left alone.
 */
export async function recordStanding(
  index: TemporaryIndex,
  paths: readonly string[],
  special: readonly SpecialEntry[],
): Promise<Map<string, Standing>> {
  const gitlinks = new Set(special.filter((entry) => entry.isGitlink).map((entry) => entry.path));
  const sparse = new Set(special.filter((entry) => entry.isSkipWorktree).map((entry) => entry.path));
  const found = new Map<string, Standing>();
  const recorded = new Set<string>();
  const dropped: string[] = [];
  for (const path of paths) {
    const standing = await standingAt(index.checkout.workTree, path, gitlinks);
    found.set(path, standing);
    if (gitlinks.has(path)) continue;
    if (standing.kind === 'file') recorded.add(path);
    else if (standing.kind === 'blocked') recorded.add(standing.by);
    if (standing.kind === 'missing' && sparse.has(path)) continue;
    if (standing.kind !== 'file' && standing.kind !== 'submodule') dropped.push(path);
  }
  await index.drop(dropped);
  await index.record([...recorded]);
  return found;
}

/**
 * The first file or empty folder below a folder that is not among `expected`; the folder itself, empty, is in
 * nobody's way.
 */
export async function findForeign(
  root: string,
  folder: string,
  expected: ReadonlySet<string>,
): Promise<string | undefined> {
  const names = (await readdir(fileAt(root, folder), { encoding: 'buffer' }).catch(unlessMissing)) ?? [];
  for (const name of names.map(decodePath)) {
    const path = `${folder}/${name}`;
    if (expected.has(path)) continue;
    if (!(await isFullFolder(root, path))) return path;
    const foreign = await findForeign(root, path, expected);
    if (foreign !== undefined) return foreign;
  }
  return undefined;
}

async function isFullFolder(root: string, path: string): Promise<boolean> {
  if (!(await lstat(fileAt(root, path)).catch(unlessMissing))?.isDirectory()) return false;
  return ((await readdir(fileAt(root, path)).catch(unlessMissing)) ?? []).length > 0;
}

/** Walks down to a path without following a link. */
export async function standingAt(
  root: string,
  path: string,
  gitlinks: ReadonlySet<string>,
): Promise<Standing> {
  for (const ancestor of ancestorsOf(path).reverse()) {
    if (gitlinks.has(ancestor)) return { kind: 'submodule', at: ancestor };
    const stats = await lstat(fileAt(root, ancestor)).catch(unlessMissing);
    if (stats === undefined) return { kind: 'missing' };
    if (!stats.isDirectory()) {
      return isFileLike(stats) ? { kind: 'blocked', by: ancestor } : { kind: 'special' };
    }
  }
  const stats = await lstat(fileAt(root, path)).catch(unlessMissing);
  if (stats === undefined) return { kind: 'missing' };
  if (stats.isDirectory()) return { kind: 'folder' };
  return isFileLike(stats) ? { kind: 'file' } : { kind: 'special' };
}

function isFileLike(stats: Stats): boolean {
  return stats.isFile() || stats.isSymbolicLink();
}
