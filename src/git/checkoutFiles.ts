import { createHash, randomBytes } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises';
import { errnoOf, TributaryError } from '../base/errors';
import type { LandedSide } from '../model/landing';
import { unlessMissing } from './checkouts';
import { decodePath, encodePath, fileAt } from './parsers/pathBytes';
import { whyUnsafe } from './safePath';
import { wholeStamp } from './stampedFiles';

type FilePath = string | Buffer;

/** A name of a file on its way to its place, which nobody else has; see `writeSide`. */
export function temporaryName(): string {
  return `.tributary-${randomBytes(8).toString('hex')}.tmp`;
}

export function isTemporaryName(name: string): boolean {
  return /^\.tributary-[0-9a-f]{16}\.tmp$/.test(name);
}

/** What stands at a path, and what tells whether something was written there since. */
export interface StandingSide {
  readonly side: LandedSide;
  readonly stamp: string;
}

/** As `readSide`, of one moment: throws `stale` for what is written while it is read. */
export async function readStanding(root: string, path: string): Promise<StandingSide> {
  refuseUnsafe(path);
  const file = fileAt(root, path);
  const stamp = await stampAt(file);
  const side = await readSide(root, path);
  if (stamp !== (await stampAt(file))) throw stale(path, 'it is being written');
  return { side, stamp };
}

/** Empty where no file or link stands. What is below a link or a file has one, and is refused when it is written. */
export async function stampAt(file: FilePath): Promise<string> {
  const stats = await lstat(file, { bigint: true }).catch(unlessMissing);
  if (stats === undefined || stats.isDirectory()) return '';
  return wholeStamp(stats);
}

/**
 * What stands at `path` below `root`, raw. No link is followed: below one, or below a file, stands nothing of the
 * checkout. A folder counts as no file.
 */
export async function readSide(root: string, path: string): Promise<LandedSide> {
  refuseUnsafe(path);
  if ((await standingParent(root, path)) !== 'folder') return { kind: 'absent' };
  const file = fileAt(root, path);
  const stats = await lstat(file).catch(unlessMissing);
  if (stats === undefined || stats.isDirectory()) return { kind: 'absent' };
  if (stats.isSymbolicLink()) {
    return { kind: 'symlink', target: decodePath(await readlink(file, { encoding: 'buffer' })) };
  }
  if (!stats.isFile()) throw stale(path, 'something that is no file stands there');
  const { mode } = stats;
  return { kind: 'file', sha256: await hashOf(file), executable: isExecutable(mode), mode: mode & 0o777 };
}

/** Puts `side` at `path` below `root`: whole or not at all. See `Merges.putSide`. */
export async function writeSide(
  root: string,
  path: string,
  { side, contentFile, over }: { side: LandedSide; contentFile: FilePath; over?: string | undefined },
): Promise<void> {
  refuseUnsafe(path);
  if (side.kind === 'absent') {
    await removeFile(root, path, over);
    return;
  }
  const made = await makeParents(root, path);
  const file = fileAt(root, path);
  const temporary = temporaryBeside(root, path);
  try {
    const stamp = over ?? (await stampAt(file));
    const old = await lstat(file).catch(unlessMissing);
    if (old !== undefined && !old.isFile() && !old.isSymbolicLink() && !old.isDirectory()) {
      throw stale(path, 'something that is no file stands there');
    }
    if (side.kind === 'symlink') await symlink(encodePath(side.target), temporary);
    else await copyContent(contentFile, temporary, { side, mode: old?.isFile() ? old.mode : undefined });
    if (old?.isDirectory()) await removeEmptyFolder(file, path);
    // Looked at once more right before the rename: a parent may have become a link meanwhile.
    if ((await standingParent(root, path)) !== 'folder') throw stale(path, 'its folder went away');
    // And the file: since it was looked at, its user may have saved it.
    await refuseWritten(file, path, stamp);
    await rename(temporary, file);
  } catch (error) {
    await unlink(temporary).catch(unlessMissing);
    await removeEmptyParents(root, made);
    throw error;
  }
}

/**
 * Moves a file or link that git has written elsewhere, by the same path, to its place: whole or not at all, and only
 * over what has the stamp `over`. Parents are made when missing. Throws `stale`. (git writes no path that leaves a
 * checkout; what only other systems take for `.git` an agent may have made here, and it comes back.)
 */
export async function placeFile(
  root: string,
  path: string,
  { from, over }: { from: FilePath; over: string },
): Promise<void> {
  const made = await makeParents(root, path);
  const file = fileAt(root, path);
  const put = async (ready: FilePath): Promise<void> => {
    if ((await standingParent(root, path)) !== 'folder') throw stale(path, 'its folder went away');
    await refuseWritten(file, path, over);
    await rename(ready, file);
  };
  try {
    await put(from).catch(async (error: unknown) => {
      if (errnoOf(error) !== 'EXDEV') throw error;
      const near = temporaryBeside(root, path);
      await copyEntry(from, near);
      await put(near).finally(() => unlink(near).catch(unlessMissing));
    });
  } catch (error) {
    await removeEmptyParents(root, made);
    const errno = errnoOf(error);
    if (errno === 'EISDIR' || errno === 'ENOTEMPTY') throw stale(path, 'a folder stands there');
    throw error;
  }
}

async function copyEntry(from: FilePath, to: FilePath): Promise<void> {
  const stats = await lstat(from);
  if (stats.isSymbolicLink()) return symlink(await readlink(from, { encoding: 'buffer' }), to);
  await copyFile(from, to, constants.COPYFILE_EXCL);
  await chmod(to, stats.mode & 0o777);
}

