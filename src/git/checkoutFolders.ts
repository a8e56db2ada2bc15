import { chmod, lstat, mkdir } from 'node:fs/promises';
import type { LandedFolder } from '../model/landing';
import { ancestorsOf, standingParent } from './checkoutFiles';
import { unlessMissing } from './checkouts';
import { fileAt } from './parsers/pathBytes';
import { whyUnsafe } from './safePath';

/** The real folders that stand at `paths` and above them, outermost first, with all bits of their modes. */
export async function readFolders(root: string, paths: readonly string[]): Promise<LandedFolder[]> {
  const safe = paths.filter((path) => whyUnsafe(path) === undefined);
  const asked = [...new Set(safe.flatMap((path) => [...ancestorsOf(path), path]))].sort(byLength);
  const found = new Map<string, LandedFolder>();
  for (const path of asked) {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    // Below a link stands nothing of the checkout.
    if (parent !== '' && !found.has(parent)) continue;
    const stats = await lstat(fileAt(root, path)).catch(unlessMissing);
    if (stats?.isDirectory()) found.set(path, { path, mode: stats.mode & 0o7777 });
  }
  return [...found.values()];
}

/** Makes those of `folders` that are missing, with their modes. What stands there, whatever it is, is left. */
export async function putFolders(root: string, folders: readonly LandedFolder[]): Promise<void> {
  for (const { path, mode } of [...folders].sort((a, b) => byLength(a.path, b.path))) {
    if (whyUnsafe(path) !== undefined || (await standingParent(root, path)) !== 'folder') continue;
    const place = fileAt(root, path);
    if ((await lstat(place).catch(unlessMissing)) !== undefined) continue;
    await mkdir(place);
    await chmod(place, mode);
  }
}

function byLength(a: string, b: string): number {
  return a.length - b.length;
}
