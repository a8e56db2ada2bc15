import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { throwIfCancelled } from '../base/async';
import { errnoOf, TributaryError, toTributaryError } from '../base/errors';
import { type Checkout, findAdminDirectory, inCheckout, realParent } from './checkouts';
import { kindOf } from './gitErrors';
import { zeroName } from './objectNames';
import { decodePath } from './parsers/pathBytes';
import { parseWorktreeList } from './parsers/worktreeList';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { markAsOurs } from './worktreeMark';
import { prepareRoot } from './worktreeRoots';

/** Runs `body` under the lock for git writes of a repository, across processes. */
export type WithGitLock = <T>(
  body: () => Promise<T>,
  options: { signal?: AbortSignal | undefined },
) => Promise<T>;

export interface MakingDeps {
  readonly git: Git;
  readonly facts: RepositoryFacts;
  readonly withGitLock: WithGitLock;
}

export interface MakeWorktree {
  readonly path: string;
  /** Absent: HEAD is detached. */
  readonly branch?: string;
  readonly commit: string;
  readonly lockReason: string;
  readonly signal?: AbortSignal | undefined;
  /** A branch that stands at `commit` already, checked out nowhere, may be used. */
  readonly mayReuseBranch: boolean;
}

/** A worktree whose files are still being written. */
export interface BegunWorktree {
  /** The tree of the commit it stands on. */
  readonly tree: string;
  /** Resolves when the files are there; rejects when the worktree has been taken back instead. */
  readonly files: Promise<void>;
}

/** `beginWorktree` to its end. */
export async function makeWorktree(
  deps: MakingDeps,
  request: MakeWorktree,
  fill: (checkout: Checkout) => Promise<void>,
): Promise<void> {
  await (await beginWorktree(deps, request, fill)).files;
}

/**
 * Registers a worktree on its branch under the lock, proves that it resolves to itself, then lets `fill` put
 * the files there. A failure or abort at any point takes back all of it, and only it.
 */
export async function beginWorktree(
  deps: MakingDeps,
  request: MakeWorktree,
  fill: (checkout: Checkout) => Promise<void>,
): Promise<BegunWorktree> {
  // What was done so far, as the ways to take it back.
  const undo: Array<() => Promise<void>> = [];
  const orTakeBack = async <T>(step: () => Promise<T>): Promise<T> => {
    try {
      const done = await step();
      throwIfCancelled(request.signal);
      return done;
    } catch (error) {
      await takeBack(deps, undo, error);
      throw request.signal?.aborted ? toTributaryError(error) : asWorktreeFailure(error, request);
    }
  };
  const { checkout, tree } = await orTakeBack(async () => {
    const registered = await deps.withGitLock(() => register(deps, request, undo), {
      signal: request.signal,
    });
    return { checkout: registered, tree: await proveIsolation(deps, request, registered) };
  });
  const files = orTakeBack(() => fill(checkout));
  // Whoever does not wait for the files has not asked for their failure either.
  files.catch(() => undefined);
  return { tree, files };
}

/** Writes the files of HEAD and the index, through filters and sparse rules; no hook runs. */
export async function checkOutHead(git: Git, checkout: Checkout, signal?: AbortSignal): Promise<void> {
  // As many processes as there are processors; git falls back to one where it would not pay.
  const config = ['checkout.workers=0'];
  await git({ ...inCheckout(checkout), args: ['read-tree', '-m', '-u', 'HEAD'], config, signal });
}

/** Folder, branch, registration, HEAD; each step leaves in `undo` how to take it back. */
async function register(
  deps: MakingDeps,
  request: MakeWorktree,
  undo: Array<() => Promise<void>>,
): Promise<Checkout> {
  const { git, facts } = deps;
  const { branch, signal } = request;
  throwIfCancelled(signal);
  const path = await realParent(request.path);
  undo.push(await prepareRoot(dirname(path)));
  await makeFolder(path);
  undo.push(() => unregister(deps, path));
  if (branch !== undefined) await takeBranch(deps, { ...request, branch }, undo);
  const add = ['worktree', 'add', '--quiet', '--no-checkout', '--lock', '--reason', request.lockReason];
  const at =
    branch === undefined
      ? ['--detach', '--', path, request.commit]
      : ['--', path, branch.replace('refs/heads/', '')];
  await git({ cwd: facts.root, args: [...add, ...at], signal });
  const gitDir = await findAdminDirectory(facts.commonDir, path);
  if (gitDir === undefined) throw notIsolated(path, 'git did not register it');
  if (branch !== undefined) await markAsOurs(gitDir, branch);
  return { workTree: path, gitDir, commonDir: facts.commonDir };
}

