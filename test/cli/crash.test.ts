import assert from 'node:assert/strict';
import { appendFile, readFile, rm } from 'node:fs/promises';
import { cleanUp } from '../git/support/tempRepo';
import {
  type RecordedRequest,
  type Reply,
  type StrictServer,
  startStrictServer,
} from '../wire/support/strictServer';
import { type CliRun, endClis, type JsonLine } from './support/cli';
import {
  assertChain,
  assertSamePrefix,
  assertWorktreesAgree,
  authorRequests,
  type BoardTask,
  type CrashSite,
  closeGate,
  entriesOf,
  entry,
  event,
  forgetGates,
  makeCrashSite,
  printedEntries,
  processesOf,
  recordOf,
  resumeArguments,
  runArguments,
  slug,
  transcriptPath,
  unanswered,
  userSide,
  work,
  workBut,
} from './support/crashSite';
import { byRole, call, finalAnswer, passingVerifier } from './support/job';

/** Longer than any command takes here, shorter than any lock is waited for. */
const promptMs = 15_000;

interface Moment {
  readonly title: string;
  /** The agent's answers until the kill. */
  readonly author?: readonly Reply[];
  readonly verifier?: readonly Reply[];
  readonly args?: readonly string[];
  readonly prepare?: (site: CrashSite) => Promise<unknown>;
  /** Resolves at the moment of the kill. */
  readonly moment: (run: CliRun, site: CrashSite) => Promise<unknown>;
  /** What the agent's commands must have written in the end, each line once. */
  readonly traces?: readonly string[];
  readonly mayLack?: string;
  /** Kind and state of the Run that was cut; absent: there was none yet. */
  readonly cut?: { readonly kind: string };
}

const silentAfter = (events: number, reply: Reply): Reply => ({
  ...reply,
  fault: { kind: 'silence', before: events },
});
const saidFirst: Reply = work[0] ?? { content: [] };
const first = { kind: 'first' };

const moments: readonly Moment[] = [
  { title: 'the Task is recorded', moment: (run) => run.waitFor(event('task.created')) },
  { title: 'the Run is recorded', moment: (run) => run.waitFor(event('run.created')), cut: first },
  { title: 'the Run has started', moment: (run) => run.waitFor(event('run.started')), cut: first },
  {
    title: 'its worktree is about to be made',
    moment: (run) => run.waitFor(event('worktree.create.started')),
    cut: first,
  },
  {
    title: 'git is checking files out',
    prepare: (site) => closeGate(site, 'smudge'),
    moment: (_run, site) => site.arrivedAt('smudge'),
    cut: first,
  },
  {
    title: 'the first request is out',
    author: workBut({ 0: silentAfter(0, saidFirst) }),
    moment: async (run, { server }) => {
      await Promise.all([run.waitFor(entry('message.started')), server.waitForRequests(1)]);
    },
    cut: first,
  },
  {
    title: 'the answer is coming in',
    author: workBut({ 0: silentAfter(4, saidFirst) }),
    moment: (run) => run.waitFor(event('text.delta')),
    cut: first,
  },
  {
    title: 'an answer with a call is whole',
    moment: (run) => run.waitFor(entry('message', { turn: 2 })),
    // The call may just have begun or not; it is never made up for.
    mayLack: 'one',
    cut: first,
  },
  {
    title: 'a command has taken effect and still runs',
    author: workBut({ 1: call('Bash', { command: 'node trace.mjs one wait gate' }) }),
    moment: (_run, site) => site.arrivedAt('gate'),
    traces: ['one', 'two'],
    cut: first,
  },
  {
    title: 'a command has ended and its result is on its way',
    author: workBut({ 2: silentAfter(0, saidFirst) }),
    moment: (run) => run.waitFor(entry('message.started', { turn: 3 })),
    traces: ['one', 'two'],
    cut: first,
  },
  {
    title: 'a Snapshot is being taken',
    author: workBut({
      1: call('Bash', {
        command: 'echo changed > slow.dat && node trace.mjs one close clean',
      }),
    }),
    moment: (_run, site) => site.arrivedAt('clean'),
    traces: ['one', 'two'],
    cut: first,
  },
  {
    title: 'the last answer is coming in',
    author: workBut({ 5: silentAfter(5, { content: [{ type: 'text', text: finalAnswer }] }) }),
    moment: async (run) => {
      await run.waitFor(entry('message.started', { turn: 6 }));
      await run.waitFor((line) => event('text.delta')(line) && String(line['text']).includes('SUMMARY'));
    },
    traces: ['one', 'two'],
    cut: first,
  },
  {
    title: 'the verifier works and has written to the worktree',
    args: ['run', 'Say good day', '--verify', '--allow-commands', '--json'],
    verifier: [
      call('Bash', {
        command: 'echo junk > junk.txt && echo spoilt > src/greet.js && node trace.mjs verifier',
      }),
      silentAfter(0, saidFirst),
    ],
    moment: (run) =>
      run.waitFor((line) => entry('message.started', { turn: 2 })(line) && isVerifying(line, run)),
    traces: ['one', 'two', 'verifier'],
    cut: { kind: 'verify' },
  },
];

