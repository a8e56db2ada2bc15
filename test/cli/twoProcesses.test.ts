import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { cleanUp } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, type CliRun, endClis } from './support/cli';
import {
  assertWorktreesAgree,
  type CrashSite,
  entry,
  makeCrashSite,
  processesOf,
  recordOf,
  resumeArguments,
  runArguments,
  slug,
  userSide,
  work,
  workBut,
} from './support/crashSite';
import { byRole, call, passingVerifier } from './support/job';

describe('two processes on one Task', () => {
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

  /** A Run that waits in its first command, in a process of its own. */
  async function liveRun(): Promise<CliRun> {
    server.script(
      byRole(workBut({ 1: call('Bash', { command: 'node trace.mjs one wait gate' }) }), passingVerifier),
    );
    const run = site.start(runArguments);
    await site.arrivedAt('gate');
    return run;
  }

  it('while a Run lives elsewhere, every other verb is refused at once and changes nothing', async () => {
    const run = await liveRun();
    const record = await recordOf(site.repo);
    const before = await userSide(site.repo);
    const listMs = await timed(() => site.cli('list'));
    for (const verb of ['accept', 'discard', 'resume', 'verify', 'undo', 'restore']) {
      let end: CliEnd | undefined;
      const tookMs = await timed(async () => {
        end = await site.cli(verb, slug, '--json');
      });
      assert.equal(end?.exitCode, 1, verb);
      assert.equal(codeOf(end), 'wrongState', verb);
      // Nobody waits for a lock: that takes two seconds and more.
      assert.ok(tookMs < listMs * 2 + 1_500, `${verb} took ${tookMs} ms, list ${listMs}`);
    }
    assert.deepEqual(await recordOf(site.repo), record);
    assert.deepEqual(await userSide(site.repo), before);
    assert.ok((await readdir(site.worktree)).includes('trace.mjs'));
    await site.openGate('gate');
    const end = await run.ended;
    assert.equal(end.exitCode, 0, end.stderr);
    await assertWorktreesAgree(site.repo);
  });

  it('of three resumes at once exactly one gets it, and the others say so', async () => {
    const run = await liveRun();
    run.kill('SIGINT');
    assert.equal((await run.ended).exitCode, 130);
    await site.openGate('gate');
    server.script(byRole(work, passingVerifier));
    const runsBefore = (await recordOf(site.repo)).runs.length;
    const ends = await Promise.all([1, 2, 3].map(() => site.cli(...resumeArguments)));
    const won = ends.filter(({ exitCode }) => exitCode === 0);
    assert.equal(won.length, 1, ends.map(({ stderr }) => stderr).join('\n'));
    for (const end of ends) if (end.exitCode !== 0) assert.equal(codeOf(end), 'wrongState');
    const { runs } = await recordOf(site.repo);
    assert.deepEqual(
      runs.slice(runsBefore).map(({ kind }) => kind),
      ['resume', 'verify'],
    );
    assert.deepEqual(await site.traces(), ['one', 'two']);
    assert.deepEqual(server.refusals, []);
  });

  it('of two that reconcile after a kill both see it interrupted, and it is told once', async () => {
    const run = await liveRun();
    run.kill('SIGKILL');
    await run.ended;
    await Promise.all([site.cli('list'), site.cli('list'), site.cli('show', slug)]);
    const events = await boardEvents(site);
    assert.equal(events.filter(({ type }) => type === 'run.ended').length, 1);
    assert.equal((await recordOf(site.repo)).runs.at(-1)?.status.state, 'interrupted');
    await assertWorktreesAgree(site.repo);
  });

  it('accept and discard at once: one of them happens, whole', async () => {
    server.script(byRole(work, passingVerifier));
    assert.equal((await site.cli(...runArguments)).exitCode, 0);
    const before = await userSide(site.repo);
    const [accepted, discarded] = await Promise.all([
      site.cli('accept', slug, '--json'),
      site.cli('discard', slug, '--json'),
    ]);
    const { state } = await recordOf(site.repo);
    const [winner, loser] = state === 'accepted' ? [accepted, discarded] : [discarded, accepted];
    assert.equal(winner.exitCode, 0, winner.stderr);
    assert.equal(loser.exitCode, 1, loser.stderr);
    assert.equal(codeOf(loser), 'wrongState');
    const isLanded = (await site.repo.read('src/greet.js')).includes('good day, ');
    assert.equal(isLanded, state === 'accepted');
    const after = await userSide(site.repo);
    assert.deepEqual([after['index'], after['head']], [before['index'], before['head']]);
    await assertWorktreesAgree(site.repo);
  });

  it('while acceptance tests run elsewhere, with no Run alive, accept is refused; afterwards it is not', async () => {
    server.script(byRole(work, passingVerifier));
    const run = site.start([...runArguments, '--check', 'node trace.mjs check wait gate']);
    await run.waitFor(entry('state', { state: 'completed' }));
    await site.arrivedAt('gate');
    const accept = await site.cli('accept', slug, '--json');
    assert.equal(accept.exitCode, 1);
    assert.equal(codeOf(accept), 'wrongState');
    await site.openGate('gate');
    assert.equal((await run.ended).exitCode, 0);
    assert.equal((await site.cli('accept', slug)).exitCode, 0);
    await assertWorktreesAgree(site.repo);
  });
});

function codeOf(end: CliEnd): string {
  return String(end.lines.find(({ type }) => type === 'error')?.['code']);
}

async function timed(body: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await body();
  return performance.now() - began;
}

async function boardEvents(site: CrashSite): Promise<{ type: string }[]> {
  const text = await site.repo.read('.git/tributary/worktrees/events.jsonl');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
