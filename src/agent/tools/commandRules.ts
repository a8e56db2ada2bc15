import { checkGit } from './gitCheck';
import { isRefusedSubcommand } from './gitRules';
import { assignmentRefusal, destinationOf } from './guardPaths';
import { type CommandFacts, copyOf, type ScriptChecker, type ShellScope } from './guardScope';
import { checkOtherName, checkSet, checkSource } from './namingRules';
import { effectRefusal, isEffectName } from './pathEffects';
import type { Argument } from './shellWords';

type Rule = (
  walk: ScriptChecker,
  args: readonly Argument[],
  facts: CommandFacts,
) => Promise<string | undefined>;

/** Commands that run what follows them. */
const wrappers =
  /^(env|command|builtin|exec|nohup|nice|ionice|timeout|gtimeout|time|stdbuf|setsid|sudo|doas|xargs|parallel|watch|strace|ltrace|chrt|taskset|flock|script|busybox|unshare|nsenter|caffeinate|chronic|unbuffer|npx|su|chroot|runuser|systemd-run|xvfb-run|fakeroot|gosu|su-exec|setarch|entr|tmux|screen|dbus-run-session|pkexec|hyperfine|bunx|pnpx)$/;
const feeders = /^(xargs|parallel)$/;
/** Those that take a whole command line as one word. */
const textWrappers = /^(script|flock|watch|parallel|su|tmux|screen|entr|hyperfine)$/;
const shells = /^(sh|bash|dash|zsh|ksh|ash|mksh|fish|rbash|csh|tcsh)$/;

const rules: Readonly<Record<string, Rule>> = {
  git: checkGit,
  cd: checkCd,
  chdir: checkCd,
  pushd: checkCd,
  popd: async (_walk, _args, { scope }) => {
    scope.cwd = undefined;
    return undefined;
  },
  eval: (walk, args, { scope }) => walk.script(joined(args), scope),
  trap: (walk, args, { scope }) => walk.script(args[0]?.text ?? '', copyOf(scope)),
  alias: async (_walk, args) =>
    args.some((arg) => /\b(git|cd|pushd)\b/.test(arg.text ?? arg.raw))
      ? 'an alias must not stand in for git or cd.'
      : undefined,
  export: checkDeclaration,
  declare: checkDeclaration,
  typeset: checkDeclaration,
  readonly: checkDeclaration,
  local: checkDeclaration,
  read: forgetVariables,
  mapfile: checkMapfile,
  readarray: checkMapfile,
  set: checkSet,
  source: checkSource,
  '.': checkSource,
  hash: checkOtherName,
  ln: checkOtherName,
  cp: checkOtherName,
  printf: forgetVariables,
  unset: async (_walk, args, { scope }) => {
    for (const { text } of args) if (text !== undefined) scope.variables.set(text, undefined);
    return undefined;
  },
  find: checkFind,
};

/** Why the command with these words is refused; `cd` and assignments take effect in the scope. */
export async function checkCommand(
  walk: ScriptChecker,
  argv: readonly Argument[],
  facts: CommandFacts,
): Promise<string | undefined> {
  const [first, ...args] = argv;
  if (!first) return undefined;
  if (first.text === undefined) return checkUnknownCommand(walk, argv, facts);
  const name = nameOf(first.text);
  if (name.startsWith('git-') && name.length > 4) {
    const subcommand = { text: name.slice(4), raw: name, isTildeLive: false };
    if (isRefusedSubcommand(subcommand.text)) return checkGit(walk, [subcommand, ...args], facts);
  }
  if (shells.test(name) || /^(at|batch)$/.test(name)) return checkShell(walk, args, facts);
  if (wrappers.test(name)) return checkWrapped(walk, name, { args, facts });
  if (facts.scope.functions.has(first.text)) {
    const reason = await checkWrapped(walk, name, { args, facts });
    if (reason !== undefined) return reason;
  }
  if (facts.scope.movingFunctions.has(first.text)) facts.scope.cwd = undefined;
  const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
  const reason = await rule?.(walk, args, facts);
  return reason ?? effectRefusal({ name, args, scope: facts.scope }, walk.places);
}

/** `/usr/bin/git`, `GIT` (file systems may not tell cases apart) and `git.exe` are all git. */
function nameOf(text: string): string {
  return (text.split(/[\\/]/).at(-1) ?? text).toLowerCase().replace(/\.exe$/, '');
}