/** Exclusively, so that it is certain to be ours when it has to be removed again; git takes an empty folder. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: unknown) => {
    if (errnoOf(error) !== 'EEXIST') throw error;
    throw new TributaryError('worktreeFailed', `${path} exists already`, { details: { path } });
  });
}

/** Creates the branch, or takes one that stands where it should and is in nobody's way. Throws `branchInUse`. */
async function takeBranch(
  { git, facts }: MakingDeps,
  request: MakeWorktree & { readonly branch: string },
  undo: Array<() => Promise<void>>,
): Promise<void> {
  const { branch, commit, mayReuseBranch } = request;
  const remove = async (): Promise<void> => {
    await git({ cwd: facts.root, args: ['update-ref', '-d', branch, commit] });
  };
  try {
    // No signal: whether the branch is ours to take back must be certain.
    await git({ cwd: facts.root, args: ['update-ref', branch, commit, zeroName(commit)] });
  } catch (error) {
    const tip = await tipOf(git, facts, branch);
    if (kindOf(error) === 'refExists') {
      if (tip === undefined || !mayReuseBranch) throw branchInUse(branch, 'it exists');
      return proveReusable(git, facts, { branch, commit, tip });
    }
    // A git that was killed may have written the ref before.
    if (tip === commit) await remove();
    throw error;
  }
  undo.push(remove);
}

/** Where a branch stands; `undefined`: nowhere, or git cannot read it. */
export async function tipOf(git: Git, facts: RepositoryFacts, branch: string): Promise<string | undefined> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', branch];
  const output = await git({ cwd: facts.root, args, okCodes: [0, 1, 128] });
  return output.exitCode === 0 ? lineOf(output) : undefined;
}

/** Throws `branchInUse` unless the branch stands at `commit` and no worktree has it checked out. */
async function proveReusable(
  git: Git,
  facts: RepositoryFacts,
  { branch, commit, tip }: { branch: string; commit: string; tip: string },
): Promise<void> {
  const output = await git({ cwd: facts.root, args: ['worktree', 'list', '--porcelain', '-z'] });
  const holder = parseWorktreeList(output.stdout).find((one) => one.branch === branch);
  if (holder !== undefined) throw branchInUse(branch, `it is checked out at ${holder.path}`);
  if (tip !== commit) throw branchInUse(branch, `it has moved to ${tip}`);
}

/** Removes the folder and the one registration that points at it; each may be missing. */
async function unregister({ git, facts }: MakingDeps, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  await deregister(git, facts, path);
}

/** Drops the registration of a worktree whose folder is gone, locked or not; never any other. */
export async function deregister(git: Git, facts: RepositoryFacts, path: string): Promise<void> {
  if ((await findAdminDirectory(facts.commonDir, path)) === undefined) return;
  await git({ cwd: facts.root, args: ['worktree', 'remove', '--force', '--force', '--', path] });
}

/** What git itself finds when asked inside the worktree must be the worktree. Answers its tree; throws `worktreeNotIsolated`. */
async function proveIsolation(
  { git }: MakingDeps,
  request: MakeWorktree,
  checkout: Checkout,
): Promise<string> {
  const places = ['--show-toplevel', '--git-common-dir', '--absolute-git-dir'];
  const names = ['HEAD', 'HEAD^{tree}', '--symbolic-full-name', 'HEAD'];
  const output = await git({
    cwd: checkout.workTree,
    args: ['rev-parse', '--path-format=absolute', ...places, ...names],
    okCodes: [0, 128],
    signal: request.signal,
  });
  const { workTree, commonDir, gitDir } = checkout;
  const before = `${[workTree, commonDir, gitDir, request.commit].join('\n')}\n`;
  const after = `\n${request.branch ?? 'HEAD'}\n`;
  const found = decodePath(output.stdout);
  const tree = found.slice(before.length, -after.length);
  if (found === `${before}${tree}${after}` && /^[0-9a-f]+$/.test(tree)) return tree;
  throw notIsolated(workTree, 'git resolves it to something else', {
    expected: `${before}<tree>${after}`,
    found,
    stderr: output.stderr,
  });
}

/** Undoes in reverse, under the lock, whatever each step does. */
async function takeBack(
  deps: MakingDeps,
  undo: ReadonlyArray<() => Promise<void>>,
  reason: unknown,
): Promise<void> {
  if (undo.length === 0) return;
  const failures: unknown[] = [];
  await deps.withGitLock(async () => {
    for (const step of [...undo].reverse()) {
      try {
        await step();
      } catch (error) {
        failures.push(error);
      }
    }
  }, {});
  if (failures.length === 0) return;
  throw new TributaryError('worktreeFailed', 'making a worktree failed, and so did taking it back', {
    cause: reason,
    details: { failures: failures.map(String) },
  });
}

/** A general failure of git says here that no worktree was made; a telling code stays. */
function asWorktreeFailure(error: unknown, request: MakeWorktree): TributaryError {
  const failure = toTributaryError(error);
  const isGeneral =
    failure.code === 'gitFailed' || failure.code === 'internal' || failure.code === 'unknownBase';
  if (!isGeneral) return failure;
  return new TributaryError(
    'worktreeFailed',
    `no worktree could be made at ${request.path}: ${failure.message}`,
    {
      cause: error,
      details: { ...failure.details, path: request.path },
    },
  );
}

function branchInUse(branch: string, why: string): TributaryError {
  return new TributaryError('branchInUse', `${branch} cannot be used: ${why}`, { details: { branch, why } });
}

function notIsolated(path: string, why: string, facts: Record<string, unknown> = {}): TributaryError {
  return new TributaryError('worktreeNotIsolated', `the worktree ${path} is not isolated: ${why}`, {
    details: { path, ...facts },
  });
}
