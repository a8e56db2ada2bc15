import { parseArgs } from 'node:util';
import { type ReviewMark, reviewMarkSchema } from '../model/hunks';
import type { LandingMode } from '../model/landing';
import type { MarkTargets } from '../model/marks';
import type { SetupPlan } from '../model/setup';
import { usageLine } from './help';
import { nearMatch } from './nearMatch';
import { type FlagName, flags, flagsOf, isFlagName, isVerb, type Verb, verbSyntax, verbs } from './syntax';

interface Common {
  readonly repo?: string;
  readonly isJson: boolean;
}

interface ForAgents extends Common {
  readonly isDemo: boolean;
  readonly allowCommands: boolean;
}

export interface RunCommand extends ForAgents {
  readonly verb: 'run';
  readonly objective: string;
  readonly agent?: string;
  readonly base?: string;
  readonly withUncommitted?: true;
  readonly scope: readonly string[];
  readonly checks: readonly string[];
  /** Absent: none of its flags was given. */
  readonly setup?: Partial<SetupPlan>;
  readonly importSetup?: true;
  readonly model?: string;
  /** Absent: as the settings say. */
  readonly verify?: 'always' | 'never';
}

export interface AgentCommand extends ForAgents {
  readonly verb: 'verify' | 'fix' | 'resume' | 'resolve';
  /** A whole id, a unique prefix of one, or a slug. */
  readonly target: string;
}

export interface AcceptCommand extends Common {
  readonly verb: 'accept';
  readonly target: string;
  readonly isDryRun: boolean;
  /** Absent: `apply`. */
  readonly mode?: LandingMode;
  readonly message?: string;
  readonly skipGate?: true;
  /** Absent: neither files nor hunks were named. */
  readonly selection?: Required<MarkTargets>;
}

export interface HunksCommand extends Common {
  readonly verb: 'hunks';
  readonly target: string;
  readonly sinceReview: boolean;
}

export interface MarkCommand extends Common {
  readonly verb: 'mark';
  readonly target: string;
  readonly selection?: Required<MarkTargets>;
  /** Absent: marks are taken off. */
  readonly mark?: ReviewMark;
}

export interface UndoCommand extends Common {
  readonly verb: 'undo';
  readonly target: string;
  readonly isMerge: boolean;
  readonly isDryRun: boolean;
}

export interface TargetCommand extends Common {
  readonly verb: 'show' | 'diff' | 'merge-in' | 'discard' | 'stop';
  readonly target: string;
  /** Of `show`. */
  readonly dismissesAlarms?: true;
}

export interface RestoreCommand extends Common {
  readonly verb: 'restore';
  readonly target: string;
  /** An earlier state of an open Task; `run` is an id or its beginning. */
  readonly point?: { readonly snapshot: number } | { readonly run: string; readonly turn: number };
}

export interface ListCommand extends Common {
  readonly verb: 'list' | 'conflicts' | 'worktrees';
}

export interface SweepCommand extends Common {
  readonly verb: 'sweep';
  readonly isDryRun: boolean;
  readonly olderThanDays?: number;
}

export interface DoctorCommand extends Common {
  readonly verb: 'doctor';
  readonly isFixing: boolean;
}

export type Command =
  | RunCommand
  | AgentCommand
  | AcceptCommand
  | HunksCommand
  | MarkCommand
  | UndoCommand
  | TargetCommand
  | RestoreCommand
  | ListCommand
  | SweepCommand
  | DoctorCommand;

/** What a command line asks for. `usage`: it cannot be understood; `hint` says how to mend it. */
export type Invocation =
  | { readonly kind: 'command'; readonly command: Command }
  | { readonly kind: 'help'; readonly verb?: Verb }
  | { readonly kind: 'version' }
  | { readonly kind: 'usage'; readonly message: string; readonly hint: string; readonly isJson: boolean };

/** Thrown inside this file only: the first thing that is wrong with the line. */
class UsageProblem extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

interface Line {
  readonly operands: readonly string[];
  readonly options: ReadonlyMap<string, readonly Option[]>;
}

