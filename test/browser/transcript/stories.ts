// Transcripts as they might be recorded: a whole Run, one under way, a long one, a hostile one.
import { type Answer, answerSchema } from '../../../src/model/answer';
import { makeRunId } from '../../../src/model/ids';
import type { Run } from '../../../src/model/run';
import { demoModelName } from '../../../src/model/settings';
import { entrySchema, type NewEntry, type TranscriptEntry } from '../../../src/model/transcript';
import { type Verdict, verdictSchema } from '../../../src/model/verdict';
import { at, makeRun, makeTask } from '../../fakes/records';
import type { Shown } from './standalonePage';

export const runId = makeRunId('20260102T030405678', 1);
const verifyId = makeRunId('20260102T030405678', 2);

/** Entries as they come back from disk. */
export function recorded(entries: readonly NewEntry[], from = 0, time = at): TranscriptEntry[] {
  return entries.map((entry, position) => {
    const number = from + position + 1;
    const parentId = number === 1 ? null : `e${number - 1}`;
    return entrySchema.parse({ ...entry, id: `e${number}`, parentId, at: time });
  });
}

export function said(text: string, stopReason = 'tool_use', turn = 1): NewEntry[] {
  return [
    { type: 'message.started', turn },
    { type: 'message', turn, model: 'model', content: [{ type: 'text', text }], stopReason },
  ];
}

interface Called {
  readonly name: string;
  readonly input: unknown;
  readonly result?: string;
  readonly exitCode?: number;
  readonly isError?: boolean;
}

let calls = 0;

export function called({ name, input, result = 'ok', exitCode, isError = false }: Called): NewEntry[] {
  calls += 1;
  const toolUseId = `toolu_${calls}`;
  return [
    { type: 'tool.started', turn: 1, toolUseId, name, input },
    {
      type: 'tool.ended',
      turn: 1,
      toolUseId,
      name,
      content: result,
      isError,
      durationMs: 1_234,
      ...(exitCode === undefined ? {} : { exitCode }),
    },
  ];
}

export const answer: Answer = answerSchema.parse({
  summary: 'The parser adds up all units, so `1h30m` is 5400 seconds.',
  changes: [{ path: 'src/duration.js', note: 'adds up every pair' }],
  evidence: [{ path: 'src/duration.js', line: 5, endLine: 9, note: 'the loop' }],
  risks: ['Only the inputs of the suite were tried.'],
  blockers: [],
  missing: [],
});

export const verdict: Verdict = verdictSchema.parse({
  verdict: 'FAIL',
  runId: verifyId,
  tree: 'c'.repeat(40),
  at,
  checks: [
    {
      source: 'acceptance',
      title: 'npm test',
      command: 'npm test',
      exitCode: 0,
      observed: '',
      result: 'pass',
      evidence: 'host',
      isOwn: false,
      durationMs: 2_100,
    },
    {
      source: 'verifier',
      title: 'Nonsense is refused',
      command: 'node -e "parseDuration(\'abc\')"',
      exitCode: 1,
      observed: 'gave 0',
      result: 'fail',
      call: 2,
      evidence: 'bound',
      isOwn: true,
    },
    {
      source: 'verifier',
      title: 'Fuzzing',
      command: 'npm run fuzz',
      exitCode: 0,
      observed: '',
      result: 'pass',
      evidence: 'unobserved',
      isOwn: true,
    },
  ],
  findings: [
    {
      id: 'f1',
      location: { path: 'src/duration.js', line: 6, endLine: 8 },
      severity: 'error',
      title: 'Text that is no duration gives 0',
      detail: 'parseDuration("abc") should throw a RangeError.',
      call: 2,
      source: 'verifier',
    },
    { id: 'f2', severity: 'info', title: 'Claimed, not observed', detail: '', source: 'host' },
  ],
  reasons: ['A claimed check was not observed.'],
});

const completed: Run['status'] = {
  state: 'completed',
  startedAt: at,
  end: { reason: 'done', message: '', at: '2026-01-02T03:04:26.500Z' },
};

/** A Run with everything in it, judged. */
const snapshot = {
  ref: 'refs/tributary/x',
  commit: 'c'.repeat(40),
  tree: 'c'.repeat(40),
  runId,
  turn: 1,
  at,
  headCommit: 'c'.repeat(40),
};

