import { constants } from 'node:fs';
import { access, lstat, mkdir, realpath, rmdir, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { errnoOf, TributaryError } from '../base/errors';
import { realParent, unlessMissing } from './checkouts';
import type { RepositoryFacts } from './repository';

/** See `Worktrees.chooseRoot`. Nothing is made yet. */
export async function chooseWorktreeRoot(
  facts: RepositoryFacts,
  setting: string | undefined,
): Promise<{ root: string; isInside: boolean }> {
  const anchor = anchorOf(facts);
  if (setting !== undefined && setting.trim() !== '') {
    const root = await realParent(resolve(anchor, setting.trim()));
    if (isWithin(facts.commonDir, root)) {
      throw new TributaryError('badArguments', `worktrees cannot live inside the git directory: ${root}`, {
        details: { setting },
      });
    }
    return { root, isInside: isWithin(anchor, root) };
  }
  const sibling = `${anchor}.worktrees`;
  const usable = anchor === dirname(anchor) ? undefined : await usableFolder(sibling, anchor);
  return usable === undefined
    ? { root: join(facts.mainRoot ?? facts.root, '.worktrees'), isInside: true }
    : { root: usable, isInside: false };
}

/**
 * Makes the folder of Worktrees, with an ignore file of its own where it lies inside some repository's files.
 * Answers how to take it back while it is still empty.
 */
export async function prepareRoot(root: string): Promise<() => Promise<void>> {
  const made = await mkdir(root, { recursive: true });
  const ignoreFile = join(root, '.gitignore');
  if (await isInsideCheckout(dirname(root))) {
    await writeFile(ignoreFile, '*\n', { flag: 'wx' }).catch((error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
    });
  }
  return async () => {
    if (made === undefined || (await lstat(ignoreFile).catch(unlessMissing)) !== undefined) return;
    // Another Worktree may have come meanwhile: only an empty folder goes.
    await rmdir(root).catch((error: unknown) => {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(error) ?? '')) throw error;
    });
  };
}

/** Where Worktrees go when no setting says otherwise: beside the repository, or else inside. */
export function defaultRoots(facts: RepositoryFacts): readonly string[] {
  return [`${anchorOf(facts)}.worktrees`, join(facts.mainRoot ?? facts.root, '.worktrees')];
}

/** The folder beside which Worktrees go: the main worktree, or what stands for it in a bare repository. */
export function anchorOf(facts: RepositoryFacts): string {
  if (facts.mainRoot !== undefined) return facts.mainRoot;
  const name = basename(facts.commonDir);
  // `hub/.bare` with its worktrees beside it: the hub is the project.
  if (name.startsWith('.')) return dirname(facts.commonDir);
  return facts.commonDir.replace(/\.git$/, '');
}

/** `folder`, real, if Worktrees can be made in it on the file system of `anchor`. */
async function usableFolder(folder: string, anchor: string): Promise<string | undefined> {
  const existing = await stat(folder).catch(unlessMissing);
  if (existing !== undefined && !existing.isDirectory()) return undefined;
  const place = existing === undefined ? dirname(folder) : folder;
  const standing = (await stat(anchor).catch(unlessMissing)) ?? (await stat(dirname(anchor)));
  const found = await stat(place).catch(unlessMissing);
  if (found === undefined || found.dev !== standing.dev) return undefined;
  const isWritable = await access(place, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) return undefined;
  return existing === undefined ? folder : realpath(folder);
}

/** Whether some repository's files, ours or one around it, would show a new folder as untracked. */
async function isInsideCheckout(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    if ((await lstat(join(at, '.git')).catch(unlessMissing)) !== undefined) return true;
    if (at === dirname(at)) return false;
  }
}

/** Whether `path` is `folder` or lies below it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return (
    way === '' || (way !== '..' && !way.startsWith('../') && !way.startsWith('..\\') && !isAbsolute(way))
  );
}
