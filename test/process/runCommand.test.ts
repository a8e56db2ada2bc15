import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { scrubbedEnvironment } from '../../src/process/environment';
import {
  isSameProcessAlive,
  listMarkedProcesses,
  listProcessTree,
  startKeyOf,
} from '../../src/process/processTree';
import { type CommandRequest, runCommand } from '../../src/process/runCommand';

describe('running a command', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tributary-process-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const env = scrubbedEnvironment(process.env);
  const shell = (text: string, more: Partial<CommandRequest> = {}): CommandRequest => ({
    command: { kind: 'shell', text },
    cwd: folder,
    env,
    ...more,
  });
  const node = (script: string, more: Partial<CommandRequest> = {}): CommandRequest => ({
    command: { kind: 'args', file: process.execPath, args: ['-e', script] },
    cwd: folder,
    env,
    ...more,
  });
  /** Resolves with the number that a command printed as its first line. */
  const printedPid = (): { pid: Promise<number>; onOutput: (text: string) => void } => {
    let resolve: (pid: number) => void;
    const pid = new Promise<number>((done) => {
      resolve = done;
    });
    let text = '';
    return {
      pid,
      onOutput: (more) => {
        text += more;
        const match = /^(\d+)\n/.exec(text);
        if (match) resolve(Number(match[1]));
      },
    };
  };
  const isGone = async (pid: number): Promise<boolean> => (await startKeyOf(pid)) === undefined;

  it('answers exit code, both streams apart and both as they came', async () => {
    const result = await runCommand(shell('echo one; echo two >&2; exit 3'));
    assert.equal(result.reason, 'exited');
    assert.equal(result.exitCode, 3);
    assert.equal(result.stdout.toString(), 'one\n');
    assert.equal(result.stderr.toString(), 'two\n');
    assert.equal(result.output.length, 8);
    assert.equal(result.isTruncated, false);
    assert.ok(result.durationMs > 0);
  });

  it('runs in the folder it is given and with that environment alone', async () => {
    process.env['NOT_INHERITED'] = 'x';
    const result = await runCommand(
      shell('pwd; echo "[$NOT_INHERITED][$MINE]"', { env: { ...env, MINE: 'y' } }),
    );
    delete process.env['NOT_INHERITED'];
    assert.match(result.output, /tributary-process-/);
    assert.match(result.output, /\[\]\[y\]/);
  });

  it('never lets an argument array meet a shell', async () => {
    const result = await runCommand({
      command: { kind: 'args', file: 'printf', args: ['%s', '$(echo no); `echo no`'] },
      cwd: folder,
      env,
    });
    assert.equal(result.output, '$(echo no); `echo no`');
  });

  it('gives binary output back byte for byte', async () => {
    const result = await runCommand(
      node('process.stdout.write(Buffer.from(Array.from({length:512},(_, i) => i % 256)))'),
    );
    assert.deepEqual(result.stdout, Buffer.from(Array.from({ length: 512 }, (_, index) => index % 256)));
  });

  it('closes the input at once when there is none, and passes what there is', async () => {
    assert.equal((await runCommand(shell('cat; echo end'))).output, 'end\n');
    assert.equal((await runCommand(shell('cat', { input: 'héllo' }))).output, 'héllo');
    const unread = await runCommand(shell('exit 0', { input: Buffer.alloc(1_000_000) }));
    assert.equal(unread.exitCode, 0);
  });

  it('tells a missing program from a missing folder, as a result', async () => {
    const missing = await runCommand({
      command: { kind: 'args', file: 'no-such-program', args: [] },
      cwd: folder,
      env,
    });
    assert.deepEqual([missing.reason, missing.startError, missing.exitCode], ['notStarted', 'ENOENT', null]);
    const noFolder = await runCommand(shell('true', { cwd: join(folder, 'missing') }));
    assert.deepEqual([noFolder.reason, noFolder.startError], ['notStarted', 'CWD_MISSING']);
    const badArgument = await runCommand({
      command: { kind: 'args', file: 'echo', args: ['a\0b'] },
      cwd: folder,
      env,
    });
    assert.deepEqual([badArgument.reason, badArgument.startError], ['notStarted', 'ERR_INVALID_ARG_VALUE']);
  });

  it('does not start when it is already cancelled', async () => {
    const result = await runCommand(shell('touch started', { signal: AbortSignal.abort('user') }));
    assert.equal(result.reason, 'cancelled');
    await assert.rejects(stat(join(folder, 'started')));
  });

  it('names the signal that ended a command', async () => {
    const result = await runCommand(shell('kill -KILL $$'));
    assert.deepEqual([result.reason, result.exitCode, result.signal], ['exited', null, 'SIGKILL']);
  });

  it('ends children and grandchildren on timeout', async () => {
    const seen = printedPid();
    const running = runCommand(
      shell("sh -c 'sleep 60 & echo $!; wait' ; echo no", { onOutput: seen.onOutput, timeoutMs: 300 }),
    );
    const result = await running;
    assert.equal(result.reason, 'timeout');
    assert.ok(await isGone(await seen.pid));
    assert.ok(result.durationMs < 3_000);
  });

  it('ends a tree that ignores SIGTERM with SIGKILL after a second', async () => {
    const seen = printedPid();
    const abort = new AbortController();
    const running = runCommand(
      shell("trap '' TERM; (trap '' TERM; sleep 60) & echo $!; while true; do sleep 1; done", {
        onOutput: seen.onOutput,
        signal: abort.signal,
      }),
    );
    const pid = await seen.pid;
    const startedMs = performance.now();
    abort.abort('user');
    const result = await running;
    const tookMs = performance.now() - startedMs;
    assert.deepEqual([result.reason, result.signal], ['cancelled', 'SIGKILL']);
    assert.ok(tookMs >= 900 && tookMs < 3_000, `${tookMs} ms`);
    assert.ok(await isGone(pid));
  });

  it('lets a command that listens to SIGTERM clean up', async () => {
    const seen = printedPid();
    const abort = new AbortController();
    const running = runCommand(
      shell("trap 'echo cleaned; exit 7' TERM; echo $$; while true; do sleep 0.05; done", {
        onOutput: seen.onOutput,
        signal: abort.signal,
      }),
    );
    await seen.pid;
    abort.abort('user');
    const result = await running;
    assert.deepEqual([result.reason, result.exitCode], ['cancelled', 7]);
    assert.match(result.output, /cleaned/);
  });

  it('ends what a command left running in its group when it exits by itself', async () => {
    const result = await runCommand(shell('sleep 60 & echo $!'));
    assert.equal(result.reason, 'exited');
    assert.equal(result.exitCode, 0);
    assert.ok(await isGone(Number(result.output)));
    assert.ok(result.durationMs < 2_000, `${result.durationMs} ms`);
  });

  it('ends what job control moved into another group', async () => {
    const result = await runCommand(shell('set -m; sleep 60 & echo $!'));
    assert.ok(await isGone(Number(result.output)));
  });

  it('also ends leftovers of a program that was started without a shell', async () => {
    const result = await runCommand(
      node(
        'const c=require("child_process").spawn("sleep",["60"],{stdio:"inherit"});console.log(c.pid);process.exit(0)',
      ),
    );
    assert.ok(await isGone(Number(result.output)));
  });

  if (process.platform === 'linux') {
    it('ends a descendant in a session of its own, also when its parent is long gone', async () => {
      const result = await runCommand(
        shell("setsid sh -c 'echo $$; exec sleep 60' > own.txt 2>&1 < /dev/null & sleep 0.2; cat own.txt"),
      );
      const pid = Number(result.output);
      assert.ok(pid > 0);
      assert.ok(await isGone(pid));
    });

    it('ends a descendant in a session of its own that ignores SIGTERM, on timeout', async () => {
      const seen = printedPid();
      const result = await runCommand(
        shell(`setsid sh -c 'trap "" TERM; echo $$; while true; do sleep 1; done' & sleep 60`, {
          onOutput: seen.onOutput,
          timeoutMs: 400,
        }),
      );
      assert.equal(result.reason, 'timeout');
      assert.ok(await isGone(await seen.pid));
    });

    it('ends a runaway that threw its environment away, when it was seen under the command', async () => {
      const seen = printedPid();
      const result = await runCommand(
        shell(`setsid env -i /bin/sh -c 'echo $$; exec /bin/sleep 60' & sleep 0.5`, {
          onOutput: seen.onOutput,
        }),
      );
      assert.equal(result.exitCode, 0);
      assert.ok(await isGone(await seen.pid));
    });

    it('marks every process of a command, so that a runaway can be found', async () => {
      const abort = new AbortController();
      const seen = printedPid();
      const running = runCommand(
        shell('echo $$; echo; printenv TRIBUTARY_COMMAND; sleep 60', {
          onOutput: seen.onOutput,
          signal: abort.signal,
        }),
      );
      const pid = await seen.pid;
      const tree = await listProcessTree(pid);
      const key = await startKeyOf(pid);
      assert.ok(tree.some((entry) => entry.pid === pid));
      assert.ok(await isSameProcessAlive(pid, key ?? ''));
      assert.equal(await isSameProcessAlive(pid, 'another'), false);
      abort.abort('user');
      const result = await running;
      const marker = /[0-9a-f-]{36}/.exec(result.output)?.[0];
      assert.ok(marker);
      assert.deepEqual(await listMarkedProcesses(marker), []);
    });
  }

  it('does not wait for a process that holds the pipe open', async () => {
    const result = await runCommand({
      command: { kind: 'args', file: 'sh', args: ['-c', 'setsid sleep 60 & echo $!; sleep 0.1'] },
      cwd: folder,
      env,
    });
    const holder = Number(result.output);
    assert.equal(result.exitCode, 0);
    assert.ok(result.durationMs < 2_500, `${result.durationMs} ms`);
    assert.ok(await startKeyOf(holder), 'the holder has to live for this to prove anything');
    process.kill(holder, 'SIGKILL');
  });

  it('keeps a flood bounded in memory and whole in the overflow file', async () => {
    const overflowPath = join(folder, 'flood', 'out.txt');
    const before = process.memoryUsage().rss;
    const result = await runCommand(
      shell('echo first; yes 0123456789abcdef | head -c 100000000; echo last', {
        maxOutputBytes: 10_000,
        overflowPath,
      }),
    );
    const grown = process.memoryUsage().rss - before;
    assert.equal(result.isTruncated, true);
    assert.ok(result.output.length < 10_100);
    assert.match(result.output, /^first\n/);
    assert.match(result.output, /last\n$/);
    assert.match(result.output, /bytes left out/);
    assert.equal(result.stdout.length, 10_000);
    assert.equal(result.overflowPath, overflowPath);
    assert.equal((await stat(overflowPath)).size, 100_000_011);
    assert.ok(grown < 80 * 1024 * 1024, `${grown} bytes`);
  });

  it('makes no overflow file while the output fits', async () => {
    const overflowPath = join(folder, 'fits.txt');
    const result = await runCommand(shell('echo small', { overflowPath }));
    assert.equal(result.overflowPath, undefined);
    await assert.rejects(stat(overflowPath));
  });

  it('goes on without the overflow file when it cannot be written', async () => {
    const overflowPath = join(folder, 'file', 'below');
    const result = await runCommand(
      shell('echo x > file; head -c 100000 /dev/zero', { overflowPath, maxOutputBytes: 100 }),
    );
    assert.equal(result.exitCode, 0);
    assert.equal(result.overflowPath, undefined);
    assert.equal(result.isTruncated, true);
  });

  it('writes both streams in order into the overflow file', async () => {
    const overflowPath = join(folder, 'order.txt');
    await runCommand(
      shell('for i in 1 2 3 4 5; do echo out$i; sleep 0.02; echo err$i >&2; sleep 0.02; done', {
        overflowPath,
        maxOutputBytes: 20,
      }),
    );
    const text = await readFile(overflowPath, 'utf8');
    assert.equal(text, [1, 2, 3, 4, 5].map((n) => `out${n}\nerr${n}\n`).join(''));
  });

  it('keeps everything without a cap', async () => {
    const result = await runCommand(
      shell('head -c 5000000 /dev/zero', { maxOutputBytes: Number.POSITIVE_INFINITY }),
    );
    assert.equal(result.stdout.length, 5_000_000);
    assert.equal(result.isTruncated, false);
  });

  it('cuts no character in two, neither live nor in what is kept', async () => {
    const texts: string[] = [];
    const script =
      "const b=Buffer.from('ä€😀'.repeat(50));let i=0;const f=()=>{if(i<b.length){process.stdout.write(b.subarray(i,++i),f)}};f()";
    const result = await runCommand(
      node(script, { onOutput: (text) => texts.push(text), maxOutputBytes: 101 }),
    );
    assert.equal(texts.join(''), 'ä€😀'.repeat(50));
    assert.ok(!result.output.includes('\uFFFD'));
  });

  it('ends the flood of a command that never stops', async () => {
    const result = await runCommand(shell('yes', { timeoutMs: 300, maxOutputBytes: 1_000 }));
    assert.equal(result.reason, 'timeout');
    assert.ok(result.durationMs < 3_000);
  });

  it('leaves no listener on the signal', async () => {
    const abort = new AbortController();
    let count = 0;
    const { signal } = abort;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>): void => {
      count++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>): void => {
      count--;
      remove(...args);
    };
    await runCommand(shell('true', { signal }));
    assert.equal(count, 0);
    await wait(0);
  });
});
