import { chmod, constants, copyFile, link, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { delay } from '../base/async';
import { errnoOf, TributaryError } from '../base/errors';
import { type Checkout, unlessMissing } from './checkouts';

/** Milliseconds between tries while a git of the user holds the index. */
const lockWaits = [20, 50, 100, 200, 400, 800, 1_500, 2_000, 3_000];

/**
 * Puts `next` in the place of the user's index, by git's own protocol: `index.lock`, whole before it has its name,
 * then a rename. `false`: the index is no longer what was `seen`, nothing was written.
 */
export async function replaceIndex(
  { gitDir }: Checkout,
  { next, seen }: { next: string; seen: Buffer | undefined },
): Promise<boolean> {
  const [index, lock] = [join(gitDir, 'index'), join(gitDir, 'index.lock')];
  const old = await stat(index).catch(unlessMissing);
  if (old !== undefined) await chmod(next, old.mode & 0o777);
  await flush(next);
  await takeLock(next, lock);
  try {
    const now = await readFile(index).catch(unlessMissing);
    if (now === undefined ? seen !== undefined : seen === undefined || !now.equals(seen)) {
      await rm(lock, { force: true });
      return false;
    }
    await rename(lock, index);
  } catch (error) {
    await rm(lock, { force: true });
    throw error;
  }
  await rm(next, { force: true });
  return true;
}

/** Removes the `index.lock` that a killed `replaceIndex` left, and no other. Nobody else may be landing. */
export async function sweepIndexLock({ gitDir }: Checkout, next: string): Promise<void> {
  const lock = join(gitDir, 'index.lock');
  const [ours, found] = await Promise.all([
    readFile(next).catch(unlessMissing),
    readFile(lock).catch(unlessMissing),
  ]);
  if (ours === undefined) return;
  if (found !== undefined && ours.length > 0 && ours.equals(found)) await rm(lock, { force: true });
  await rm(next, { force: true });
}

async function takeLock(next: string, lock: string): Promise<void> {
  for (let at = 0; ; at += 1) {
    try {
      return await linkOrCopy(next, lock);
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
      const pause = lockWaits[at];
      if (pause === undefined) {
        throw new TributaryError('lockTimeout', `another git holds ${lock}`, {
          cause: error,
          details: { path: lock },
        });
      }
      await delay(pause);
    }
  }
}

/** A file system without hard links gets a copy: not whole at once, but nobody else takes the name. */
async function linkOrCopy(next: string, lock: string): Promise<void> {
  try {
    await link(next, lock);
  } catch (error) {
    if (!['EPERM', 'EXDEV', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK', 'ENOSYS'].includes(errnoOf(error) ?? ''))
      throw error;
    await copyFile(next, lock, constants.COPYFILE_EXCL);
  }
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
