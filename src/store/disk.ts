import { mkdir, readdir, readFile } from 'node:fs/promises';
import { fileError } from '../base/atomicFile';
import { errnoOf } from '../base/errors';

/** The bytes of a file; `undefined` when it is not there. */
export async function readIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw fileError('read', path, error);
  }
}

/** The names in a folder, sorted; none when it is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if (isMissing(error)) return [];
    throw fileError('read', folder, error);
  }
}

/** Makes the folder and those above it. */
export async function ensureFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    throw fileError('create', folder, error);
  }
}

/** Makes the folder; `false` when something of that name exists. The folder above must exist. */
export async function claimFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw fileError('create', folder, error);
  }
}

export function isMissing(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'ENOENT' || errno === 'ENOTDIR';
}
