import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readlink,
  stat,
  symlink,
  unlink,
  utimes,
} from 'node:fs/promises';
import { errnoOf, messageOf } from '../base/errors';
import { unlessMissing } from './checkouts';
import { decodePath, encodePath, fileAt } from './parsers/pathBytes';
import { looksLikeGit } from './safePath';

type FilePath = string | Buffer;

/** Puts one file's content at a new place: fails with EEXIST where something stands. */
export type PlaceFile = (from: FilePath, to: FilePath) => Promise<void>;

/** The ways a file gets from one folder to another; a test hands in others. */
export interface CopyWays {
  readonly copyOnWrite: PlaceFile;
  readonly hardLink: PlaceFile;
  readonly copy: PlaceFile;
}

export const copyWays: CopyWays = {
  copyOnWrite: (from, to) =>
    copyWithTimes(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE),
  // The very file of the checkout: its times are not ours to set.
  hardLink: (from, to) => link(from, to),
  // Copied on write where the file system can.
  copy: (from, to) => copyWithTimes(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE),
};

/** Build tools compare times: a copy is as old as its source. */
async function copyWithTimes(from: FilePath, to: FilePath, mode: number): Promise<void> {
  const { atime, mtime } = await stat(from);
  await copyFile(from, to, mode);
  await utimes(to, atime, mtime);
}

export interface TreeCopy {
  readonly from: string;
  readonly to: string;
  readonly place: PlaceFile;
  /** Whether folders with a `.git` are entered (never the `.git` itself). */
  readonly entersRepositories: boolean;
}

export interface CopiedTree {
  readonly files: number;
  readonly skipped: ReadonlyArray<{ readonly path: string; readonly why: string }>;
}

/** How many files are on their way at a time. */
const lanes = 16;

/**
 * Copies `path`, a file, link or folder, from below one root to the same place below another, whose parent stands.
 * Links are copied as links, nothing is overwritten, permission bits and times stay. A single file that cannot be
 * read is skipped and told; a full disk is thrown.
 */
export async function copyTree(copy: TreeCopy, path: string): Promise<CopiedTree> {
  const skipped: Array<{ path: string; why: string }> = [];
  let files = 0;
  const one = async (inner: string, kind: EntryKind): Promise<void> => {
    try {
      if (kind.isDirectory()) return await folder(inner);
      if (await placeEntry(copy, inner, kind)) files += 1;
    } catch (error) {
      if (isDiskFull(error)) throw error;
      skipped.push({ path: inner, why: messageOf(error) });
    }
  };
  const folder = async (inner: string): Promise<void> => {
    const place = fileAt(copy.from, inner);
    const [{ mode }, entries] = await Promise.all([lstat(place), entriesOf(place)]);
    if (!copy.entersRepositories && entries.some(({ name }) => looksLikeGit(name))) return;
    if (!(await makeFolder(fileAt(copy.to, inner)))) {
      skipped.push({ path: inner, why: 'a file or link stands in its place' });
      return;
    }
    const wanted = entries.filter(({ name }) => !looksLikeGit(name));
    await inLanes(wanted, ({ name, kind }) => one(`${inner}/${name}`, kind));
    // Last: it may be a folder that nobody may write to.
    await chmod(fileAt(copy.to, inner), mode & 0o777);
  };
  const top = await lstat(fileAt(copy.from, path)).catch(unlessMissing);
  if (top !== undefined) await one(path, top);
  return { files, skipped };
}

type EntryKind = Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>;

async function entriesOf(folder: FilePath): Promise<Array<{ name: string; kind: EntryKind }>> {
  const entries = await readdir(folder, { encoding: 'buffer', withFileTypes: true });
  return entries.map((entry) => ({ name: decodePath(entry.name), kind: entry }));
}

/** Whether `place` works between two roots, tried with the first file below `path`; `undefined`: there is no file. */
export async function canPlace(copy: TreeCopy, path: string): Promise<boolean | undefined> {
  const file = await firstFile(copy.from, path);
  if (file === undefined) return undefined;
  const trial = `${copy.to}/.tributary-${randomBytes(8).toString('hex')}.tmp`;
  try {
    await copy.place(file, trial);
    return true;
  } catch (error) {
    if (cannot.has(errnoOf(error) ?? '')) return false;
    throw error;
  } finally {
    await unlink(trial).catch(unlessMissing);
  }
}

/** What file systems answer that do not know a way, or not between these two places, or not for this file. */
const cannot: ReadonlySet<string> = new Set(
  'ENOTSUP EOPNOTSUPP EXDEV EINVAL ENOSYS ENOTTY EPERM EMLINK'.split(' '),
);

/** `place`, and `otherwise` for the single file that it cannot be had for. */
export function orElse(place: PlaceFile, otherwise: PlaceFile): PlaceFile {
  return async (from, to) => {
    try {
      await place(from, to);
    } catch (error) {
      if (!cannot.has(errnoOf(error) ?? '')) throw error;
      await otherwise(from, to);
    }
  };
}

/** Answers whether it was put there now; `false` where something stood. */
async function placeEntry(copy: TreeCopy, path: string, kind: EntryKind): Promise<boolean> {
  const [from, to] = [fileAt(copy.from, path), fileAt(copy.to, path)];
  try {
    if (kind.isSymbolicLink()) await symlink(await targetOf(copy, from), to);
    else if (kind.isFile()) await copy.place(from, to);
    else return false;
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Where a copied link leads: one that names a place in the checkout outright names that place in the copy. */
async function targetOf({ from: root, to }: TreeCopy, file: FilePath): Promise<Buffer> {
  const target = decodePath(await readlink(file, { encoding: 'buffer' }));
  const isInside = target === root || target.startsWith(`${root}/`);
  return encodePath(isInside ? `${to}${target.slice(root.length)}` : target);
}

async function firstFile(root: string, path: string): Promise<FilePath | undefined> {
  const stats = await lstat(fileAt(root, path)).catch(unlessMissing);
  if (stats?.isFile()) return fileAt(root, path);
  if (!stats?.isDirectory()) return undefined;
  for (const name of (await readdir(fileAt(root, path), { encoding: 'buffer' })).map(decodePath)) {
    const found = looksLikeGit(name) ? undefined : await firstFile(root, `${path}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Open for us while it is filled; `false` when what stands there is no folder. */
async function makeFolder(folder: FilePath): Promise<boolean> {
  try {
    await mkdir(folder, { mode: 0o700 });
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
    return (await lstat(folder)).isDirectory();
  }
}

async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const lane = async (): Promise<void> => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(lanes, items.length) }, lane));
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(errnoOf(error) ?? '');
}
