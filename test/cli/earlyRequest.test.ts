import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, endClis, type JsonLine } from './support/cli';
import {
  type CrashSite,
  closeGate,
  entry,
  failAtGate,
  makeCrashSite,
  runArguments,
  slug,
  userSide,
  work,
} from './support/crashSite';
import { byRole, byTurn, call, passingVerifier } from './support/job';

describe('a Run whose files are still being written', () => {
  let server: StrictServer;
  let site: CrashSite;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    site = await makeCrashSite(server);
    await closeGate(site, 'smudge');
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  const isDone = (end: CliEnd): JsonLine | undefined => end.lines.find(({ type }) => type === 'run.ended');

  async function assertNothingLeft(): Promise<void> {
    assert.equal((await site.repo.git('worktree', 'list')).trim().split('\n').length, 1);
    assert.equal(await site.repo.git('for-each-ref', 'refs/heads/tributary'), '');
    assert.deepEqual(await readdir(`${site.repo.root}.worktrees`).catch(() => []), []);
  }

  it('sends its first request meanwhile, and its tools wait for the files', async () => {
    server.script(byTurn(work));
    const run = site.start(runArguments);
    await site.arrivedAt('smudge');
    // The whole first answer, with a call in it, has come while git still writes.
    await run.waitFor(entry('message', { turn: 1 }));
    assert.equal(server.requests.length, 1);
    await site.openGate('smudge');
    const end = await run.ended;
    assert.equal(end.exitCode, 0, end.stderr);
    const told = end.lines.map((line) =>
      entry('message', { turn: 1 })(line) ? 'answer' : entry('tool.ended')(line) ? 'result' : line['type'],
    );
    const completed = told.indexOf('worktree.create.completed');
    assert.ok(told.indexOf('answer') < completed && completed < told.indexOf('result'), told.join(' '));
    assert.deepEqual(server.refusals, []);
    assert.deepEqual(await site.traces(), ['one', 'two']);
  });

  it('fails when they cannot be written: the request is given up, nothing is left behind, and it can go on', async () => {
    await site.repo.git('config', 'filter.gate.required', 'true');
    server.script(() => ({
      ...call('Read', { file_path: 'src/greet.js' }, 'I read what the greeting says.'),
      fault: { kind: 'silence', before: 4 },
    }));
    const before = await userSide(site.repo);
    const run = site.start(runArguments);
    await site.arrivedAt('smudge');
    await run.waitFor(({ type }) => type === 'text.delta');
    await failAtGate(site, 'smudge');
    const end = await run.ended;
    assert.equal(end.exitCode, 1, end.stderr);
    assert.equal(await server.requests[0]?.closed, 'aborted');
    const ended = isDone(end);
    assert.deepEqual([ended?.['state'], ended?.['reason']], ['failed', 'worktreeFailed']);
    assert.ok(
      end.lines.some(({ type, code }) => type === 'worktree.create.failed' && code === 'worktreeFailed'),
    );
    await assertNothingLeft();
    assert.deepEqual(await userSide(site.repo), before);
    await rm(join(site.repo.folder, 'failing-smudge'));
    server.script(byRole(work, passingVerifier));
    const resumed = await site.cli('resume', slug, '--allow-commands', '--json');
    assert.equal(resumed.exitCode, 0, resumed.stderr);
    assert.deepEqual(server.refusals, []);
  });

  it('stops at once when the user stops it, and nothing is left behind', async () => {
    server.script(byTurn(work));
    const run = site.start(runArguments);
    await site.arrivedAt('smudge');
    await run.waitFor(entry('message', { turn: 1 }));
    run.kill('SIGINT');
    const end = await run.ended;
    assert.equal(end.exitCode, 130, end.stderr);
    const ended = isDone(end);
    assert.deepEqual([ended?.['state'], ended?.['reason']], ['stopped', 'user']);
    assert.equal(server.requests.length, 1);
    await assertNothingLeft();
  });
});
