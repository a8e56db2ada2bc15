import { basename } from 'node:path';
import { assertNever, TributaryError } from '../base/errors';
import type { Unresolved } from '../model/movedBase';
import { treeOf } from './branchPlans';
import { inCheckout, locateCheckout, operationUnderWay } from './checkouts';
import { settleConflicts } from './conflictFiles';
import { keepLeftStaged } from './leftStaged';
import { differ, mergeTrees, treeOfOurs } from './mergePreview';
import { zeroName } from './objectNames';
import { absentMode, type RawChange } from './parsers/diffTree';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { whyUnsafe } from './safePath';
import { commitTree, headOf } from './snapshots';
import { findForeign, standingAt } from './standing';

/** The checkout merged into a Task's tree, in the object store only. */
export interface PreparedMerge {
  /** What stands in the checkout: tracked files, and untracked ones on the paths that the Task touches. */
  readonly ours: string;
  /** HEAD of the checkout. */
  readonly head: string;
  /** What the Worktree is to hold. */
  readonly result: string;
  /** Files of the Worktree that the merge changes. */
  readonly paths: readonly string[];
  readonly conflicts: readonly Unresolved[];
}

interface MergeInRequest {
  readonly checkout: string;
  readonly worktreePath: string;
  readonly base: string;
  readonly theirs: string;
}

/** Merges what the user's checkout holds now into a Task's Worktree; the checkout is only read. */
export interface MergeIns {
  /**
   * The three-way merge of base, checkout and `theirs`, the tree of what stands in the Worktree. Throws `wrongState`
   * where a file that git ignores there would be written over.
   */
  prepare(request: MergeInRequest): Promise<PreparedMerge>;
  /**
   * A commit that holds `tree` on top of the checkout's HEAD, and of what the agent committed since `base`, named by
   * `refs/tributary/<taskId>/base-<number>`.
   */
  keepBase(request: {
    taskId: string;
    number: number;
    worktreePath: string;
    base: string;
    head: string;
    tree: string;
  }): Promise<string>;
  /**
   * Makes `commit` the Worktree's HEAD and `tree` its index; no file is written. Only `branch` is moved: a HEAD
   * elsewhere is detached. Where a merge or rebase of the agent is under way, both stay as they are.
   */
  moveHead(request: { worktreePath: string; branch: string; commit: string; tree: string }): Promise<void>;
}

export class GitMergeIns implements MergeIns {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
  }

  async prepare(request: MergeInRequest): Promise<PreparedMerge> {
    const { git } = this;
    const checkout = await locateCheckout(this.facts, request.checkout);
    const diff = differ(git, checkout, undefined);
    const { base, theirs } = request;
    const touched = (await diff(base, theirs)).filter(({ path }) => whyUnsafe(path) === undefined);
    const merge = { base, theirs, signal: undefined };
    const [{ ours }, head] = await Promise.all([
      treeOfOurs(git, checkout, { touched, ...merge }),
      git({ ...inCheckout(checkout), args: ['rev-parse', '--verify', 'HEAD^{commit}'] }).then(lineOf),
    ]);
    const merged = await mergeTrees(git, checkout, { ...merge, ours });
    const { tree: result, unresolved } = await settleConflicts(git, checkout, merged);
    const changes = await diff(theirs, result);
    await expectFree(request.worktreePath, changes);
    return { ours, head, result, paths: changes.map(({ path }) => path), conflicts: unresolved };
  }

  async keepBase(request: Parameters<MergeIns['keepBase']>[0]): Promise<string> {
    const { taskId, number, tree, base, head } = request;
    const place = { cwd: this.facts.root };
    const worktree = await locateCheckout(this.facts, request.worktreePath);
    const own = (await headOf(this.git, worktree, undefined)).commit ?? base;
    // Nothing uncommitted, nothing of the agent's own: the user's commit itself is that state.
    const isHead = own === base && (await treeOf(this.git, worktree, head)) === tree;
    const parents = own === base ? [head] : [head, own];
    const commit = isHead ? head : await commitTree(this.git, place, { tree, parents, message });
    const ref = `refs/tributary/${taskId}/base-${number}`;
    await this.git({ ...place, args: ['update-ref', ref, commit] });
    return commit;
  }

  async moveHead(request: Parameters<MergeIns['moveHead']>[0]): Promise<void> {
    const checkout = await locateCheckout(this.facts, request.worktreePath);
    if ((await operationUnderWay(checkout)) !== undefined) return;
    const { branch, commit, tree } = request;
    const place = inCheckout(checkout);
    const { gitDir, commonDir } = checkout;
    // Its index is about to be made anew.
    await keepLeftStaged(this.git, commonDir, {
      gitDir,
      name: basename(checkout.workTree),
      keptCommit: commit,
    });
    const head = await headOf(this.git, checkout, undefined);
    const target = head.ref === branch ? [branch] : ['--no-deref', 'HEAD'];
    const reason = ['-m', 'tributary: the checkout was merged in'];
    const before = head.commit ?? zeroName(commit);
    await this.git({ ...place, args: ['update-ref', ...reason, ...target, commit, before] });
    // The index holds what the Worktree holds, so that what was untracked or ignored on purpose stays so.
    await this.git({ ...place, args: ['read-tree', '--reset', tree] });
  }
}

const message = `Tributary: the checkout, merged into a Task

What stood there, uncommitted changes included. The Task's changes count from here.
`;

/** Whatever stands in the Worktree and not in its tree is ignored there: no merge writes over it. */
async function expectFree(worktreePath: string, changes: readonly RawChange[]): Promise<void> {
  const removed = new Set(changes.filter(({ newMode }) => newMode === absentMode).map(({ path }) => path));
  for (const { path, oldMode } of changes) {
    if (oldMode !== absentMode) continue;
    const inTheWay = await ignoredAt(worktreePath, path, removed);
    if (inTheWay === undefined) continue;
    throw new TributaryError(
      'wrongState',
      `${inTheWay} in the worktree, which git ignores there, is in the way of ${path} from your checkout; move it away first`,
      { details: { path } },
    );
  }
}

async function ignoredAt(
  root: string,
  path: string,
  removed: ReadonlySet<string>,
): Promise<string | undefined> {
  const standing = await standingAt(root, path, new Set());
  switch (standing.kind) {
    case 'missing':
    case 'submodule':
      return undefined;
    case 'blocked':
      return removed.has(standing.by) ? undefined : standing.by;
    case 'folder':
      return findForeign(root, path, removed);
    case 'file':
    case 'special':
      return path;
    default:
      return assertNever(standing);
  }
}
