import { foreignRepository } from './gitFiles';
import { type GitMove, moveRefusal } from './gitMoves';
import { gitRefusal, isRefusedSetting, readGitCommand } from './gitRules';
import { destinationOf } from './guardPaths';
import { type CommandFacts, copyOf, type ScriptChecker } from './guardScope';
import { outsideRefusal } from './pathEffects';
import type { Argument } from './shellWords';

/** Why the words after `git` are refused. */
export async function checkGit(
  walk: ScriptChecker,
  args: readonly Argument[],
  facts: CommandFacts,
): Promise<string | undefined> {
  const git = readGitCommand(args);
  const place = await checkGitPlaces(walk, git.places, facts);
  if (place.reason !== undefined) return place.reason;
  for (const setting of git.settings) {
    if (setting.text === undefined || isRefusedSetting(setting.text)) {
      return `git -c ${setting.text ?? setting.raw} changes what git runs or where it works. Leave it out.`;
    }
  }
  if (git.otherOptions.some((option) => option.startsWith('--exec-path='))) {
    return 'git --exec-path runs other programs as git. Leave it out.';
  }
  const { subcommand } = git;
  if (!subcommand) return facts.isFed ? untraceable('git behind xargs') : undefined;
  if (subcommand.text === undefined) return untraceable(`git ${subcommand.raw}`);
  const reason = gitRefusal(subcommand.text, git.args);
  if (reason !== undefined) return `git ${subcommand.text} is not for agents: ${reason}.`;
  const move = { subcommand: subcommand.text, args: git.args, cwd: place.cwd, isFed: facts.isFed === true };
  const scope = { ...facts.scope, cwd: place.cwd };
  return (
    (await moveRefusal(move, walk.places)) ??
    capturedRefusal(move, facts) ??
    (await outsideRefusal(outputs(move), { what: `git ${move.subcommand} to`, scope }, walk.places)) ??
    checkGitArguments(walk, move, facts)
  );
}

/** Where git keeps itself may be looked at; handed to another command, it is a way into what all share. */
function capturedRefusal({ subcommand, args }: GitMove, { scope }: CommandFacts): string | undefined {
  if (subcommand !== 'rev-parse' || !scope.isCaptured) return undefined;
  const asked = args.find(({ text }) =>
    /^--(absolute-git-dir|git-dir|git-common-dir|git-path|shared-index-path)\b/.test(text ?? ''),
  );
  return asked && `what git rev-parse ${asked.raw} names belongs to git itself. Use git commands instead.`;
}

/** The places that git was told to write to. */
function outputs({ subcommand, args }: GitMove): Argument[] {
  const hasShort = /^(archive|format-patch|bugreport|diagnose)$/.test(subcommand);
  const option = hasShort ? /^(?:--(?:outp|sep)[a-z-]*(=|$)|-o)/ : /^--(?:outp|sep)[a-z-]*(=|$)/;
  const named = args.flatMap((arg, index) => {
    const start = option.exec(arg.text ?? '')?.[0];
    const value = start === undefined ? undefined : arg.text?.slice(start.length);
    const next = args[index + 1];
    if (value) return [{ text: value, raw: value, isTildeLive: false }];
    return start !== undefined && next ? [next] : [];
  });
  const isBundle = subcommand === 'bundle' && args[0]?.text === 'create';
  return isBundle
    ? [
        ...named,
        ...args
          .slice(1)
          .filter(({ text }) => !text?.startsWith('-'))
          .slice(0, 1),
      ]
    : named;
}

/** Where git works in the end, or why it must not. */
async function checkGitPlaces(
  walk: ScriptChecker,
  places: readonly { option: string; value: Argument | undefined }[],
  { scope, isFed }: CommandFacts,
): Promise<{ readonly cwd?: string | undefined; readonly reason?: string }> {
  if (scope.cwd === undefined && places[0]?.option !== '-C') {
    return { reason: untraceable('git after a cd that cannot be followed') };
  }
  let cwd = scope.cwd;
  for (const { option, value } of places) {
    const destination = isFed ? ({ kind: 'unknown' } as const) : await destinationOf(value, cwd, walk.places);
    if (destination.kind === 'unknown') {
      return { reason: untraceable(`git ${option} ${value?.raw ?? ''}`) };
    }
    if (destination.kind === 'outside') {
      return {
        reason: `git ${option} ${value?.raw ?? ''} works in ${destination.path}, outside the Worktree. Run git in the Worktree, without ${option}.`,
      };
    }
    if (option === '-C') cwd = destination.path;
  }
  const foreign = cwd === undefined ? undefined : await foreignRepository(cwd, walk.places);
  if (foreign === undefined) return { cwd };
  return {
    reason: `git there works on ${foreign}, outside the Worktree: a .git file leads to it. Put it back as it was.`,
  };
}

/** Subcommands that run commands themselves, or make a repository somewhere. */
async function checkGitArguments(
  walk: ScriptChecker,
  { subcommand, args }: { subcommand: string; args: readonly Argument[] },
  facts: CommandFacts,
): Promise<string | undefined> {
  const { scope } = facts;
  if (subcommand === 'rebase') {
    for (const [index, arg] of args.entries()) {
      const inline = /^(?:--exec=|-x)(.+)$/s.exec(arg.text ?? '')?.[1];
      const isOption = arg.text === '-x' || arg.text === '--exec';
      const script = inline ?? (isOption ? args[index + 1]?.text : undefined);
      const reason = script === undefined ? undefined : await walk.script(script, copyOf(scope));
      if (reason !== undefined) return reason;
    }
  }
  if (subcommand !== 'init' && subcommand !== 'clone') return undefined;
  const target = args
    .filter((arg) => !(arg.text ?? arg.raw).startsWith('-'))
    .at(subcommand === 'init' ? 0 : 1);
  if (!target)
    return subcommand === 'init'
      ? 'this is a repository already; init would change what it shares.'
      : undefined;
  const destination = await destinationOf(target, scope.cwd, walk.places);
  if (destination.kind === 'inside' && destination.path !== walk.places.root) return undefined;
  return `git ${subcommand} ${target.raw} does not stay in a folder of its own inside the Worktree.`;
}

function untraceable(what: string): string {
  return `${what} cannot be traced to a place and a command. Write the command out, and run git in the Worktree.`;
}