export function wholeStory(): Shown {
  const entries: NewEntry[] = [
    { type: 'user', origin: 'instruction', content: [{ type: 'text', text: 'Objective: fix the parser' }] },
    { type: 'message.started', turn: 1 },
    {
      type: 'message',
      turn: 1,
      model: 'model',
      stopReason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'The regular expression stops after one unit.', signature: 's' },
        { type: 'text', text: 'I look at the **parser**, see [the docs](https://example.com/docs).' },
      ],
    },
    ...called({ name: 'Read', input: { file_path: 'src/duration.js' }, result: '     1\texport function' }),
    ...called({ name: 'Grep', input: { pattern: 'parseDuration', path: 'src' }, result: 'src/duration.js' }),
    ...called({
      name: 'Bash',
      input: { command: 'npm test' },
      result: '[call 1]\n\u001b[32m✔ seconds\u001b[39m\n\u001b[31m✖ hours\u001b[0m\n[exit code 1]',
      exitCode: 1,
      isError: true,
    }),
    { type: 'retry', attempt: 1, code: 'overloaded', message: 'try later', waitMs: 2_000 },
    { type: 'message.started', turn: 2 },
    { type: 'message.cut', turn: 2, partialText: 'I begin to', reason: 'cutStream' },
    ...called({
      name: 'Edit',
      input: {
        file_path: 'src/duration.js',
        old_string: 'const match = one.exec(text);\nreturn match;\n',
        new_string:
          'let sum = 0;\nfor (const match of text.matchAll(all)) sum += valueOf(match);\nreturn sum;\n',
      },
    }),
    ...called({
      name: 'Write',
      input: { file_path: '../outside', content: 'x' },
      result: 'Refused: outside',
      isError: true,
    }),
    ...called({
      name: 'TodoWrite',
      input: {
        todos: [
          { content: 'Fix', status: 'completed' },
          { content: 'Test', status: 'in_progress' },
        ],
      },
    }),
    { type: 'question', questionId: 'q1', toolUseId: 't', tool: 'Bash', command: 'npm run lint' },
    { type: 'answer', questionId: 'q1', allowed: true, by: 'user' },
    { type: 'user', origin: 'user', content: [{ type: 'text', text: 'Please keep it short.' }] },
    { type: 'note', code: 'outOfScope', text: 'A command wrote outside the scope: docs/x' },
    {
      type: 'usage',
      turn: 1,
      usage: { requests: 3, input: 1_200, output: 460, cacheRead: 9_000, cacheWrite: 800 },
    },
    ...said('SUMMARY: all units are added up.', 'end_turn', 3),
    { type: 'state', state: 'completed', reason: 'done' },
  ];
  const run = makeRun({ id: runId, model: demoModelName, status: completed, answer });
  const verify = makeRun({ id: verifyId, kind: 'verify', agent: 'verification', status: completed });
  const task = makeTask({
    branch: 'refs/heads/tributary/fix',
    runs: [run, verify],
    snapshot,
    verdicts: [verdict],
  });
  return {
    task: withObjective(task, 'Fix the duration parser: 1h30m must be 5400 seconds'),
    entries: recorded(entries),
    runId,
  };
}

/** A Run under way: its model writes. */
export function liveStory(entries: readonly NewEntry[] = [], startedAt = at): Shown {
  const first: NewEntry[] = [
    { type: 'user', origin: 'instruction', content: [{ type: 'text', text: 'Objective: fix the parser' }] },
    ...entries,
  ];
  const run = makeRun({ id: runId, status: { state: 'running', startedAt } });
  const task = makeTask({ branch: 'refs/heads/tributary/fix', runs: [run] });
  return { task: withObjective(task, 'Fix the parser'), entries: recorded(first), runId };
}

/** A Run of so many entries, texts and tool calls in turn. */
export function longStory(count: number): Shown {
  const entries: NewEntry[] = [];
  while (entries.length < count - 1) {
    const number = entries.length;
    entries.push(
      ...said(`Step ${number}. ${'Some words that wrap at the edge of the page. '.repeat(number % 7)}`),
    );
    entries.push(
      ...called({
        name: 'Bash',
        input: { command: `echo ${number}` },
        result: `[call 1]\n${'output\n'.repeat(number % 5)}needle-${number}\n[exit code 0]`,
        exitCode: 0,
      }),
    );
  }
  const run = makeRun({ id: runId, status: completed });
  const task = makeTask({ runs: [run] });
  return {
    task: withObjective(task, 'A long one'),
    entries: recorded([
      ...entries.slice(0, count - 1),
      { type: 'state', state: 'completed', reason: 'done' },
    ]),
    runId,
  };
}

