import { lstat, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { hasOption } from './gitRules';
import type { GuardPlaces } from './guardScope';
import type { Argument } from './shellWords';

/** What a subcommand that can change branches was given, and where it stands. */
export interface GitMove {
  readonly subcommand: string;
  readonly args: readonly Argument[];
  readonly cwd: string | undefined;
  /** True when words that nobody sees here are added behind. */
  readonly isFed: boolean;
}

const lookInstead =
  'This Worktree stays on its own branch. Use git switch --detach <commit> to look at another commit, or git checkout <commit> -- <path> for files.';

/** Why a git command would put the Worktree on another branch, or touch other branches or the stash on the way. */
export async function moveRefusal(move: GitMove, places: GuardPlaces): Promise<string | undefined> {
  const { subcommand, args } = move;
  const option = ['ignore-other-worktrees', 'autostash', 'update-refs'].find((name) =>
    hasLongOption(args, name),
  );
  if (option !== undefined)
    return `git ${subcommand} --${option} reaches branches or the stash, which are not this Worktree's. Leave it out.`;
  if (subcommand === 'switch') return switchRefusal(move, places);
  if (subcommand === 'checkout') return checkoutRefusal(move, places);
  return subcommand === 'rebase' ? rebaseRefusal(move) : undefined;
}

/** Two letters at least: one alone is never enough for git either. */
function hasLongOption(args: readonly Argument[], name: string): boolean {
  return hasOption(
    args.filter(({ text }) => !/^--.$/.test(text ?? '')),
    '',
    [name],
  );
}

/** A later `--no-detach` undoes an earlier `--detach`. */
function isUndone(args: readonly Argument[]): boolean {
  return args.some(({ text }) => /^--no-(d|c|o)/.test(text ?? ''));
}

async function switchRefusal({ args, isFed }: GitMove, places: GuardPlaces): Promise<string | undefined> {
  const isSafe = hasOption(args, 'cd', ['detach', 'create', 'orphan']) && !isUndone(args);
  const [only, ...others] = operands(args, ['--conflict']);
  const isBack = only !== undefined && others.length === 0 && !isFed && (await isOwnBranch(only, places));
  return isSafe || isBack ? undefined : `git switch leads to another branch. ${lookInstead}`;
}

/**
 * True for the branch that the Worktree began on, so that an agent comes back from looking around. Its log
 * names it in the first move away; before any move, HEAD does.
 */
async function isOwnBranch({ text }: Argument, { root }: GuardPlaces): Promise<boolean> {
  const folder = /^gitdir: ([\s\S]+?)\n*$/.exec(await textOf(join(root, '.git')))?.[1];
  if (folder === undefined || text === undefined) return false;
  const moved = /\tcheckout: moving from (\S+) to /.exec(
    await textOf(resolve(root, folder, 'logs', 'HEAD')),
  )?.[1];
  const head = /^ref: refs\/heads\/(.+)$/m.exec(await textOf(resolve(root, folder, 'HEAD')))?.[1];
  // Left detached, a log tells a commit: nobody's branch.
  return text === (moved ?? head) && !/^[0-9a-f]{40}$/.test(text);
}

async function checkoutRefusal(move: GitMove, places: GuardPlaces): Promise<string | undefined> {
  const { args } = move;
  if (hasOption(args, 'bd', ['detach', 'orphan', 'pathspec-from-file']) && !isUndone(args)) return undefined;
  const end = args.findIndex((arg) => arg.text === '--');
  const before = operands(end === -1 ? args : args.slice(0, end), ['--conflict']);
  const hasPaths = end !== -1 && (end < args.length - 1 || (move.isFed && before.length === 0));
  if (hasPaths) return undefined;
  if (move.isFed) return `git checkout of words that nobody sees may lead to another branch. ${lookInstead}`;
  if (end === -1 && before.length > 1 && before.every((arg) => arg.text !== undefined)) return undefined;
  for (const word of before) {
    // `<word> --` is always a commit.
    if (
      isOnHead(word) ||
      (await isOwnBranch(word, places)) ||
      (end === -1 && (await isOnlyPath(word, move, places)))
    )
      continue;
    return `git checkout ${word.raw} may lead to another branch. ${lookInstead}`;
  }
  return undefined;
}

/** `HEAD`, `HEAD~2`: no branch can be called so. */
function isOnHead({ text }: Argument): boolean {
  return /^(HEAD|@)([~^]\d*)*$/.test(text ?? '');
}

/** True for what is there as a file or folder and is no branch: git takes the branch when both are. */
async function isOnlyPath({ text }: Argument, { cwd }: GitMove, places: GuardPlaces): Promise<boolean> {
  if (text === undefined || text === '-' || text.includes('@{')) return false;
  if (!(await exists(resolve(cwd ?? places.root, text)))) return false;
  return !(await mayBeBranch(text, places.commonDir));
}

async function mayBeBranch(name: string, commonDir: string): Promise<boolean> {
  if (/^(\.|\/|:)|\/$|\.\./.test(name)) return false;
  if (await exists(join(commonDir, 'reftable'))) return true;
  if (await isFile(join(commonDir, 'refs', 'heads', name))) return true;
  return (await textOf(join(commonDir, 'packed-refs')))
    .split('\n')
    .some((line) => line.endsWith(` refs/heads/${name}`));
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}

const rebaseValues = [
  '--onto',
  '--strategy',
  '--strategy-option',
  '--exec',
  '--whitespace',
  '--empty',
  '-s',
  '-X',
  '-x',
  '-C',
];

/** The upstream is only read; a branch behind it would be checked out and moved. */
function rebaseRefusal({ args, isFed }: GitMove): string | undefined {
  const names = operands(args, rebaseValues).filter((arg) => arg.text !== '--');
  const allowed = hasOption(args, '', ['root']) ? 0 : 1;
  if (names.length <= allowed && !isFed) return undefined;
  return `git rebase with a branch behind its upstream moves that branch. This Worktree stays on its own branch: use git rebase <upstream>.`;
}

/** The words that are neither options nor the values of `withValue`; long names may be abbreviated. */
function operands(args: readonly Argument[], withValue: readonly string[]): Argument[] {
  return args.filter(({ text, raw }, index) => {
    const before = args[index - 1]?.text ?? '';
    const isValue = before.startsWith('--')
      ? before.length > 3 && !before.includes('=') && withValue.some((name) => name.startsWith(before))
      : /^-[^-]/.test(before) && withValue.includes(`-${before.at(-1)}`);
    const word = text ?? raw;
    return !isValue && (word === '-' || !word.startsWith('-'));
  });
}
