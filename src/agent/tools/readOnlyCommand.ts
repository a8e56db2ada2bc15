import type { Command, Word } from 'unbash';
import { type PathRules, resolveInside } from './paths';
import { loadShellParser } from './shellWords';

export type ReadOnlyAnswer =
  /** Exactly these arguments were looked at, so exactly these are run, without a shell. */
  | { readonly kind: 'allowed'; readonly file: string; readonly args: readonly string[] }
  | { readonly kind: 'not'; readonly reason: string };

interface Program {
  /** Letters of short options that are refused, wherever they stand in a cluster. */
  readonly short: string;
  /** Long options that are refused, also abbreviated. */
  readonly long: readonly string[];
  /** True when the first word that is no option is a pattern, unless an option brought one. */
  readonly hasPattern?: boolean;
  /** Put in front of the arguments. */
  readonly safe?: readonly string[];
}

const programs: Readonly<Record<string, Program>> = {
  ls: { short: '', long: [] },
  cat: { short: '', long: [] },
  head: { short: '', long: [] },
  // Following never ends.
  tail: { short: 'fF', long: ['follow', 'retry', 'pid'] },
  wc: { short: '', long: ['files0-from'] },
  grep: { short: 'fR', long: ['file', 'exclude-from', 'dereference-recursive'], hasPattern: true },
  rg: {
    short: 'fLz',
    long: ['file', 'pre', 'pre-glob', 'hostname-bin', 'search-zip', 'ignore-file', 'follow'],
    hasPattern: true,
    safe: ['--no-config'],
  },
};

const gitSubcommands = ['status', 'log', 'diff', 'show'];
const gitProgram: Program = {
  short: 'O',
  long: [
    'output',
    'ext-diff',
    'textconv',
    'show-signature',
    'pathspec-from-file',
    'exec',
    'open-files-in-pager',
  ],
};
/** Nothing set in the configuration runs, writes or pages. */
const gitSafe = [
  '--no-pager',
  '--no-optional-locks',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'core.hooksPath=/dev/null',
];

const findRefused =
  /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|files0-from|follow|L|H|newer.*|samefile)$/;

/** What the model is told is possible without asking. */
export const readOnlyList = 'ls, git status/log/diff/show, find, grep, rg, cat, head, tail, wc';

/**
 * Whether a command is ONE simple command of the list, without redirection, substitution, assignment or
 * unquoted pattern, without an option that runs or writes, every path inside the root.
 */
export async function readOnlyCommand(text: string, rules: PathRules): Promise<ReadOnlyAnswer> {
  const words = await simpleWords(text);
  if (typeof words === 'string') return not(words);
  const [file = '', ...args] = words;
  if (file === 'git') return gitCommand(args, rules);
  if (file === 'find') return findCommand(args, rules);
  const program = Object.hasOwn(programs, file) ? programs[file] : undefined;
  if (!program) return not(`${file} is not one of: ${readOnlyList}`);
  const reason = refusedOption(args, program) ?? (await outsidePath(args, program, rules));
  return reason === undefined
    ? { kind: 'allowed', file, args: [...(program.safe ?? []), ...args] }
    : not(reason);
}

function not(reason: string): ReadOnlyAnswer {
  return { kind: 'not', reason };
}

/** The words of the one simple command that `text` is, each known to the letter; else the reason. */
async function simpleWords(text: string): Promise<string[] | string> {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no control character belongs into such a command.
  if (/[\u0000-\u0008\u000b-\u001f\u007f]/.test(text)) return 'it holds control characters';
  const script = (await loadShellParser()).parse(text);
  const [statement, ...others] = script.commands;
  if (script.errors?.length) return `it cannot be read (${script.errors[0]?.message})`;
  if (!statement || others.length > 0 || statement.background) return 'it is not one simple command';
  const { command } = statement;
  if (command.type !== 'Command' || !command.name) return 'it is not one simple command';
  const problem = notSimple(command);
  if (problem !== undefined) return problem;
  const words: string[] = [];
  for (const word of [command.name, ...command.args]) {
    const value = word.type === 'Word' ? literalOf(word) : undefined;
    if (value === undefined) return `${word.text} is not plain text; quote patterns with '...'`;
    words.push(value);
  }
  return words;
}

