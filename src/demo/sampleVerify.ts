import type { PlannedCall, PlayValue, Scene, Step } from './playbook';
import { sampleTestCommand } from './sampleRepository';

/** Double quotes without any `$` or backtick inside: the same to every shell. */
const nodeCommand = (script: string): string =>
  `node --input-type=module -e "import { parseDuration } from './src/duration.js'; ${script}"`;

const refusalsCommand = nodeCommand(
  "let bad = 0; for (const text of ['', 'abc', '5', '1h30x', 'x1h', '-5m']) { " +
    "try { console.log(JSON.stringify(text) + ' gave ' + parseDuration(text) + ', an error was expected'); bad += 1; } " +
    "catch { console.log(JSON.stringify(text) + ' was refused'); } } process.exitCode = bad === 0 ? 0 : 1;",
);
const boundariesCommand = nodeCommand(
  "let bad = 0; for (const [text, seconds] of [['0s', 0], ['24h', 86400], ['90m', 5400], ['1h0m5s', 3605], [' 2m ', 120]]) { " +
    "const given = parseDuration(text); console.log(JSON.stringify(text) + ' gave ' + given + ', expected ' + seconds); " +
    'if (given !== seconds) bad += 1; } process.exitCode = bad === 0 ? 0 : 1;',
);

const bash = (name: string, command: string, description: string): PlannedCall => ({
  name: 'Bash',
  as: name,
  input: { command, timeout: 120_000, description },
});

function report(
  result: string,
  title: string,
  command: string,
  outcome: 'pass' | 'fail' | 'skip',
): PlannedCall {
  const seen: Record<string, PlayValue> =
    outcome === 'skip'
      ? { exitCode: null, observed: 'The command was not run.' }
      : {
          call: { $number: `${result}.call` },
          exitCode: { $number: `${result}.exitCode` },
          observed: `{{${result}.output}}`,
        };
  return { name: 'ReportCheck', input: { title, command, ...seen, result: outcome } };
}

const titles = {
  suite: 'The project’s own tests, for context',
  refusals: 'Text that is no duration is refused, as the README says',
  boundaries: 'Zero, a whole day, minutes above 59, blanks around',
};
const suitePass = report('suite', titles.suite, sampleTestCommand, 'pass');
const refusalsPass = report('refusals', titles.refusals, refusalsCommand, 'pass');

function finding(result: string, title: string, detail: string): PlannedCall {
  return {
    name: 'ReportFinding',
    input: {
      path: 'src/duration.js',
      line: { $number: 'place.line' },
      severity: 'error',
      title,
      detail: `${detail}\n{{${result}.output}}`,
      call: { $number: `${result}.call` },
    },
  };
}

/** Looks up where the fault stands now; the line is taken from what the search really finds. */
const findPlace: PlannedCall = {
  name: 'Grep',
  as: 'place',
  input: {
    pattern: 'matchAll|export function parseDuration',
    path: 'src/duration.js',
    output_mode: 'content',
    '-n': true,
  },
  capture: { line: ['^(?:\\S*:)?(\\d+):.*matchAll', '^(?:\\S*:)?(\\d+):.*parseDuration'] },
};

function answer(
  id: string,
  summary: string,
  evidence: string,
  verdict: 'PASS' | 'FAIL' | 'PARTIAL',
  blocker = 'None.',
): Step {
  return {
    id,
    say: [
      `SUMMARY: ${summary}`,
      'CHANGES:\nNone.',
      `EVIDENCE:\n${evidence}`,
      'RISKS:\n- Very large numbers were not tried.',
      `BLOCKERS:\n${blocker}`,
      `VERDICT: ${verdict}`,
    ].join('\n\n'),
  };
}

/** Goes on by how commands really ended: `ok` when they exited with 0, `bad` when not, else `unrun`. */
function byExit(result: string, ok: string, bad: string): NonNullable<Step['next']> {
  return [
    { when: { result, exitCode: 0 }, to: ok },
    { when: { result, exitCode: 'other' }, to: bad },
    { to: 'unrun' },
  ];
}

const place = 'src/duration.js:{{place.line}}';

/**
 * Tries to break the parser with commands of its own. It knows neither whether this is the first or the
 * second time nor what was changed: each verdict follows from exit codes.
 */