const verifying = new WeakMap<CliRun, unknown>();
function isVerifying(line: JsonLine, run: CliRun): boolean {
  return verifying.get(run) === line['runId'];
}

describe('kill -9 of the process that keeps a Run, when', () => {
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

  for (const moment of moments) {
    it(moment.title, async () => {
      server.script(byRole(moment.author ?? work, moment.verifier ?? passingVerifier));
      const before = await userSide(site.repo);
      await moment.prepare?.(site);
      const run = site.start(moment.args ?? runArguments);
      if (moment.cut?.kind === 'verify') {
        const created = await run.waitFor(event('run.created', { kind: 'verify' }));
        verifying.set(run, created['runId']);
      }
      await moment.moment(run, site);
      const printed = await killed(run, site);
      const sentBefore = authorRequests(server).at(-1);

      const task = await nextCommandSaysInterrupted(site, moment);
      await assertSettled(site, before);
      await assertTranscripts(site, task, printed);

      await assertGoesOn(site, 'resume', sentBefore);
      const traces = await site.traces();
      const lacks = moment.mayLack !== undefined && !traces.includes(moment.mayLack);
      assert.deepEqual(lacks ? [moment.mayLack, ...traces] : traces, moment.traces ?? ['one', 'two']);
      assert.deepEqual(await userSide(site.repo), before);
    });
  }

  it('a resume has begun and said nothing yet: the next one goes on with the same conversation', async () => {
    server.script(
      byRole(workBut({ 1: call('Bash', { command: 'node trace.mjs one wait gate' }) }), passingVerifier),
    );
    const before = await userSide(site.repo);
    const run = site.start(runArguments);
    await site.arrivedAt('gate');
    await killed(run, site);
    const sentBefore = authorRequests(server).at(-1);
    for (const type of ['run.created', 'run.started']) {
      const resume = site.start(resumeArguments);
      await resume.waitFor(event(type, type === 'run.created' ? { kind: 'resume' } : {}));
      await killed(resume, site);
    }
    await site.cli('list');
    await assertSettled(site, before);
    await assertGoesOn(site, 'resume', sentBefore);
    assert.deepEqual(await site.traces(), ['one', 'two']);
    const last = authorRequests(server).at(-1)?.rawBody ?? '';
    assert.match(last, /interrupted; may have taken effect/);
  });

  /** A Run killed while its second request is out. */
  async function cutWhileAsking(args: readonly string[] = runArguments): Promise<RecordedRequest> {
    server.script(byRole(workBut({ 1: silentAfter(0, saidFirst) }), passingVerifier));
    const run = site.start(args);
    await run.waitFor(entry('message.started', { turn: 2 }));
    await server.waitForRequests(2);
    await killed(run, site);
    const sent = server.requests.at(-1);
    assert.ok(sent !== undefined);
    return sent;
  }

  it('a line of its transcript is half written: the half is kept beside it, the rest goes on', async () => {
    const before = await userSide(site.repo);
    const sent = await cutWhileAsking();
    const { id, runs } = await recordOf(site.repo);
    const path = transcriptPath(site.repo, id, runs[0]?.id ?? '');
    const half = '{"id":"e99","parentId":"e4","at":"20';
    await appendFile(path, half);
    await site.cli('list');
    assert.equal(await readFile(`${path}.torn-1`, 'utf8'), half);
    await assertSettled(site, before);
    await assertTranscripts(site, await recordOf(site.repo), []);
    await assertGoesOn(site, 'resume', sent);
  });

  it('its worktree is then deleted by hand: a resume makes it again', async () => {
    const before = await userSide(site.repo);
    const sent = await cutWhileAsking();
    await rm(site.worktree, { recursive: true });
    assert.equal((await site.cli('list')).exitCode, 0);
    await assertGoesOn(site, 'resume', sent);
    await assertSettled(site, before);
  });

  it('it reads in place: interrupted, and the resume ends it', async () => {
    const before = await userSide(site.repo);
    const sent = await cutWhileAsking(['run', 'Say good day', '--agent', 'explore', '--json']);
    await site.cli('list');
    const task = await recordOf(site.repo);
    assert.equal(task.runs.at(-1)?.status.state, 'interrupted');
    await assertSettled(site, before);
    server.script([{ content: [{ type: 'text', text: finalAnswer }] }]);
    const count = server.requests.length;
    const resumed = await site.cli('resume', slug, '--json');
    assert.equal(resumed.exitCode, 0, resumed.stderr);
    const [next] = server.requests.slice(count);
    assert.ok(next !== undefined);
    assertSamePrefix(sent, next);
    assert.deepEqual(server.refusals, []);
    assert.equal((await recordOf(site.repo)).state, 'closed');
    assert.deepEqual(await userSide(site.repo), before);
  });

  it('an acceptance test runs and has written to the worktree', async () => {
    server.script(byRole(work, passingVerifier));
    const before = await userSide(site.repo);
    const check = 'echo junk > junk.txt; echo spoilt > src/greet.js; node trace.mjs check wait gate';
    const run = site.start([...runArguments, '--check', check]);
    await site.arrivedAt('gate');
    await killed(run, site);
    const list = await site.cli('list', '--json');
    assert.deepEqual(list.data['problems'], []);
    assert.equal((await recordOf(site.repo)).runs.at(-1)?.status.state, 'completed');
    await assertSettled(site, before);
    await assertGoesOn(site, 'verify', undefined);
    assert.deepEqual(await site.traces(), ['one', 'two', 'check', 'check', 'check late']);
  });

  if (process.env['TRIBUTARY_LONG'] !== undefined) {
    for (let line = 1; line <= 70; line += 3) {
      it(`it has printed ${line} lines`, async () => {
        server.script(byRole(work, passingVerifier));
        const before = await userSide(site.repo);
        const run = site.start(['run', 'Say good day', '--verify', '--allow-commands', '--json']);
        await run.waitForLines(line);
        const printed = await killed(run, site);
        const sentBefore = authorRequests(server).at(-1);
        await site.cli('list', '--json');
        const task = await recordOf(site.repo);
        assert.ok(task.runs.every(({ status }) => ['interrupted', 'completed'].includes(status.state)));
        await assertSettled(site, before);
        await assertTranscripts(site, task, printed);
        const last = task.runs.at(-1);
        const isOver = last?.status.state === 'completed';
        await assertGoesOn(
          site,
          isOver ? 'verify' : 'resume',
          last?.kind === 'first' ? sentBefore : undefined,
          false,
        );
        const traces = await site.traces();
        assert.equal(new Set(traces).size, traces.length, 'no effect comes twice');
        assert.deepEqual(await userSide(site.repo), before);
      });
    }
  }
});

