import assert from 'node:assert/strict';
import fc from 'fast-check';
import { TributaryError } from '../../../src/base/errors';
import { type Check, type VerdictWord, verdictSchema } from '../../../src/model/verdict';
import { isOwnCheck } from '../../../src/verify/commands';
import { judge } from '../../../src/verify/judge';
import type { ClaimedCheck, ClaimedFinding, JudgeInput, ObservedCommand } from '../../../src/verify/verifier';

const runs = process.env['TRIBUTARY_LONG'] ? 20_000 : 1_000;

type Claims = NonNullable<JudgeInput['verifier']>;

function command(call: number, text: string, exitCode: number | null = 0): ObservedCommand {
  return { call, command: text, exitCode, output: `output of ${text}` };
}

function claim(text: string, more: Partial<ClaimedCheck> = {}): ClaimedCheck {
  return { title: `try ${text}`, command: text, exitCode: 0, observed: 'told', result: 'pass', ...more };
}

function hostCheck(text: string, result: Check['result']): Check {
  const exitCode = result === 'fail' ? 1 : 0;
  return {
    source: 'acceptance',
    title: text,
    command: text,
    exitCode,
    observed: 'seen by the host',
    result,
    evidence: 'host',
    isOwn: false,
  };
}

function input(verifier: Partial<Claims> | undefined, more: Partial<JudgeInput> = {}): JudgeInput {
  return {
    runId: 'run_20260101T000000000_1',
    tree: 'a'.repeat(40),
    at: '2026-01-01T00:00:00.000Z',
    ...(verifier === undefined
      ? {}
      : {
          verifier: {
            answer: 'VERDICT: PASS',
            checks: [claim('node probe.js', { call: 1 })],
            findings: [],
            commands: [command(1, 'node probe.js')],
            tampered: [],
            ...verifier,
          },
        }),
    hostChecks: [],
    suiteCommands: ['npm test'],
    files: new Set(['src/x.ts', 'src/y.ts']),
    worktreeRoot: '/w',
    ...more,
  };
}

function verdictOf(verifier: Partial<Claims> | undefined, more?: Partial<JudgeInput>): VerdictWord {
  return judge(input(verifier, more)).verdict;
}

