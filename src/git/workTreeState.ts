import { lstat, readdir } from 'node:fs/promises';
import { allOf } from '../base/async';
import { type Checkout, unlessMissing } from './checkouts';
import { kindOf } from './gitErrors';
import type { SpecialEntry } from './parsers/lsFiles';
import { decodePath, fileAt, joinPaths, splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { sharedLinks } from './sharedLinks';
import { hasOwnGit, type TemporaryIndex, withTemporaryIndex } from './temporaryIndex';

/** Looks at a checkout again this often when files change under git's hands. */
const looks = 5;

/**
 * The tree of what stands in a checkout: tracked and untracked files, not ignored ones. Writes objects only.
 * `onPlain` gets an index that holds just this tree, where nothing is hidden, nested or gone.
 */
export async function treeOfCheckout(
  git: Git,
  checkout: Checkout,
  signal?: AbortSignal,
  onPlain?: (index: TemporaryIndex, tree: string) => Promise<void>,
): Promise<string> {
  return withSteadyIndex({ git, checkout, signal }, async (index) => {
    const [special, differences] = await allOf([index.specialEntries(), index.differences()]);
    const { modified, deleted, untracked, isUnmerged } = differences;
    const links = await sharedLinks(checkout);
    const isPlain = !isUnmerged && special.length === 0 && !untracked.some(isFolder);
    const isOdd = !isPlain || (await anyHasOwnGit(checkout.workTree, deleted));
    if (isOdd) return treeOfOddCheckout(index, special, { deleted, links });
    // Before what may stand in their place is recorded. Links are in the index where the agent added them.
    await index.drop([...deleted, ...links]);
    await index.record([...modified, ...untracked].filter((path) => !links.has(path)));
    const tree = await index.writeTree();
    if (deleted.length === 0) await onPlain?.(index, tree);
    return tree;
  });
}

/** Whether a repository has the place of one of these; git tells only of one with a commit. */
async function anyHasOwnGit(root: string, paths: readonly string[]): Promise<boolean> {
  for (const path of paths) if (await hasOwnGit(root, path)) return true;
  return false;
}

/** Where flags hide edits, files are in conflict or repositories stand inside: git has to look again. */
async function treeOfOddCheckout(
  index: TemporaryIndex,
  special: readonly SpecialEntry[],
  { deleted, links }: { deleted: readonly string[]; links: ReadonlySet<string> },
): Promise<string> {
  await index.reveal(special);
  // Before git makes a pointer of a repository that has the place of one.
  await index.drop(deleted);
  await index.drop(await unregistered(index, special));
  // One after the other: what counts as untracked depends on what the index has dropped.
  await recordEdits(index);
  await index.record(await untrackedFiles(index));
  await index.drop([...links]);
  return index.writeTree();
}

/** `withTemporaryIndex`, from the start again when files went away or changed while git read them. */
export async function withSteadyIndex<T>(
  deps: { git: Git; checkout: Checkout; signal?: AbortSignal | undefined },
  body: (index: TemporaryIndex) => Promise<T>,
): Promise<T> {
  for (let look = 1; ; look += 1) {
    try {
      return await withTemporaryIndex(deps, body);
    } catch (error) {
      if (look === looks || kindOf(error) !== 'moving') throw error;
    }
  }
}

/**
 * Brings what the index knows to what stands on disk, also where flags hide it. Answers the entries that were
 * hidden, or are gitlinks, before.
 */
export async function recordTracked(index: TemporaryIndex): Promise<readonly SpecialEntry[]> {
  const special = await index.specialEntries();
  await index.reveal(special);
  await recordEdits(index);
  return special;
}

/** Edits and deletions of tracked files, those outside a sparse checkout too. */
async function recordEdits(index: TemporaryIndex): Promise<void> {
  await index.run({ args: ['add', '--update', '--sparse'] });
}

/** Files git does not know and does not ignore, those inside nested repositories too. */
async function untrackedFiles(index: TemporaryIndex): Promise<string[]> {
  const args = ['ls-files', '--others', '--exclude-standard', '-z'];
  const untracked = splitPaths((await index.run({ args })).stdout);
  const files = untracked.filter((path) => !isFolder(path));
  const nested = untracked.filter(isFolder);
  return [...files, ...(await filesBelow(index, nested))];
}

/** A folder in a list of untracked files is a repository: git would record a pointer to it. */
function isFolder(path: string): boolean {
  return path.endsWith('/');
}

/**
 * Gitlinks whose folder is a repository that `.gitmodules` does not name: no submodule of the project, but one
 * the agent made and staged. Its files are to be recorded, not a pointer.
 */
async function unregistered(index: TemporaryIndex, special: readonly SpecialEntry[]): Promise<string[]> {
  const populated: string[] = [];
  for (const { path, isGitlink } of special) {
    if (isGitlink && (await hasOwnGit(index.checkout.workTree, path))) populated.push(path);
  }
  if (populated.length === 0) return [];
  const registered = await submodulePaths(index);
  return populated.filter((path) => !registered.has(path));
}

/** Paths that `.gitmodules`, as it stands on disk, calls submodules. */
async function submodulePaths(index: TemporaryIndex): Promise<Set<string>> {
  const args = ['config', '-z', '--file', '.gitmodules', '--get-regexp', '^submodule\\..*\\.path$'];
  // 1: none; 128: the file cannot be read as configuration.
  const { stdout } = await index.run({ args, okCodes: [0, 1, 3, 128] });
  return new Set(
    splitPaths(stdout).map((record) => record.slice(record.indexOf('\n') + 1).replace(/\/$/, '')),
  );
}

/** Files below folders, level by level so that ignored folders are not entered; nothing named `.git`. */
async function filesBelow(index: TemporaryIndex, folders: readonly string[]): Promise<string[]> {
  const root = index.checkout.workTree;
  const found: string[] = [];
  let level = folders.map((folder) => folder.replace(/\/$/, ''));
  while (level.length > 0) {
    const entries = (await Promise.all(level.map((folder) => entriesOf(root, folder)))).flat();
    const ignored = await ignoredAmong(index, entries);
    const kept = entries.filter((entry) => !ignored.has(entry.path));
    found.push(...kept.filter((entry) => !entry.isFolder).map((entry) => entry.path));
    level = kept.filter((entry) => entry.isFolder).map((entry) => entry.path);
  }
  return found;
}

interface Entry {
  readonly path: string;
  readonly isFolder: boolean;
}

async function entriesOf(root: string, folder: string): Promise<Entry[]> {
  const names = (await readdir(fileAt(root, folder), { encoding: 'buffer' }).catch(unlessMissing)) ?? [];
  const entries: Entry[] = [];
  for (const name of names.map(decodePath)) {
    if (name === '.git') continue;
    const path = `${folder}/${name}`;
    const stats = await lstat(fileAt(root, path)).catch(unlessMissing);
    if (stats?.isDirectory()) entries.push({ path, isFolder: true });
    else if (stats?.isFile() || stats?.isSymbolicLink()) entries.push({ path, isFolder: false });
  }
  return entries;
}

/** Those entries that ignore rules of any folder above them leave out. */
async function ignoredAmong(index: TemporaryIndex, entries: readonly Entry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const { stdout } = await index.run({
    args: ['check-ignore', '--no-index', '-z', '--stdin'],
    // It refuses literal pathspecs; the leading `./` keeps a colon at the start from being magic.
    env: { GIT_LITERAL_PATHSPECS: '0' },
    input: joinPaths(entries.map((entry) => `./${entry.path}`)),
    okCodes: [0, 1],
  });
  return new Set(splitPaths(stdout).map((path) => path.slice('./'.length)));
}
