import assert from 'node:assert/strict';
import { TributaryError } from '../../../src/base/errors';
import { gitEnvironment } from '../../../src/git/gitEnvironment';
import { gitFailure, gitNotStarted, kindOf } from '../../../src/git/gitErrors';
import { lineOf, makeGit } from '../../../src/git/plumbing';
import type { CommandRequest, CommandResult } from '../../../src/process/runCommand';

function result(parts: Partial<CommandResult>): CommandResult {
  const bytes = Buffer.alloc(0);
  return {
    reason: 'exited',
    exitCode: 0,
    stdout: bytes,
    stderr: bytes,
    output: '',
    isTruncated: false,
    durationMs: 1,
    ...parts,
  };
}

const locked =
  "fatal: Unable to create '/r/.git/index.lock': File exists.\n\nAnother git process seems to be running";

describe('running git', () => {
  it('tries again while a foreign lock is held, for about ten seconds, then fails', async () => {
    const waits: number[] = [];
    let tries = 0;
    const git = makeGit({
      env: {},
      runCommand: async () => {
        tries += 1;
        return result({ exitCode: 128, stderr: Buffer.from(locked) });
      },
      wait: async (ms) => void waits.push(ms),
    });
    await assert.rejects(git({ cwd: '/', args: ['add'] }), (error) => kindOf(error) === 'locked');
    assert.equal(tries, waits.length + 1);
    const total = waits.reduce((sum, ms) => sum + ms, 0);
    assert.ok(total > 6_000 && total < 14_000, `${total}`);
  });

  it('goes on when the lock is gone, and does not try other failures again', async () => {
    let tries = 0;
    const answers = [
      result({ exitCode: 128, stderr: Buffer.from(locked) }),
      result({ stdout: Buffer.from('x\n') }),
    ];
    const git = makeGit({
      env: {},
      runCommand: async () => answers[tries++] ?? result({}),
      wait: async () => undefined,
    });
    assert.equal(lineOf(await git({ cwd: '/', args: ['x'] })), 'x');
    assert.equal(tries, 2);
    let other = 0;
    const failing = makeGit({
      env: {},
      runCommand: async () => {
        other += 1;
        return result({ exitCode: 1, stderr: Buffer.from('fatal: no') });
      },
    });
    await assert.rejects(failing({ cwd: '/', args: ['x'] }));
    assert.equal(other, 1);
  });

  it('turns a stop into cancelled, before and during the command', async () => {
    const controller = new AbortController();
    const git = makeGit({ env: {}, runCommand: async () => result({ reason: 'cancelled', exitCode: null }) });
    const isCancelled = (error: unknown): boolean =>
      error instanceof TributaryError && error.code === 'cancelled';
    await assert.rejects(git({ cwd: '/', args: ['x'], signal: controller.signal }), isCancelled);
    controller.abort('user');
    await assert.rejects(git({ cwd: '/', args: ['x'], signal: controller.signal }), isCancelled);
  });

  it('hands bytes in and out as they are, and accepts the exit codes that are answers', async () => {
    let seen: CommandRequest | undefined;
    const bytes = Buffer.from([0, 255, 10, 32, 10]);
    const git = makeGit({
      env: {},
      runCommand: async (request) => {
        seen = request;
        return result({ exitCode: 1, stdout: bytes });
      },
    });
    const output = await git({ cwd: '/x', args: ['merge-tree'], input: bytes, okCodes: [0, 1] });
    assert.equal(output.exitCode, 1);
    assert.deepEqual(output.stdout, bytes);
    assert.equal(seen?.input, bytes);
    assert.equal(seen?.maxOutputBytes, Number.POSITIVE_INFINITY);
  });

  it('tells a missing git from a missing folder', () => {
    assert.equal(gitNotStarted('ENOENT', '/x').code, 'gitMissing');
    assert.equal(gitNotStarted('CWD_MISSING', '/x').code, 'worktreeMissing');
    assert.equal(gitNotStarted('EACCES', '/x').code, 'gitFailed');
  });
});

