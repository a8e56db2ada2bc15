import { lstat, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { throwIfCancelled } from '../base/async';
import { errnoOf } from '../base/errors';
import { removeTree } from '../base/removeTree';
import { unlessMissing } from './checkouts';
import { trashPrefix } from './leavingFolder';
import { scratchPrefix } from './scratchCheckouts';
import { temporaryPrefix } from './temporaryIndex';

/** How much lies in a folder; `isWhole`: all of it could be counted. */
export interface FolderSize {
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** More entries are not counted: a size is worth a second, not a minute. */
const entriesAtMost = 400_000;

/** What a folder takes on disk, as `du` counts: links are not followed, a file with several names counts once. */
export async function sizeOfFolder(folder: string, signal?: AbortSignal): Promise<FolderSize> {
  const seen = new Set<string>();
  const folders: (string | Buffer)[] = [folder];
  let [bytes, entries, isWhole] = [0, 0, true];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    throwIfCancelled(signal);
    const names = await namesOrUnread(at);
    isWhole &&= names !== undefined;
    for (const name of names ?? []) {
      entries += 1;
      if (entries > entriesAtMost) return { bytes, isWhole: false };
      const path = Buffer.concat([Buffer.from(at), Buffer.from('/'), name]);
      const stats = await lstat(path).catch(unlessMissing);
      if (stats === undefined) continue;
      if (stats.isDirectory()) folders.push(path);
      const key = `${stats.dev}:${stats.ino}`;
      if (stats.nlink > 1 && !stats.isDirectory() && seen.has(key)) continue;
      seen.add(key);
      bytes += stats.blocks === undefined ? stats.size : stats.blocks * 512;
    }
  }
  return { bytes, isWhole };
}

async function namesOrUnread(folder: string | Buffer): Promise<Buffer[] | undefined> {
  try {
    return (await readdir(folder, { encoding: 'buffer' }).catch(unlessMissing)) ?? [];
  } catch (error) {
    if (errnoOf(error) === 'EACCES' || errnoOf(error) === 'EPERM') return undefined;
    throw error;
  }
}

/** What lies in a folder of Worktrees: their folders, and those on their way out; scratch checkouts tidy up themselves. */
export async function foldersIn(root: string): Promise<{ places: string[]; trash: string[] }> {
  const stats = await lstat(root).catch(unlessMissing);
  const all = stats?.isDirectory() ? await readdir(root) : [];
  const isScratch = (name: string): boolean =>
    name.startsWith(scratchPrefix) || name.startsWith(`${trashPrefix}${scratchPrefix}`);
  const names = all.filter((name) => !isScratch(name));
  const isTrash = (name: string): boolean => name.startsWith(trashPrefix);
  return {
    places: names.filter((name) => !isTrash(name) && name !== '.gitignore').map((name) => join(root, name)),
    trash: names.filter(isTrash).map((name) => join(root, name)),
  };
}

/** A place of a Worktree that a trash folder comes from. */
export function placeOfTrash(root: string, trash: string): string {
  return join(root, trash.slice(join(root, trashPrefix).length));
}

/** Temporary index folders whose process is gone; young ones are left, their process may be another container's. */
export async function deadTemporaryFolders(
  isAlive: (pid: number) => Promise<boolean>,
  now: Date,
): Promise<readonly string[]> {
  const dead: string[] = [];
  for (const name of await readdir(tmpdir())) {
    if (!name.startsWith(temporaryPrefix)) continue;
    const pid = /^(\d+)-/.exec(name.slice(temporaryPrefix.length))?.[1];
    if (pid === undefined) continue;
    const path = join(tmpdir(), name);
    const stats = await lstat(path).catch(unlessMissing);
    const isOwn = stats?.isDirectory() === true && stats.uid === process.getuid?.();
    if (!isOwn || now.getTime() - stats.mtimeMs < youngMs) continue;
    if (!(await isAlive(Number(pid)))) dead.push(path);
  }
  return dead;
}

const youngMs = 10 * 60 * 1_000;

/** Removes one of them. */
export async function removeTemporaryFolder(path: string): Promise<void> {
  if (!path.startsWith(join(tmpdir(), temporaryPrefix))) return;
  await removeTree(path);
}

/** Whether two places, or what is above them, lie on one file system. */
export async function isSameDisk(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([deviceOf(one), deviceOf(other)]);
  return a === undefined || b === undefined || a === b;
}

async function deviceOf(path: string): Promise<number | undefined> {
  return ((await stat(path).catch(unlessMissing)) ?? (await stat(dirname(path)).catch(unlessMissing)))?.dev;
}
