import { TributaryError } from '../base/errors';
import { scrubbedEnvironment } from '../process/environment';
import type { CommandResult } from '../process/runCommand';
import { gitFailure, gitNotStarted } from './gitErrors';
import type { GitDeps } from './plumbing';

/** One command of the user's own git, in their checkout. */
export interface UserCommand {
  readonly cwd: string;
  /** Subcommand first. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Extra `-c` settings. */
  readonly config?: readonly string[];
  readonly input?: Uint8Array | string;
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs git as the user would: with their name, hooks, signing and settings. Only for what makes commits of theirs;
 * whatever else we ask of git goes through `Git`. Answers how it ended, also when it failed.
 */
export type UserGit = (command: UserCommand) => Promise<CommandResult>;

/** Who the user is may stand in the environment alone. */
const identityVariables = [
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_AUTHOR_DATE',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_COMMITTER_DATE',
];

/** `UserGit` over real processes. */
export function makeUserGit({ runCommand, env }: GitDeps): UserGit {
  const given = identityVariables.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const own = scrubbedEnvironment(env, Object.fromEntries(given));
  return async (command) => {
    const config = (command.config ?? []).flatMap((setting) => ['-c', setting]);
    const result = await runCommand({
      command: { kind: 'args', file: 'git', args: ['--no-pager', ...config, ...command.args] },
      cwd: command.cwd,
      env: { ...own, ...command.env },
      ...(command.input === undefined ? {} : { input: command.input }),
      ...(command.timeoutMs === undefined ? {} : { timeoutMs: command.timeoutMs }),
      ...(command.signal === undefined ? {} : { signal: command.signal }),
    });
    if (result.reason === 'notStarted') throw gitNotStarted(result.startError, command.cwd);
    return result;
  };
}

export interface Identity {
  readonly name: string;
  readonly email: string;
}

/** Who git says the user is, in no guessed form. Throws `noIdentity` where they have not said. */
export async function identityOf(git: UserGit, cwd: string): Promise<Identity> {
  const [author, committer] = await Promise.all(
    ['GIT_AUTHOR_IDENT', 'GIT_COMMITTER_IDENT'].map((name) =>
      git({ cwd, args: ['var', name], config: ['user.useConfigOnly=true'] }),
    ),
  );
  const said = committer?.stdout.toString('utf8') ?? '';
  const match = /^(.+) <([^>]*)> \d+ [+-]\d{4}\n?$/.exec(said);
  if (author?.exitCode !== 0 || committer?.exitCode !== 0 || match === null) {
    throw new TributaryError('noIdentity', 'user.name or user.email is not set', {
      details: { path: cwd, stderr: author?.stderr.toString('utf8') },
    });
  }
  return { name: match[1] ?? '', email: match[2] ?? '' };
}

/** Whether the user signs their commits. */
export async function signsCommits(git: UserGit, cwd: string): Promise<boolean> {
  const result = await git({ cwd, args: ['config', '--type=bool', '--get', 'commit.gpgSign'] });
  return result.exitCode === 0 && result.stdout.toString('utf8').trim() === 'true';
}

export interface OwnCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: Uint8Array | string;
  readonly isSigned: boolean;
  /** `GIT_AUTHOR_*` of a commit that keeps its author. */
  readonly author?: Readonly<Record<string, string>>;
}

/** Writes a commit object in the user's name; no ref moves. Throws `signingFailed`. */
export async function commitAsUser(git: UserGit, cwd: string, commit: OwnCommit): Promise<string> {
  const parents = [...new Set(commit.parents)].flatMap((parent) => ['-p', parent]);
  const args = ['commit-tree', commit.isSigned ? '-S' : '--no-gpg-sign', ...parents, '-F', '-', commit.tree];
  const result = await git({
    cwd,
    args,
    // Messages are UTF-8 here, whatever a repository has its own in.
    config: ['i18n.commitEncoding=UTF-8', 'user.useConfigOnly=true'],
    env: commit.author ?? {},
    input: commit.message,
  });
  if (result.exitCode === 0) return result.stdout.toString('utf8').trim();
  const stderr = result.stderr.toString('utf8');
  if (commit.isSigned && /sign/i.test(stderr)) {
    throw new TributaryError('signingFailed', stderr.trim(), { details: { path: cwd, stderr } });
  }
  throw gitFailure(args, result.exitCode, stderr);
}
