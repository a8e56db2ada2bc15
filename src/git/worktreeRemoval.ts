import { chmod, lstat, readdir, readFile, realpath, rename, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { throwIfCancelled } from '../base/async';
import { errnoOf, TributaryError } from '../base/errors';
import { type Checkout, findAdminDirectory, inCheckout, realParent, unlessMissing } from './checkouts';
import type { GitClient } from './gitClient';
import { moveAside, moveBack } from './movedFiles';
import { parseRawDiff } from './parsers/diffTree';
import { decodePath, splitPaths } from './parsers/pathBytes';
import { parseWorktreeList } from './parsers/worktreeList';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { withTemporaryIndex } from './temporaryIndex';
import { treeOfCheckout } from './workTreeState';
import { deregister, type WithGitLock } from './worktreeMaking';
import { isWithin } from './worktreeRoots';

/** Where the repositories of submodules lie in the folder of things set aside. */
const asideModules = '.git-modules';

export interface RemovalDeps {
  readonly git: Git;
  readonly client: GitClient;
  readonly facts: RepositoryFacts;
  readonly withGitLock: WithGitLock;
}

export interface RemoveWorktree {
  readonly path: string;
  readonly branch: string;
  readonly keptCommit: string;
  readonly asideDirectory: string;
  readonly signal?: AbortSignal;
}

/**
 * Removes a worktree so that a crash at any point is finished by calling it again: the folder is renamed away,
 * emptied of what no Snapshot holds, let go of by git, and only then deleted.
 */
export async function removeWorktree(
  deps: RemovalDeps,
  request: RemoveWorktree,
): Promise<{ hasAside: boolean }> {
  throwIfCancelled(request.signal);
  const path = await realParent(request.path);
  const trash = join(dirname(path), `.tributary-trash-${basename(path)}`);
  await deps.withGitLock(() => putInTrash(deps.facts, path, trash), { signal: request.signal });
  // Not cancelled from here on: what has begun is finished.
  const gitDir = await findAdminDirectory(deps.facts.commonDir, path);
  if (gitDir !== undefined && (await exists(trash))) {
    const checkout = { workTree: trash, gitDir, commonDir: deps.facts.commonDir };
    await setAside(deps, checkout, request);
  }
  await deps.withGitLock(() => deregister(deps.git, deps.facts, path), {});
  await deleteTree(trash);
  await deps.withGitLock(() => deleteBranch(deps, request), {});
  return { hasAside: ((await readdir(request.asideDirectory).catch(unlessMissing)) ?? []).length > 0 };
}

/** Renames a proven worktree away. Nothing to do when an earlier call did, or when the folder is gone. */
async function putInTrash(facts: RepositoryFacts, path: string, trash: string): Promise<void> {
  const hasTrash = await exists(trash);
  if (hasTrash && !(await belongsTo(facts, trash))) throw refused(trash, 'it is in the way and not ours');
  if (!(await exists(path)) || (await removedBare(facts, path))) return;
  await proveRemovable(facts, path);
  if (hasTrash) throw refused(trash, 'an earlier removal was not finished and the worktree is back');
  await rename(path, trash);
}

/** An empty folder that git does not know, such as a creation that was killed leaves, just goes. */
async function removedBare(facts: RepositoryFacts, path: string): Promise<boolean> {
  if ((await findAdminDirectory(facts.commonDir, path)) !== undefined) return false;
  if (!(await lstat(path)).isDirectory()) return false;
  return rmdir(path).then(
    () => true,
    () => false,
  );
}

/** Throws `worktreeFailed` unless `path` is, beyond doubt, a linked worktree that may go. */
async function proveRemovable(facts: RepositoryFacts, path: string): Promise<void> {
  const stats = await lstat(path);
  if (stats.isSymbolicLink()) throw refused(path, 'it is a symbolic link');
  if (!stats.isDirectory()) throw refused(path, 'it is no folder');
  if ((await realpath(path)) !== path) throw refused(path, 'it is reached through a link');
  for (const precious of [facts.mainRoot, facts.root, facts.commonDir]) {
    if (precious === undefined) continue;
    // The opened checkout may itself be a worktree, but never the one to go.
    if (isWithin(path, precious)) throw refused(path, `it holds ${precious}`);
  }
  if ((await findAdminDirectory(facts.commonDir, path)) === undefined) {
    throw refused(path, 'it is no worktree of this repository');
  }
  const hasGitFile = (await lstat(join(path, '.git')).catch(unlessMissing)) !== undefined;
  if (hasGitFile && !(await belongsTo(facts, path)))
    throw refused(path, 'its .git leads to another repository');
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
  const file = join(folder, '.git');
  if (!(await lstat(file).catch(unlessMissing))?.isFile()) return false;
  const match = /^gitdir: ([\s\S]*?)\n?$/.exec(decodePath(await readFile(file)));
  if (match?.[1] === undefined) return false;
  const target = await realParent(resolve(folder, match[1]));
  return dirname(target) === join(facts.commonDir, 'worktrees');
}

/** Moves aside what the kept commit does not hold: ignored files, repositories, and any later edit. */
async function setAside(deps: RemovalDeps, checkout: Checkout, request: RemoveWorktree): Promise<void> {
  const { workTree } = checkout;
  for (const path of await unsnapshotted(deps.git, checkout, request.keptCommit)) {
    await moveAside(workTree, path, request.asideDirectory);
  }
  // The repositories of its submodules: commits made there may exist nowhere else.
  if (await exists(join(checkout.gitDir, 'modules'))) {
    await moveAside(checkout.gitDir, 'modules', join(request.asideDirectory, asideModules));
  }
}

/** Paths (folders whole) that hold something the kept commit does not. */
async function unsnapshotted(git: Git, checkout: Checkout, keptCommit: string): Promise<string[]> {
  const { nested, ignored } = await withTemporaryIndex({ git, checkout }, async (index) => {
    const others = ['ls-files', '--others', '--exclude-standard', '-z'];
    const untracked = splitPaths((await index.run({ args: others })).stdout);
    const special = await index.specialEntries();
    const submodules: string[] = [];
    for (const { path } of special.filter((entry) => entry.isGitlink)) {
      if ((await readdir(join(checkout.workTree, path)).catch(unlessMissing))?.length) submodules.push(path);
    }
    const ignoredArgs = ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory', '-z'];
    const found = splitPaths((await index.run({ args: ignoredArgs })).stdout);
    return { nested: [...untracked.filter((path) => path.endsWith('/')), ...submodules], ignored: found };
  });
  const tree = await treeOfCheckout(git, checkout);
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', '--no-renames', '--end-of-options'];
  const output = await git({ ...inCheckout(checkout), args: [...args, `${keptCommit}^{tree}`, tree, '--'] });
  const edited = parseRawDiff(output.stdout).filter((change) => change.letter !== 'D');
  return [...new Set([...nested, ...ignored, ...edited.map((change) => change.path)])].map((path) =>
    path.replace(/\/$/, ''),
  );
}

/** Deletes a folder that has been emptied of everything worth keeping; read-only folders do not stop it. */
async function deleteTree(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== 'EACCES' && errno !== 'EPERM') throw error;
    await openFolders(folder);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Makes folders writable; links are not followed, files are left. */
async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await openFolders(join(folder, entry.name));
  }
}

