import { lstat, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { writeFileAtomic } from '../base/atomicFile';
import { TributaryError } from '../base/errors';
import { removeTree } from '../base/removeTree';
import { ownsWorktree, realParent, unlessMissing } from './checkouts';
import { keepLeft } from './leftStaged';
import { decodePath, encodePath } from './parsers/pathBytes';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { headIn, isBranchOfOurs, markAsOurs, markOf } from './worktreeMark';
import { setModulesAside } from './worktreeRemoval';

/** What stands at the place of a worktree. */
export type Standing =
  /** A folder that this repository's administration and it itself agree on. */
  | { readonly kind: 'whole' }
  /** Nothing; `hasRoot`: the folder it lay in is there. */
  | { readonly kind: 'gone'; readonly hasRoot: boolean }
  /** A file, or a link: not what we made. */
  | { readonly kind: 'other'; readonly is: 'file' | 'link' }
  /** A folder of this repository whose registration is gone; `id`: the name it had. */
  | { readonly kind: 'forgotten'; readonly id: string }
  /** A folder that leads to the administration of another place; `lives`: that one is there. */
  | { readonly kind: 'elsewhere'; readonly id: string; readonly leadsTo: string; readonly lives: boolean }
  /** A folder that is no worktree. */
  | { readonly kind: 'stranger' };

/** A worktree of ours as the repository's administration names it. */
export interface Registration {
  /** Its folder's name below `worktrees/`. */
  readonly id: string;
  readonly directory: string;
  /** Where it says the worktree is. */
  readonly path: string;
  /** The branch it was made on. */
  readonly branch: string;
  readonly standing: Standing;
}

export interface RegistrationDeps {
  readonly git: Git;
  readonly facts: RepositoryFacts;
}

/** The registrations of worktrees that Tributary made; the user's are not among them. Reads only. */
export async function ownRegistrations(facts: RepositoryFacts): Promise<readonly Registration[]> {
  const administration = join(facts.commonDir, 'worktrees');
  const found: Registration[] = [];
  for (const id of (await readdir(administration).catch(unlessMissing)) ?? []) {
    const directory = join(administration, id);
    const branch = (await markOf(directory)) ?? (await headIn(directory));
    const content = await readFile(join(directory, 'gitdir')).catch(unlessMissing);
    if (branch === undefined || !isBranchOfOurs(branch) || content === undefined) continue;
    const path = dirname(resolve(directory, decodePath(content).replace(/\n$/, '')));
    found.push({ id, directory, path, branch, standing: await standingAt(facts, path) });
  }
  return found;
}

/** What stands at `path`, followed through no link. */
export async function standingAt(facts: RepositoryFacts, path: string): Promise<Standing> {
  const stats = await lstat(path).catch(unlessMissing);
  if (stats === undefined) return { kind: 'gone', hasRoot: await isFolder(dirname(path)) };
  if (!stats.isDirectory()) return { kind: 'other', is: stats.isSymbolicLink() ? 'link' : 'file' };
  const target = await gitFileTarget(path);
  if (target === undefined) return { kind: 'stranger' };
  const [id, leadsTo] = [basename(target), target];
  if (dirname(target) === join(facts.commonDir, 'worktrees')) {
    if (await ownsWorktree(facts.commonDir, path)) return { kind: 'whole' };
    const isKnown = (await lstat(join(target, 'gitdir')).catch(unlessMissing)) !== undefined;
    // Registered elsewhere: a copy of the folder, which is not ours to take.
    return isKnown ? { kind: 'stranger' } : { kind: 'forgotten', id };
  }
  return { kind: 'elsewhere', id, leadsTo, lives: await isFolder(target) };
}

/** Makes a registration and a folder that was moved, or whose repository was, lead to each other again. */
export async function reattach(registration: Registration, path: string): Promise<void> {
  const target = await gitFileTarget(path);
  if (target === undefined || basename(target) !== registration.id) {
    throw new TributaryError('worktreeFailed', `${path} is not the worktree ${registration.id}`, {
      details: { path },
    });
  }
  const place = await realParent(path);
  await writeFileAtomic(join(registration.directory, 'gitdir'), encodePath(`${join(place, '.git')}\n`));
  await writeFileAtomic(join(place, '.git'), encodePath(`gitdir: ${registration.directory}\n`));
}

/**
 * Registers a folder again that git has forgotten, on its branch, which is made at `commit` where it is gone. Its
 * files are not touched. Throws `branchInUse` when the branch is checked out elsewhere.
 */
export async function registerAgain(
  { git, facts }: RegistrationDeps,
  { path, id, branch, commit }: { path: string; id: string; branch: string; commit: string },
): Promise<void> {
  const holder = (await ownRegistrations(facts)).find((one) => one.branch === branch);
  if (holder !== undefined) {
    throw new TributaryError('branchInUse', `${branch} cannot be used: ${holder.path} is on it`, {
      details: { branch, why: 'it is checked out' },
    });
  }
  if ((await tipOf({ git, facts }, branch)) === undefined)
    await git({ cwd: facts.root, args: ['update-ref', branch, commit] });
  const directory = join(facts.commonDir, 'worktrees', id);
  await mkdir(directory, { recursive: true });
  const place = await realParent(path);
  await writeFile(join(directory, 'HEAD'), encodePath(`ref: ${branch}\n`));
  await writeFile(join(directory, 'commondir'), '../..\n');
  await markAsOurs(directory, branch);
  const env = { GIT_DIR: directory, GIT_COMMON_DIR: facts.commonDir, GIT_WORK_TREE: place };
  await git({ cwd: place, env, args: ['read-tree', 'HEAD'] });
  // Last: without it git, and a second try, take the rest for nothing.
  await writeFileAtomic(join(directory, 'gitdir'), encodePath(`${join(place, '.git')}\n`));
}

/**
 * Drops a registration of ours without looking at the folder it names, which may be another's. What only
 * it held gets refs below `refs/tributary/left/`, repositories of submodules go aside.
 */
export async function forget(
  { git, facts }: RegistrationDeps,
  { id, directory, path, branch }: Registration,
  asideDirectory: string | undefined,
): Promise<void> {
  if (dirname(directory) !== join(facts.commonDir, 'worktrees')) return;
  const keptCommit = (await tipOf({ git, facts }, branch)) ?? 'HEAD';
  await keepLeft(git, facts, { gitDir: directory, name: basename(path), keptCommit });
  if (asideDirectory !== undefined) await setModulesAside(directory, asideDirectory);
  else if (await isFolder(join(directory, 'modules'))) {
    throw new TributaryError('worktreeFailed', `${id} holds repositories of submodules and has no Task`);
  }
  // git takes one without it for nothing, so a kill in between leaves no half registration.
  await rm(join(directory, 'gitdir'), { force: true });
  await removeTree(directory);
}

/** Where a branch stands; one that git cannot read is a failure, not a branch that is gone. */
async function tipOf({ git, facts }: RegistrationDeps, branch: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', branch];
  const output = await git({ cwd: facts.root, args, okCodes: [0, 1] });
  return output.exitCode === 0 ? lineOf(output) : undefined;
}

/** Where the `.git` file of a folder leads, whoever's that is. */
async function gitFileTarget(folder: string): Promise<string | undefined> {
  const file = join(folder, '.git');
  if (!(await lstat(file).catch(unlessMissing))?.isFile()) return undefined;
  const match = /^gitdir: ([\s\S]*?)\n?$/.exec(decodePath(await readFile(file)));
  return match?.[1] === undefined ? undefined : realParent(resolve(folder, match[1]));
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing))?.isDirectory() ?? false;
}
