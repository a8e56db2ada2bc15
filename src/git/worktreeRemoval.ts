import { lstat, readdir, readFile, realpath, rename, rmdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { throwIfCancelled } from '../base/async';
import { errnoOf, TributaryError } from '../base/errors';
import { adminDirectoryBehind, exists, findAdminDirectory, realParent, unlessMissing } from './checkouts';
import type { GitClient } from './gitClient';
import type { LastLooks } from './lastLook';
import { asideModules, emptied, leavingFolder, removeRest, trashPrefix } from './leavingFolder';
import { keepLeftCommits } from './leftCommits';
import { keepLeftStaged } from './leftStaged';
import { AsideFolder, moveBack } from './movedFiles';
import { deleteOwnBranch } from './ownBranch';
import { decodePath } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { deregister, type WithGitLock } from './worktreeMaking';
import { isOurs } from './worktreeMark';
import { defaultRoots, isWithin } from './worktreeRoots';

export interface RemovalDeps {
  readonly git: Git;
  readonly client: GitClient;
  readonly looks: LastLooks;
  readonly facts: RepositoryFacts;
  readonly withGitLock: WithGitLock;
}

export interface RemoveWorktree {
  readonly path: string;
  readonly branch: string;
  readonly keptCommit: string;
  readonly asideDirectory: string;
  /** The folder Worktrees are made in now: there an empty folder that git does not know may be ours. */
  readonly root?: string;
  /** The user wants it, whoever else holds its tip. */
  readonly keepsBranch?: boolean;
  /**
   * Told once the folder is out of its place, long before its files are gone: from here on the removal is only ever
   * finished. What it throws ends the call, for a later one to finish.
   */
  readonly onAway?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface RemovedWorktree {
  /** Something was set aside, now or by an earlier call. */
  readonly hasAside: boolean;
  /** Where the folder is that could not be looked through or deleted; nothing of it is lost, and it is in no way any more. */
  readonly kept?: string;
}

/** A checkout that is to go, and what tells that it is ours. */
export interface TrashWorktree {
  readonly path: string;
  readonly root?: string | undefined;
  readonly isOurs: (gitDir: string) => Promise<boolean>;
}

/**
 * Removes a worktree so that a crash at any point is finished by calling it again: the folder is renamed away,
 * what no Snapshot holds is set aside, the rest deleted, and then git lets go of it.
 */
export async function removeWorktree(deps: RemovalDeps, request: RemoveWorktree): Promise<RemovedWorktree> {
  throwIfCancelled(request.signal);
  const { git, facts } = deps;
  const path = await realParent(request.path);
  const trash = join(dirname(path), `${trashPrefix}${basename(path)}`);
  const { branch, root, signal } = request;
  await deps.withGitLock(
    async () => {
      await keepWhatOnlyGitHolds(deps, { ...request, path });
      await putInTrash(facts, { path, root, isOurs: (gitDir) => isOurs(gitDir, branch) }, trash);
    },
    { signal },
  );
  // Not cancelled from here on: what has begun is finished.
  await request.onAway?.();
  const gitDir = await findAdminDirectory(facts.commonDir, path);
  const leaving = (await exists(trash))
    ? await leavingFolder(trash, gitDir, request.asideDirectory)
    : undefined;
  const kept = leaving === undefined ? undefined : await emptied(deps, request.keptCommit, leaving);
  // Not before: it takes a look at the whole index.
  if (gitDir !== undefined)
    await keepLeftStaged(git, facts.commonDir, { ...request, gitDir, name: basename(path) });
  // With the registration they would go, whatever became of the folder; until then git reads the submodules by them.
  if (gitDir !== undefined) await setModulesAside(gitDir, request.asideDirectory);
  await deps.withGitLock(() => deregister(git, facts, path), {});
  if (leaving !== undefined && kept === undefined) await removeRest(leaving);
  if (request.keepsBranch !== true) await deps.withGitLock(() => deleteOwnBranch(deps, request), {});
  const hasAside = await holdsSomething(request.asideDirectory);
  return { hasAside, ...(kept === undefined ? {} : { kept }) };
}

/**
 * While its folder is away, the next `git worktree prune` takes a registration, and with it what nothing else holds:
 * commits that HEAD left get refs first; one with repositories of submodules is locked. A lock where it is not needed
 * would have an editor look at the worktree just as it goes.
 */
async function keepWhatOnlyGitHolds(
  { git, facts }: RemovalDeps,
  { path, branch, keptCommit }: RemoveWorktree,
): Promise<void> {
  const gitDir = await findAdminDirectory(facts.commonDir, path);
  if (gitDir === undefined || !(await isOurs(gitDir, branch))) return;
  await keepLeftCommits(git, { cwd: facts.root, gitDir, name: basename(path), keptCommit });
  if (await exists(join(gitDir, 'modules'))) await lock(gitDir);
}

/** What `git worktree lock` does, without a process: the lock is the file `locked` (gitrepository-layout). */
async function lock(gitDir: string): Promise<void> {
  const reason = 'tributary: it is being removed\n';
  await writeFile(join(gitDir, 'locked'), reason, { flag: 'wx' }).catch((error: unknown) => {
    if (errnoOf(error) !== 'EEXIST') throw error;
  });
}

/** Renames a proven worktree away. Nothing to do when an earlier call did, or when the folder is gone. */
export async function putInTrash(
  facts: RepositoryFacts,
  request: TrashWorktree,
  trash: string,
): Promise<void> {
  const { path } = request;
  const hasTrash = (await exists(trash)) && !(await removedEmpty(trash));
  if (hasTrash && !(await belongsTo(facts, trash))) throw refused(trash, 'it is in the way and not ours');
  if (!(await exists(path)) || (await removedBare(facts, request))) return;
  await proveRemovable(facts, request);
  if (hasTrash) throw refusedStanding(path, `an earlier removal, of ${trash}, was not finished`);
  await rename(path, trash);
}

/** An empty folder that git does not know, such as a creation that was killed leaves, just goes. */
async function removedBare(facts: RepositoryFacts, { path, root }: TrashWorktree): Promise<boolean> {
  if (![...defaultRoots(facts), root].includes(dirname(path))) return false;
  if ((await findAdminDirectory(facts.commonDir, path)) !== undefined) return false;
  return removedEmpty(path);
}

/** An empty folder holds nothing of anybody's. */
async function removedEmpty(path: string): Promise<boolean> {
  if (!(await lstat(path)).isDirectory()) return false;
  return rmdir(path).then(
    () => true,
    () => false,
  );
}

/** Throws `worktreeFailed` unless `path` is, beyond doubt, a linked worktree that may go. */
async function proveRemovable(facts: RepositoryFacts, { path, isOurs }: TrashWorktree): Promise<void> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) throw refusedStanding(path, 'it is a symbolic link');
  if (!stats.isDirectory()) throw refusedStanding(path, 'it is no folder');
  if ((await realpath(path)) !== path) throw refusedStanding(path, 'it is reached through a link');
  for (const precious of [facts.mainRoot, facts.root, facts.commonDir]) {
    if (precious === undefined) continue;
    // The opened checkout may itself be a worktree, but never the one to go.
    if (isWithin(path, precious)) throw refusedStanding(path, `it holds ${precious}`);
  }
  const gitDir = await findAdminDirectory(facts.commonDir, path);
  if (gitDir === undefined) throw refusedStanding(path, 'it is no worktree of this repository');
  if (!(await isOurs(gitDir))) throw refusedStanding(path, 'Tributary did not make it');
  if ((await lstat(join(path, '.git')).catch(unlessMissing)) !== undefined) {
    if (!(await belongsTo(facts, path))) throw refusedStanding(path, 'its .git leads to another repository');
  } else if (decodePath(await readFile(join(gitDir, 'gitdir'))) !== `${join(path, '.git')}\n`) {
    // Only a link above it makes it seem registered, and nothing in it says that it is ours.
    throw refusedStanding(path, 'it is reached through a link');
  }
}