/** Deletes our branch if a ref of ours holds its tip and nobody else has a use for it; otherwise it stays. */
async function deleteBranch(deps: RemovalDeps, request: RemoveWorktree): Promise<void> {
  const { git, facts } = deps;
  const { branch, keptCommit } = request;
  const place = { cwd: facts.root };
  const tip = await ask(git, facts, ['rev-parse', '--verify', '--quiet', '--end-of-options', branch]);
  if (tip === undefined) return;
  const isKept = await ask(git, facts, ['merge-base', '--is-ancestor', tip, keptCommit]);
  if (isKept === undefined || !(await isHeldElsewhere(deps, branch, keptCommit))) return;
  const listed = parseWorktreeList(
    (await git({ ...place, args: ['worktree', 'list', '--porcelain', '-z'] })).stdout,
  );
  if (listed.some((one) => one.branch === branch)) return;
  if (await isPushed(deps, branch)) return;
  await git({ ...place, args: ['update-ref', '-d', branch, tip] });
}

/** Whether a ref other than the branch reaches the commit. */
async function isHeldElsewhere(
  { git, facts }: RemovalDeps,
  branch: string,
  commit: string,
): Promise<boolean> {
  const args = ['for-each-ref', '--count=2', '--format=%(refname)', '--contains', commit];
  // Our own refs first: there the answer nearly always is.
  for (const prefix of ['refs/tributary', 'refs']) {
    const said = lineOf(await git({ cwd: facts.root, args: [...args, prefix] }));
    if (said.split('\n').some((ref) => ref !== '' && ref !== branch)) return true;
  }
  return (await ask(git, facts, ['merge-base', '--is-ancestor', commit, 'HEAD'])) !== undefined;
}

/** Whether somebody pushed the branch: it has an upstream, or a remote has one of its name. */
async function isPushed({ client }: RemovalDeps, branch: string): Promise<boolean> {
  if (await client.hasUpstream(branch)) return true;
  const short = branch.replace(/^refs\/heads\//, '');
  const remote = await client.refNames('refs/remotes');
  return remote.some((ref) => ref.endsWith(`/${short}`));
}

async function ask(git: Git, facts: RepositoryFacts, args: readonly string[]): Promise<string | undefined> {
  const output = await git({ cwd: facts.root, args, okCodes: [0, 1, 128] });
  return output.exitCode === 0 ? lineOf(output) : undefined;
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined;
}

function refused(path: string, why: string): TributaryError {
  return new TributaryError('worktreeFailed', `${path} is not removed: ${why}`, { details: { path, why } });
}
