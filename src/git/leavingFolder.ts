import { lstat, mkdir, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../base/errors';
import { type Checkout, exists, unlessMissing } from './checkouts';
import { type EmptiedFolder, emptyFolder, removeEmptied, timeOf } from './emptiedFolder';
import { AsideFolder } from './movedFiles';
import type { RepositoryFacts } from './repository';
import { type SetAsideDeps, setAsideUnsnapshotted, setAsideWhole } from './unsnapshotted';

/** What the name of a folder begins with that is on its way out, beside the place it had. */
export const trashPrefix = '.tributary-trash-';

/** Where the repositories of submodules lie in the folder of things set aside. */
export const asideModules = '.git-modules';

/** A worktree's folder on its way out. */
export interface LeavingFolder {
  readonly trash: string;
  /** Absent where git has forgotten it. */
  readonly gitDir: string | undefined;
  readonly aside: AsideFolder;
  /** Before the look that tells what may go, as its file system counts: what was written since is set aside. */
  readonly since: bigint;
}

export async function leavingFolder(
  trash: string,
  gitDir: string | undefined,
  asideDirectory: string,
): Promise<LeavingFolder> {
  return { trash, gitDir, aside: new AsideFolder(asideDirectory), since: await timeOf(trash) };
}

/**
 * Sets aside what the kept commit does not hold and deletes the rest, but for `.git`, which says until the end whose it
 * is. A folder that withstands, such as one of another user's, is kept whole under a name of its own: answers that.
 */
export async function emptied(
  deps: SetAsideDeps & { readonly facts: RepositoryFacts },
  keptCommit: string,
  leaving: LeavingFolder,
): Promise<string | undefined> {
  const { trash, gitDir, aside } = leaving;
  try {
    // Its registration may have been pruned meanwhile; then nothing tells what the kept commit holds of it.
    if (gitDir === undefined) await setAsideWhole(trash, aside);
    else {
      const checkout = { workTree: trash, gitDir, commonDir: deps.facts.commonDir };
      await setAside(deps, checkout, { keptCommit, aside });
    }
    // While git still knows what was recorded of it: a deletion that is cut off goes on with what is left.
    await emptyFolder(trash, { ...emptiedBy(leaving), keptName: '.git' });
    return undefined;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined || passingErrnos.has(errno)) throw error;
    return keepWhole(trash);
  }
}

/** The folder itself, with what was written into it to the last. */
export async function removeRest(leaving: LeavingFolder): Promise<void> {
  const pointer = join(leaving.trash, '.git');
  // It leads nowhere any more, however young it is.
  if ((await lstat(pointer).catch(unlessMissing))?.isFile()) await unlink(pointer);
  await removeEmptied(leaving.trash, emptiedBy(leaving));
}

function emptiedBy({ trash, aside, since }: LeavingFolder): EmptiedFolder {
  return { since, keep: (path) => aside.take(trash, path) };
}

/** What another try may do away with. */
const passingErrnos: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM']);

async function keepWhole(trash: string): Promise<string> {
  const name = basename(trash).slice(trashPrefix.length);
  for (let number = 1; ; number += 1) {
    const kept = join(dirname(trash), `${name}.kept-${number}`);
    if (await exists(kept)) continue;
    await rename(trash, kept);
    // It is no worktree any more.
    await unlink(join(kept, '.git')).catch(unlessMissing);
    return kept;
  }
}

/** Moves aside what the kept commit does not hold; the place of its repositories of submodules is kept free. */
async function setAside(
  deps: SetAsideDeps,
  checkout: Checkout,
  to: { keptCommit: string; aside: AsideFolder },
): Promise<void> {
  const modules = join(to.aside.directory, asideModules);
  const hasModules = await exists(join(checkout.gitDir, 'modules'));
  // First, so that nothing of the worktree takes their place.
  if (hasModules) await mkdir(modules, { recursive: true });
  await setAsideUnsnapshotted(deps, checkout, to);
}