/**
 * Moves what `removeWorktree` set aside back to a rebuilt worktree, where nothing stands in the way; the rest
 * stays aside.
 */
export async function bringAsideBack(facts: RepositoryFacts, path: string, aside: string): Promise<void> {
  const gitDir = await findAdminDirectory(facts.commonDir, path);
  if (gitDir === undefined) return;
  await moveBack(join(aside, asideModules), gitDir);
  await moveBack(aside, await realpath(path), [asideModules]);
}

/** Whether the `.git` file of a folder points into this repository's administration. */
async function belongsTo(facts: RepositoryFacts, folder: string): Promise<boolean> {
  return (await adminDirectoryBehind(facts.commonDir, folder)) !== undefined;
}

/** Keeps the repositories of a worktree's submodules: commits made there may exist nowhere else. */
export async function setModulesAside(gitDir: string, asideDirectory: string): Promise<void> {
  if (!(await exists(join(gitDir, 'modules')))) return;
  await new AsideFolder(join(asideDirectory, asideModules)).take(gitDir, 'modules');
}

/** Whether a folder of things set aside is there, and not empty. */
export async function holdsSomething(asideDirectory: string): Promise<boolean> {
  return ((await readdir(asideDirectory).catch(unlessMissing)) ?? []).length > 0;
}

/** The folder stands in its place as before, and `wasRefused` says so. */
function refusedStanding(path: string, why: string): TributaryError {
  return refused(path, why, { wasRefused: true });
}

function refused(path: string, why: string, more: Readonly<Record<string, unknown>> = {}): TributaryError {
  const details = { path, why, ...more };
  return new TributaryError('worktreeFailed', `${path} is not removed: ${why}`, { details });
}