describe('The judge', () => {
  it('lets a stated PASS stand on one bound check of the verifier’s own', () => {
    const verdict = judge(input({}));
    assert.equal(verdict.verdict, 'PASS');
    assert.equal(verdict.stated, 'PASS');
    assert.deepEqual(verdict.reasons, []);
    assert.deepEqual(verdict.checks, [
      {
        source: 'verifier',
        title: 'try node probe.js',
        command: 'node probe.js',
        exitCode: 0,
        observed: 'output of node probe.js',
        result: 'pass',
        call: 1,
        evidence: 'bound',
        isOwn: true,
      },
    ]);
    verdictSchema.parse(verdict);
  });

  it('makes PARTIAL of a PASS with no command run, with a finding "claimed, not observed"', () => {
    const verdict = judge(input({ checks: [], commands: [] }));
    assert.equal(verdict.verdict, 'PARTIAL');
    assert.match(verdict.findings[0]?.title ?? '', /^claimed, not observed: /);
    assert.equal(verdict.findings[0]?.source, 'host');
  });

  it('makes PARTIAL of a PASS whose claimed command was never run', () => {
    const verdict = judge(input({ checks: [claim('node probe.js', { call: 1 }), claim('node stress.js')] }));
    assert.equal(verdict.verdict, 'PARTIAL');
    assert.equal(verdict.checks[1]?.evidence, 'unobserved');
    assert.match(verdict.findings[0]?.title ?? '', /claimed, not observed: .*node stress\.js/);
    assert.match(verdict.reasons[0] ?? '', /node stress\.js/);
  });

  it('does not bind a claim to a call that ran another command', () => {
    const verdict = judge(
      input({
        checks: [claim('node stress.js', { call: 1 })],
        commands: [command(1, 'node --check x.js')],
      }),
    );
    assert.equal(verdict.checks[0]?.evidence, 'unobserved');
    assert.equal(verdict.verdict, 'PARTIAL');
  });

  it('binds by the call number first, so that the right one of several equal commands counts', () => {
    const commands = [command(1, 'node probe.js', 1), command(2, 'node probe.js', 0)];
    const checks = [
      claim('node probe.js', { call: 1, exitCode: 1, title: 'refuses bad input' }),
      claim('node probe.js', { call: 2 }),
    ];
    const verdict = judge(input({ checks, commands }));
    assert.deepEqual(
      verdict.checks.map((check) => [check.call, check.exitCode, check.evidence]),
      [
        [1, 1, 'bound'],
        [2, 0, 'bound'],
      ],
    );
    assert.equal(verdict.verdict, 'PASS');
  });

  it('binds a claim without a call by exact text, latest first', () => {
    const commands = [command(1, 'node probe.js', 0), command(2, 'node  probe.js', 1)];
    const verdict = judge(input({ checks: [claim('node probe.js')], commands }));
    assert.equal(verdict.checks[0]?.evidence, 'unobserved');
    assert.equal(
      judge(input({ checks: [claim('node probe.js', { exitCode: 1 })], commands })).checks[0]?.call,
      2,
    );
  });

  it('calls a claim unobserved when the exit code differs from the one that was seen', () => {
    const verdict = judge(input({ commands: [command(1, 'node probe.js', 1)] }));
    assert.equal(verdict.checks[0]?.evidence, 'unobserved');
    assert.equal(verdict.verdict, 'PARTIAL');
    assert.ok(verdict.findings.some((finding) => finding.title.startsWith('claimed, not observed')));
  });

  for (const [title, checks, commands] of [
    ['only the suite was run', [claim('npm test', { call: 1 })], [command(1, 'npm test')]],
    [
      'the suite was run under another name',
      [claim('yarn run test', { call: 1 })],
      [command(1, 'yarn run test')],
    ],
    [
      'an own command was run but not reported',
      [claim('npm test', { call: 1 })],
      [command(1, 'npm test'), command(2, 'node probe.js')],
    ],
    [
      'a failed command is not explained',
      [claim('node probe.js', { call: 1 })],
      [command(1, 'node probe.js'), command(2, 'node other.js', 2)],
    ],
    [
      'a command was killed',
      [claim('node probe.js', { call: 1, exitCode: null })],
      [command(1, 'node probe.js', null)],
    ],
    [
      'a check was skipped',
      [claim('node probe.js', { call: 1 }), claim('node load.js', { result: 'skip', exitCode: null })],
      [command(1, 'node probe.js')],
    ],
    ['the only own check is one that does nothing', [claim('echo ok', { call: 1 })], [command(1, 'echo ok')]],
  ] as const) {
    it(`makes PARTIAL of a PASS when ${title}`, () => {
      const verdict = judge(input({ checks, commands }));
      assert.equal(verdict.verdict, 'PARTIAL');
      assert.equal(verdict.stated, 'PASS');
      assert.ok(verdict.reasons.length > 0);
    });
  }

  it('makes PARTIAL of a PASS beside a finding of severity error, not beside a warning', () => {
    const finding: ClaimedFinding = {
      path: 'src/x.ts',
      line: 3,
      severity: 'error',
      title: 'breaks',
      detail: 'd',
    };
    const verdict = judge(input({ findings: [finding] }));
    assert.equal(verdict.verdict, 'PARTIAL');
    assert.match(verdict.reasons[0] ?? '', /breaks/);
    assert.equal(verdictOf({ findings: [{ ...finding, severity: 'warning' }] }), 'PASS');
  });

  it('makes FAIL of any statement but none when a bound check failed', () => {
    const failing = {
      checks: [claim('node probe.js', { call: 1, exitCode: 1, result: 'fail' })],
      commands: [command(1, 'node probe.js', 1)],
    } as const;
    assert.equal(verdictOf({ ...failing, answer: 'VERDICT: PASS' }), 'FAIL');
    assert.equal(verdictOf({ ...failing, answer: 'VERDICT: PARTIAL' }), 'FAIL');
    assert.equal(verdictOf({ ...failing, answer: 'no idea' }), 'none');
    const [finding] = judge(input(failing)).findings;
    assert.equal(finding?.severity, 'error');
    assert.match(finding?.title ?? '', /node probe\.js.*exit code 1/);
  });

  it('does not make FAIL of a failed check that was only claimed', () => {
    assert.equal(verdictOf({ checks: [claim('node none.js', { exitCode: 1, result: 'fail' })] }), 'PARTIAL');
  });

  it('makes FAIL of everything when an acceptance test failed, with a finding that names it', () => {
    for (const answer of ['VERDICT: PASS', 'VERDICT: PARTIAL', 'VERDICT: FAIL', 'nothing']) {
      const verdict = judge(input({ answer }, { hostChecks: [hostCheck('npm test', 'fail')] }));
      assert.equal(verdict.verdict, 'FAIL');
      const finding = verdict.findings.find((one) => one.source === 'host');
      assert.equal(finding?.title, 'Acceptance test failed: `npm test` (exit code 1)');
      assert.equal(finding?.detail, 'seen by the host');
    }
  });

  it('shows none given as none, whatever was reported', () => {
    const verdict = judge(input({ answer: 'VERDICT: PASS|FAIL|PARTIAL' }));
    assert.equal(verdict.verdict, 'none');
    assert.equal(verdict.stated, 'none');
    assert.equal(verdict.reasons.length, 1);
  });

  it('voids the verdict when files of the judged tree were changed', () => {
    for (const answer of ['VERDICT: PASS', 'VERDICT: FAIL']) {
      const verdict = judge(input({ answer, tampered: ['src/x.ts'] }));
      assert.equal(verdict.verdict, 'none');
      assert.match(verdict.reasons[0] ?? '', /src\/x\.ts/);
    }
  });

  it('never raises a stated FAIL or PARTIAL', () => {
    assert.equal(verdictOf({ answer: 'VERDICT: FAIL' }), 'FAIL');
    assert.equal(verdictOf({ answer: 'VERDICT: PARTIAL' }), 'PARTIAL');
  });

  it('gives a fix something to start from when FAIL comes without a finding', () => {
    const verdict = judge(input({ answer: 'It is wrong.\n\nVERDICT: FAIL' }));
    assert.equal(verdict.findings.length, 1);
    assert.match(verdict.findings[0]?.detail ?? '', /It is wrong/);
  });

  describe('without a verifier', () => {
    it('gives PASS when every acceptance test passed, else FAIL', () => {
      const pass = judge(input(undefined, { hostChecks: [hostCheck('a', 'pass'), hostCheck('b', 'pass')] }));
      assert.equal(pass.verdict, 'PASS');
      assert.equal(pass.stated, undefined);
      assert.equal(
        verdictOf(undefined, { hostChecks: [hostCheck('a', 'pass'), hostCheck('b', 'fail')] }),
        'FAIL',
      );
    });

    it('does not accept what could not be checked', () => {
      assert.equal(
        verdictOf(undefined, { hostChecks: [hostCheck('a', 'pass'), hostCheck('b', 'skip')] }),
        'PARTIAL',
      );
    });

    it('refuses to judge by nothing', () => {
      assert.throws(
        () => judge(input(undefined)),
        (error: unknown) => error instanceof TributaryError && error.code === 'internal',
      );
    });
  });

  describe('findings', () => {
    const located: ClaimedFinding = {
      path: 'src/x.ts',
      line: 3,
      endLine: 5,
      severity: 'warning',
      title: 't',
      detail: 'd',
      call: 1,
    };

    it('get ids in order and keep the place and the call they were reported with', () => {
      const verdict = judge(input({ findings: [located, { ...located, path: 'b/src/y.ts' }] }));
      assert.deepEqual(verdict.findings[0], {
        id: 'f1',
        location: { path: 'src/x.ts', line: 3, endLine: 5 },
        severity: 'warning',
        title: 't',
        detail: 'd',
        call: 1,
        source: 'verifier',
      });
      assert.deepEqual([verdict.findings[1]?.id, verdict.findings[1]?.location?.path], ['f2', 'src/y.ts']);
    });

    it('read a place that stands in the path itself', () => {
      const { line: _line, endLine: _endLine, ...bare } = located;
      const [finding] = judge(input({ findings: [{ ...bare, path: 'src/x.ts:7' }] })).findings;
      assert.deepEqual(finding?.location, { path: 'src/x.ts', line: 7 });
    });

    it('keep a phantom place in words only', () => {
      const [finding] = judge(input({ findings: [{ ...located, path: 'src/none.ts' }] })).findings;
      assert.equal(finding?.location, undefined);
      assert.match(finding?.detail ?? '', /src\/none\.ts:3/);
    });

    it('are read from the answer when none was reported by tool, and only then', () => {
      const answer = 'error: src/x.ts:3 breaks\n\nVERDICT: FAIL';
      assert.deepEqual(judge(input({ answer })).findings[0]?.location, { path: 'src/x.ts', line: 3 });
      assert.equal(judge(input({ answer, findings: [located] })).findings.length, 1);
    });
  });

  describe('checks told in prose', () => {
    const told = (answer: string, commands: readonly ObservedCommand[]) =>
      judge(input({ answer: `${answer}\n\nVERDICT: PASS`, checks: [], commands }));

    it('count when the transcript has the very command with the very exit code', () => {
      const verdict = told('EVIDENCE:\n- `node probe.js` exited with code 0', [command(1, 'node probe.js')]);
      assert.equal(verdict.verdict, 'PASS');
      assert.equal(verdict.checks[0]?.call, 1);
    });

    it('make PARTIAL when the command was never run or ended otherwise', () => {
      const other = told('- `node stress.js` exit code 0', [command(1, 'node probe.js')]);
      assert.equal(other.verdict, 'PARTIAL');
      assert.equal(other.checks[0]?.evidence, 'unobserved');
      assert.equal(
        told('- `node probe.js` exit code 0', [command(1, 'node probe.js', 1)]).verdict,
        'PARTIAL',
      );
    });

    it('are read from the form with Command run, output and Result', () => {
      const answer = [
        '### Check: boundary',
        '**Command run:**',
        '  node probe.js',
        '**Output observed:**',
        '```',
        'ok',
        '```',
        '**Result: PASS**',
      ].join('\n');
      assert.equal(told(answer, [command(1, 'node probe.js')]).verdict, 'PASS');
      assert.equal(
        told(answer.replace('Result: PASS', 'Result: FAIL'), [command(1, 'node probe.js')]).verdict,
        'FAIL',
      );
    });

    it('are read from prompts in a fence', () => {
      const verdict = told('```\n$ node probe.js\nok\nexit code: 0\n```', [command(1, 'node probe.js')]);
      assert.equal(verdict.checks[0]?.evidence, 'bound');
      assert.equal(verdict.verdict, 'PASS');
    });

    it('are not made of code spans that no one ran', () => {
      assert.deepEqual(told('I changed `parse` and `src/x.ts`.', [command(1, 'node probe.js')]).checks, []);
    });
  });

  it('gives PASS only under every condition of the contract', () => {
    const texts = ['npm test', 'node a.js', 'node b.js', 'npm run check'];
    const exitCode = fc.constantFrom(0, 0, 0, 1, null);
    const arbitraryCommands = fc
      .array(fc.record({ text: fc.constantFrom(...texts), exitCode }), { maxLength: 4 })
      .map((list) => list.map((one, index) => command(index + 1, one.text, one.exitCode)));
    const arbitraryClaims = fc.array(
      fc.record({
        text: fc.constantFrom(...texts),
        call: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        exitCode,
        result: fc.constantFrom<ClaimedCheck['result']>('pass', 'pass', 'pass', 'fail', 'skip'),
      }),
      { maxLength: 4 },
    );
    const answer = fc.constantFrom(
      'VERDICT: PASS',
      'VERDICT: PASS',
      'VERDICT: FAIL',
      'VERDICT: PARTIAL',
      'none',
    );
    const tampered = fc.constantFrom<string[]>([], [], [], ['src/x.ts']);
    const host = fc.constantFrom<Check['result'][]>([], ['pass'], ['pass', 'fail'], ['skip']);
    fc.assert(
      fc.property(
        arbitraryCommands,
        arbitraryClaims,
        answer,
        tampered,
        host,
        (commands, claims, said, bad, hosts) => {
          const checks = claims.map(({ text, call, ...rest }) =>
            claim(text, { ...rest, ...(call === undefined ? {} : { call }) }),
          );
          const hostChecks = hosts.map((result) => hostCheck('npm run check', result));
          const verdict = judge(
            input(
              { answer: said, checks, commands, tampered: bad },
              { hostChecks, suiteCommands: ['npm test', 'npm run check'] },
            ),
          );
          verdictSchema.parse(verdict);
          for (const check of verdict.checks) {
            if (check.evidence !== 'bound') continue;
            const seen = commands.find((one) => one.call === check.call);
            assert.deepEqual([seen?.command, seen?.exitCode], [check.command, check.exitCode]);
          }
          if (verdict.verdict !== 'PASS') return;
          assert.equal(said, 'VERDICT: PASS');
          assert.ok(bad.length === 0 && hosts.every((result) => result === 'pass'));
          assert.ok(
            verdict.checks.every((check) => check.result === 'pass' && check.evidence !== 'unobserved'),
          );
          assert.ok(verdict.checks.some((check) => /^node /.test(check.command) && check.exitCode !== null));
          const explained = new Set(verdict.checks.map((check) => check.call));
          assert.ok(commands.every((one) => one.exitCode === 0 || explained.has(one.call)));
        },
      ),
      { numRuns: runs },
    );
  });
});

