import { TributaryError } from '../base/errors';
import type { Conflict } from '../model/landing';
import { isAncestor } from './ancestry';
import { type Checkout, inCheckout, operationUnderWay } from './checkouts';
import { mergeTrees } from './mergePreview';
import { type CommitText, parseCommit } from './parsers/commit';
import { type Git, lineOf } from './plumbing';
import { headOf } from './snapshots';

/** What of a Task goes onto a branch. */
export interface BranchRequest {
  readonly mode: 'commit' | 'merge' | 'rebase';
  /** The change: from `base` to `theirs`, trees or commits. */
  readonly base: string;
  readonly theirs: string;
  readonly line: TaskLine;
}

/** Where a Task's own commits lie. */
export interface TaskLine {
  /** The commit the Task started from. */
  readonly from: string;
  /** The user's commit below it, where `from` is one of ours that holds uncommitted work. */
  readonly on?: string;
  /** The last commit that the agent made; absent where it made none on top of `from`. */
  readonly tip?: string;
}

/** A row of commits that do not exist yet, on one that does. */
export interface CommitRow {
  readonly start: string;
  /** Commits of the agent made anew, oldest first. */
  readonly replayed: ReadonlyArray<{
    readonly commit: string;
    readonly tree: string;
    readonly text: CommitText;
  }>;
  /** A last commit that holds what is left; absent where nothing is. */
  readonly rest?: string;
}

export interface BranchPlan {
  /** Where HEAD stands, and on which branch; without `ref` it is detached. */
  readonly head: string;
  readonly ref?: string;
  /** The tree that the branch will have. */
  readonly tree: string;
  /** First parents, up to the last commit. */
  readonly row: CommitRow;
  /** What a merge commit brings in. */
  readonly second?: CommitRow;
}

/** Plans the commits of a Landing in the object store. With conflicts there is no plan. Throws `unbornBranch`, `wrongState`. */
export async function planBranch(
  git: Git,
  checkout: Checkout,
  request: BranchRequest,
): Promise<{ plan?: BranchPlan; head: string; conflicts: readonly Conflict[] }> {
  const { head, ref } = await standingHead(git, checkout);
  const { mode, base, theirs } = request;
  const merged = await merge(git, checkout, { base, ours: head, theirs });
  if (merged.conflicts.length > 0) return { head, conflicts: merged.conflicts };
  const { tree } = merged;
  const common = { head, tree, ...(ref === undefined ? {} : { ref }) };
  if (mode === 'commit') {
    const row = await finished(git, checkout, { start: head, replayed: [] }, tree);
    return { plan: { ...common, row }, head, conflicts: [] };
  }
  const rows = new Rows(git, checkout, request);
  if (mode === 'rebase') {
    const replayed = await rows.replay(head);
    if ('conflicts' in replayed) return { head, ...replayed };
    const row = await finished(git, checkout, replayed, tree);
    return { plan: { ...common, row }, head, conflicts: [] };
  }
  const second = await rows.second();
  if ('conflicts' in second) return { head, ...second };
  const row = { start: head, replayed: [], rest: tree };
  return { plan: { ...common, row, second }, head, conflicts: [] };
}

type Conflicting = { readonly conflicts: readonly Conflict[] };

/** Rows of the agent's commits. */
class Rows {
  private readonly git: Git;
  private readonly checkout: Checkout;
  private readonly request: BranchRequest;

  constructor(git: Git, checkout: Checkout, request: BranchRequest) {
    this.git = git;
    this.checkout = checkout;
    this.request = request;
  }

  /** What a merge brings in: the agent's commits as they are, unless ours lies below them. */
  async second(): Promise<CommitRow | Conflicting> {
    const { line, base, theirs } = this.request;
    if (line.on === undefined)
      return finished(this.git, this.checkout, { start: line.tip ?? line.from, replayed: [] }, theirs);
    const replayed = await this.replay(line.on);
    if ('conflicts' in replayed) return replayed;
    const all = await merge(this.git, this.checkout, { base, ours: line.on, theirs });
    if (all.conflicts.length > 0) return { conflicts: all.conflicts };
    return finished(this.git, this.checkout, replayed, all.tree);
  }

