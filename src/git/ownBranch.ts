import { isAncestor } from './ancestry';
import type { GitClient } from './gitClient';
import { parseWorktreeList } from './parsers/worktreeList';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { tipOf } from './worktreeMaking';

export interface OwnBranchDeps {
  readonly git: Git;
  readonly client: Pick<GitClient, 'hasUpstream' | 'refNames'>;
  readonly facts: RepositoryFacts;
}

/** A branch of ours whose Worktree is gone. */
export interface OwnBranch {
  readonly branch: string;
  /** The Snapshot of what stood there. */
  readonly keptCommit: string;
}

/** Deletes our branch if a ref of ours holds its tip and nobody else has a use for it; otherwise it stays. */
export async function deleteOwnBranch(deps: OwnBranchDeps, request: OwnBranch): Promise<void> {
  const { git, facts } = deps;
  const { branch } = request;
  const place = { cwd: facts.root };
  const tip = await tipOf(git, facts, branch);
  if (tip === undefined) return;
  if (!(await isHeldByUs(deps, tip)) && !(await isHeldElsewhere(deps, request, tip))) return;
  const listed = parseWorktreeList(
    (await git({ ...place, args: ['worktree', 'list', '--porcelain', '-z'] })).stdout,
  );
  if (listed.some((one) => one.branch === branch)) return;
  if (await isPushed(deps, branch)) return;
  await git({ ...place, args: ['update-ref', '-d', branch, tip] });
}

/** Whether a ref of ours reaches the commit: a Snapshot's, or one of those that keep what a Worktree left. */
async function isHeldByUs({ git, facts }: OwnBranchDeps, tip: string): Promise<boolean> {
  const args = ['for-each-ref', '--count=1', '--format=%(refname)', '--contains', tip, 'refs/tributary'];
  return Boolean(await ask(git, facts, args));
}

/** Whether the kept commit reaches the tip, and a ref other than the branch, or HEAD, the kept commit. */
async function isHeldElsewhere(
  { git, facts }: OwnBranchDeps,
  { branch, keptCommit }: OwnBranch,
  tip: string,
): Promise<boolean> {
  const isAmong = (commit: string, other: string): Promise<boolean> =>
    isAncestor(git, { cwd: facts.root }, { commit, tip: other });
  if (!(await isAmong(tip, keptCommit))) return false;
  const args = ['for-each-ref', '--count=2', '--format=%(refname)', '--contains', keptCommit, 'refs'];
  const said = lineOf(await git({ cwd: facts.root, args }));
  if (said.split('\n').some((ref) => ref !== '' && ref !== branch)) return true;
  return isAmong(keptCommit, 'HEAD');
}

/** Whether somebody pushed the branch: it has an upstream, or a remote has one of its name. */
async function isPushed({ client }: OwnBranchDeps, branch: string): Promise<boolean> {
  if (await client.hasUpstream(branch)) return true;
  const short = branch.replace(/^refs\/heads\//, '');
  const remote = await client.refNames('refs/remotes');
  return remote.some((ref) => ref.endsWith(`/${short}`));
}

async function ask(git: Git, facts: RepositoryFacts, args: readonly string[]): Promise<string | undefined> {
  const output = await git({ cwd: facts.root, args, okCodes: [0, 1, 128] });
  return output.exitCode === 0 ? lineOf(output) : undefined;
}