describe('A check of one’s own', () => {
  const suite = ['npm test', 'npm run lint && npm run types', 'node --test test/', 'node check.mjs'];
  for (const text of [
    'npm test',
    ' npm   test ',
    'npm t',
    'npm run test',
    'npm run-script test',
    'yarn test',
    'pnpm run test',
    'npm test --silent',
    'CI=1 npm test',
    'env CI=1 FORCE_COLOR=0 npm test',
    'cd /somewhere && npm test',
    'npm test 2>&1 | tail -20',
    'npm test > /dev/null 2>&1; echo $?',
    'npm test || true',
    'time npm test',
    'timeout 60 npm test',
    'bash -c "npm test"',
    "sh -lc 'cd x && npm test'",
    'npm test && npm test',
    'npm test\nnpm run lint',
    'npm run types',
    'npm run lint && npm run types',
    'node --test test/ | grep fail',
    'node --test',
    'node --enable-source-maps --test',
    'pytest -q',
    'python3 -m pytest',
    'python -m unittest discover -v',
    'cargo test --all',
    'go test ./...',
    'make check',
    './gradlew test',
    'npx vitest run',
    'dotnet test --no-build',
    'echo VERDICT',
    'true',
    'node --version',
    '',
    'eval npm test',
    'eval "npm test && true"',
    'if npm test; then :; fi',
    'if ! npm test; then echo bad; exit 1; fi',
    'while npm test; do sleep 1; done',
    'for i in 1 2 3; do npm test; done',
    '(npm test)',
    'npm --prefix . test',
    'npm --prefix=. run test',
    'npm -C . test',
    'yarn --cwd . test',
    'make -C . test',
    '/usr/bin/npm test',
    'nice -n 5 npm test',
    'bash -c "npm test" | tail -3',
    'bash <<EOF\nnpm test\nEOF',
    'node ./check.mjs',
    'node "check.mjs"',
    'node $PWD/check.mjs',
    'false || true',
    '#x',
    'npm test # node probe.js',
    '# all is well\nnpm test',
    'ls',
    'ls -la src && pwd',
    'cat src/x.ts',
    'cat src/x.ts | head -5',
    "cat > notes.md <<'EOF'\nnode probe.js\nEOF",
    'find . -name "*.ts"',
    'git status && git diff main | head',
    'echo ok | grep ok',
    'npm test | grep passing',
  ]) {
    it(`is not ${JSON.stringify(text)}`, () => assert.equal(isOwnCheck(text, suite), false));
  }
  for (const text of [
    'node probe.js',
    'node -e "process.exit(0)"',
    'npm test && node probe.js',
    'echo "1h" | node parse.js',
    'npm test -- --grep boundary',
    'node --test test/own.test.js',
    'curl -s http://127.0.0.1:8080/ | grep ok',
    "node - <<'EOF'\nnpm test\nEOF",
    'npm run other',
    'pytest tests/test_edge.py',
    'pytest -k boundary',
    'python3 -m http.server',
    'cargo test boundary',
    'go test ./parser -run Boundary',
    'npx vitest run edge',
    'make',
    'grep -rn "console.log" src',
    'node -e \'run("a && b; npm test")\'',
    'eval "node probe.js"',
    'if node probe.js; then :; fi',
    'for i in 1 2; do node probe.js; done',
    'npm --prefix . run other',
    'node ./other.mjs',
    'node ./check.mjs --edge',
    'echo "#x" | node parse.js',
    'cat in.txt | node parse.js',
    '[ "$(node cli.js)" = 42 ]',
    'cat src/x.ts | grep console',
    'git diff main | grep -c TODO',
    'git diff --exit-code',
    'find . -exec node probe.js {} +',
    'bash <<EOF\nnode probe.js\nEOF',
  ]) {
    it(`is ${JSON.stringify(text)}`, () => assert.equal(isOwnCheck(text, suite), true));
  }
});
