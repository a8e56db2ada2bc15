import { TributaryError } from '../base/errors';
import { type Checkout, inCheckout, locateCheckout } from './checkouts';
import { kindOf } from './gitErrors';
import type { CheckoutLook, LastLooks } from './lastLook';
import { zeroName } from './objectNames';
import type { Head } from './parsers/statusV2';
import { type Git, type GitOutput, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { type RestoredFiles, restoreTree } from './restoredTree';

/** A full state of a Worktree: what `take` recorded. */
export interface TakenSnapshot {
  readonly ref: string;
  readonly commit: string;
  readonly tree: string;
  readonly headCommit: string;
  /** The branch the Worktree's HEAD is on; absent when detached. */
  readonly headRef?: string;
}

/**
 * Records and restores a Worktree's files (tracked and untracked, not ignored) through a temporary index;
 * branch, index, stash and hooks are never touched.
 */
export interface Snapshots {
  /** The tree of what stands in the Worktree now; objects are written, no ref. */
  treeOf(worktreePath: string, signal?: AbortSignal): Promise<string>;
  /** The same with what else is known of that moment, for `take`. */
  look(worktreePath: string, signal?: AbortSignal): Promise<CheckoutLook>;
  /**
   * Commits the tree of `look` (default: of a look now) under `refs/tributary/<taskId>/<number>`. Parents: the Worktree's
   * HEAD commit first, so that the agent's own commits stay reachable, then `previous` if given. On a branch
   * without a commit `previous`, or else `base`, takes the place of HEAD.
   */
  take(request: {
    worktreePath: string;
    taskId: string;
    number: number;
    message: string;
    look?: CheckoutLook;
    previous?: string;
    base?: string;
    signal?: AbortSignal;
  }): Promise<TakenSnapshot>;
  /**
   * Makes the Worktree's files equal `tree`: changed and deleted files come back, files that `tree` does not have are
   * removed, except what git or the ignore rules in `tree` ignore. What is not in `recorded`, which was kept of the
   * Worktree before, and would be written over or removed is moved to `asideDirectory`: ignored files, repositories,
   * and what was edited since, up to the last moment. Index and branch stay. Answers the paths that were put right.
   */
  restoreFiles(
    worktreePath: string,
    request: { tree: string; recorded: string; asideDirectory: string },
  ): Promise<RestoredFiles>;
}

export class GitSnapshots implements Snapshots {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly looks: LastLooks;

  constructor(deps: { git: Git; facts: RepositoryFacts; looks: LastLooks }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.looks = deps.looks;
  }

  async treeOf(worktreePath: string, signal?: AbortSignal): Promise<string> {
    return this.looks.treeOf(await locateCheckout(this.facts, worktreePath), signal);
  }

  async look(worktreePath: string, signal?: AbortSignal): Promise<CheckoutLook> {
    return this.looks.look(await locateCheckout(this.facts, worktreePath), signal);
  }

  async take(request: Parameters<Snapshots['take']>[0]): Promise<TakenSnapshot> {
    const { worktreePath, taskId, number, signal } = request;
    const checkout = await locateCheckout(this.facts, worktreePath);
    const look = request.look ?? (await this.looks.look(checkout, signal));
    const { tree } = look;
    const head = look.head ?? (await headOf(this.git, checkout, signal));
    // Without one after an agent's `checkout --orphan`, say.
    const headCommit = head.commit ?? request.previous ?? request.base;
    if (headCommit === undefined) {
      throw new TributaryError(
        'unbornBranch',
        `the worktree ${worktreePath} is on a branch without a commit`,
        {
          details: { path: worktreePath },
        },
      );
    }
    const ref = `refs/tributary/${taskId}/${number}`;
    const parents = [headCommit, ...(request.previous === undefined ? [] : [request.previous])];
    const commit = await this.store({ checkout, ref, tree, parents, message: request.message, signal });
    return { ref, commit, tree, headCommit, ...(head.ref === undefined ? {} : { headRef: head.ref }) };
  }

  async restoreFiles(
    worktreePath: string,
    request: { tree: string; recorded: string; asideDirectory: string },
  ): Promise<RestoredFiles> {
    const checkout = await locateCheckout(this.facts, worktreePath);
    return restoreTree(this.git, checkout, request);
  }

  /** Commits and names the commit. A name that is taken already is kept reachable as one more parent. */
  private async store(request: {
    checkout: Checkout;
    ref: string;
    tree: string;
    parents: readonly string[];
    message: string;
    signal: AbortSignal | undefined;
  }): Promise<string> {
    const { checkout, ref, signal } = request;
    const place = { ...inCheckout(checkout), signal };
    const commit = await commitTree(this.git, place, request);
    try {
      await this.git({ ...place, args: ['update-ref', ref, commit, zeroName(commit)] });
      return commit;
    } catch (error) {
      if (kindOf(error) !== 'refExists') throw error;
      const taken = lineOf(await this.git({ ...place, args: ['rev-parse', '--verify', ref] }));
      const parents = [...request.parents, taken];
      const joined = await commitTree(this.git, place, { ...request, parents });
      await this.git({ ...place, args: ['update-ref', ref, joined, taken] });
      return joined;
    }
  }
}

/** Where HEAD stands, asked of git. */
export async function headOf(git: Git, checkout: Checkout, signal: AbortSignal | undefined): Promise<Head> {
  const both = await git({
    ...inCheckout(checkout),
    args: ['rev-parse', '--quiet', 'HEAD^{commit}', '--symbolic-full-name', 'HEAD'],
    okCodes: [0, 1, 128],
    signal,
  });
  const [name, symbolic] = both.exitCode === 0 ? lineOf(both).split('\n') : [];
  if (name !== undefined && symbolic?.startsWith('refs/')) return { commit: name, ref: symbolic };
  // Detached, or on a branch without a commit.
  const ask = (...args: string[]): Promise<GitOutput> =>
    git({ ...inCheckout(checkout), args, okCodes: [0, 1, 128], signal });
  const [ref, commit] = await Promise.all([
    ask('symbolic-ref', '--quiet', 'HEAD'),
    ask('rev-parse', '--verify', '--quiet', 'HEAD^{commit}'),
  ]);
  return {
    ...(commit.exitCode === 0 ? { commit: lineOf(commit) } : {}),
    ...(ref.exitCode === 0 ? { ref: lineOf(ref) } : {}),
  };
}

/** Writes a commit object; no ref moves, nothing is signed. */
export async function commitTree(
  git: Git,
  place: Pick<Parameters<Git>[0], 'cwd' | 'env' | 'signal'>,
  commit: { tree: string; parents: readonly string[]; message: string },
): Promise<string> {
  const parents = [...new Set(commit.parents)].flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', '--no-gpg-sign', ...parents, '-F', '-', `${commit.tree}^{tree}`];
  return lineOf(await git({ ...place, args, input: commit.message }));
}