const markers =
  '<img src=x onerror="globalThis.pwned=1"><script>globalThis.pwned=1</script><svg onload="globalThis.pwned=1">';
const reordered =
  'safe\u202etxt.exe\u2066 \u200bhidden\u0007\u001b]0;title\u0007\u001b[2J\u001b[31mred\u001b[0m';

/** Everything that models, tools and files could try. */
export function hostileStory(): Shown {
  const entries: NewEntry[] = [
    { type: 'user', origin: 'user', content: [{ type: 'text', text: `${markers}\n${reordered}` }] },
    ...said(
      [
        `# ${markers}`,
        reordered,
        '&#x202e;reversed&#x202c;',
        '[click](javascript:globalThis.pwned=1) [run](command:workbench.action.closeWindow) [data](data:text/html,x)',
        '![picture](https://example.com/track.png) <a href="https://example.com" onclick="pwned=1">x</a>',
        '[![nested](https://example.com/i.png)](https://example.com/target)',
        `${'> '.repeat(300)}deep`,
        `| ${'cell | '.repeat(80)}\n| ${'--- | '.repeat(80)}\n| ${'wide wide wide | '.repeat(80)}`,
        `\`\`\`html\n${markers}\n${'x'.repeat(5_000)}\n\`\`\``,
        'y'.repeat(20_000),
        `<div style="position:fixed;inset:0;z-index:9999">cover</div>`,
        `z${'\u0301'.repeat(400)}`,
      ].join('\n\n'),
    ),
    ...called({
      name: 'Bash',
      input: { command: `echo ${reordered}; rm -rf / # ${markers}` },
      result: `\u001b]8;;https://evil.example\u0007link\u001b]8;;\u0007 \u001b[8mconcealed\u001b[0m \u001b[30;40mblack\u001b[0m\n${markers}\n${'q'.repeat(20_000)}`,
      exitCode: 0,
    }),
    ...called({ name: markers, input: { [markers]: markers, constructor: '__proto__' }, result: markers }),
    ...called({
      name: 'Read',
      input: { file_path: `../../etc/${reordered}${'long'.repeat(500)}` },
      result: markers,
    }),
    ...called({
      name: 'Edit',
      input: { file_path: 'a', old_string: markers, new_string: `${reordered}${'w'.repeat(9_000)}` },
    }),
    ...called({ name: 'TodoWrite', input: { todos: [{ content: markers, status: markers }, 7, null] } }),
    ...called({ name: 'Edit', input: 'not an object', result: markers, isError: true }),
    { type: 'retry', attempt: 1, code: markers, message: `${markers}${'e'.repeat(5_000)}`, waitMs: 1 },
    {
      type: 'question',
      questionId: 'q',
      toolUseId: 't',
      tool: 'Bash',
      command: `ls\u202e${markers}\n\n\n\nrm -rf ~`,
    },
    { type: 'note', code: 'x', text: markers },
    { type: 'state', state: markers, reason: markers },
  ];
  const run = makeRun({
    id: runId,
    agent: markers,
    model: `${markers}${'m'.repeat(3_000)}`,
    status: { state: 'failed', startedAt: at, end: { reason: markers, message: markers, at } },
    answer: { ...answer, summary: markers, changes: [{ path: markers, note: reordered }] },
  });
  const task = makeTask({
    runs: [run],
    verdicts: [
      {
        ...verdict,
        runId,
        reasons: [markers],
        findings: verdict.findings.map((finding) => ({
          ...finding,
          title: `${markers}${reordered}`,
          detail: markers,
        })),
        checks: verdict.checks.map((check) => ({ ...check, command: markers, title: reordered })),
      },
    ],
  });
  return {
    task: withObjective(task, `${markers} ${reordered} ${'objective '.repeat(300)}`),
    entries: recorded(entries),
    runId,
  };
}

function withObjective(task: Shown['task'], objective: string): Shown['task'] {
  return { ...task, packet: { ...task.packet, objective } };
}
