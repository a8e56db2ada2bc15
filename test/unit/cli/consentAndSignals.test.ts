import assert from 'node:assert/strict';
import type { PermissionDecision } from '../../../src/tasks/permission';
import type { Settled, StopOutcome } from '../../../src/tasks/taskApi';
import { at, makeRun, makeTask } from '../../fakes/records';
import { FakeHost } from './support/fakeHost';

const task = makeTask({ runs: [makeRun()] });
const run = makeRun();

/** A promise and the way to settle it. */
function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

function ended(state: 'stopped' | 'interrupted', reason: string): Settled {
  const status = { state, startedAt: at, end: { reason, message: '', at } };
  return { task, runs: [makeRun({ status })] };
}

describe('consent for commands', () => {
  /** Starts a `run` whose agent asks for these commands, and answers the decisions. */
  async function decide(
    commands: readonly string[],
    { flags = [], typed }: { flags?: readonly string[]; typed?: (string | undefined)[] },
  ): Promise<{ host: FakeHost; decisions: PermissionDecision[] }> {
    const decisions: PermissionDecision[] = [];
    const host: FakeHost = new FakeHost({
      prepare: () => Promise.resolve(task.packet),
      start: async () => {
        const signal = new AbortController().signal;
        const asked = commands.map((command, index) =>
          host.fake.ports?.permission.ask(
            { id: `q${index}`, taskId: task.id, runId: run.id, agent: 'general', tool: 'Bash', command },
            signal,
          ),
        );
        for (const decision of await Promise.all(asked)) if (decision !== undefined) decisions.push(decision);
        return { task, settled: Promise.resolve({ task, runs: [] }) };
      },
    });
    host.typed = typed;
    await host.run('run', 'x', ...flags);
    return { host, decisions };
  }

  const kinds = (decisions: readonly PermissionDecision[]): string[] => decisions.map(({ kind }) => kind);

  it('is given for the call by --allow-commands, also with --json', async () => {
    const { decisions } = await decide(['rm x'], { flags: ['--allow-commands', '--json'] });
    assert.deepEqual(decisions, [{ kind: 'allowed', by: '--allow-commands' }]);
  });

  it('is denied without a terminal, and the reason names the flag', async () => {
    const { decisions } = await decide(['rm x'], {});
    assert.ok(decisions[0]?.kind === 'denied');
    assert.match(decisions[0].reason, /--allow-commands/);
  });

  it('is denied with --json also on a terminal, and the question is printed', async () => {
    const { host, decisions } = await decide(['rm x'], { flags: ['--json'], typed: ['y'] });
    assert.deepEqual(kinds(decisions), ['denied']);
    assert.deepEqual(host.prompts, []);
    const [question] = host.lines();
    assert.deepEqual(question, {
      v: 1,
      at: '2024-05-01T12:00:00.000Z',
      type: 'question',
      taskId: task.id,
      runId: run.id,
      id: 'q0',
      tool: 'Bash',
      command: 'rm x',
    });
  });

  it('is asked on a terminal, one command after another', async () => {
    const { host, decisions } = await decide(['one', 'two'], { typed: ['y', 'n'] });
    assert.deepEqual(kinds(decisions), ['allowed', 'denied']);
    assert.equal(
      host.prompts[0],
      'general wants to run in its worktree:\n    $ one\n  allow? y = yes, n = no, a = all in this call: ',
    );
    assert.match(host.prompts[1] ?? '', /\$ two/);
  });

  it('a = all answers the rest of the call', async () => {
    const { host, decisions } = await decide(['one', 'two', 'three'], { typed: ['A'] });
    assert.deepEqual(kinds(decisions), ['allowed', 'allowed', 'allowed']);
    assert.equal(host.prompts.length, 1);
  });

  it('asks again after an answer that is none, and takes the end of input for a no', async () => {
    const { host, decisions } = await decide(['one'], { typed: ['what', '', undefined] });
    assert.deepEqual(kinds(decisions), ['denied']);
    assert.equal(host.prompts.length, 3);
  });

  it('shows every hidden character of the command it asks about', async () => {
    const { host } = await decide(['echo a\u001b[2K\u202e; rm b'], { typed: ['n'] });
    assert.match(host.prompts[0] ?? '', /\$ echo a\\x1b\[2K\\u202e; rm b\n/);
  });
});

describe('signals', () => {
  interface Running {
    readonly host: FakeHost;
    readonly exitCode: Promise<number>;
    readonly settle: (settled: Settled) => void;
  }

  /** A `run` whose agent works until `settle`. */
  async function running(
    stop: (options: { force?: boolean } | undefined) => Promise<StopOutcome>,
    ...flags: string[]
  ): Promise<Running> {
    const settled = deferred<Settled>();
    const started = deferred<void>();
    const host = new FakeHost({
      prepare: () => Promise.resolve(task.packet),
      start: () => {
        started.resolve();
        return Promise.resolve({ task, settled: settled.promise });
      },
      stop: (_target, options) => stop(options),
    });
    const exitCode = host.run('run', 'x', ...flags);
    await started.promise;
    await new Promise((resolve) => setImmediate(resolve));
    return { host, exitCode, settle: settled.resolve };
  }

  const nothingStopped: StopOutcome = { stopped: [], stillRunning: [] };

  it('Ctrl-C stops the Runs of the call and exits with 130', async () => {
    const { host, exitCode, settle } = await running(() => {
      settle(ended('stopped', 'user'));
      return Promise.resolve(nothingStopped);
    });
    host.signal('interrupt');
    assert.equal(await exitCode, 130);
    assert.deepEqual(host.fake.calls.at(-1), ['stop', { taskId: task.id }, {}]);
    assert.equal(host.stderr, 'Stopping; the work is kept. Ctrl-C again forces.\n');
  });

  it('a second Ctrl-C forces: exit 130 without waiting for the Run, the result printed once', async () => {
    const { host, exitCode, settle } = await running(
      (options) => (options?.force === true ? Promise.resolve(nothingStopped) : new Promise(() => undefined)),
      '--json',
    );
    host.signal('interrupt');
    host.signal('interrupt');
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(host.exits, [130]);
    const result = {
      v: 1,
      at: '2024-05-01T12:00:00.000Z',
      type: 'result',
      ok: false,
      exitCode: 130,
      data: null,
    };
    assert.deepEqual(host.lines(), [result]);
    settle(ended('stopped', 'user'));
    await exitCode;
    assert.deepEqual(host.lines(), [result]);
  });

  it('a third Ctrl-C does not even wait for the forced stop', async () => {
    const { host, exitCode, settle } = await running(() => new Promise(() => undefined));
    host.signal('interrupt');
    host.signal('interrupt');
    assert.deepEqual(host.exits, []);
    host.signal('interrupt');
    assert.deepEqual(host.exits, [130]);
    settle(ended('stopped', 'user'));
    await exitCode;
  });

  it('Ctrl-C before the Task is there stops it as soon as it is', async () => {
    const begun = deferred<void>();
    const settled = deferred<Settled>();
    const starting = deferred<void>();
    const host = new FakeHost({
      prepare: () => Promise.resolve(task.packet),
      start: async () => {
        starting.resolve();
        await begun.promise;
        return { task, settled: settled.promise };
      },
      stop: () => {
        settled.resolve(ended('stopped', 'user'));
        return Promise.resolve(nothingStopped);
      },
    });
    const exitCode = host.run('run', 'x');
    await starting.promise;
    host.signal('interrupt');
    begun.resolve();
    assert.equal(await exitCode, 130);
  });

  it('Ctrl-C before anything is begun gives up with 130 and makes nothing', async () => {
    const preparing = deferred<void>();
    const host = new FakeHost({
      prepare: () => {
        preparing.resolve();
        return new Promise(() => undefined);
      },
    });
    const exitCode = host.run('run', 'x');
    await preparing.promise;
    host.signal('interrupt');
    assert.equal(await exitCode, 130);
    assert.ok(host.fake.isDisposed);
    assert.deepEqual(
      host.fake.calls.map(([method]) => method),
      ['prepare'],
    );
  });

  it('SIGTERM and SIGHUP interrupt through the core and exit with 1', async () => {
    const { host, exitCode, settle } = await running(() => Promise.resolve(nothingStopped));
    host.fake.onDispose = () => settle(ended('interrupted', 'shutdown'));
    host.signal('terminate');
    assert.equal(await exitCode, 1);
    assert.ok(host.fake.isDisposed);
    assert.match(host.stderr, /error \(shutdown\): Interrupted/);
    assert.deepEqual(host.exits, []);
  });

  it('a second SIGTERM ends at once', async () => {
    const { host, exitCode, settle } = await running(() => Promise.resolve(nothingStopped));
    host.signal('terminate');
    host.signal('terminate');
    assert.deepEqual(host.exits, [1]);
    settle(ended('interrupted', 'shutdown'));
    await exitCode;
  });

  it('Ctrl-C while files are written lets that finish', async () => {
    const landing = deferred<void>();
    const accepting = deferred<void>();
    const host = new FakeHost({
      find: () => Promise.resolve({ task }),
      preview: () => Promise.resolve({ task, paths: [], conflicts: [] }),
      accept: async () => {
        accepting.resolve();
        await landing.promise;
        return { kind: 'landed', task, paths: ['a'] };
      },
    });
    const exitCode = host.run('accept', 'do-it');
    await accepting.promise;
    host.signal('interrupt');
    landing.resolve();
    assert.equal(await exitCode, 0);
    assert.match(host.stderr, /Finishing what is being written/);
  });
});
