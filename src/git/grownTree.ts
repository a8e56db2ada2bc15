import { TributaryError } from '../base/errors';
import { ancestorsOf } from './checkoutFiles';
import { type Checkout, inCheckout } from './checkouts';
import type { IndexEntry } from './indexInfo';
import { parseStagedEntries } from './parsers/lsFiles';
import { encodePath, isPlainText, joinPaths } from './parsers/pathBytes';
import { folderMode, nameOfTree, parseTree, type TreeEntries, treeInput } from './parsers/treeObject';
import type { Git } from './plumbing';
import { parentOf, withTemporaryIndex } from './temporaryIndex';

export interface GrowingDeps {
  readonly git: Git;
  readonly checkout: Checkout;
  readonly signal: AbortSignal | undefined;
}

/** More files cost more this way than reading and writing the whole index does. */
const mostFiles = 64;

/** Whether `grownTree` can take them: few, and with names that can be arguments. */
export function canGrow(paths: readonly string[]): boolean {
  return paths.length <= mostFiles && paths.every(isPlainText);
}

/**
 * The tree `start` with some files as they stand on disk; objects are written, no file. What it costs depends on these
 * files and their folders, not on how many there are beside. Throws `stale` where a file is a folder in `start`, or the
 * reverse: then the whole has to be looked at.
 */
export async function grownTree(deps: GrowingDeps, start: string, paths: readonly string[]): Promise<string> {
  const folders = foldersOf(paths);
  const trees = await readTrees(deps, start, folders);
  const entries = await recorded(deps, trees, paths);
  for (const path of paths) {
    const siblings = siblingsOf(trees, path);
    const entry = entries.get(path);
    if (entry === undefined) siblings.delete(nameOf(path));
    else siblings.set(nameOf(path), { mode: entry.mode, object: entry.blob });
  }
  return writeTrees(deps, trees, folders);
}

/** Folders above the paths, the deepest first; the last is the root. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set(paths.flatMap(ancestorsOf));
  const depth = (folder: string): number => folder.split('/').length;
  return [...[...folders].sort((a, b) => depth(b) - depth(a)), ''];
}

/** The folders as `start` has them; empty ones where it has none. */
async function readTrees(
  { git, checkout, signal }: GrowingDeps,
  start: string,
  folders: readonly string[],
): Promise<Map<string, TreeEntries>> {
  const specs = folders.map((folder) => `${start}:${folder}`);
  const args = ['cat-file', '--batch', '-z'];
  const { stdout } = await git({ ...inCheckout(checkout), args, input: joinPaths(specs), signal });
  const trees = new Map<string, TreeEntries>();
  let at = 0;
  for (const [index, folder] of folders.entries()) {
    const missing = encodePath(`${specs[index]} missing\n`);
    if (stdout.subarray(at, at + missing.length).equals(missing)) {
      // The root has to be there: what no ref names may have been thrown away.
      if (folder === '') throw otherwise(folder);
      trees.set(folder, new Map());
      at += missing.length;
      continue;
    }
    const end = stdout.indexOf('\n', at);
    const [object = '', type, size] = stdout.toString('latin1', at, end).split(' ');
    if (type !== 'tree') throw otherwise(folder);
    const next = end + 1 + Number(size);
    trees.set(folder, parseTree(stdout.subarray(end + 1, next), object.length / 2));
    at = next + 1;
  }
  // A folder that is named by the one above it and is not there has been thrown away as well.
  for (const folder of folders.filter((one) => one !== ''))
    if (trees.get(folder)?.size === 0 && siblingsOf(trees, folder).has(nameOf(folder)))
      throw otherwise(folder);
  return trees;
}

/**
 * The files as git records them, what is gone left out. Beside its former entry each: that decides on modes, links and
 * line endings where the file system or the configuration does not.
 */
async function recorded(
  deps: GrowingDeps,
  trees: ReadonlyMap<string, TreeEntries>,
  paths: readonly string[],
): Promise<Map<string, Omit<IndexEntry, 'path'>>> {
  const former = paths.flatMap((path) => {
    const entry = siblingsOf(trees, path).get(nameOf(path));
    if (entry?.mode === folderMode) throw otherwise(path);
    return entry === undefined ? [] : ['--cacheinfo', `${entry.mode},${entry.object},${path}`];
  });
  return withTemporaryIndex({ ...deps, isEmpty: true }, async (index) => {
    const options = ['--add', '--remove', '--replace', ...former, '-z', '--stdin'];
    await index.run({ args: ['update-index', ...options], input: joinPaths(paths) });
    const { stdout } = await index.run({ args: ['ls-files', '--stage', '-z'] });
    return parseStagedEntries(stdout, new Set(paths));
  });
}

/** Writes the folders, the deepest first; one that became empty is none. Answers the root. */
async function writeTrees(
  { git, checkout, signal }: GrowingDeps,
  trees: ReadonlyMap<string, TreeEntries>,
  folders: readonly string[],
): Promise<string> {
  const names: string[] = [];
  const input: Buffer[] = [];
  for (const folder of folders) {
    const entries = trees.get(folder) ?? new Map();
    if (folder !== '' && entries.size === 0) {
      siblingsOf(trees, folder).delete(nameOf(folder));
      continue;
    }
    if (entries.size === 0) throw otherwise(folder);
    const object = nameOfTree(entries);
    if (folder !== '') siblingsOf(trees, folder).set(nameOf(folder), { mode: folderMode, object });
    names.push(object);
    // An empty line ends a tree.
    input.push(treeInput(entries), Buffer.from([0]));
  }
  // A folder names those that are written before it.
  const args = ['mktree', '-z', '--batch', '--missing'];
  const { stdout } = await git({ ...inCheckout(checkout), args, input: Buffer.concat(input), signal });
  if (stdout.toString('latin1') !== names.map((name) => `${name}\n`).join('')) throw otherwise('');
  return names.at(-1) ?? '';
}

function siblingsOf(trees: ReadonlyMap<string, TreeEntries>, path: string): TreeEntries {
  const siblings = trees.get(parentOf(path));
  if (siblings === undefined) throw otherwise(path);
  return siblings;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function otherwise(path: string): TributaryError {
  return new TributaryError('stale', `${path} is otherwise than it was`, { details: { path } });
}
