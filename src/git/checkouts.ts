import { lstat, readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errnoOf, TributaryError } from '../base/errors';
import { decodePath } from './parsers/pathBytes';
import type { GitCommand } from './plumbing';
import type { RepositoryFacts } from './repository';

/** A checkout and the git directory that the repository, not the checkout's own `.git` file, says is its. */
export interface Checkout {
  /** Absolute and real. */
  readonly workTree: string;
  readonly gitDir: string;
  readonly commonDir: string;
}

/**
 * Where and with which variables git works on a checkout: named outright, so that neither a swapped `.git`
 * file nor `core.worktree` sends the work elsewhere.
 */
export function inCheckout(checkout: Checkout, index?: string): Pick<GitCommand, 'cwd' | 'env'> {
  return {
    cwd: checkout.workTree,
    env: {
      GIT_DIR: checkout.gitDir,
      GIT_COMMON_DIR: checkout.commonDir,
      GIT_WORK_TREE: checkout.workTree,
      ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
    },
  };
}

/**
 * Settings for a git that lists or records the files of a checkout. `core.ignoreCase`, configured on a disk that
 * tells `a` from `A`, would make git take one file for the other and forget it.
 */
export async function caseSettings(workTree: string): Promise<readonly string[]> {
  // `.git` stands in every checkout; where it does not, the folder's own name tells.
  const name = basename(workTree);
  const [git, other, own, otherOwn] = await Promise.all([
    inodeOf(join(workTree, '.git')),
    inodeOf(join(workTree, '.GIT')),
    inodeOf(workTree),
    inodeOf(join(dirname(workTree), swappedCase(name))),
  ]);
  if (git !== undefined) return git === other ? [] : distinctCase;
  return swappedCase(name) === name || own === otherOwn ? [] : distinctCase;
}

const distinctCase: readonly string[] = ['core.ignoreCase=false'];

async function inodeOf(path: string): Promise<bigint | undefined> {
  return (await lstat(path, { bigint: true }).catch(unlessMissing))?.ino;
}

function swappedCase(name: string): string {
  return name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase();
}

const operations: ReadonlyArray<readonly [file: string, operation: string]> = [
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
];

/** What was begun in a checkout and not ended, such as `rebase`. */
export async function operationUnderWay({ gitDir }: Pick<Checkout, 'gitDir'>): Promise<string | undefined> {
  for (const [file, operation] of operations) {
    if ((await lstat(join(gitDir, file)).catch(unlessMissing)) !== undefined) return operation;
  }
  return undefined;
}

/** The checkout at `path`, which must be one of this repository. Throws `worktreeMissing`. */
export async function locateCheckout(facts: RepositoryFacts, path: string): Promise<Checkout> {
  const workTree = await realFolder(path);
  const { commonDir } = facts;
  if (workTree === facts.root) return { workTree, gitDir: facts.gitDir, commonDir };
  if (workTree === facts.mainRoot) return { workTree, gitDir: commonDir, commonDir };
  const gitDir = await findAdminDirectory(commonDir, workTree);
  if (gitDir === undefined) throw missing(path, 'it is no worktree of this repository');
  return { workTree, gitDir, commonDir };
}

/** The `worktrees/<id>` directory whose `gitdir` file points at `<path>/.git`; the folder need not exist. */
export async function findAdminDirectory(commonDir: string, path: string): Promise<string | undefined> {
  const wanted = join(await realParent(path), '.git');
  const administration = join(commonDir, 'worktrees');
  for (const id of await namesIn(administration)) {
    const directory = join(administration, id);
    const target = await gitFileOf(directory);
    if (target === wanted) return directory;
  }
  return undefined;
}

/** Where an administration directory says its worktree's `.git` file is. */
async function gitFileOf(directory: string): Promise<string | undefined> {
  const content = await readFile(join(directory, 'gitdir')).catch(unlessMissing);
  if (content === undefined) return undefined;
  const target = resolve(directory, decodePath(content).replace(/\n$/, ''));
  return join(await realParent(dirname(target)), basename(target));
}

/** The administration directory below `commonDir` that the `.git` file of a folder leads to, if it does. */
export async function adminDirectoryBehind(commonDir: string, folder: string): Promise<string | undefined> {
  const file = join(folder, '.git');
  if (!(await lstat(file).catch(unlessMissing))?.isFile()) return undefined;
  const match = /^gitdir: ([\s\S]*?)\n?$/.exec(decodePath(await readFile(file)));
  if (match?.[1] === undefined) return undefined;
  const target = await realParent(resolve(folder, match[1]));
  return dirname(target) === join(commonDir, 'worktrees') ? target : undefined;
}

/** Whether a folder's `.git` file and an administration directory below `commonDir` lead to each other. */
export async function ownsWorktree(commonDir: string, path: string): Promise<boolean> {
  const directory = await adminDirectoryBehind(commonDir, path);
  if (directory === undefined) return false;
  return (await gitFileOf(directory)) === join(await realParent(path), '.git');
}

/** `path` with its parent real, whether or not `path` itself exists. */
export async function realParent(path: string): Promise<string> {
  const parent = await realpath(dirname(path)).catch(unlessMissing);
  return parent === undefined ? resolve(path) : join(parent, basename(path));
}

/** `path` with links above it resolved; it must itself be a folder, not a link to one. */
async function realFolder(path: string): Promise<string> {
  const stats = await lstat(path).catch(unlessMissing);
  if (stats === undefined) throw missing(path, 'the folder is gone');
  if (stats.isSymbolicLink()) throw missing(path, 'it is a symbolic link');
  if (!stats.isDirectory()) throw missing(path, 'it is no folder');
  return realpath(path);
}

async function namesIn(directory: string): Promise<string[]> {
  return (await readdir(directory).catch(unlessMissing)) ?? [];
}

/** Whether something stands there, be it a link that leads nowhere. */
export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined;
}

/** For `catch`: `undefined` for what is not there, anything else is thrown on. */
export function unlessMissing(error: unknown): undefined {
  const errno = errnoOf(error);
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return undefined;
  throw error;
}

function missing(path: string, why: string): TributaryError {
  return new TributaryError('worktreeMissing', `there is no worktree at ${path}: ${why}`, {
    details: { path },
  });
}
