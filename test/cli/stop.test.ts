import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cleanUp, testGitEnvironment } from '../git/support/tempRepo';
import { isObject } from '../wire/support/strictRules';
import {
  type HttpFault,
  type Reply,
  type StrictServer,
  startStrictServer,
} from '../wire/support/strictServer';
import { type CliEnd, type CliRun, cliPath, endClis } from './support/cli';
import {
  assertChain,
  assertSamePrefix,
  assertWorktreesAgree,
  authorRequests,
  type CrashSite,
  entriesOf,
  entry,
  event,
  makeCrashSite,
  processesOf,
  recordOf,
  resumeArguments,
  runArguments,
  slug,
  unanswered,
  userSide,
  work,
} from './support/crashSite';
import { byRole, call, passingVerifier, turnOf } from './support/job';

/** From the signal to the end of the process, when it is asked once. */
const stopMs = 2_000;
const shutdownMs = 4_000;
/** What `list` takes on a machine with nothing else to do; a busy one gets its share more. */
const idleListMs = 500;

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;

/** A parent that does as it is told, a child that ignores SIGTERM, and one in a session of its own. */
const family =
  `node -e "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)" & ` +
  `setsid node -e "setInterval(() => {}, 1000)" & ` +
  `node trace.mjs one wait gate`;

type Way = 'SIGINT' | 'stop';

interface Situation {
  readonly title: string;
  /** How it is stopped, and shut down, when not every way is tried. */
  readonly way: Way;
  readonly signal?: 'SIGTERM' | 'SIGHUP';
  readonly script: (server: StrictServer) => void;
  readonly reached: (run: CliRun, site: CrashSite) => Promise<unknown>;
}

function withReplies(replaced: Readonly<Record<number, Reply | HttpFault>>): (server: StrictServer) => void {
  return (server) => {
    const plain = byRole(work, passingVerifier);
    server.script((request, index) => {
      const isVerifier = request.rawBody.includes('"name":"ReportCheck"');
      const other = isVerifier ? undefined : replaced[turnOf(request)];
      return other ?? plain(request, index);
    });
  };
}

const silent: Reply = {
  ...call('Read', { file_path: 'src/greet.js' }, 'I begin to say something.'),
  fault: { kind: 'silence', before: 4 },
};

const situations: readonly Situation[] = [
  {
    title: 'a stream that is silent',
    way: 'SIGINT',
    signal: 'SIGHUP',
    script: withReplies({ 2: silent }),
    reached: async (run) => {
      await run.waitFor(entry('message.started', { turn: 3 }));
      await run.waitFor((line) => event('text.delta')(line) && String(line['text']).includes('begin'));
    },
  },
  {
    title: 'a command with a child that ignores SIGTERM and one in its own session',
    way: 'stop',
    signal: 'SIGTERM',
    script: withReplies({ 1: call('Bash', { command: family }) }),
    reached: async (_run, site) => {
      await site.arrivedAt('gate');
      assert.ok((await processesOf(site)).length >= 4);
    },
  },
  {
    title: 'the wait before a retry',
    way: 'SIGINT',
    script: withReplies({
      1: { status: 529, type: 'overloaded_error', headers: { 'retry-after': '60' } },
    }),
    reached: (run) => run.waitFor(entry('retry')),
  },
];

