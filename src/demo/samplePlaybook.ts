import { notTheSample } from './honestAnswers';
import type { PlannedCall, Playbook, Scene, Step } from './playbook';
import { explorePart } from './sampleExplore';
import { durationSource, durationTestSource, sampleTestCommand } from './sampleRepository';
import { verifyPart } from './sampleVerify';

const sourcePath = 'src/duration.js';
const testPath = 'test/duration.test.js';

const brokenBody = durationSource.slice(
  durationSource.indexOf('  const match'),
  durationSource.lastIndexOf('}'),
);
const loopBody = `  let seconds = 0;
  for (const [, amount, unit] of text.matchAll(/(\\d+)([hms])/g)) {
    seconds += Number(amount) * SECONDS[unit];
  }
  return seconds;
`;
const guardedStart = `  if (!/^(?:\\d+[hms])+$/.test(text.trim())) throw new Error(\`not a duration: \${text}\`);
  let seconds = 0;
`;
const refusalTest = `
test('refuses what is no duration', () => {
  for (const text of ['', 'abc', '5', '1h30x', 'x1h', '-5m']) {
    assert.throws(() => parseDuration(text), text);
  }
});
`;
const lastTestLines = durationTestSource.slice(
  durationTestSource.indexOf("  assert.equal(parseDuration('1h1m1s')"),
);

/** The lines that a text takes in the source, as an answer's EVIDENCE names them. */
function linesOf(part: string, source: string): string {
  const first = source.slice(0, source.indexOf(part)).split('\n').length;
  return `${first}-${first + part.trimEnd().split('\n').length - 1}`;
}

const loopSource = durationSource.replace(brokenBody, loopBody);
const guardedSource = loopSource.replace('  let seconds = 0;\n', guardedStart);

const runTests = (name: string): PlannedCall => ({
  name: 'Bash',
  as: name,
  input: { command: sampleTestCommand, timeout: 120_000, description: 'the project’s own tests' },
});
const read = (path: string): PlannedCall => ({ name: 'Read', as: 'read', input: { file_path: path } });

const edit: PlannedCall = {
  name: 'Edit',
  as: 'edit',
  input: { file_path: sourcePath, old_string: brokenBody, new_string: loopBody },
};

/** An edit that failed twice: it was made before an interruption, or this is another project. */
function afterSecondEdit(trace: string): NonNullable<Step['next']> {
  return [
    { when: { result: 'edit', isError: false }, to: 'test' },
    { when: { result: 'read', contains: trace }, to: 'test' },
    { to: 'foreign' },
  ];
}

/** The three ends every writing part has: by what its last test run really gave. */
const afterTests: NonNullable<Step['next']> = [
  { when: { result: 'tests', exitCode: 0 }, to: 'done' },
  { when: { result: 'tests', exitCode: 'other' }, to: 'failed' },
  { to: 'untested' },
];

function ends(summary: string, changes: string, evidence: string): Step[] {
  const answer = (id: string, said: string, risk: string, blocker: string): Step => ({
    id,
    say: [
      `SUMMARY: ${summary} ${said}`,
      `CHANGES:\n${changes}`,
      `EVIDENCE:\n${evidence}`,
      `RISKS:\n- ${risk}`,
      `BLOCKERS:\n${blocker}`,
    ].join('\n\n'),
  });
  const known = 'Only the inputs of the test suite were tried.';
  const ended = '`npm test` ended with exit code {{tests.exitCode}} (call {{tests.call}})';
  return [
    answer('done', `The test suite passes: ${ended}.`, known, 'None.'),
    answer('failed', `The test suite still fails: ${ended}.`, known, '- `npm test` fails after the change.'),
    answer(
      'untested',
      'The tests could not be run here.',
      'Nothing was run.',
      '- The command was not run to its end: it was not allowed (see `--allow-commands`), stopped, or took too long.',
    ),
    { id: 'foreign', say: notTheSample },
  ];
}

