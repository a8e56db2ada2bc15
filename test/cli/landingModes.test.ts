import assert from 'node:assert/strict';
import { type FSWatcher, watch } from 'node:fs';
import { chmod, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, endClis, runCli, startCli } from './support/cli';
import { appearance, assertWorktreesAgree, recordOf, userSide } from './support/crashSite';
import { byTurn, call, finalAnswer, fiveTurns, makeProject, modelEnv, runJob } from './support/job';

const slug = 'say-good-day';

describe('tributary accept --mode', () => {
  let server: StrictServer;
  let repo: TempRepo;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  const cli = (...args: string[]): Promise<CliEnd> => runCli(args, { cwd: repo.root, env: modelEnv(server) });

  it('says which commits would be made on which branch, makes them, and takes them back', async () => {
    repo = await makeProject();
    server.script(byTurn(fiveTurns));
    assert.equal((await runJob(server, repo, '--check', 'node check.mjs')).exitCode, 0);
    const before = await userSide(repo);
    const wrong = await cli('accept', slug, '--mode', 'comit');
    assert.equal(wrong.exitCode, 2);
    assert.match(wrong.stderr, /--mode commit/);
    const dry = await cli('accept', slug, '--mode', 'commit', '--message', 'Greet\n\nbetter', '--dry-run');
    const text = dry.stdout.toString('utf8') + dry.stderr;
    assert.match(text, /and commit on main \([0-9a-f]{12}\):\n {2}Greet\n/);
    assert.match(text, /Passed on exactly this tree already: node check\.mjs/);
    assert.deepEqual(await userSide(repo), before);
    const landed = await cli('accept', slug, '--mode', 'commit', '--message', 'Greet\n\nbetter', '--json');
    assert.equal(landed.exitCode, 0, landed.stderr);
    assert.deepEqual([landed.data['outcome'], landed.data['ref']], ['landed', 'refs/heads/main']);
    assert.equal(
      (await repo.git('log', '-1', '--format=%H %s')).trim(),
      `${String(landed.data['commit'])} Greet`,
    );
    assert.equal((await cli('undo', slug)).exitCode, 0);
    assert.deepEqual(await userSide(repo), before);
    const kept = await cli('accept', slug, '--mode', 'keep-branch', '--json');
    assert.equal(kept.data['outcome'], 'kept', kept.stderr);
    assert.deepEqual(await userSide(repo), before);
  });

  it('names the hook or the test that said no, and with --no-gate says that none was asked', async () => {
    repo = await makeProject();
    server.script(byTurn(fiveTurns));
    assert.equal((await runJob(server, repo, '--check', 'test ! -e bad.txt')).exitCode, 0);
    await repo.write('bad.txt', 'bad\n');
    await repo.commitAll('bad');
    const gate = await cli('accept', slug, '--json');
    assert.deepEqual(
      [gate.exitCode, gate.data['outcome'], gate.data['commandExitCode']],
      [1, 'gateFailed', 1],
    );
    const hook = join(repo.root, '.git/hooks/pre-commit');
    await writeFile(hook, '#!/bin/sh\necho not today\nexit 3\n');
    await chmod(hook, 0o755);
    const refused = await cli('accept', slug, '--mode', 'commit', '--no-gate');
    assert.equal(refused.exitCode, 1);
    assert.match(refused.stderr, /Your pre-commit hook ended with 3; nothing was written\.\n {2}not today/);
    const landed = await cli('accept', slug, '--no-gate');
    assert.equal(landed.exitCode, 0, landed.stderr);
    assert.match(landed.stdout.toString('utf8'), /acceptance tests did not run \(--no-gate\)/);
  });

  it('kill -9 at any point: the next command finishes the Landing or takes it back, branch and index too', async function () {
    this.timeout(isLong ? 3_600_000 : 170_000);
    repo = await makeCommitSite();
    server.script(
      byTurn([
        call('Bash', { command: 'node spread.mjs' }),
        { content: [{ type: 'text', text: finalAnswer }] },
      ]),
    );
    assert.equal((await runJob(server, repo)).exitCode, 0);
    const before = await userSide(repo);
    assert.equal((await cli('accept', slug, '--mode', 'commit')).exitCode, 0);
    const [tree, status] = [
      await repo.git('rev-parse', 'HEAD^{tree}'),
      await repo.git('status', '--porcelain'),
    ];
    assert.equal((await cli('undo', slug)).exitCode, 0);
    assert.deepEqual(await userSide(repo), before);
    for (const count of killedAt) {
      for (const verb of ['accept', 'undo'] as const) {
        const { state } = await recordOf(repo);
        if (verb === 'accept' && state === 'accepted') assert.equal((await cli('undo', slug)).exitCode, 0);
        if (verb === 'undo' && state === 'open')
          assert.equal((await cli('accept', slug, '--mode', 'commit')).exitCode, 0);
        await killAtChange(verb, count);
        const where = `${verb} killed at change ${count}`;
        const list = await cli('list', '--json');
        assert.equal(list.exitCode, 0, `${where}: ${list.stderr}`);
        assert.deepEqual(list.data['problems'], [], where);
        const now = (await recordOf(repo)).state;
        if (now === 'open') assert.deepEqual(await userSide(repo), before, where);
        else {
          assert.equal(await repo.git('rev-parse', 'HEAD^{tree}'), tree, where);
          assert.equal(await repo.git('status', '--porcelain'), status, where);
        }
        await assert.rejects(stat(join(repo.root, '.git/index.lock')), where);
        await assertWorktreesAgree(repo);
      }
    }
  });

  it('kill -9 while the acceptance tests run: the scratch checkout and what runs in it are gone after the next command', async () => {
    repo = await makeProject();
    server.script(byTurn(fiveTurns));
    const check = `test ! -e slow.txt || { touch '${join(repo.folder, 'at')}'; sleep 300; }`;
    assert.equal((await runJob(server, repo, '--check', check)).exitCode, 0);
    await repo.write('slow.txt', 'slow\n');
    await repo.commitAll('slow');
    const run = startCli(['accept', slug], { cwd: repo.root, env: modelEnv(server) });
    await appearance(repo.folder, 'at');
    run.kill('SIGKILL');
    await run.ended;
    const doctor = await cli('doctor');
    assert.match(String(doctor.stdout), /\.tributary-scratch-\S+ is a scratch checkout that nobody uses/);
    assert.equal((await cli('list')).exitCode, 0);
    assert.deepEqual(await readdir(`${repo.root}.worktrees`), [slug]);
    await assertWorktreesAgree(repo);
  });

  async function killAtChange(verb: 'accept' | 'undo', count: number): Promise<void> {
    const git = join(repo.root, '.git');
    const folders = [
      repo.root,
      join(repo.root, 'many'),
      git,
      join(git, 'refs/heads'),
      join(git, 'tributary/journal'),
    ];
    const mode = verb === 'accept' ? ['--mode', 'commit'] : [];
    const run = startCli([verb, slug, ...mode], { cwd: repo.root, env: modelEnv(server) });
    let seen = 0;
    const watchers: FSWatcher[] = folders.map((folder) =>
      watch(folder, () => {
        seen += 1;
        if (seen === count) run.kill('SIGKILL');
      }).on('error', () => undefined),
    );
    await run.ended;
    for (const watcher of watchers) watcher.close();
  }
});

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
const killedAt = isLong ? Array.from({ length: 60 }, (_, index) => 1 + index * 2) : [4, 70];

async function makeCommitSite(): Promise<TempRepo> {
  const spread = [
    "import { writeFileSync } from 'node:fs';",
    "for (let i = 0; i < 20; i += 1) writeFileSync('many/' + i + '.txt', 'changed ' + i);",
  ].join('\n');
  const files = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`many/${index}.txt`, 'old\n']));
  const repo = await makeRepo({ files: { ...files, 'notes.txt': 'one\n', 'spread.mjs': spread } });
  await repo.write('notes.txt', 'staged\n');
  await repo.git('add', 'notes.txt');
  await repo.write('notes.txt', 'staged\nand dirty\n');
  return repo;
}
