import { lstat, readdir, rmdir, unlink, utimes } from 'node:fs/promises';
import { allOf } from '../base/async';
import { errnoOf } from '../base/errors';
import { opened } from '../base/removeTree';
import { unlessMissing } from './checkouts';
import { decodePath, fileAt } from './parsers/pathBytes';

/** A folder is looked through again this often while others write into it; then it is kept as it is. */
const rounds = 10;
/** Files of one folder that are looked at side by side. */
const abreast = 32;

/** What is to be deleted of a folder. */
export interface EmptiedFolder {
  /** A time of its own file system (`timeOf`), in ns: what was written since is no part of what may go. */
  readonly since: bigint;
  /** Moves away what was written since, by its path in the folder: a file, a link, or a folder others write into. */
  readonly keep: (path: string) => Promise<void>;
  /** Stays at the top. */
  readonly keptName?: string;
}

/** The time of the file system that a folder is on, in ns; the folder gets it as time of its last change of status. */
export async function timeOf(folder: string): Promise<bigint> {
  const { atime, mtime } = await lstat(folder);
  await utimes(folder, atime, mtime);
  return (await lstat(folder, { bigint: true })).ctimeNs;
}

/**
 * Deletes what lies in a folder, but for `keptName`; links are unlinked, never followed; folders without rights do
 * not stop it. Whoever stands in it may go on writing: that is kept, whenever it comes. Names need not be UTF-8.
 */
export function emptyFolder(root: string, what: EmptiedFolder): Promise<void> {
  return opened(root, () => empty(root, '', what));
}

/** The same, and the folder goes; none there is no error. */
export async function removeEmptied(root: string, what: EmptiedFolder): Promise<void> {
  await opened(root, () => removeFolder(root, '', what));
}

async function empty(root: string, path: string, what: EmptiedFolder): Promise<void> {
  const place = placeOf(root, path);
  // Right before it is read: what was a folder may be a link by now.
  if (!(await lstat(place).catch(unlessMissing))?.isDirectory()) return;
  const files: string[] = [];
  const folders: string[] = [];
  for (const entry of await readdir(place, { encoding: 'buffer', withFileTypes: true })) {
    const name = decodePath(entry.name);
    if (path === '' && name === what.keptName) continue;
    (entry.isDirectory() ? folders : files).push(path === '' ? name : `${path}/${name}`);
  }
  for (let at = 0; at < files.length; at += abreast)
    await allOf(files.slice(at, at + abreast).map((file) => removeFile(root, file, what)));
  for (const folder of folders) await removeFolder(root, folder, what);
}

async function removeFile(root: string, path: string, { since, keep }: EmptiedFolder): Promise<void> {
  const place = placeOf(root, path);
  const stats = await lstat(place, { bigint: true }).catch(unlessMissing);
  if (stats === undefined || stats.isDirectory()) return;
  // Pipes and sockets hold nothing.
  const isKept = stats.ctimeNs >= since && (stats.isFile() || stats.isSymbolicLink());
  if (isKept) await keep(path);
  else await unlink(place).catch(unlessMissing);
}

/** Throws what says that the root is not empty, where others never cease to write into it. */
async function removeFolder(root: string, path: string, what: EmptiedFolder): Promise<void> {
  const place = placeOf(root, path);
  for (let round = 1; ; round += 1) {
    await empty(root, path, what);
    try {
      return await rmdir(place);
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      if (errno === 'ENOENT') return;
      // A file or link took its place.
      if (errno === 'ENOTDIR') return removeFile(root, path, what);
      if (!['ENOTEMPTY', 'EEXIST'].includes(errno)) throw error;
      if (round < rounds) continue;
      if (path === '') throw error;
      // Whoever writes there goes on in it, out of the way.
      return what.keep(path);
    }
  }
}

function placeOf(root: string, path: string): string | Buffer {
  return path === '' ? root : fileAt(root, path);
}
