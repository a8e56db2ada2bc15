import { devNull } from 'node:os';
import { scrubbedEnvironment } from '../process/environment';

/** Who our own commits and ref updates are by; needs no `user.name` and never looks like the user. */
const identity = { name: 'Tributary', email: 'snapshots@tributary.invalid' };

/** What every git of ours is told on the command line, whatever the user, or an agent, has configured. */
export const fixedConfig: readonly string[] = [
  // Nothing that an agent can plant in a repository runs. Filters and merge drivers stay: they are content.
  `core.hooksPath=${devNull}`,
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.editor=:',
  'commit.gpgSign=false',
  'submodule.recurse=false',
  // Our temporary indexes are plain ones, and the object store is never repacked behind the user's back.
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'index.sparse=false',
  'gc.auto=0',
  'maintenance.auto=false',
  // An edit that keeps size and second is one too.
  'core.checkStat=default',
  'core.trustctime=true',
  // Line endings are converted as the repository says, never refused.
  'core.safecrlf=false',
  'core.quotePath=false',
  'diff.suppressBlankEmpty=false',
  'diff.ignoreSubmodules=none',
  'diff.renameLimit=1000',
  'merge.renames=true',
  'merge.renameLimit=7000',
  'merge.directoryRenames=conflict',
  'merge.conflictStyle=merge',
  'worktree.guessRemote=false',
  'worktree.useRelativePaths=false',
  'advice.addEmbeddedRepo=false',
  'advice.updateSparsePath=false',
];

/** `fixedConfig` as arguments before the subcommand. */
export const fixedArguments: readonly string[] = [
  '--no-pager',
  ...fixedConfig.flatMap((setting) => ['-c', setting]),
];

/** A path is never a pattern, a command never waits for a person, and a look never takes the index lock. */
const fixedVariables: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_AUTHOR_NAME: identity.name,
  GIT_AUTHOR_EMAIL: identity.email,
  GIT_COMMITTER_NAME: identity.name,
  GIT_COMMITTER_EMAIL: identity.email,
};

/**
 * The environment of our git: what a command of an agent gets (filters such as git-lfs behave alike in both),
 * without any `GIT_*` that could send the work elsewhere, in English, without prompts.
 */
export function gitEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  extra: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return scrubbedEnvironment(env, { ...fixedVariables, ...extra });
}
