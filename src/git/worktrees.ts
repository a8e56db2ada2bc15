import { lstat, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { TributaryError } from '../base/errors';
import { isAncestor } from './ancestry';
import { findAdminDirectory, locateCheckout, ownsWorktree, unlessMissing } from './checkouts';
import type { GitClient } from './gitClient';
import { kindOf } from './gitErrors';
import type { LastLooks } from './lastLook';
import { keepLeft } from './leftStaged';
import { decodePath } from './parsers/pathBytes';
import { type ListedWorktree, parseWorktreeList } from './parsers/worktreeList';
import type { Git } from './plumbing';
import { tellIndex } from './rebuiltIndex';
import type { RepositoryFacts } from './repository';
import { restoreTree } from './restoredTree';
import {
  type BegunWorktree,
  beginWorktree,
  checkOutHead,
  deregister,
  makeWorktree,
  tipOf,
  type WithGitLock,
} from './worktreeMaking';
import {
  bringAsideBack,
  holdsSomething,
  type RemovedWorktree,
  type RemoveWorktree,
  removeWorktree,
  setModulesAside,
} from './worktreeRemoval';
import { chooseWorktreeRoot } from './worktreeRoots';

export type { BegunWorktree, ListedWorktree };

export interface CreateWorktree {
  readonly path: string;
  /** Full ref name of a branch that is created here; it must not exist. */
  readonly branch: string;
  readonly commit: string;
  /** Written as the reason of `git worktree lock`. */
  readonly lockReason: string;
  /** Called once its files stand, before `files` resolves; when it fails the worktree is taken back. */
  readonly afterFiles?: () => Promise<void>;
  readonly signal?: AbortSignal;
}

export interface RebuildWorktree {
  readonly path: string;
  readonly branch: string;
  /** Where the branch, if it is gone, is created again. */
  readonly headCommit: string;
  /** The files to bring back: tracked and untracked. */
  readonly tree: string;
  /** A branch that stands elsewhere, at a commit that this one reaches, is taken as it stands. */
  readonly keptCommit?: string;
  /** What `remove` set aside; moved back after the files, where nothing stands in the way. */
  readonly asideDirectory?: string;
  readonly lockReason: string;
  readonly signal?: AbortSignal;
}

/**
 * Creates and removes linked worktrees; touches git and folders only. Registration and removal run under the
 * repository's git lock, checkouts beside each other. Whatever fails leaves nothing behind.
 */
export interface Worktrees {
  /** The folder new Worktrees go to: the setting, the sibling `<repo>.worktrees`, else `<repo>/.worktrees`. */
  chooseRoot(setting?: string): Promise<{ root: string; isInside: boolean }>;
  /**
   * The first of `<slug>`, `<slug>-2`... whose folder and branch are both free, with the full branch name
   * (`tributary/<slug>`, or `tributary-<slug>` where a branch `tributary` exists).
   */
  chooseName(
    root: string,
    slug: string,
    isTaken: (slug: string) => boolean,
  ): Promise<{ slug: string; path: string; branch: string }>;
  /** Throws `branchInUse`, `worktreeFailed`, `worktreeNotIsolated` (it does not resolve to itself), `diskFull`. */
  create(request: CreateWorktree): Promise<void>;
  /** As `create`, but resolves as soon as it is registered, locked and proven; its files come while the caller goes on. */
  begin(request: CreateWorktree): Promise<BegunWorktree>;
  /** Brings a removed Worktree back, files as in `tree`. Throws as `create`; `branchInUse` when the branch is checked out elsewhere or has moved. */
  rebuild(request: RebuildWorktree): Promise<{ readonly hasAside: boolean }>;
  /**
   * Removes a Worktree that the caller has proven to be ours and has taken a Snapshot of. `asideDirectory`
   * receives whatever `keptCommit` does not hold, such as ignored files and nested repositories (moved, never
   * copied over, never deleted); commits HEAD has left get refs below `refs/tributary/left/`. The branch goes
   * only if another ref of ours, or the kept commit, holds its tip, no other worktree has it checked out and nobody
   * pushed it, and never with `keepsBranch`. `onAway` is told when the folder is out of its place, which takes no time
   * whatever lies in it.
   */
  remove(request: RemoveWorktree): Promise<RemovedWorktree>;
  /** `git worktree lock`/`unlock`; locking a locked one or unlocking an unlocked one is no error. */
  setLock(path: string, reason: string | undefined): Promise<void>;
  list(): Promise<readonly ListedWorktree[]>;
  /**
   * Whether the folder and this repository lead to each other; `false` for the worktree of a repository this
   * one is a copy of, though `list` names it. Git itself would work in the original.
   */
  owns(path: string): Promise<boolean>;
}

export interface WorktreesDeps {
  readonly git: Git;
  readonly client: GitClient;
  readonly looks: LastLooks;
  readonly facts: RepositoryFacts;
  readonly withGitLock: WithGitLock;
}

export class GitWorktrees implements Worktrees {
  private readonly deps: WorktreesDeps;

  constructor(deps: WorktreesDeps) {
    this.deps = deps;
  }

  chooseRoot(setting?: string): Promise<{ root: string; isInside: boolean }> {
    return chooseWorktreeRoot(this.deps.facts, setting);
  }

  async chooseName(
    root: string,
    slug: string,
    isTaken: (slug: string) => boolean,
  ): Promise<{ slug: string; path: string; branch: string }> {
    if (!/^[A-Za-z0-9][\w-]*$/.test(slug)) {
      throw new TributaryError('badArguments', `${JSON.stringify(slug)} cannot name a folder and a branch`);
    }
    const { git, facts } = this.deps;
    // Not through `client`: the first request would wait until simple-git is loaded.
    const refs = await git({ cwd: facts.root, args: ['for-each-ref', '--format=%(refname)', 'refs/heads'] });
    // Compared in lower case: on some file systems the two would be one file.
    const branches = decodePath(refs.stdout).toLowerCase().split('\n');
    const prefix = branches.includes('refs/heads/tributary')
      ? 'refs/heads/tributary-'
      : 'refs/heads/tributary/';
    for (let number = 1; ; number += 1) {
      const candidate = number === 1 ? slug : `${slug}-${number}`;
      const path = join(root, candidate);
      const branch = `${prefix}${candidate}`;
      const lower = branch.toLowerCase();
      if (isTaken(candidate)) continue;
      if (branches.some((ref) => ref === lower || ref.startsWith(`${lower}/`))) continue;
      if ((await findAdminDirectory(facts.commonDir, path)) !== undefined) continue;
      if ((await lstat(path).catch(unlessMissing)) === undefined) return { slug: candidate, path, branch };
    }
  }

  async create(request: CreateWorktree): Promise<void> {
    await (await this.begin(request)).files;
  }

  begin(request: CreateWorktree): Promise<BegunWorktree> {
    return beginWorktree(this.deps, { ...request, mayReuseBranch: false }, async (checkout) => {
      await checkOutHead(this.deps.git, checkout, request.signal);
      await request.afterFiles?.();
    });
  }

  async rebuild(request: RebuildWorktree): Promise<{ readonly hasAside: boolean }> {
    const { git, facts, withGitLock } = this.deps;
    const { path, tree, asideDirectory, signal } = request;
    // Its folder may have been deleted by hand; the registration that is left would hold the branch.
    if ((await lstat(path).catch(unlessMissing)) === undefined)
      await withGitLock(() => this.forgetGone(request), { signal });
    const making = { ...request, commit: await this.commitFor(request), mayReuseBranch: true };
    await makeWorktree(this.deps, making, async (checkout) => {
      await checkOutHead(git, checkout, signal);
      await restoreTree(git, checkout, { tree, asideDirectory, signal });
    });
    // After the point of failure: what was set aside is the only copy, a half-made worktree must not hold it.
    if (asideDirectory !== undefined) await bringAsideBack(facts, path, asideDirectory);
    await tellIndex(git, await locateCheckout(facts, path), { tree, signal: undefined });
    return { hasAside: asideDirectory !== undefined && (await holdsSomething(asideDirectory)) };
  }

  /** An agent may have left its branch for another commit; then the branch stands where it was left. */
  private async commitFor({ branch, headCommit, keptCommit }: RebuildWorktree): Promise<string> {
    const { git, facts } = this.deps;
    const tip = await tipOf(git, facts, branch);
    if (tip === undefined || tip === headCommit || keptCommit === undefined) return headCommit;
    const isKept = await isAncestor(git, { cwd: facts.root }, { commit: tip, tip: keptCommit });
    return isKept ? tip : headCommit;
  }

  /** Drops the registration of a worktree whose folder is gone; what only it holds is kept. */
  private async forgetGone({ path, headCommit, asideDirectory }: RebuildWorktree): Promise<void> {
    const { git, facts } = this.deps;
    const gitDir = await findAdminDirectory(facts.commonDir, path);
    if (gitDir === undefined) return;
    await keepLeft(git, facts, { gitDir, name: basename(path), keptCommit: headCommit });
    if (asideDirectory !== undefined) await setModulesAside(gitDir, asideDirectory);
    await deregister(git, facts, path);
  }

  remove(request: RemoveWorktree): Promise<RemovedWorktree> {
    return removeWorktree(this.deps, request);
  }

  async setLock(path: string, reason: string | undefined): Promise<void> {
    const { git, facts, withGitLock } = this.deps;
    if (reason === undefined) return withGitLock(() => unlock(facts.commonDir, path), {});
    try {
      const args = ['worktree', 'lock', '--reason', reason, '--', path];
      await withGitLock(() => git({ cwd: facts.root, args }), {});
    } catch (error) {
      if (kindOf(error) !== 'alreadyLocked') throw error;
    }
  }

  async list(): Promise<readonly ListedWorktree[]> {
    const args = ['worktree', 'list', '--porcelain', '-z'];
    return parseWorktreeList((await this.deps.git({ cwd: this.deps.facts.root, args })).stdout);
  }

  owns(path: string): Promise<boolean> {
    return ownsWorktree(this.deps.facts.commonDir, path);
  }
}

/** What `git worktree unlock` does, without a process: the lock is the file `locked` (gitrepository-layout). */
async function unlock(commonDir: string, path: string): Promise<void> {
  const directory = await findAdminDirectory(commonDir, path);
  if (directory === undefined) {
    throw new TributaryError('worktreeMissing', `there is no worktree at ${path}: git does not know it`, {
      details: { path },
    });
  }
  await rm(join(directory, 'locked'), { force: true });
}
