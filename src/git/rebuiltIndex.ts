import { lstat, rmdir } from 'node:fs/promises';
import { errnoOf } from '../base/errors';
import { type Checkout, inCheckout, unlessMissing } from './checkouts';
import { ignoredAmong } from './ignoredFiles';
import { setEntries } from './indexInfo';
import { absentMode, gitlinkMode, parseRawDiff, type RawChange, rawDiffOf } from './parsers/diffTree';
import { fileAt } from './parsers/pathBytes';
import type { Git } from './plumbing';

/**
 * Writes into the index of a rebuilt Worktree, which holds HEAD, what of `tree` its files cannot tell: ignored files
 * that were added by force, files that were taken out and kept, and commits of submodules.
 */
export async function tellIndex(
  git: Git,
  checkout: Checkout,
  { tree, signal }: { tree: string; signal: AbortSignal | undefined },
): Promise<void> {
  const place = { ...inCheckout(checkout), signal };
  const changes = parseRawDiff((await git({ ...place, args: rawDiffOf('HEAD', tree) })).stdout);
  const added = changes.filter((change) => change.oldMode === absentMode).map((change) => change.path);
  // Not even the index is asked: what is added may stand where HEAD has a pointer to a repository.
  const ignored = await ignoredAmong({ git, checkout, signal, isIndexAsked: false }, added);
  const told: RawChange[] = [];
  for (const change of changes) {
    const { path, oldMode, newMode } = change;
    const isKept = newMode === absentMode && (await stands(checkout.workTree, path));
    if (newMode === gitlinkMode || ignored.has(path) || isKept) told.push(change);
    if (isKept && oldMode === gitlinkMode) await removeIfEmpty(fileAt(checkout.workTree, path));
  }
  if (told.length === 0) return;
  const entries = told.map(({ path, newMode, newBlob }) => ({ path, mode: newMode, blob: newBlob }));
  await git({ ...place, ...setEntries(entries) });
}

async function stands(root: string, path: string): Promise<boolean> {
  return (await lstat(fileAt(root, path)).catch(unlessMissing)) !== undefined;
}

/** Where a submodule was taken out, git has left its folder. */
async function removeIfEmpty(folder: string | Buffer): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
  });
}
