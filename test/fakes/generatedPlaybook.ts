import type { PlannedCall, Playbook, Scene, Step } from '../../src/demo/playbook';

/** A project, a task for it and a playbook that solves the task in two rounds, all made from a seed. */
export interface GeneratedPlaybook {
  readonly files: Readonly<Record<string, string>>;
  readonly playbook: Playbook;
  readonly objective: string;
  /** An acceptance test: fails before, passes after the first round; never tries the edge that is left open. */
  readonly checkCommand: string;
  /** The verifier's own command: fails after the first round, passes after the second. */
  readonly probeCommand: string;
  /** Where the finding of the first verification belongs. */
  readonly finding: { readonly path: string; readonly line: number };
}

const words = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heron', 'inlet', 'juniper'];

/** Numbers from a seed, the same on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Names {
  readonly path: string;
  readonly fn: string;
  readonly wrong: number;
  readonly factor: number;
}

export function generatePlaybook(seed: number): GeneratedPlaybook {
  const random = seededRandom(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const word = (): string => words[below(words.length)] ?? 'amber';
  const folder = [`${word()}`, `${word()} ${word()}`, `${word()}/ä${word()}`][below(3)] ?? 'src';
  const names: Names = {
    path: `${folder}/${word()}${below(1000)}.mjs`,
    fn: `${word()}${below(1000)}`,
    wrong: 2 + below(5),
    factor: 10 + below(90),
  };
  const filler = Array.from({ length: below(40) }, (_, index) => `// ${word()} ${index}`);
  const body = `  return amount * ${names.wrong};`;
  const source = [...filler, `export function ${names.fn}(amount) {`, body, '}', ''].join('\n');
  const from = `import { ${names.fn} } from './${names.path}';`;
  const check = [
    from,
    `for (const amount of [0, 1, ${2 + below(50)}]) {`,
    `  if (${names.fn}(amount) !== amount * ${names.factor}) process.exitCode = 1;`,
    '}',
    "console.log(process.exitCode === 1 ? 'wrong' : 'right');",
    '',
  ].join('\n');
  const probeCommand = `node --input-type=module -e "${from} const given = ${names.fn}(-${1 + below(9)}); console.log('gave ' + given); process.exitCode = given === 0 ? 0 : 1;"`;
  const objective = `Make ${names.fn} multiply by ${names.factor} and never go below zero (${seed})`;
  const checkCommand = 'node check.mjs';
  return {
    files: { [names.path]: source, 'check.mjs': check, 'README.md': `# ${word()}\n` },
    objective,
    checkCommand,
    probeCommand,
    finding: { path: names.path, line: filler.length + 2 },
    playbook: {
      id: `generated-${seed}`,
      objective,
      scenes: [
        firstRun(names, checkCommand),
        fixRun(names, checkCommand),
        verification(names, checkCommand, probeCommand),
      ],
    },
  };
}

function bash(as: string, command: string): PlannedCall {
  return { name: 'Bash', as, input: { command, timeout: 60_000 } };
}

function answer(id: string, summary: string, more = ''): Step {
  return {
    id,
    say: `SUMMARY: ${summary}\n\nCHANGES:\nNone.\n\nEVIDENCE:\nNone.\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.${more}`,
  };
}

function writing(
  when: 'other' | 'fix',
  path: string,
  change: { old: string; next: string },
  check: string,
): Scene {
  return {
    agents: ['general', 'implementer'],
    when,
    steps: [
      {
        id: 'read',
        say: 'I read the file.',
        calls: [{ name: 'Read', input: { file_path: path } }],
        next: [{ to: 'edit' }],
      },
      {
        id: 'edit',
        say: 'I change it.',
        calls: [
          { name: 'Edit', input: { file_path: path, old_string: change.old, new_string: change.next } },
        ],
        next: [{ to: 'check' }],
      },
      {
        id: 'check',
        say: 'I try it.',
        calls: [bash('check', check)],
        next: [{ when: { result: 'check', exitCode: 0 }, to: 'done' }, { to: 'failed' }],
      },
      answer('done', `Changed; the check ended with {{check.exitCode}} in call {{check.call}}.`),
      answer('failed', 'The check fails.'),
    ],
  };
}

function firstRun({ path, wrong, factor }: Names, check: string): Scene {
  return writing('other', path, { old: `amount * ${wrong};`, next: `amount * ${factor};` }, check);
}

function fixRun({ path, factor }: Names, check: string): Scene {
  const next = `Math.max(0, amount * ${factor});`;
  return writing('fix', path, { old: `amount * ${factor};`, next }, check);
}

function verification({ path }: Names, check: string, probe: string): Scene {
  const report = (as: string, command: string, result: 'pass' | 'fail'): PlannedCall => ({
    name: 'ReportCheck',
    input: {
      title: as,
      command,
      call: { $number: `${as}.call` },
      exitCode: { $number: `${as}.exitCode` },
      observed: `{{${as}.output}}`,
      result,
    },
  });
  const finding: PlannedCall = {
    name: 'ReportFinding',
    input: {
      path,
      line: { $number: 'place.line' },
      severity: 'error',
      title: 'goes below zero',
      detail: '{{probe.output}}',
      call: { $number: 'probe.call' },
    },
  };
  const place: PlannedCall = {
    name: 'Grep',
    as: 'place',
    input: { pattern: 'return ', path, output_mode: 'content', '-n': true },
    capture: { line: ['(\\d+):.*return '] },
  };
  return {
    agents: ['verification'],
    when: 'any',
    steps: [
      {
        id: 'try',
        say: 'I try to break it.',
        calls: [bash('check', check), bash('probe', probe)],
        next: [
          { when: { result: 'check', exitCode: 'other' }, to: 'reportCheck' },
          { when: { result: 'probe', exitCode: 0 }, to: 'reportPass' },
          { when: { result: 'probe', exitCode: 'other' }, to: 'place' },
          { to: 'unrun' },
        ],
      },
      { id: 'place', say: 'It broke.', calls: [place], next: [{ to: 'reportFail' }] },
      {
        id: 'reportFail',
        say: '',
        calls: [report('check', check, 'pass'), report('probe', probe, 'fail'), finding],
        next: [{ to: 'fail' }],
      },
      { id: 'reportCheck', say: '', calls: [report('check', check, 'fail')], next: [{ to: 'fail' }] },
      {
        id: 'reportPass',
        say: '',
        calls: [report('check', check, 'pass'), report('probe', probe, 'pass')],
        next: [{ to: 'pass' }],
      },
      answer('pass', 'It holds.', '\n\nVERDICT: PASS'),
      answer('fail', 'It broke.', '\n\nVERDICT: FAIL'),
      answer('unrun', 'I may not run commands.', '\n\nVERDICT: PARTIAL'),
    ],
  };
}