/** A command whose name is not known: it may be git, or nothing at all in front of the next word. */
async function checkUnknownCommand(
  walk: ScriptChecker,
  [first, ...args]: readonly Argument[],
  facts: CommandFacts,
): Promise<string | undefined> {
  if (!first) return undefined;
  const words = args.map((arg) => arg.text ?? arg.raw);
  const subcommand = words.find((word) => !word.startsWith('-'));
  const looksLikeGit =
    /\bgit\b/i.test(first.raw) ||
    [...first.raw.matchAll(/[A-Za-z_]\w*|[@*\d]/g)].some(([name]) => facts.scope.gitVariables.has(name)) ||
    (subcommand !== undefined && isRefusedSubcommand(subcommand)) ||
    words.some((word) => /^--(git-dir|work-tree)\b/.test(word));
  if (looksLikeGit) {
    return `${[first.raw, ...words].join(' ')} may be a git command that cannot be traced. Write git out.`;
  }
  return checkWrapped(walk, '', { args, facts });
}

async function checkCd(
  walk: ScriptChecker,
  args: readonly Argument[],
  { scope }: CommandFacts,
): Promise<string | undefined> {
  const target = args.find((arg) => !/^-[LPe@]+$|^--$/.test(arg.text ?? ''));
  if (target?.text === '-' || /^\+\d+$/.test(target?.text ?? '')) {
    scope.cwd = undefined;
    return undefined;
  }
  const home = { text: walk.places.env['HOME'] ?? '/', raw: '', isTildeLive: false };
  const destination = await destinationOf(target ?? home, scope.cwd, walk.places);
  scope.cwd = destination.kind === 'inside' ? destination.path : undefined;
  if (destination.kind !== 'outside') return undefined;
  return `cd ${target?.raw ?? ''} leads to ${destination.path}, outside the Worktree ${walk.places.root}. Commands start in the Worktree; stay inside it.`.replace(
    '  ',
    ' ',
  );
}