interface Option {
  /** As it was typed, such as `--repo`. */
  readonly raw: string;
  readonly value: string | undefined;
  readonly isInline: boolean;
}

/** Reads a command line, without the program's name. Never throws. */
export function parseArguments(argv: readonly string[]): Invocation {
  const line = readLine(argv);
  try {
    return understand(line);
  } catch (error) {
    if (!(error instanceof UsageProblem)) throw error;
    return { kind: 'usage', message: error.message, hint: error.hint, isJson: line.options.has('json') };
  }
}

function readLine(argv: readonly string[]): Line {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { value, short }]) => [
      name,
      {
        type: value === undefined ? ('boolean' as const) : ('string' as const),
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  // Not strict: the parser's own errors know neither the verb nor a near match.
  const { tokens } = parseArgs({
    args: [...argv],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const operands: string[] = [];
  const found = new Map<string, Option[]>();
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value);
    if (token.kind !== 'option') continue;
    const option = { raw: token.rawName, value: token.value, isInline: token.inlineValue === true };
    found.set(token.name, [...(found.get(token.name) ?? []), option]);
  }
  return { operands, options: found };
}

function understand(line: Line): Invocation {
  const [first, ...rest] = line.operands;
  if (line.options.has('version')) return { kind: 'version' };
  if (first === 'help') return helpOn(rest[0]);
  if (first === undefined) {
    if (line.options.has('help')) return { kind: 'help' };
    const [unknown] = [...line.options].find(([name]) => !isFlagName(name)) ?? [];
    if (unknown !== undefined) throw unknownFlag(line.options.get(unknown)?.[0]?.raw ?? unknown, undefined);
    throw new UsageProblem('no command given', `Commands: ${verbs.join(', ')}. See "tributary --help".`);
  }
  const verb = verbOf(first);
  if (line.options.has('help')) return { kind: 'help', verb };
  checkOptions(line, verb);
  return { kind: 'command', command: commandOf(line, verb, rest) };
}

function helpOn(text: string | undefined): Invocation {
  return text === undefined ? { kind: 'help' } : { kind: 'help', verb: verbOf(text) };
}

function verbOf(text: string): Verb {
  if (isVerb(text)) return text;
  const near = nearMatch(text, verbs);
  throw new UsageProblem(
    `unknown command "${text}"`,
    near === undefined
      ? `Commands: ${verbs.join(', ')}. See "tributary --help".`
      : `Did you mean "tributary ${near}"?`,
  );
}

function unknownFlag(raw: string, verb: Verb | undefined): UsageProblem {
  const known = verb === undefined ? ['help', 'version'] : flagsOf(verb);
  const near = nearMatch(raw.replace(/^-+/, ''), known);
  const usage = verb === undefined ? 'See "tributary --help".' : `Usage: ${usageLine(verb)}`;
  const where = verb === undefined ? '' : ` for "tributary ${verb}"`;
  return new UsageProblem(
    `unknown flag ${raw}${where}`,
    near === undefined ? usage : `Did you mean --${near}? ${usage}`,
  );
}

function checkOptions(line: Line, verb: Verb): void {
  const usage = `Usage: ${usageLine(verb)}`;
  for (const [name, given] of line.options) {
    const [option] = given;
    if (option === undefined) continue;
    if (!isFlagName(name) || !flagsOf(verb).includes(name)) throw unknownFlag(option.raw, verb);
    const { value, isRepeatable } = flags[name];
    if (value !== undefined && given.length > 1 && isRepeatable !== true)
      throw new UsageProblem(`--${name} is given ${given.length} times`, `Give it once. ${usage}`);
    for (const each of given) checkValue(name, each, usage);
  }
  if (line.options.has('verify') && line.options.has('no-verify'))
    throw new UsageProblem('--verify and --no-verify exclude each other', `Keep one of them. ${usage}`);
  if (line.options.has('turn') && line.options.has('snapshot'))
    throw new UsageProblem('--turn and --snapshot exclude each other', `Keep one of them. ${usage}`);
  if (line.options.has('base') && line.options.has('with-uncommitted'))
    throw new UsageProblem(
      '--with-uncommitted starts from HEAD, so it excludes --base',
      `Keep one of them. ${usage}`,
    );
}

function checkValue(name: FlagName, option: Option, usage: string): void {
  const { value } = flags[name];
  if (value === undefined) {
    if (option.value !== undefined)
      throw new UsageProblem(`--${name} takes no value`, `Write only --${name}. ${usage}`);
    return;
  }
  if (option.value === undefined || option.value.trim() === '')
    throw new UsageProblem(`--${name} needs a value`, `Write --${name} ${value}. ${usage}`);
  // "--base --json" is a forgotten value far more often than a branch of that name.
  if (!option.isInline && /^-./.test(option.value))
    throw new UsageProblem(
      `--${name} needs a value, but "${option.value}" follows`,
      `If that is the value, write --${name}=${option.value}. ${usage}`,
    );
}

function commandOf(line: Line, verb: Verb, operands: readonly string[]): Command {
  const has = (name: FlagName): boolean => line.options.has(name);
  const text = (name: FlagName): string | undefined => line.options.get(name)?.[0]?.value;
  const optional = <K extends string>(key: K, value: string | undefined): { [P in K]?: string } | object =>
    value === undefined ? {} : { [key]: value };
  const common = { ...optional('repo', text('repo')), isJson: has('json') };
  const forAgents = { ...common, isDemo: has('demo'), allowCommands: has('allow-commands') };
  switch (verb) {
    case 'list':
    case 'conflicts':
    case 'worktrees':
      noOperand(verb, operands);
      return { ...common, verb };
    case 'sweep': {
      noOperand(verb, operands);
      const olderThanDays = numberOf(line, 'older-than', verb);
      return {
        ...common,
        verb,
        isDryRun: has('dry-run'),
        ...(olderThanDays === undefined ? {} : { olderThanDays }),
      };
    }
    case 'doctor':
      noOperand(verb, operands);
      return { ...common, verb, isFixing: has('fix') };
    case 'restore':
      return { ...common, verb, target: operandOf(verb, operands), ...pointOf(line, verb) };
    case 'run':
      return {
        ...forAgents,
        verb,
        objective: operandOf(verb, operands),
        ...optional('agent', text('agent')),
        ...optional('base', text('base')),
        ...(has('with-uncommitted') ? { withUncommitted: true as const } : {}),
        ...optional('model', text('model')),
        scope: valuesOf(line, 'scope'),
        checks: valuesOf(line, 'check'),
        ...setupOf(line),
        ...(has('import-setup') ? { importSetup: true as const } : {}),
        ...(has('verify') ? { verify: 'always' as const } : {}),
        ...(has('no-verify') ? { verify: 'never' as const } : {}),
      };
    case 'verify':
    case 'fix':
    case 'resume':
    case 'resolve':
      return { ...forAgents, verb, target: operandOf(verb, operands) };
    case 'accept':
      return {
        ...common,
        verb,
        target: operandOf(verb, operands),
        isDryRun: has('dry-run'),
        ...modeOf(text('mode')),
        ...optional('message', text('message')),
        ...(has('no-gate') ? { skipGate: true as const } : {}),
        ...selectionOf(line),
      };
    case 'show':
      return {
        ...common,
        verb,
        target: operandOf(verb, operands),
        ...(has('dismiss-alarms') ? { dismissesAlarms: true as const } : {}),
      };
    case 'hunks':
      return { ...common, verb, target: operandOf(verb, operands), sinceReview: has('since-review') };
    case 'mark':
      return {
        ...common,
        verb,
        target: operandOf(verb, operands),
        ...selectionOf(line),
        ...markOf(verb, text('as')),
      };
    case 'undo': {
      const target = operandOf(verb, operands);
      return { ...common, verb, target, isMerge: has('merge'), isDryRun: has('dry-run') };
    }
    default:
      return { ...common, verb, target: operandOf(verb, operands) };
  }
}

const modes: Readonly<Record<string, LandingMode>> = {
  apply: 'apply',
  commit: 'commit',
  merge: 'merge',
  rebase: 'rebase',
  'keep-branch': 'keepBranch',
};

function modeOf(text: string | undefined): { mode?: LandingMode } {
  if (text === undefined) return {};
  const mode = Object.hasOwn(modes, text) ? modes[text] : undefined;
  if (mode !== undefined) return { mode };
  const near = nearMatch(text, Object.keys(modes));
  throw new UsageProblem(
    `there is no mode "${text}"`,
    near === undefined ? `Modes: ${Object.keys(modes).join(', ')}.` : `Did you mean --mode ${near}?`,
  );
}

/** The files and hunks that are named. */
function selectionOf(line: Line): { selection?: Required<MarkTargets> } {
  const selection = { paths: valuesOf(line, 'path'), hunks: valuesOf(line, 'hunk') };
  return selection.paths.length + selection.hunks.length === 0 ? {} : { selection };
}

function markOf(verb: Verb, text: string | undefined): { mark?: ReviewMark } {
  if (text === 'none') return {};
  const mark = reviewMarkSchema.safeParse(text);
  if (mark.success) return { mark: mark.data };
  const problem = text === undefined ? '--as is missing' : `"${text}" is no mark`;
  throw new UsageProblem(problem, `Marks: accept, reject, reviewed, none. Usage: ${usageLine(verb)}`);
}

/** The earlier state that `--turn` or `--snapshot` names. */
function pointOf(line: Line, verb: Verb): Pick<RestoreCommand, 'point'> {
  const snapshot = numberOf(line, 'snapshot', verb);
  if (snapshot !== undefined) return { point: { snapshot } };
  const text = line.options.get('turn')?.[0]?.value;
  if (text === undefined) return {};
  const [, run, turn] = /^(.+):(\d{1,9})$/.exec(text.trim()) ?? [];
  if (run !== undefined) return { point: { run, turn: Number(turn) } };
  throw new UsageProblem(`--turn needs RUN:N, not "${text}"`, `Usage: ${usageLine(verb)}`);
}

function numberOf(line: Line, name: FlagName, verb: Verb): number | undefined {
  const text = line.options.get(name)?.[0]?.value?.trim();
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageProblem(`--${name} needs a whole number, not "${text}"`, `Usage: ${usageLine(verb)}`);
}

/** What the flags for making a worktree ready say. */
function setupOf(line: Line): { setup?: Partial<SetupPlan> } {
  const given = {
    commands: valuesOf(line, 'setup'),
    teardown: valuesOf(line, 'teardown'),
    link: valuesOf(line, 'link'),
    clone: valuesOf(line, 'clone'),
    include: valuesOf(line, 'include'),
  };
  return Object.values(given).every((values) => values.length === 0) ? {} : { setup: given };
}

function valuesOf(line: Line, name: FlagName): string[] {
  return (line.options.get(name) ?? []).flatMap(({ value }) => (value === undefined ? [] : [value]));
}

function noOperand(verb: Verb, operands: readonly string[]): void {
  if (operands.length === 0) return;
  throw new UsageProblem(`unexpected argument "${operands[0]}"`, `Usage: ${usageLine(verb)}`);
}

function operandOf(verb: Verb, operands: readonly string[]): string {
  const { operand } = verbSyntax[verb];
  const [first, second] = operands;
  if (first === undefined || first.trim() === '') {
    const what = verb === 'run' ? 'an objective' : `a ${operand}`;
    throw new UsageProblem(`"tributary ${verb}" needs ${what}`, `Usage: ${usageLine(verb)}`);
  }
  if (second !== undefined) {
    const hint = verb === 'run' ? `Put the objective in quotes: tributary run "${operands.join(' ')}"` : '';
    throw new UsageProblem(`unexpected argument "${second}"`, hint || `Usage: ${usageLine(verb)}`);
  }
  return first;
}