describe('stopping a Run during', () => {
  let server: StrictServer;
  let site: CrashSite;
  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    site = await makeCrashSite(server);
  });
  afterEach(async () => {
    for (const { pid } of await processesOf(site)) process.kill(pid, 'SIGKILL');
    await endClis();
    await server.close();
    await cleanUp();
  });

  for (const situation of situations) {
    for (const way of isLong ? (['SIGINT', 'stop'] as const) : [situation.way]) {
      it(`${situation.title}, by ${way}: stopped at once, nothing left, and resume completes it`, async () => {
        situation.script(server);
        const before = await userSide(site.repo);
        const run = site.start(runArguments);
        await situation.reached(run, site);
        const { end, tookMs } = await stopBy(way, run, site);
        assert.equal(end.exitCode, 130, end.stderr);
        assertWithin(stopMs, tookMs, await timed(() => site.cli('list')));
        assert.deepEqual(await processesOf(site), []);
        await assertEnded(site, 'stopped', /^user$/);
        await resumes(site, before);
      });
    }
  }

  it('host checks, by SIGINT: 130, nothing left, the recorded tree stands again', async () => {
    withReplies({})(server);
    const check = 'echo junk > junk.txt && echo spoilt > src/greet.js && node trace.mjs check wait gate';
    const run = site.start([...runArguments, '--check', check]);
    await site.arrivedAt('gate');
    const { end, tookMs } = await stopBy('SIGINT', run, site);
    assert.equal(end.exitCode, 130, end.stderr);
    assertWithin(stopMs, tookMs, await timed(() => site.cli('list')));
    assert.deepEqual(await processesOf(site), []);
    await assertWorktreesAgree(site.repo);
    const diff = (await site.cli('diff', slug)).stdout.toString();
    assert.match(diff, /\+ {2}return 'good day, /);
    assert.doesNotMatch(diff, /junk|spoilt/);
  });

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    for (const situation of isLong ? situations : situations.filter((one) => one.signal === signal)) {
      it(`${situation.title}, by ${signal}: interrupted by a shutdown, and resume completes it`, async () => {
        situation.script(server);
        const before = await userSide(site.repo);
        const run = site.start(runArguments);
        await situation.reached(run, site);
        const began = performance.now();
        run.kill(signal);
        const end = await run.ended;
        const tookMs = performance.now() - began;
        assert.equal(end.exitCode, 1, end.stderr);
        assertWithin(shutdownMs, tookMs, await timed(() => site.cli('list')));
        assert.deepEqual(await processesOf(site), []);
        // A machine so busy that the time was used up leaves it to the next command.
        await assertEnded(
          site,
          'interrupted',
          tookMs < shutdownMs - 500 ? /^shutdown$/ : /^(shutdown|crash)$/,
        );
        await resumes(site, before);
      });
    }
  }

  for (const way of isLong ? (['SIGINT', 'stop'] as const) : (['SIGINT'] as const)) {
    it(`a question on a terminal, by ${way}: stopped at once, the command never ran`, async function () {
      if (spawnSync('script', ['--version']).error !== undefined) return this.skip();
      withReplies({})(server);
      const terminal = onTerminal(site, ['run', "'Say good day'", '--no-verify']);
      await terminal.waitFor('allow?');
      const listMs = await timed(() => site.cli('list'));
      const tookMs = await timed(async () => {
        if (way === 'stop') expectStopped(await site.cli('stop', slug));
        else terminal.type('\x03');
        await terminal.ended;
      });
      assert.equal(await terminal.ended, 130, terminal.text());
      assertWithin(stopMs, way === 'stop' ? tookMs - listMs : tookMs, listMs);
      assert.deepEqual(await site.traces(), []);
      assert.deepEqual(await processesOf(site), []);
      await assertEnded(site, 'stopped', /^user$/);
      const resumed = await site.cli(...resumeArguments);
      assert.equal(resumed.exitCode, 0, resumed.stderr);
      assert.deepEqual(server.refusals, []);
      return undefined;
    });
  }

  it('a command, with a second SIGINT: it ends at once with 130', async () => {
    withReplies({ 1: call('Bash', { command: family }) })(server);
    const run = site.start(runArguments);
    await site.arrivedAt('gate');
    run.kill('SIGINT');
    await run.waitForStderr('Stopping');
    const began = performance.now();
    run.kill('SIGINT');
    const end = await run.ended;
    assert.equal(end.exitCode, 130, end.stderr);
    assertWithin(stopMs, performance.now() - began, await timed(() => site.cli('list')));
    assert.equal((await site.cli('list')).exitCode, 0);
    assert.deepEqual(await processesOf(site), []);
    assert.notEqual((await recordOf(site.repo)).runs.at(-1)?.status.state, 'running');
  });

  it('a stop that comes twice stops the Run once, not the one that goes on from it', async () => {
    situations[0]?.script(server);
    const run = site.start(runArguments);
    await situations[0]?.reached(run, site);
    await Promise.all([site.cli('stop', slug), site.cli('stop', slug), site.cli('stop', slug)]);
    assert.equal((await run.ended).exitCode, 130);
    withReplies({})(server);
    const resumed = await site.cli(...resumeArguments);
    assert.equal(resumed.exitCode, 0, resumed.stderr);
  });

  it("one process leaves another one's Run in the same repository alone", async () => {
    withReplies({ 1: call('Bash', { command: 'node trace.mjs one wait gate' }) })(server);
    const first = site.start(runArguments);
    await first.waitFor(event('task.created'));
    const second = site.start(runArguments);
    await first.waitFor(entry('tool.started', { name: 'Bash' }));
    await second.waitFor(entry('tool.started', { name: 'Bash' }));
    await site.arrivedAt('gate');
    const stop = await site.cli('stop', slug);
    assert.equal(stop.exitCode, 0, stop.stderr);
    assert.equal((await first.ended).exitCode, 130);
    await site.openGate('gate');
    const end = await second.ended;
    assert.equal(end.exitCode, 0, end.stderr);
    assert.deepEqual(
      (await site.traces()).filter((line) => line === 'one late'),
      ['one late'],
    );
  });

  async function resumes(where: CrashSite, before: Record<string, string>): Promise<void> {
    const sentBefore = authorRequests(server).at(-1);
    const count = authorRequests(server).length;
    await where.openGate('gate');
    withReplies({})(server);
    const resumed = await where.cli(...resumeArguments);
    assert.equal(resumed.exitCode, 0, `${resumed.stderr}\n${resumed.stdout.toString()}`);
    assert.deepEqual(server.refusals, []);
    const sentAfter = authorRequests(server)[count];
    assert.ok(sentBefore !== undefined && sentAfter !== undefined);
    assertSamePrefix(sentBefore, sentAfter);
    assert.deepEqual(await where.traces(), ['one', 'two']);
    assert.deepEqual(await userSide(where.repo), before);
    await assertWorktreesAgree(where.repo);
  }
});