describe('the environment of our git', () => {
  const env = gitEnvironment({
    PATH: '/bin',
    HOME: '/home/ada',
    GIT_DIR: '/elsewhere',
    GIT_INDEX_FILE: '/elsewhere/index',
    GIT_WORK_TREE: '/elsewhere',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: '/evil',
    GIT_CONFIG_PARAMETERS: "'core.fsmonitor=/evil'",
    GIT_EXTERNAL_DIFF: '/evil',
    GIT_CONFIG_GLOBAL: '/home/ada/gitconfig',
    GIT_SSH_COMMAND: 'ssh -i key',
    GIT_SSL_CAINFO: '/ca',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_TRACE: '1',
    ANTHROPIC_API_KEY: 'sk-secret-secret',
    EDITOR: 'vi',
    PAGER: 'less',
    LANG: 'de_DE.UTF-8',
    LC_ALL: 'de_DE.UTF-8',
  });

  it('passes of GIT_* only what says which configuration to read and how to reach a server', () => {
    const foreign = [
      'GIT_DIR',
      'GIT_INDEX_FILE',
      'GIT_WORK_TREE',
      'GIT_CONFIG_COUNT',
      'GIT_CONFIG_KEY_0',
      'GIT_CONFIG_VALUE_0',
    ];
    for (const name of [...foreign, 'GIT_CONFIG_PARAMETERS', 'GIT_EXTERNAL_DIFF', 'GIT_TRACE']) {
      assert.equal(env[name], undefined, name);
    }
    assert.equal(env['GIT_CONFIG_GLOBAL'], '/home/ada/gitconfig');
    assert.equal(env['GIT_SSH_COMMAND'], 'ssh -i key');
    assert.equal(env['GIT_SSL_CAINFO'], '/ca');
  });

  it('speaks English, never prompts, takes no optional lock, names us, and holds no key', () => {
    assert.equal(env['LC_ALL'], 'C');
    assert.equal(env['GIT_TERMINAL_PROMPT'], '0');
    assert.equal(env['GIT_OPTIONAL_LOCKS'], '0');
    assert.equal(env['GIT_AUTHOR_NAME'], 'Tributary');
    assert.match(env['GIT_COMMITTER_EMAIL'] ?? '', /@tributary\.invalid$/);
    assert.equal(env['ANTHROPIC_API_KEY'], undefined);
    assert.notEqual(env['EDITOR'], 'vi');
    assert.notEqual(env['PAGER'], 'less');
  });
});

describe("git's messages", () => {
  const table: ReadonlyArray<readonly [string, string, string]> = [
    ['fatal: not a git repository (or any of the parent directories): .git', 'notARepository', 'notGit'],
    ["fatal: detected dubious ownership in repository at '/x'", 'notARepository', 'dubiousOwnership'],
    ['fatal: this operation must be run in a work tree', 'notARepository', 'noWorkTree'],
    [
      'error: file write error: No space left on device\nfatal: unable to write new index file',
      'diskFull',
      'other',
    ],
    ["fatal: cannot lock ref 'refs/heads/x': reference already exists", 'branchInUse', 'refExists'],
    [
      "fatal: cannot lock ref 'refs/heads/a/b': 'refs/heads/a' exists; cannot create 'refs/heads/a/b'",
      'branchInUse',
      'refExists',
    ],
    [
      `error: cannot lock ref 'refs/heads/x': is at ${'1'.repeat(40)} but expected ${'2'.repeat(40)}`,
      'stale',
      'refMoved',
    ],
    ["fatal: 'x' is already checked out at '/w'", 'branchInUse', 'refExists'],
    ["fatal: 'x' is already used by worktree at '/w'", 'branchInUse', 'refExists'],
    [locked, 'gitLocked', 'locked'],
    ["fatal: Unable to create '/r/.git/refs/heads/x.lock': File exists.", 'gitLocked', 'locked'],
    ['error: open("x"): No such file or directory\nfatal: updating files failed', 'gitFailed', 'moving'],
    [
      "fatal: ambiguous argument 'x': unknown revision or path not in the working tree.",
      'unknownBase',
      'unknownRevision',
    ],
    ['fatal: Unable to create temporary file: Read-only file system', 'readOnly', 'other'],
    ['fatal: something new', 'gitFailed', 'other'],
  ];
  for (const [stderr, code, kind] of table) {
    it(`become ${code} (${kind}): ${stderr.split('\n')[0]}`, () => {
      const error = gitFailure(['x'], 128, stderr);
      assert.equal(error.code, code);
      assert.equal(kindOf(error), kind);
      assert.equal(error.details['stderr'], stderr);
    });
  }
});
