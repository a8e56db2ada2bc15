import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, type TempRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, endClis, runCli } from './support/cli';
import { userSide } from './support/crashSite';
import { byTurn, fiveTurns, makeProject, modelEnv, runJob } from './support/job';

const slug = 'say-good-day';

describe('tributary worktrees, doctor, sweep and restore', () => {
  let server: StrictServer;
  let repo: TempRepo;
  let temporary: string;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  // A folder of its own: what killed processes of others left is no concern of this test.
  const cli = (...args: string[]): Promise<CliEnd> =>
    runCli(args, { cwd: repo.root, env: { ...modelEnv(server), TMPDIR: temporary } });
  const textOf = ({ stdout, stderr }: CliEnd): string => stdout.toString('utf8') + stderr;

  it('list, find, mend, go back and sweep, and leave the checkout alone', async () => {
    repo = await makeProject();
    temporary = join(repo.folder, 'tmp');
    await mkdir(temporary);
    server.script(byTurn(fiveTurns));
    assert.equal((await runJob(server, repo)).exitCode, 0);
    const before = await userSide(repo);
    const listed = await cli('worktrees', '--json');
    assert.equal(listed.exitCode, 0, listed.stderr);
    const worktrees = listed.data['worktrees'];
    assert.ok(Array.isArray(worktrees) && worktrees.length === 1);
    const { path, isChanged } = worktrees[0];
    assert.equal(isChanged, true);
    assert.match(textOf(await cli('worktrees')), /say-good-day +open/);

    const well = await cli('doctor');
    assert.deepEqual([well.exitCode, textOf(well)], [0, 'Nothing is wrong.\n']);
    await rm(String(path), { recursive: true });
    const ill = await cli('doctor', '--json');
    assert.equal(ill.exitCode, 1);
    assert.equal(ill.data['left'], 1);
    assert.match(textOf(await cli('doctor')), /"tributary doctor --fix" would mend 1 of them/);
    assert.equal((await cli('doctor', '--fix')).exitCode, 0);
    assert.deepEqual((await cli('doctor', '--fix', '--json')).data['found'], []);

    assert.match(textOf(await cli('show', slug)), /Snapshots/);
    const back = await cli('restore', slug, '--snapshot', '1', '--json');
    assert.deepEqual([back.exitCode, back.data['to']], [0, 1], back.stderr);
    const wrong = await cli('restore', slug, '--turn', 'first');
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /--turn needs RUN:N/);
    const unknown = await cli('restore', slug, '--snapshot', '99');
    assert.equal(unknown.exitCode, 2);
    assert.match(unknown.stderr, new RegExp(`"tributary show ${slug}" lists`));

    assert.match(textOf(await cli('sweep', '--dry-run')), /Nothing to sweep/);
    assert.equal((await cli('sweep', '--older-than', 'soon')).exitCode, 2);
    assert.equal((await cli('discard', slug)).exitCode, 0);
    assert.deepEqual((await cli('sweep', '--json')).data['items'], []);
    assert.equal((await cli('restore', slug)).exitCode, 0);
    const after = await userSide(repo);
    assert.deepEqual(after, before);
  });
});