  /** The agent's commits on top of `start`, those left out that change nothing there. */
  async replay(start: string): Promise<CommitRow | Conflicting> {
    const replayed: Array<CommitRow['replayed'][number]> = [];
    let tip = await treeOf(this.git, this.checkout, start);
    for (const commit of await this.ownCommits(start)) {
      const text = await readCommit(this.git, this.checkout, commit);
      const [parent] = text.parents;
      if (parent === undefined) continue;
      const merged = await merge(this.git, this.checkout, { base: parent, ours: tip, theirs: commit });
      if (merged.conflicts.length > 0)
        return { conflicts: merged.conflicts.map((one) => inCommit(one, text)) };
      if (merged.tree === tip) continue;
      tip = merged.tree;
      replayed.push({ commit, tree: tip, text });
    }
    return { start, replayed };
  }

  /** Oldest first, without merges: what they brought in is either there or listed itself. */
  private async ownCommits(start: string): Promise<readonly string[]> {
    const { from, tip } = this.request.line;
    if (tip === undefined) return [];
    const args = ['rev-list', '--reverse', '--topo-order', '--no-merges', tip, `^${from}`, `^${start}`, '--'];
    const output = await this.git({ ...inCheckout(this.checkout), args });
    return lineOf(output)
      .split('\n')
      .filter((line) => line !== '');
  }
}

/** The row with a last commit that makes its tree `tree`, if it has another one. */
async function finished(git: Git, checkout: Checkout, row: CommitRow, tree: string): Promise<CommitRow> {
  const last = row.replayed.at(-1)?.tree ?? (await treeOf(git, checkout, row.start));
  const wanted = await treeOf(git, checkout, tree);
  return last === wanted ? row : { ...row, rest: wanted };
}

/** Where the Task's agent has its commits: those of the worktree at `path`, else the recorded one. */
export async function lineOfTask(
  git: Git,
  checkout: Checkout,
  { from, on, tip }: { from: string; on?: string | undefined; tip: string | undefined },
): Promise<TaskLine> {
  const line = { from, ...(on === undefined ? {} : { on }) };
  if (tip === undefined || tip === from) return line;
  return (await isAncestor(git, inCheckout(checkout), { commit: from, tip })) ? { ...line, tip } : line;
}

/** HEAD of the user's checkout, where a commit can go on top of it. */
export async function standingHead(git: Git, checkout: Checkout): Promise<{ head: string; ref?: string }> {
  const { commit, ref } = await headOf(git, checkout, undefined);
  if (commit === undefined) {
    throw new TributaryError('unbornBranch', `${ref ?? 'HEAD'} has no commit yet: make the first one`, {
      details: { ref },
    });
  }
  const going = await operationUnderWay(checkout);
  if (going !== undefined) {
    throw new TributaryError(
      'wrongState',
      `a ${going} is under way in ${checkout.workTree}; finish or abort it, then a commit can be made there`,
      { details: { path: checkout.workTree, going } },
    );
  }
  return ref === undefined ? { head: commit } : { head: commit, ref };
}

function merge(
  git: Git,
  checkout: Checkout,
  trees: { base: string; ours: string; theirs: string },
): ReturnType<typeof mergeTrees> {
  return mergeTrees(git, checkout, { ...trees, signal: undefined });
}

export async function treeOf(git: Git, checkout: Checkout, treeish: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--end-of-options', `${treeish}^{tree}`];
  return lineOf(await git({ ...inCheckout(checkout), args }));
}

/** The commit that a ref names; `undefined` when there is none. */
export async function commitOf(git: Git, checkout: Checkout, ref: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const output = await git({ ...inCheckout(checkout), args, okCodes: [0, 1, 128] });
  return output.exitCode === 0 ? lineOf(output) : undefined;
}

/** Those commits that no other one reaches. */
export async function tipsOf(git: Git, checkout: Checkout, commits: readonly string[]): Promise<string[]> {
  const output = await git({ ...inCheckout(checkout), args: ['merge-base', '--independent', ...commits] });
  return lineOf(output).split('\n');
}

async function readCommit(git: Git, checkout: Checkout, commit: string): Promise<CommitText> {
  return parseCommit((await git({ ...inCheckout(checkout), args: ['cat-file', 'commit', commit] })).stdout);
}

function inCommit({ path, kind, message }: Conflict, { subject }: CommitText): Conflict {
  return { path, kind, message: `${message} (replaying the agent's commit "${subject}")` };
}