const firstRun: Scene = {
  agents: ['general', 'implementer'],
  when: 'other',
  steps: [
    {
      id: 'look',
      say: 'I look for the parser and for what its tests expect.',
      calls: [
        { name: 'Grep', input: { pattern: 'parseDuration', output_mode: 'content', '-n': true } },
        read(sourcePath),
        { name: 'Read', as: 'readTests', input: { file_path: testPath } },
      ],
      next: [{ when: { result: 'read', isError: true }, to: 'foreign' }, { to: 'before' }],
    },
    {
      id: 'before',
      say: 'The expression stops after the first unit, so `1h30m` counts as one hour. I run the tests before I touch anything.',
      calls: [runTests('before')],
      next: [{ to: 'edit' }],
    },
    {
      id: 'edit',
      say: 'Every pair of number and unit has to be added up.',
      calls: [edit],
      next: [{ when: { result: 'edit', isError: true }, to: 'reread' }, { to: 'test' }],
    },
    // After an interruption the file has to be read again, and may be changed already.
    { id: 'reread', say: 'I read the file again.', calls: [read(sourcePath)], next: [{ to: 'editAgain' }] },
    { id: 'editAgain', say: '', calls: [edit], next: afterSecondEdit('text.matchAll') },
    { id: 'test', say: 'Now the tests again.', calls: [runTests('tests')], next: afterTests },
    ...ends(
      '`parseDuration` adds up all units of a duration, so `1h30m` is 5400 seconds.',
      `- ${sourcePath}: adds up every pair of number and unit instead of reading the first`,
      `- ${sourcePath}:${linesOf(loopBody, loopSource)}: the loop over all pairs`,
    ),
  ],
};

const guard: PlannedCall = {
  name: 'Edit',
  as: 'edit',
  input: { file_path: sourcePath, old_string: '  let seconds = 0;\n', new_string: guardedStart },
};
const addTest: PlannedCall = {
  name: 'Edit',
  as: 'addTest',
  input: { file_path: testPath, old_string: lastTestLines, new_string: lastTestLines + refusalTest },
};
const readBoth = [read(sourcePath), { name: 'Read', as: 'readTests', input: { file_path: testPath } }];

const fixRun: Scene = {
  agents: ['general', 'implementer'],
  when: 'fix',
  steps: [
    {
      id: 'look',
      say: 'The finding says that text which is no duration is no longer refused. I read the file and its tests.',
      calls: readBoth,
      next: [{ when: { result: 'read', isError: true }, to: 'foreign' }, { to: 'edit' }],
    },
    {
      id: 'edit',
      say: 'The whole text has to be a duration before anything is added up; a test keeps it that way.',
      calls: [guard, addTest],
      next: [{ when: { result: 'edit', isError: true }, to: 'reread' }, { to: 'test' }],
    },
    { id: 'reread', say: 'I read both again.', calls: readBoth, next: [{ to: 'editAgain' }] },
    { id: 'editAgain', say: '', calls: [guard, addTest], next: afterSecondEdit('.test(text.trim())') },
    { id: 'test', say: 'The tests again, with the new one.', calls: [runTests('tests')], next: afterTests },
    ...ends(
      '`parseDuration` refuses every text that is not a duration as a whole.',
      [
        `- ${sourcePath}: refuses a text with anything but pairs of number and unit`,
        `- ${testPath}: a test for six texts that must be refused`,
      ].join('\n'),
      `- ${sourcePath}:${linesOf(guardedStart, guardedSource)}: the check before the loop`,
    ),
  ],
};

/** The demo's story: a fix that passes the suite, breaks an edge, is found out, and is mended. */
export const samplePlaybook: Playbook = {
  id: 'kitchen-timer',
  objective: 'Fix the duration parser: 1h30m must be 5400 seconds',
  scenes: [firstRun, fixRun, verifyPart, explorePart],
};