/** A name that nobody else has, in the folder of `path`. */
function temporaryBeside(root: string, path: string): FilePath {
  return fileAt(root, `${withSlash(parentOf(path))}${temporaryName()}`);
}

/** Throws `stale` where what stands there is no longer what had this stamp, as far as the disk tells. */
async function refuseWritten(file: FilePath, path: string, stamp: string): Promise<void> {
  if ((await stampAt(file)) !== stamp) throw stale(path, 'it was written meanwhile');
}

/** Removes the temporary files that a killed `writeSide` left beside `paths`. */
export async function sweepTemporary(root: string, paths: readonly string[]): Promise<void> {
  const folders = new Map(
    paths.filter((path) => whyUnsafe(path) === undefined).map((path) => [parentOf(path), path]),
  );
  for (const [folder, path] of folders) {
    if ((await standingParent(root, path)) !== 'folder') continue;
    const place = folder === '' ? root : fileAt(root, folder);
    for (const name of (await readdir(place).catch(unlessMissing)) ?? []) {
      if (isTemporaryName(name))
        await unlink(fileAt(root, `${withSlash(folder)}${name}`)).catch(unlessMissing);
    }
  }
}

/**
 * Removes a file or link and the folders that became empty by it. No file there is no error. With `over`, the stamp of
 * a look, what was written since is left: throws `stale`.
 */
export async function removeFile(root: string, path: string, over?: string): Promise<void> {
  refuseUnsafe(path);
  const parent = await standingParent(root, path);
  if (parent === 'link') throw stale(path, 'a folder above it is a symbolic link');
  if (parent !== 'folder') return;
  const file = fileAt(root, path);
  const stats = await lstat(file).catch(unlessMissing);
  if (stats === undefined || stats.isDirectory()) return;
  if (over !== undefined) await refuseWritten(file, path, over);
  await unlink(file).catch(unlessMissing);
  await removeEmptyParents(root, ancestorsOf(path));
}

/** The folders above `path`, nearest first; not the root. */
export function ancestorsOf(path: string): string[] {
  const ancestors: string[] = [];
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    ancestors.push(path.slice(0, at));
  return ancestors;
}

/** Throws `stale` for a path that would leave the checkout or enter a git directory. */
function refuseUnsafe(path: string): void {
  const why = whyUnsafe(path);
  if (why !== undefined) throw stale(path, why);
}

/** Whether the parent of `path` is a real folder or missing, or what stands in the place of a folder above. */
export async function standingParent(
  root: string,
  path: string,
): Promise<'folder' | 'missing' | 'file' | 'link'> {
  for (const ancestor of ancestorsOf(path).reverse()) {
    const stats = await lstat(fileAt(root, ancestor)).catch(unlessMissing);
    if (stats === undefined) return 'missing';
    if (stats.isSymbolicLink()) return 'link';
    if (!stats.isDirectory()) return 'file';
  }
  return 'folder';
}

/** Makes missing parents; answers those it made, nearest first. Throws `stale` where a link or file stands. */
export async function makeParents(root: string, path: string): Promise<string[]> {
  const made: string[] = [];
  for (const ancestor of ancestorsOf(path).reverse()) {
    const stats = await lstat(fileAt(root, ancestor)).catch(unlessMissing);
    if (stats?.isDirectory()) continue;
    if (stats !== undefined) {
      await removeEmptyParents(root, made);
      throw stale(path, `${ancestor} is ${stats.isSymbolicLink() ? 'a symbolic link' : 'a file'}`);
    }
    await mkdir(fileAt(root, ancestor));
    made.unshift(ancestor);
  }
  return made;
}

/** Removes folders, nearest first, until one is not empty. */
export async function removeEmptyParents(root: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    try {
      await rmdir(fileAt(root, folder));
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTEMPTY' || errno === 'EEXIST' || errno === 'EBUSY') return;
      if (errno !== 'ENOENT') throw error;
    }
  }
}

/** Throws `stale` for a folder that holds something: it is not ours to empty. */
async function removeEmptyFolder(file: FilePath, path: string): Promise<void> {
  await rmdir(file).catch((error: unknown) => {
    const errno = errnoOf(error);
    if (errno === 'ENOTEMPTY' || errno === 'EEXIST') throw stale(path, 'a folder with files stands there');
    throw error;
  });
}

/** Copies recorded content to a new file. Throws `corruptFile` when it is not the content that was recorded. */
async function copyContent(
  from: FilePath,
  to: FilePath,
  { side, mode }: { side: Extract<LandedSide, { kind: 'file' }>; mode: number | undefined },
): Promise<void> {
  // Made empty first: that is how the usual permissions of a new file are found out.
  const created = await open(to, 'wx');
  const usual = (await created.stat()).mode;
  await created.close();
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  const found = await hashOf(to);
  if (found !== side.sha256) {
    throw new TributaryError('corruptFile', 'a kept file is not what was recorded of it', {
      details: { path: String(from), expected: side.sha256, found },
    });
  }
  await chmod(to, side.mode ?? fileMode(side.executable, mode ?? usual));
}

/** `mode` with the executable bits right: whoever may read may execute, as git does it. */
function fileMode(executable: boolean, mode: number): number {
  const plain = mode & 0o777;
  return executable ? plain | ((plain & 0o444) >> 2) : plain & ~0o111;
}

function isExecutable(mode: number): boolean {
  return (mode & 0o100) !== 0;
}

/** SHA-256 of a file of any size, read in pieces. */
export async function hashOf(file: FilePath): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest('hex');
}

function withSlash(folder: string): string {
  return folder === '' ? '' : `${folder}/`;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function stale(path: string, why: string): TributaryError {
  return new TributaryError('stale', `${path} cannot be written: ${why}`, { details: { path, why } });
}