/** Kills the process, and answers what it had printed. */
async function killed(run: CliRun, site: CrashSite): Promise<readonly JsonLine[]> {
  run.kill('SIGKILL');
  const { lines } = await run.ended;
  // Who waits at a gate goes on waiting; who comes later passes.
  await forgetGates(site);
  return lines;
}

/** Nothing of the dead process runs or writes any more, the user's side is untouched, worktrees are whole or gone. */
async function assertSettled(site: CrashSite, before: Record<string, string>): Promise<void> {
  assert.deepEqual(await processesOf(site), [], 'nothing of the dead process runs');
  for (const gate of ['smudge', 'clean', 'gate']) await site.openGate(gate);
  assert.deepEqual(await userSide(site.repo), before);
  await assertWorktreesAgree(site.repo);
}

/** The Task is brought to its end, with requests that continue what was sent before. */
async function assertGoesOn(
  site: CrashSite,
  verb: 'resume' | 'verify',
  sentBefore: RecordedRequest | undefined,
  isEdited = true,
): Promise<void> {
  const { server } = site;
  // One who was cut off right after the last answer is asked for it again.
  server.script(byRole([...work, ...work.slice(-1)], passingVerifier));
  const count = authorRequests(server).length;
  const end = await site.cli(verb, slug, '--allow-commands', '--json');
  assert.equal(end.exitCode, 0, `${end.stderr}\n${end.stdout.toString()}`);
  assert.deepEqual(server.refusals, []);
  const sentAfter = authorRequests(server)[count];
  if (sentBefore !== undefined && sentAfter !== undefined) assertSamePrefix(sentBefore, sentAfter);
  await assertWorktreesAgree(site.repo);
  const diff = (await site.cli('diff', slug)).stdout.toString();
  assert.doesNotMatch(diff, /junk|spoilt/);
  // An edit that was cut off, or whose reading was, is not made up for by this agent.
  if (isEdited) assert.match(diff, /\+ {2}return 'good day, /);
}

/** `list` and `show`, at once: the Run is interrupted, nothing is running. */
async function nextCommandSaysInterrupted(site: CrashSite, { cut }: Moment): Promise<BoardTask> {
  const began = performance.now();
  const list = await site.cli('list', '--json');
  const show = await site.cli('show', slug, '--json');
  assert.ok(performance.now() - began < promptMs, 'no lock of the dead process is waited for');
  assert.equal(list.exitCode, 0, list.stderr);
  assert.equal(show.exitCode, 0, show.stderr);
  const listed = JSON.parse(JSON.stringify(list.data));
  assert.deepEqual(listed.problems, []);
  const shown = JSON.parse(JSON.stringify(show.data));
  const record = await recordOf(site.repo);
  for (const runs of [listed.tasks[0].runs, shown.task.runs, record.runs]) {
    const last = runs.at(-1);
    assert.equal(last?.kind, cut?.kind);
    if (last !== undefined) assert.equal(last.status?.state ?? last.state, 'interrupted');
  }
  return record;
}

/** All that was told is there, in order, once; and the end is written. */
async function assertTranscripts(
  site: CrashSite,
  task: BoardTask,
  printed: readonly JsonLine[],
): Promise<void> {
  for (const run of task.runs) {
    const entries = await entriesOf(site.repo, task.id, run.id);
    const told = printedEntries(printed, run.id);
    assert.deepEqual(entries.slice(0, told.length), told);
    assertChain(entries);
    assert.ok(unanswered(entries).length <= 1);
    assert.equal(
      run.usage.requests,
      entries.filter(({ type }) => type === 'usage').length,
      'what it spent is known',
    );
    if (entries.length === 0) continue;
    const states = entries.filter(({ type }) => type === 'state');
    assert.deepEqual(
      states.map(({ state }) => state),
      [run.status.state],
    );
  }
}
