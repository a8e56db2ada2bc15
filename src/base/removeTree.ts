import { chmod, readdir, rm } from 'node:fs/promises';
import { errnoOf } from './errors';

/** Deletes a folder and what lies in it; links are unlinked, never followed; folders without rights do not stop it. */
export async function removeTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Deletes what lies in a folder, but for one name at its top; as `removeTree`. Names need not be UTF-8. */
export async function emptyFolder(folder: string, keptName: string): Promise<void> {
  try {
    await removeNames(folder, keptName);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    await openFolders(folder);
    await removeNames(folder, keptName);
  }
}

async function removeNames(folder: string, keptName: string): Promise<void> {
  for (const name of await readdir(folder, { encoding: 'buffer' })) {
    if (name.toString('latin1') === keptName) continue;
    await rm(inside(folder, name), { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Makes folders writable; links are not followed, files are left. Names need not be UTF-8. */
export async function openFolders(folder: string | Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { encoding: 'buffer', withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(inside(folder, entry.name));
  }
}

function inside(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), name]);
}

/** Whether the rights on a file or folder stand in the way. */
export function isForbidden(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'EACCES' || errno === 'EPERM';
}
