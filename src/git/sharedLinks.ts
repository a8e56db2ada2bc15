import { lstat, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, unlessMissing } from './checkouts';
import { fileAt, joinPaths, splitPaths } from './parsers/pathBytes';

/**
 * Links to folders of the user's checkout that we put into a worktree. A rule such as `node_modules/` ignores the
 * folder and not the link, so they are named beside the worktree's index and left out of what is recorded.
 */
export async function recordLinks(checkout: Checkout, paths: readonly string[]): Promise<void> {
  await writeFile(listAt(checkout), joinPaths(paths));
}

/** Those of them that stand as links still: what somebody put in their place is work like any other. */
export async function sharedLinks(checkout: Checkout): Promise<ReadonlySet<string>> {
  const list = await readFile(listAt(checkout)).catch(unlessMissing);
  if (list === undefined) return none;
  const standing: string[] = [];
  for (const path of splitPaths(list)) {
    const stats = await lstat(fileAt(checkout.workTree, path)).catch(unlessMissing);
    if (stats?.isSymbolicLink()) standing.push(path);
  }
  return new Set(standing);
}

const none: ReadonlySet<string> = new Set();

function listAt({ gitDir }: Checkout): string {
  return join(gitDir, 'tributary-links');
}