async function checkShell(
  walk: ScriptChecker,
  args: readonly Argument[],
  facts: CommandFacts,
): Promise<string | undefined> {
  const made = args.find((arg) => arg.text === undefined && /^[<>]\(/.test(arg.raw));
  if (made !== undefined) return checkSource(walk, [made]);
  const flag = args.findIndex((arg) => /^[-+][A-Za-z]*c[A-Za-z]*$/.test(arg.text ?? ''));
  if (flag !== -1) {
    // -o and the like may stand between -c and its text.
    const text = args.slice(flag + 1).find((arg) => !/^[-+]/.test(arg.text ?? arg.raw));
    return text ? walk.script(text.text ?? unquoted(text.raw), copyOf(facts.scope)) : undefined;
  }
  const { input, scope } = facts;
  if (input === undefined) return undefined;
  // With a format, or words that others put together, what arrives is not what was written.
  if (/%|\$|`/.test(input) && /\bgit\b/i.test(input))
    return 'what the shell reads there may be a git command that cannot be traced. Write git out.';
  return walk.script(input, copyOf(scope));
}

/** `find .. | xargs rm`: what find names is what is removed. */
export async function fedRefusal(
  walk: ScriptChecker,
  [from, ...found]: readonly Argument[],
  { argv, scope }: { argv: readonly Argument[]; scope: ShellScope },
): Promise<string | undefined> {
  const [feeder, ...words] = argv.map((arg) => nameOf(arg.text ?? ''));
  const isRun = feeders.test(feeder ?? '') && words.some((word) => shells.test(word));
  if (isRun && [from, ...found].some((word) => /\bgit\b/i.test(word?.text ?? word?.raw ?? '')))
    return 'what the shell is fed there may be a git command that cannot be traced. Write git out.';
  if (nameOf(from?.text ?? '') !== 'find' || !feeders.test(feeder ?? '')) return undefined;
  if (!words.some((word) => isEffectName(word) || shells.test(word))) return undefined;
  const removal = { text: '-delete', raw: '-delete', isTildeLive: false };
  return effectRefusal({ name: 'find', args: [...found, removal], scope }, walk.places);
}

/** `env A=b git …`, `timeout 5 sh -c …`: from each word on that could be the command, it is checked as one. */
async function checkWrapped(
  walk: ScriptChecker,
  name: string,
  { args, facts }: { args: readonly Argument[]; facts: CommandFacts },
): Promise<string | undefined> {
  if (name === 'command' && /^-[vV]+$/.test(args[0]?.text ?? '')) return undefined;
  const inner: CommandFacts = {
    ...facts,
    // These two run builtins of this very shell, such as cd.
    scope: /^(command|builtin)$/.test(name) ? facts.scope : copyOf(facts.scope),
    isFed: facts.isFed === true || feeders.test(name),
  };
  for (const [index, arg] of args.entries()) {
    const reason =
      (await checkWrapperOption(walk, name, { args, index, inner })) ??
      (arg.text !== undefined && isCommandWord(arg.text)
        ? await checkCommand(walk, args.slice(index), inner)
        : undefined);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function isCommandWord(text: string): boolean {
  const name = nameOf(text);
  return (
    /^git(-|$)/.test(name) ||
    shells.test(name) ||
    wrappers.test(name) ||
    isEffectName(name) ||
    ['eval', 'cd'].includes(name)
  );
}

async function checkWrapperOption(
  walk: ScriptChecker,
  name: string,
  { args, index, inner }: { args: readonly Argument[]; index: number; inner: CommandFacts },
): Promise<string | undefined> {
  const text = args[index]?.text ?? '';
  if (textWrappers.test(name) && /\s/.test(text)) return walk.script(text, copyOf(inner.scope));
  const variable = /^([A-Za-z_]\w*)=/.exec(args[index]?.text ?? args[index]?.raw ?? '')?.[1];
  if (variable !== undefined) {
    const value = args[index]?.text?.slice(variable.length + 1);
    return assignmentRefusal(walk, { name: variable, value }, inner.scope);
  }
  if (name !== 'env' && name !== 'sudo') return undefined;
  const split = /^(?:-S|--split-string=?)(.*)$/s.exec(text);
  if (split) return walk.script(split[1] || joined(args.slice(index + 1)), inner.scope);
  const chdir = /^(?:-C|-D|--chdir=?)(.*)$/s.exec(text);
  if (!chdir) return undefined;
  const target = chdir[1] ? { text: chdir[1], raw: chdir[1], isTildeLive: false } : args[index + 1];
  return target ? checkCd(walk, [target], inner) : undefined;
}

async function checkFind(
  walk: ScriptChecker,
  args: readonly Argument[],
  facts: CommandFacts,
): Promise<string | undefined> {
  for (const [index, arg] of args.entries()) {
    if (!/^-(exec|execdir|ok|okdir)$/.test(arg.text ?? '')) continue;
    const reason = await checkCommand(walk, args.slice(index + 1), { ...facts, isFed: true });
    if (reason !== undefined) return reason;
  }
  return undefined;
}

async function checkDeclaration(
  walk: ScriptChecker,
  args: readonly Argument[],
  { scope }: CommandFacts,
): Promise<string | undefined> {
  for (const { text, raw } of args) {
    const name = /^([A-Za-z_]\w*)\+?=/.exec(text ?? raw)?.[1];
    if (name === undefined) continue;
    const value = text?.slice(text.indexOf('=') + 1);
    scope.variables.set(name, value);
    const reason = await assignmentRefusal(walk, { name, value }, scope);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

async function checkMapfile(
  walk: ScriptChecker,
  args: readonly Argument[],
  facts: CommandFacts,
): Promise<string | undefined> {
  const callback = args[args.findIndex((arg) => arg.text === '-C') + 1];
  const isCalled = args.some((arg) => arg.text === '-C') && callback !== undefined;
  const reason = isCalled ? await walk.script(callback.text ?? callback.raw, copyOf(facts.scope)) : undefined;
  return reason ?? forgetVariables(walk, args, facts);
}

/** `read x`, `printf -v x`: their value is no longer known. */
async function forgetVariables(
  walk: ScriptChecker,
  args: readonly Argument[],
  { scope, input }: CommandFacts,
): Promise<string | undefined> {
  for (const { text } of args) {
    if (text === undefined || !/^[A-Za-z_]\w*$/.test(text)) continue;
    if (/\bgit\b/i.test(input ?? '')) scope.gitVariables.add(text);
    if (scope.variables.has(text)) scope.variables.set(text, undefined);
    const reason = await assignmentRefusal(walk, { name: text, value: undefined }, scope);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function joined(args: readonly Argument[]): string {
  return args.map((arg) => arg.text ?? unquoted(arg.raw)).join(' ');
}

function unquoted(raw: string): string {
  return raw.replace(/^"(.*)"$/s, '$1');
}
