import { cancelled } from '../base/async';
import type { Conflict } from '../model/landing';
import { isAncestor } from './ancestry';
import {
  type BranchPlan,
  type BranchRequest,
  type CommitRow,
  commitOf,
  lineOfTask,
  planBranch,
  type TaskLine,
  tipsOf,
  treeOf,
} from './branchPlans';
import { type Checkout, inCheckout, locateCheckout } from './checkouts';
import { kindOf } from './gitErrors';
import { keepCommits } from './leftCommits';
import { mergeTrees } from './mergePreview';
import { zeroName } from './objectNames';
import { nameDiffOf } from './parsers/diffTree';
import { splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { putFailure, putFromCheckout } from './putFromCheckout';
import type { RepositoryFacts } from './repository';
import { headOf } from './snapshots';
import { withTemporaryIndex } from './temporaryIndex';
import { commitAsUser, identityOf, signsCommits, type UserGit } from './userGit';
import { type HookFailure, type HookPlace, messageByHooks, runHook } from './userHooks';

export type { BranchPlan, BranchRequest, HookFailure, TaskLine };

/** Where HEAD stands. */
export interface HeadPlace {
  readonly commit?: string;
  /** The branch; absent when HEAD is detached. */
  readonly ref?: string;
}

export type MadeCommits =
  /** `tree` is another than the planned one where a hook changed the commit. */
  | { readonly kind: 'made'; readonly commit: string; readonly tree: string }
  | { readonly kind: 'hookFailed'; readonly failure: HookFailure };

/**
 * Commits in the user's name: planned and made in the object store, with the user's hooks, identity and signing.
 * No ref moves but by `move`.
 */
export interface BranchLandings {
  /** With conflicts there is no plan. Throws `unbornBranch`, `wrongState` (a merge or rebase of the user is under way). */
  plan(
    checkout: string,
    request: BranchRequest,
  ): Promise<{ plan?: BranchPlan; head: string; conflicts: readonly Conflict[] }>;
  /** Runs the hooks on a private index and writes the commit objects. Throws `noIdentity`, `signingFailed`, `cancelled`. */
  make(checkout: string, plan: BranchPlan, messages: Messages, signal?: AbortSignal): Promise<MadeCommits>;
  /**
   * The commit that a Task's branch is left at: `tree` on top of the agent's commits and of what the branch holds, made
   * without hooks, or the last of them where it has that tree. `from`: where the branch stands now.
   */
  makeKept(request: {
    branch: string;
    line: TaskLine;
    tree: string;
    message: string;
  }): Promise<{ from?: string; to: string }>;
  /** Names a commit that no branch holds yet below `refs/tributary/left/<name>/`. */
  hold(name: string, commit: string): Promise<void>;
  /** Moves a branch that nobody but a Task has checked out; `false`: it stands elsewhere. */
  moveKept(branch: string, move: { from?: string | undefined; to: string }): Promise<boolean>;
  /** Throws `noIdentity`. */
  expectIdentity(checkout: string): Promise<void>;
  headOf(checkout: string): Promise<HeadPlace>;
  /** Which of a Task's commits are the agent's; `worktreePath` where its Worktree stands. */
  lineOf(of: {
    from: string;
    on?: string | undefined;
    recordedTip: string | undefined;
    worktreePath: string | undefined;
  }): Promise<TaskLine>;
  /** Moves the branch, or the detached HEAD, from one commit to another; `false`: it stands elsewhere. */
  move(checkout: string, move: { ref?: string; from: string; to: string; why: string }): Promise<boolean>;
  /** The user's `post-commit`, whose failure changes nothing; answers it. */
  afterCommit(checkout: string, signal?: AbortSignal): Promise<HookFailure | undefined>;
  /** Whether the branch, or else the checkout's HEAD, reaches the commit. */
  holds(checkout: string, commit: string, ref?: string): Promise<boolean>;
  /** Whether HEAD has the same as the commit at all of `paths`, and there are any. */
  holdsFiles(checkout: string, commit: string, paths: readonly string[]): Promise<boolean>;
  /** Whether HEAD holds nothing of the change between two commits: to take it back changes nothing there. */
  isTakenBack(checkout: string, change: { from: string; to: string }): Promise<boolean>;
}

/** What the new commits say: the last one, and the one that a merge brings in. */
export interface Messages {
  readonly last: string;
  readonly second: string;
}

export class GitBranchLandings implements BranchLandings {
  private readonly git: Git;
  private readonly userGit: UserGit;
  private readonly facts: RepositoryFacts;

  constructor(deps: { git: Git; userGit: UserGit; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.userGit = deps.userGit;
    this.facts = deps.facts;
  }

  async plan(path: string, request: BranchRequest): ReturnType<BranchLandings['plan']> {
    return planBranch(this.git, await this.locate(path), request);
  }

  async make(path: string, plan: BranchPlan, messages: Messages, signal?: AbortSignal): Promise<MadeCommits> {
    const checkout = await this.locate(path);
    const cwd = checkout.workTree;
    await identityOf(this.userGit, cwd);
    const isSigned = await signsCommits(this.userGit, cwd);
    const own = await this.ownCommit(checkout, plan, messages.last, signal);
    if (signal?.aborted) throw cancelled();
    if (own.kind === 'hookFailed') return own;
    const row = await this.write(cwd, { ...plan.row, rest: undefined }, { isSigned, message: messages.last });
    const second =
      plan.second &&
      (await this.write(cwd, { rest: undefined, ...plan.second }, { isSigned, message: messages.second }));
    if (own.kind === 'none') return { kind: 'made', commit: row, tree: plan.tree };
    const { tree, message } = own;
    const parents = second === undefined ? [row] : [row, second];
    const commit = await commitAsUser(this.userGit, cwd, { tree, parents, message, isSigned });
    return { kind: 'made', commit, tree };
  }

  async makeKept({
    branch,
    line,
    tree,
    message,
  }: Parameters<BranchLandings['makeKept']>[0]): Promise<{ from?: string; to: string }> {
    const checkout = await this.locate(this.facts.root);
    const from = await commitOf(this.git, checkout, branch);
    const parents = await tipsOf(this.git, checkout, [
      line.tip ?? line.from,
      ...(from === undefined ? [] : [from]),
    ]);
    const place = from === undefined ? {} : { from };
    const [only, other] = parents;
    if (other === undefined && only !== undefined && (await treeOf(this.git, checkout, only)) === tree)
      return { ...place, to: only };
    const { workTree: cwd } = checkout;
    await identityOf(this.userGit, cwd);
    const isSigned = await signsCommits(this.userGit, cwd);
    return { ...place, to: await commitAsUser(this.userGit, cwd, { tree, parents, message, isSigned }) };
  }

  hold(name: string, commit: string): Promise<void> {
    return keepCommits(this.git, this.facts.root, name, [commit]);
  }

  moveKept(branch: string, { from, to }: { from?: string | undefined; to: string }): Promise<boolean> {
    const move = { ref: branch, from: from ?? zeroName(to), to, why: 'tributary: branch kept' };
    return from === to ? Promise.resolve(true) : this.move(this.facts.root, move);
  }

  async expectIdentity(path: string): Promise<void> {
    await identityOf(this.userGit, (await this.locate(path)).workTree);
  }

  async headOf(path: string): Promise<HeadPlace> {
    return headOf(this.git, await this.locate(path), undefined);
  }

  async lineOf(of: Parameters<BranchLandings['lineOf']>[0]): Promise<TaskLine> {
    const checkout = await this.locate(this.facts.root);
    const stands = of.worktreePath === undefined ? undefined : await this.headOf(of.worktreePath);
    return lineOfTask(this.git, checkout, { ...of, tip: stands?.commit ?? of.recordedTip });
  }

  async move(
    path: string,
    { ref, from, to, why }: { ref?: string; from: string; to: string; why: string },
  ): Promise<boolean> {
    const checkout = await this.locate(path);
    const { name, email } = await identityOf(this.userGit, checkout.workTree).catch(() => unnamed);
    const place = inCheckout(checkout);
    // Whoever reads their reflog is to find themselves there.
    const env = { ...place.env, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email };
    const target = ref === undefined ? ['--no-deref', 'HEAD'] : [ref];
    try {
      await this.git({ ...place, env, args: ['update-ref', '-m', why, ...target, to, from] });
      return true;
    } catch (error) {
      if (kindOf(error) !== 'refMoved' && kindOf(error) !== 'refExists') throw error;
      return false;
    }
  }

  async afterCommit(path: string, signal?: AbortSignal): Promise<HookFailure | undefined> {
    const checkout = await this.locate(path);
    const index = `${checkout.gitDir}/index`;
    return runHook({ git: this.userGit, cwd: checkout.workTree, index, signal }, 'post-commit');
  }

  async holds(path: string, commit: string, ref = 'HEAD'): Promise<boolean> {
    const place = inCheckout(await this.locate(path));
    return isAncestor(this.git, place, { commit, tip: ref });
  }

  async holdsFiles(path: string, commit: string, paths: readonly string[]): Promise<boolean> {
    const place = inCheckout(await this.locate(path));
    const output = await this.git({ ...place, args: nameDiffOf(commit, 'HEAD'), okCodes: [0, 128] });
    const other = new Set(splitPaths(output.stdout));
    return output.exitCode === 0 && paths.length > 0 && !paths.some((one) => other.has(one));
  }

  async isTakenBack(path: string, { from, to }: { from: string; to: string }): Promise<boolean> {
    const checkout = await this.locate(path);
    const head = await treeOf(this.git, checkout, 'HEAD');
    const trees = { base: to, ours: head, theirs: from, signal: undefined };
    const { tree, conflicts } = await mergeTrees(this.git, checkout, trees);
    return conflicts.length === 0 && tree === head;
  }

  /** What the user's hooks make of the last commit, on a private index; `none`: there is nothing for one to hold. */
  private async ownCommit(
    checkout: Checkout,
    { row, second, tree, head }: BranchPlan,
    message: string,
    signal: AbortSignal | undefined,
  ): Promise<
    | { readonly kind: 'own'; readonly tree: string; readonly message: string }
    | { readonly kind: 'none' }
    | { readonly kind: 'hookFailed'; readonly failure: HookFailure }
  > {
    if (row.rest === undefined) return { kind: 'none' };
    return withTemporaryIndex({ git: this.git, checkout }, async (index) => {
      // The stat cache stays, so that a hook that looks at files need not read them all.
      await index.run({ args: ['read-tree', '-m', '-i', tree] });
      const place: HookPlace = { git: this.userGit, cwd: checkout.workTree, index: index.file, signal };
      const refused = await runHook(place, 'pre-commit');
      if (refused !== undefined) return { kind: 'hookFailed', failure: refused };
      const left = await index.writeTree();
      const put = await putFromCheckout(this.git, index, { head, tree, left });
      if (put.length > 0) return { kind: 'hookFailed', failure: putFailure(put) };
      const said = await messageByHooks(place, message, second === undefined ? 'message' : 'merge');
      if ('hook' in said) return { kind: 'hookFailed', failure: said };
      return { kind: 'own', tree: left, message: said.message };
    });
  }

  /** Writes a row of commits; answers the last one. */
  private async write(
    cwd: string,
    row: Omit<CommitRow, 'rest'> & { rest: string | undefined },
    { isSigned, message }: { isSigned: boolean; message: string },
  ): Promise<string> {
    let tip = row.start;
    for (const { tree, text } of row.replayed) {
      const { author, message: said } = text;
      const commit = { tree, parents: [tip], message: said, author, isSigned };
      tip = await commitAsUser(this.userGit, cwd, commit);
    }
    if (row.rest === undefined) return tip;
    return commitAsUser(this.userGit, cwd, { tree: row.rest, parents: [tip], message, isSigned });
  }

  private locate(path: string): Promise<Checkout> {
    return locateCheckout(this.facts, path);
  }
}

/** A branch is taken back also where the name that made the commit is gone. */
const unnamed = { name: 'Tributary', email: 'snapshots@tributary.invalid' };
