import { type FlagName, flags, flagsOf, type Verb, verbSyntax, verbs } from './syntax';

/** One line: the verb, its operand, its flags. */
export function usageLine(verb: Verb): string {
  const { operand } = verbSyntax[verb];
  const parts = ['tributary', verb, ...(operand === undefined ? [] : [operand])];
  for (const name of flagsOf(verb)) {
    if (name === 'help' || name === 'no-verify') continue;
    const text = name === 'verify' ? '--verify | --no-verify' : flagText(name);
    parts.push(`[${text}]${flags[name].isRepeatable === true ? '...' : ''}`);
  }
  return parts.join(' ');
}

function flagText(name: FlagName): string {
  const { value } = flags[name];
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** What `tributary --help` or `tributary help VERB` prints. */
export function helpText(verb?: Verb): string {
  return verb === undefined ? overview() : helpOnVerb(verb);
}

function helpOnVerb(verb: Verb): string {
  const { summary, more } = verbSyntax[verb];
  const rows = flagsOf(verb).map((name) => {
    const { short, help } = flags[name];
    return [short === undefined ? flagText(name) : `-${short}, ${flagText(name)}`, help] as const;
  });
  const lines = [summary, '', `Usage: ${usageLine(verb)}`, '', ...table(rows)];
  if (more !== undefined) lines.push('', more);
  return `${lines.join('\n')}\n`;
}

function overview(): string {
  const rows = verbs.map((verb) => {
    const { operand, summary } = verbSyntax[verb];
    return [operand === undefined ? verb : `${verb} ${operand}`, summary] as const;
  });
  return `${[
    'tributary: agents that work in git worktrees of their own, verified, reviewed, undoable.',
    '',
    'Usage: tributary COMMAND [FLAGS]',
    '',
    ...table(rows),
    '',
    'TASK and RUN: a whole id, a unique beginning of one, or the slug that "tributary list" shows.',
    'Every command takes --repo DIR and --json. "tributary help COMMAND" shows the rest.',
    '',
    'Model: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (the token wins), ANTHROPIC_BASE_URL, ANTHROPIC_MODEL;',
    'without a key, --demo works offline.',
    '',
    'Exit codes:',
    '  0    done; where a verdict was asked for or made: PASS',
    '  1    a Run, a verdict or the system failed, or a Run was interrupted',
    '  2    wrong arguments, not a repository, unknown id, agent or base',
    '  3    conflict, stale files, branch in use, no commit yet, records of a newer version',
    '  130  stopped',
  ].join('\n')}\n`;
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
