import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { errnoOf } from '../base/errors';

/** A checkout found by reading alone: no process is started. */
export interface FoundRepository {
  /** Top level of the checkout. */
  readonly root: string;
  /** The git common directory, real: the same for every worktree of a repository. */
  readonly commonDir: string;
}

/** The repository a folder is in, or `undefined`. Asks for `.git` in the folder and each one above it. */
export async function findRepository(folder: string): Promise<FoundRepository | undefined> {
  let current = await realpath(folder).catch(() => undefined);
  while (current !== undefined) {
    const commonDir = await commonDirAt(join(current, '.git'));
    if (commonDir !== undefined) return { root: current, commonDir };
    const parent = dirname(current);
    current = parent === current ? undefined : parent;
  }
  return undefined;
}

/** Whether anybody has made a board in the repository yet. */
export async function hasBoard(commonDir: string): Promise<boolean> {
  return isFolder(join(commonDir, 'tributary', 'tasks'));
}

async function commonDirAt(dotGit: string): Promise<string | undefined> {
  if (await isFolder(dotGit)) {
    return (await isFile(join(dotGit, 'HEAD'))) ? realpath(dotGit) : undefined;
  }
  const gitDir = /^gitdir: (.+?)\r?\n?$/.exec((await readIfThere(dotGit)) ?? '')?.[1];
  if (gitDir === undefined) return undefined;
  const own = resolve(dirname(dotGit), gitDir);
  const common = (await readIfThere(join(own, 'commondir')))?.trim();
  const path = common === undefined ? own : isAbsolute(common) ? common : resolve(own, common);
  return (await isFile(join(path, 'HEAD'))) ? realpath(path) : undefined;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() === true;
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isFile() === true;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ENOENT' || errno === 'ENOTDIR' || errno === 'EISDIR' || errno === 'EACCES')
      return undefined;
    throw error;
  }
}