export const verifyPart: Scene = {
  agents: ['verification'],
  when: 'any',
  steps: [
    {
      id: 'look',
      say: 'I try to break this change. First what it changes and what the README promises.',
      calls: [
        { name: 'Diff', input: {} },
        {
          name: 'Read',
          as: 'source',
          input: { file_path: 'src/duration.js' },
          capture: { line: ['^(\\d+)\\t.*parseDuration'] },
        },
        { name: 'Read', as: 'readme', input: { file_path: 'README.md' } },
      ],
      next: [{ to: 'suite' }],
    },
    {
      id: 'suite',
      say: 'The suite is context, not proof.',
      calls: [bash('suite', sampleTestCommand, 'the project’s own tests')],
      next: byExit('suite', 'refusals', 'suiteBroken'),
    },
    {
      id: 'refusals',
      say: 'The README promises that any other text is refused. The suite never tries that, so I do.',
      calls: [bash('refusals', refusalsCommand, 'texts that must be refused')],
      next: byExit('refusals', 'boundaries', 'findRefusals'),
    },
    {
      id: 'boundaries',
      say: 'All of them are refused. Now the boundaries.',
      calls: [bash('boundaries', boundariesCommand, 'boundary values')],
      next: byExit('boundaries', 'reportPass', 'findBoundaries'),
    },
    {
      id: 'reportPass',
      say: 'I could not break it.',
      calls: [suitePass, refusalsPass, report('boundaries', titles.boundaries, boundariesCommand, 'pass')],
      next: [{ to: 'pass' }],
    },
    answer(
      'pass',
      'Two attempts to break the parser failed: it refused six texts that are no durations (call {{refusals.call}}) and held at five boundary values (call {{boundaries.call}}).',
      '- src/duration.js:{{source.line}}: the parser that both commands called',
      'PASS',
    ),
    {
      id: 'findRefusals',
      say: 'That breaks it. Where does it stand?',
      calls: [findPlace],
      next: [{ to: 'reportRefusals' }],
    },
    {
      id: 'reportRefusals',
      say: '',
      calls: [
        suitePass,
        report('refusals', titles.refusals, refusalsCommand, 'fail'),
        finding(
          'refusals',
          'Text that is not a duration is no longer refused',
          'The search takes the pairs it finds and passes over everything else, so a typing mistake starts a timer of the wrong length. The README promises an error.',
        ),
      ],
      next: [{ to: 'failRefusals' }],
    },
    answer(
      'failRefusals',
      'The suite passes, but text that is not a duration is accepted, against the README (call {{refusals.call}}, exit code {{refusals.exitCode}}).',
      `- ${place}: everything between the pairs is passed over`,
      'FAIL',
    ),
    {
      id: 'findBoundaries',
      say: 'A boundary breaks it. Where does it stand?',
      calls: [findPlace],
      next: [{ to: 'reportBoundaries' }],
    },
    {
      id: 'reportBoundaries',
      say: '',
      calls: [
        suitePass,
        refusalsPass,
        report('boundaries', titles.boundaries, boundariesCommand, 'fail'),
        finding('boundaries', 'A boundary value is read wrongly', 'Expected and given values:'),
      ],
      next: [{ to: 'failBoundaries' }],
    },
    answer(
      'failBoundaries',
      'A boundary value is read wrongly (call {{boundaries.call}}, exit code {{boundaries.exitCode}}).',
      `- ${place}: the parser`,
      'FAIL',
    ),
    { id: 'suiteBroken', say: 'The suite itself fails.', calls: [findPlace], next: [{ to: 'reportSuite' }] },
    {
      id: 'reportSuite',
      say: '',
      calls: [
        report('suite', titles.suite, sampleTestCommand, 'fail'),
        finding('suite', 'The project’s own tests fail', 'The end of `npm test` says:'),
      ],
      next: [{ to: 'failSuite' }],
    },
    answer(
      'failSuite',
      'The project’s own tests fail on this tree (call {{suite.call}}, exit code {{suite.exitCode}}).',
      `- ${place}: the parser`,
      'FAIL',
    ),
    {
      id: 'unrun',
      say: 'I may not run commands here, so I can check nothing.',
      calls: [report('refusals', titles.refusals, refusalsCommand, 'skip')],
      next: [{ to: 'partial' }],
    },
    answer(
      'partial',
      'Nothing could be run, so nothing is proven.',
      'None.',
      'PARTIAL',
      '- Commands were not allowed; see `--allow-commands`.',
    ),
  ],
};
