import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import type { Task } from '../../model/task';

/** A path of an agent's text as a file that may be opened: in the Task's Worktree, else in the checkout. */
export type Place =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'absent' }
  /** It leads out of both. */
  | { readonly kind: 'outside' };

export async function placeOf(task: Task, path: string): Promise<Place> {
  const roots = [task.worktreePath, task.packet.repository.root].filter((root) => root !== undefined);
  let isInside = false;
  for (const root of roots) {
    const candidate = isAbsolute(path) ? resolve(path) : join(root, path);
    if (!contains(root, candidate)) continue;
    isInside = true;
    const [real, realRoot] = await Promise.all([realPathOf(candidate), realPathOf(root)]);
    if (real === undefined || realRoot === undefined) continue;
    // A link in the Worktree is an agent's to make.
    return contains(realRoot, real) ? { kind: 'file', path: candidate } : { kind: 'outside' };
  }
  return isInside ? { kind: 'absent' } : { kind: 'outside' };
}

/** Whether `path` is `folder` or lies below it; both absolute. */
export function contains(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !/^\.\.[\\/]/.test(way) && !isAbsolute(way));
}

async function realPathOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch {
    return undefined;
  }
}