/** The command line on a pseudo-terminal, as util-linux's `script` makes one. */
function onTerminal(
  site: CrashSite,
  args: readonly string[],
): {
  readonly ended: Promise<number | null>;
  type(keys: string): void;
  text(): string;
  waitFor(text: string): Promise<void>;
} {
  const command = [process.execPath, cliPath, ...args].join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: site.repo.root,
    env: { ...testGitEnvironment(), ...site.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let text = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    for (const watcher of watchers) watcher();
  });
  return {
    ended: new Promise((resolve) => child.once('close', resolve)),
    type: (keys) => void child.stdin.write(keys),
    text: () => text,
    waitFor: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (): void => (text.includes(wanted) ? resolve() : undefined);
        watchers.add(look);
        child.once('close', () => reject(new Error(`ended without it: ${text}`)));
        look();
      }),
  };
}

async function stopBy(way: Way, run: CliRun, site: CrashSite): Promise<{ end: CliEnd; tookMs: number }> {
  if (way === 'stop') {
    const startMs = await timed(() => site.cli('list'));
    // What any command needs to start does not count.
    const tookMs = (await timed(() => site.cli('stop', slug).then(expectStopped))) - startMs;
    return { end: await run.ended, tookMs };
  }
  const began = performance.now();
  run.kill(way);
  return { end: await run.ended, tookMs: performance.now() - began };
}

function assertWithin(limitMs: number, tookMs: number, listMs: number): void {
  const allowed = limitMs * Math.max(1, listMs / idleListMs);
  assert.ok(tookMs < allowed, `it took ${Math.round(tookMs)} ms, ${Math.round(allowed)} are allowed`);
}

function expectStopped(end: CliEnd): void {
  assert.equal(end.exitCode, 0, end.stderr);
  assert.match(end.stdout.toString(), /^Stopped run_/);
}

async function timed(body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return performance.now() - began;
}

/** The Run says how it ended, in its record and in its transcript; every call has its one result. */
async function assertEnded(site: CrashSite, state: string, reason: RegExp): Promise<void> {
  const task = await recordOf(site.repo);
  const run = task.runs.at(-1);
  assert.ok(run !== undefined);
  assert.equal(run.status.state, state);
  assert.match(run.status.end?.reason ?? '', reason);
  const entries = await entriesOf(site.repo, task.id, run.id);
  assertChain(entries);
  assert.deepEqual(unanswered(entries), []);
  const last = entries.at(-1);
  assert.ok(isObject(last));
  assert.deepEqual([last['type'], last['state']], ['state', state]);
  await assertWorktreesAgree(site.repo);
}
