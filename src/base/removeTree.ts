import { chmod, readdir, rm } from 'node:fs/promises';
import { errnoOf } from './errors';

/** Deletes a folder and what lies in it; links are unlinked, never followed; folders without rights do not stop it. */
export function removeTree(folder: string): Promise<void> {
  return opened(folder, () => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
}

/** Does it once more, with the folders made writable, where rights on one of them stand in the way. */
export async function opened(folder: string, body: () => Promise<void>): Promise<void> {
  try {
    await body();
  } catch (error) {
    if (!isForbidden(error)) throw error;
    await openFolders(folder);
    await body();
  }
}

/** Makes folders writable; links are not followed, files are left. Names need not be UTF-8. */
async function openFolders(folder: string | Buffer): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { encoding: 'buffer', withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(inside(folder, entry.name));
  }
}

function inside(folder: string | Buffer, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(folder), Buffer.from('/'), name]);
}

/** Whether the rights on a file or folder stand in the way. */
function isForbidden(error: unknown): boolean {
  const errno = errnoOf(error);
  return errno === 'EACCES' || errno === 'EPERM';
}