function notSimple(command: Command): string | undefined {
  if (command.redirects.length > 0) return 'it redirects';
  return command.prefix.length > 0 ? 'it sets a variable' : undefined;
}

/** The value of a word in which nothing is left for a shell to do. */
function literalOf(word: Word): string | undefined {
  if (word.text.startsWith('~')) return undefined;
  const isPlain = (word.parts ?? []).every(
    (part) =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every((inner) => inner.type === 'Literal')),
  );
  return isPlain ? word.value : undefined;
}

async function gitCommand(args: readonly string[], rules: PathRules): Promise<ReadOnlyAnswer> {
  const rest = args[0] === '--no-pager' ? args.slice(1) : args;
  const [subcommand = '', ...words] = rest;
  if (!gitSubcommands.includes(subcommand)) {
    return not(`of git only ${gitSubcommands.join(', ')} are read-only here, without options in front`);
  }
  const formatsSignature = words.some((word) => /%G/.test(word));
  const reason =
    refusedOption(words, gitProgram) ??
    (formatsSignature ? '%G runs a signature program' : undefined) ??
    (await outsidePath(words, gitProgram, rules));
  if (reason !== undefined) return not(reason);
  const plain = subcommand === 'status' ? [] : ['--no-ext-diff', '--no-textconv'];
  return { kind: 'allowed', file: 'git', args: [...gitSafe, subcommand, ...plain, ...words] };
}

async function findCommand(args: readonly string[], rules: PathRules): Promise<ReadOnlyAnswer> {
  const refused = args.find((arg) => findRefused.test(arg));
  if (refused !== undefined) return not(`find ${refused} runs, writes or leads elsewhere`);
  const reason = await outsidePath(args, { short: '', long: [] }, rules);
  return reason === undefined ? { kind: 'allowed', file: 'find', args } : not(reason);
}

/** Everything after `--` counts too: a stricter reading does no harm. */
function refusedOption(args: readonly string[], program: Program): string | undefined {
  for (const arg of args) {
    const long = /^--([^=]+)/.exec(arg)?.[1];
    const isLongRefused = long !== undefined && program.long.some((name) => name.startsWith(long));
    const isCluster = /^-[^-]/.test(arg);
    if (isLongRefused || (isCluster && [...arg.slice(1)].some((letter) => program.short.includes(letter)))) {
      return `the option ${arg} runs, writes, follows or reads from elsewhere`;
    }
  }
  return undefined;
}

/** Looks at every word that could be a path, also behind `=`; only a pattern in its place is left out. */
async function outsidePath(
  args: readonly string[],
  program: Program,
  rules: PathRules,
): Promise<string | undefined> {
  const operands = args.filter((arg) => !arg.startsWith('-'));
  // With -e or --files there is no pattern among the operands; a guess on the safe side looks at all.
  const bringsPattern = args.some(
    (arg) => /^-[^-]*[ef]/.test(arg) || /^--(r|fi|ty|g)/.test(arg) || arg === '--',
  );
  const checked = program.hasPattern && !bringsPattern ? operands.slice(1) : operands;
  const values = args.flatMap((arg) => (arg.startsWith('--') && arg.includes('=') ? [afterEquals(arg)] : []));
  for (const path of [...checked, ...values.filter((value) => value !== '')]) {
    const resolved = await resolveInside(path, rules, 'read');
    if (resolved.kind === 'refused') return resolved.message;
  }
  return undefined;
}

function afterEquals(option: string): string {
  return /^--(regexp|format|pretty|grep|author|since|until)=/.test(option)
    ? ''
    : option.slice(option.indexOf('=') + 1);
}
