import assert from 'node:assert/strict';
import { type Invocation, parseArguments } from '../../../src/cli/arguments';
import { helpText } from '../../../src/cli/help';
import { flags, flagsOf, verbs } from '../../../src/cli/syntax';

const agents = { isJson: false, isDemo: false, allowCommands: false };

describe('command line arguments', () => {
  const understood: readonly (readonly [title: string, argv: readonly string[], expected: Invocation])[] = [
    [
      'run with nothing but an objective',
      ['run', 'fix the parser'],
      {
        kind: 'command',
        command: { ...agents, verb: 'run', objective: 'fix the parser', scope: [], checks: [] },
      },
    ],
    [
      'run with every flag',
      [
        ...['run', '--repo', 'r', '--agent', 'explore', '--base=main', '--scope', 'a/**', '--scope', 'b'],
        ...['--check', 'npm test', '--check=-x', '--model', 'm', '--verify', '--demo', '--allow-commands'],
        ...['--json', 'fix it'],
      ],
      {
        kind: 'command',
        command: {
          verb: 'run',
          objective: 'fix it',
          repo: 'r',
          agent: 'explore',
          base: 'main',
          scope: ['a/**', 'b'],
          checks: ['npm test', '-x'],
          model: 'm',
          verify: 'always',
          isDemo: true,
          allowCommands: true,
          isJson: true,
        },
      },
    ],
    [
      'run with what makes a worktree ready',
      [
        ...['run', '--with-uncommitted', '--setup', 'npm ci', '--setup=npm run gen', '--teardown', 'down'],
        ...['--link', 'a', '--clone', 'node_modules', '--include', '**/.env', '--import-setup', 'x'],
      ],
      {
        kind: 'command',
        command: {
          ...agents,
          verb: 'run',
          objective: 'x',
          withUncommitted: true,
          scope: [],
          checks: [],
          setup: {
            commands: ['npm ci', 'npm run gen'],
            teardown: ['down'],
            link: ['a'],
            clone: ['node_modules'],
            include: ['**/.env'],
          },
          importSetup: true,
        },
      },
    ],
    [
      'run --no-verify',
      ['run', '--no-verify', 'x'],
      {
        kind: 'command',
        command: { ...agents, verb: 'run', objective: 'x', scope: [], checks: [], verify: 'never' },
      },
    ],
    [
      'an objective that begins with a dash, after --',
      ['run', '--', '-x is broken'],
      {
        kind: 'command',
        command: { ...agents, verb: 'run', objective: '-x is broken', scope: [], checks: [] },
      },
    ],
    ['list', ['list'], { kind: 'command', command: { verb: 'list', isJson: false } }],
    [
      'flags before the verb',
      ['--json', 'list'],
      { kind: 'command', command: { verb: 'list', isJson: true } },
    ],
    ...(['show', 'diff', 'discard', 'restore', 'stop'] as const).map(
      (verb) =>
        [
          `${verb} TASK`,
          [verb, 'fix-it', '--repo', '/r'],
          { kind: 'command', command: { verb, target: 'fix-it', repo: '/r', isJson: false } },
        ] as const,
    ),
    ...(['verify', 'fix', 'resume'] as const).map(
      (verb) =>
        [
          `${verb} TASK`,
          [verb, 'fix-it', '--demo'],
          { kind: 'command', command: { ...agents, verb, target: 'fix-it', isDemo: true } },
        ] as const,
    ),
    [
      'accept --dry-run',
      ['accept', 'fix-it', '--dry-run'],
      { kind: 'command', command: { verb: 'accept', target: 'fix-it', isJson: false, isDryRun: true } },
    ],
    [
      'accept of files and hunks',
      ['accept', 'fix-it', '--path', 'a b', '--hunk', 'ab12', '--hunk=cd34'],
      {
        kind: 'command',
        command: {
          verb: 'accept',
          target: 'fix-it',
          isJson: false,
          isDryRun: false,
          selection: { paths: ['a b'], hunks: ['ab12', 'cd34'] },
        },
      },
    ],
    [
      'hunks --since-review',
      ['hunks', 'fix-it', '--since-review'],
      { kind: 'command', command: { verb: 'hunks', target: 'fix-it', isJson: false, sinceReview: true } },
    ],
    [
      'mark --as',
      ['mark', 'fix-it', '--path', 'a', '--as', 'reject'],
      {
        kind: 'command',
        command: {
          verb: 'mark',
          target: 'fix-it',
          isJson: false,
          selection: { paths: ['a'], hunks: [] },
          mark: 'reject',
        },
      },
    ],
    [
      'mark --as none, of the whole change',
      ['mark', 'fix-it', '--as', 'none'],
      { kind: 'command', command: { verb: 'mark', target: 'fix-it', isJson: false } },
    ],
    [
      'undo --merge --dry-run',
      ['undo', 'fix-it', '--merge', '--dry-run'],
      {
        kind: 'command',
        command: { verb: 'undo', target: 'fix-it', isJson: false, isMerge: true, isDryRun: true },
      },
    ],
    ['--help', ['--help'], { kind: 'help' }],
    ['help', ['help'], { kind: 'help' }],
    ['help VERB', ['help', 'run'], { kind: 'help', verb: 'run' }],
    ['VERB --help, whatever else is there', ['run', '--help', '--nonsense'], { kind: 'help', verb: 'run' }],
    ['--version', ['--version'], { kind: 'version' }],
    ['-h and -V', ['-V'], { kind: 'version' }],
  ];
  for (const [title, argv, expected] of understood)
    it(`understands ${title}`, () => assert.deepEqual(parseArguments(argv), expected));

  const wrong: readonly (readonly [title: string, argv: readonly string[], message: string, hint: RegExp])[] =
    [
      ['no command', [], 'no command given', /^Commands: run, list/],
      ['an unknown command', ['lst'], 'unknown command "lst"', /^Did you mean "tributary list"\?$/],
      ['a command like no other', ['frobnicate'], 'unknown command "frobnicate"', /^Commands: run, list/],
      ['help on an unknown command', ['help', 'veryfy'], 'unknown command "veryfy"', /tributary verify/],
      ['an unknown flag without a command', ['--hlep'], 'unknown flag --hlep', /^Did you mean --help\?/],
      [
        'a mistyped flag',
        ['run', 'x', '--chek', 'npm test'],
        'unknown flag --chek for "tributary run"',
        /^Did you mean --check\? Usage: tributary run "<objective>"/,
      ],
      [
        'a flag of another command',
        ['list', '--base', 'main'],
        'unknown flag --base for "tributary list"',
        /^Usage: tributary list/,
      ],
      ['an unknown short flag', ['list', '-x'], 'unknown flag -x for "tributary list"', /^Usage/],
      ['a flag without its value', ['run', 'x', '--base'], '--base needs a value', /^Write --base REF\./],
      ['an empty value', ['run', 'x', '--check='], '--check needs a value', /^Write --check CMD\./],
      [
        'a flag where a value should be',
        ['run', 'x', '--base', '--json'],
        '--base needs a value, but "--json" follows',
        /write --base=--json\./,
      ],
      ['a value for a switch', ['list', '--json=yes'], '--json takes no value', /^Write only --json\./],
      [
        'a single flag given twice',
        ['run', 'x', '--base', 'a', '--base', 'b'],
        '--base is given 2 times',
        /once/,
      ],
      [
        '--verify with --no-verify',
        ['run', 'x', '--verify', '--no-verify'],
        '--verify and --no-verify exclude each other',
        /^Keep one/,
      ],
      ['run without an objective', ['run'], '"tributary run" needs an objective', /^Usage: tributary run/],
      ['run with a blank objective', ['run', ' '], '"tributary run" needs an objective', /^Usage/],
      ['show without a Task', ['show'], '"tributary show" needs a TASK|RUN', /^Usage: tributary show/],
      [
        'an objective without quotes',
        ['run', 'fix', 'it'],
        'unexpected argument "it"',
        /^Put the objective in quotes: tributary run "fix it"$/,
      ],
      ['too much after a Task', ['diff', 'a', 'b'], 'unexpected argument "b"', /^Usage: tributary diff TASK/],
      ['anything after list', ['list', 'a'], 'unexpected argument "a"', /^Usage: tributary list/],
    ];
  for (const [title, argv, message, hint] of wrong) {
    it(`refuses ${title} and says how to mend it`, () => {
      const invocation = parseArguments(argv);
      assert.ok(invocation.kind === 'usage');
      assert.equal(invocation.message, message);
      assert.match(invocation.hint, hint);
    });
  }

  it('knows that JSON is wanted also when the rest is wrong', () => {
    for (const [argv, isJson] of [
      [['run', '--json'], true],
      [['run'], false],
    ] as const) {
      const invocation = parseArguments(argv);
      assert.ok(invocation.kind === 'usage');
      assert.equal(invocation.isJson, isJson);
    }
  });

  it('never throws, whatever the line', () => {
    for (const line of [
      '-',
      '--',
      '--=',
      '-=x',
      '--=x run',
      '---',
      'run -',
      '\0',
      'help help',
      'constructor',
      '--toString',
    ])
      assert.doesNotThrow(() => parseArguments(line.split(' ')), line);
  });
});

describe('help', () => {
  it('names every command with its summary and every exit code', () => {
    const text = helpText();
    for (const verb of verbs) assert.match(text, new RegExp(`^  ${verb} `, 'm'));
    for (const code of ['0', '1', '2', '3', '130']) assert.match(text, new RegExp(`^  ${code} +\\w`, 'm'));
  });

  for (const verb of verbs) {
    it(`on ${verb} shows its usage and explains each of its flags`, () => {
      const text = helpText(verb);
      assert.match(text, new RegExp(`^Usage: tributary ${verb}`, 'm'));
      for (const name of flagsOf(verb)) assert.ok(text.includes(flags[name].help), name);
    });
  }

  it('every command takes --repo and --json', () => {
    for (const verb of verbs) {
      assert.ok(flagsOf(verb).includes('repo'));
      assert.ok(flagsOf(verb).includes('json'));
    }
  });
});
