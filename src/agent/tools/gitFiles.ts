import { lstat, readFile, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { GuardPlaces } from './guardScope';
import { isInside } from './paths';

/**
 * The repository that git would find from `cwd`, when it is neither the Worktree's own nor one inside it: a
 * `.git` file can lead anywhere. `undefined`: git stays where it should.
 */
export async function foreignRepository(cwd: string, places: GuardPlaces): Promise<string | undefined> {
  // A reader in the checkout is where it belongs.
  if (places.mainCheckout === undefined) return undefined;
  for (let folder = cwd; isInside(folder, places.root); folder = dirname(folder)) {
    const entry = join(folder, '.git');
    const found = await lstat(entry).catch(() => undefined);
    if (found === undefined) continue;
    if (found.isDirectory()) return undefined;
    const target = found.isSymbolicLink() ? await realOf(entry) : await targetOf(entry, folder);
    if (target === undefined) return undefined;
    return isInside(target, places.root) || (await isOwn(target, places)) ? undefined : target;
  }
  return undefined;
}

/** Where a `.git` file leads; git takes none that it cannot read. */
async function targetOf(file: string, folder: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const named = /^gitdir: ([\s\S]+?)\n*$/.exec(text)?.[1];
  return named === undefined ? undefined : realOf(resolve(folder, named));
}

async function realOf(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

/** The administration directory that says it is for this Worktree, or a submodule's in it or in what all share. */
async function isOwn(target: string, { root, commonDir }: GuardPlaces): Promise<boolean> {
  if (isInside(target, join(commonDir, 'modules'))) return true;
  for (let folder = target; isInside(folder, join(commonDir, 'worktrees')); folder = dirname(folder)) {
    const named = await readFile(join(folder, 'gitdir'), 'utf8').catch(() => undefined);
    if (named === undefined) continue;
    const worktree = await realOf(dirname(resolve(folder, named.replace(/\n$/, ''))));
    return worktree === root;
  }
  return false;
}
