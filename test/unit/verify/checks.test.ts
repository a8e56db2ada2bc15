import assert from 'node:assert/strict';
import { access, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acceptanceTestSchema } from '../../../src/model/packet';
import { checkSchema } from '../../../src/model/verdict';
import { type CommandResult, type RunCommand, runCommand } from '../../../src/process/runCommand';
import { headAndTail } from '../../../src/verify/shorten';
import { createVerifier, type Verifier } from '../../../src/verify/verifier';

type Test = Parameters<typeof acceptanceTestSchema.parse>[0];

describe('Acceptance tests run by the host', () => {
  let root = '';
  let env: Record<string, string> = {};
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'tributary checks '));
    await mkdir(join(root, 'repo', 'sub'), { recursive: true });
    env = { PATH: process.env['PATH'] ?? '' };
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  function run(
    tests: readonly Test[],
    more: Partial<Parameters<Verifier['runChecks']>[0]> = {},
    command: RunCommand = runCommand,
  ): ReturnType<Verifier['runChecks']> {
    return createVerifier({ runCommand: command }).runChecks({
      tests: tests.map((test) => acceptanceTestSchema.parse(test)),
      root: join(root, 'repo'),
      env,
      signal: new AbortController().signal,
      outDirectory: join(root, 'out'),
      ...more,
    });
  }

  it('tell command, exit code, output, result and duration, one check each, in order', async () => {
    const checks = await run([{ command: 'node -p 6*7' }, { command: 'node -e "process.exit(3)"' }]);
    assert.deepEqual(
      checks.map(({ command, exitCode, result }) => [command, exitCode, result]),
      [
        ['node -p 6*7', 0, 'pass'],
        ['node -e "process.exit(3)"', 3, 'fail'],
      ],
    );
    for (const check of checks) {
      checkSchema.parse(check);
      assert.deepEqual([check.source, check.evidence, check.isOwn], ['acceptance', 'host', false]);
      assert.ok((check.durationMs ?? -1) >= 0);
    }
    assert.equal(checks[0]?.observed.trim(), '42');
  });

  it('run one after another through a shell, in the folder they name, with only the environment given', async () => {
    await run(
      [
        {
          command: 'node -e "console.log(process.cwd())" > ../first.txt && echo "$ONLY$HOME" >> ../first.txt',
          cwd: 'sub',
        },
        { command: 'cat first.txt > second.txt' },
      ],
      { env: { ...env, ONLY: 'this' } },
    );
    const [folder, variables] = (await readFile(join(root, 'repo', 'second.txt'), 'utf8')).trim().split('\n');
    assert.ok(folder?.endsWith(join('repo', 'sub')));
    assert.equal(variables, 'this');
  });

  it('pass by the exit code that is expected, and only by it', async () => {
    const checks = await run([
      { command: 'node -e "process.exit(2)"', expectedExitCode: 2 },
      { command: 'node -e ""', expectedExitCode: 2 },
    ]);
    assert.deepEqual(
      checks.map((check) => check.result),
      ['pass', 'fail'],
    );
    assert.match(checks[1]?.observed ?? '', /Exit code 2 was expected/);
  });

  it('fail by time-out, say so, and leave no process behind', async () => {
    const script = 'console.log(process.pid); setInterval(() => {}, 1000)';
    const [check] = await run([{ command: `node -e "${script}"`, timeoutMs: 1_500 }]);
    assert.equal(check?.result, 'fail');
    assert.equal(check?.exitCode, null);
    assert.match(check?.observed ?? '', /^Timed out after 1\.5 s\./);
    const pid = Number(/\n(\d+)/.exec(check?.observed ?? '')?.[1]);
    assert.ok(pid > 0);
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
  });

  it('stop when cancelled, with what they have', async () => {
    const controller = new AbortController();
    const checks = await run(
      [
        { command: 'node -e ""' },
        { command: 'node -e "console.log(\'started\'); setInterval(() => {}, 1000)"' },
        { command: "node -e \"require('fs').writeFileSync('third', '')\"" },
      ],
      {
        signal: controller.signal,
        onOutput: (text) => {
          if (text.includes('started')) controller.abort('user');
        },
      },
    );
    assert.deepEqual(
      checks.map((check) => check.result),
      ['pass'],
    );
    await assert.rejects(access(join(root, 'repo', 'third')));
  });

  it('do not begin when cancelled before', async () => {
    assert.deepEqual(await run([{ command: 'node -e ""' }], { signal: AbortSignal.abort('user') }), []);
  });

  it('are not run in a folder outside the checkout, also not through a link, nor in a missing one', async () => {
    await symlink(root, join(root, 'repo', 'link'));
    await writeFile(join(root, 'repo', 'file'), '');
    const checks = await run(
      ['..', root, 'link', 'none', 'file/x'].map((cwd) => ({ command: 'touch leaked', cwd })),
    );
    assert.equal(checks.length, 5);
    for (const check of checks) {
      assert.equal(check.result, 'fail');
      assert.match(check.observed, /not inside the checkout/);
    }
    await assert.rejects(access(join(root, 'leaked')));
  });

  it('keep the head and the tail of a long output', async () => {
    const script =
      "console.log('first'); for (let i = 0; i < 2000; i += 1) console.log('line ' + i); console.log('last')";
    const [check] = await run([{ command: `node -e "${script}"` }]);
    const observed = check?.observed ?? '';
    assert.ok(observed.length <= 4_000);
    assert.match(observed, /^first\n/);
    assert.match(observed, /last\n?$/);
    assert.match(observed, /characters left out/);
  });

  it('say when a command could not be started, was ended by a signal, or left output in a file', async () => {
    const results: Partial<CommandResult>[] = [
      { reason: 'notStarted', startError: 'EACCES' },
      { reason: 'exited', signal: 'SIGSEGV' },
      { reason: 'exited', exitCode: 1, overflowPath: '/out/check-3.txt' },
    ];
    const scripted: RunCommand = async () => ({
      reason: 'exited',
      exitCode: null,
      stdout: Buffer.alloc(0),
      stderr: Buffer.alloc(0),
      output: '',
      isTruncated: false,
      durationMs: 1,
      ...results.shift(),
    });
    const checks = await run([{ command: 'a' }, { command: 'b' }, { command: 'c' }], {}, scripted);
    assert.deepEqual(
      checks.map((check) => check.result),
      ['fail', 'fail', 'fail'],
    );
    assert.match(checks[0]?.observed ?? '', /Could not be started: EACCES/);
    assert.match(checks[1]?.observed ?? '', /SIGSEGV/);
    assert.match(checks[2]?.observed ?? '', /\/out\/check-3\.txt/);
  });
});

describe('A shortened text', () => {
  it('is the text itself when short, and never longer than allowed', () => {
    assert.equal(headAndTail('short'), 'short');
    for (const length of [4_001, 5_000, 100_000]) {
      const text = headAndTail('😀'.repeat(length));
      assert.ok(text.length <= 4_000);
      assert.doesNotThrow(() => encodeURIComponent(text), 'no half of a pair');
    }
  });
});
