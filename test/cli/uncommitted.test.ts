import assert from 'node:assert/strict';
import { cleanUp, fingerprint, repoAt, type TempRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, endClis, runCli } from './support/cli';
import { userSide } from './support/crashSite';
import { byTurn, call, finalAnswer, makeProject, modelEnv, runJob } from './support/job';

const slug = 'say-good-day';

describe('run --with-uncommitted', () => {
  let server: StrictServer;
  let repo: TempRepo;

  const cli = (...args: readonly string[]): Promise<CliEnd> =>
    runCli(args, { cwd: repo.root, env: modelEnv(server) });

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeProject();
    await repo.write('staged.txt', 'staged\n');
    await repo.git('add', 'staged.txt');
    await repo.write('staged.txt', 'staged, then edited\n');
    await repo.write('notes.txt', 'one\ntwo, by the user\nthree\n');
    await repo.write('mine/draft.txt', 'untracked\n');
    server.script(
      byTurn([
        call('Read', { file_path: 'mine/draft.txt' }),
        call('Edit', { file_path: 'mine/draft.txt', old_string: 'untracked', new_string: 'by the agent' }),
        call('Read', { file_path: 'src/greet.js' }),
        call('Edit', { file_path: 'src/greet.js', old_string: 'hello, ', new_string: 'good day, ' }),
        { content: [{ type: 'text', text: finalAnswer }] },
      ]),
    );
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  const run = (): Promise<CliEnd> => runJob(server, repo, '--with-uncommitted');
  const changed = async (): Promise<unknown> => {
    const { files } = (await cli('show', slug, '--json')).data;
    return Array.isArray(files) ? files.map(({ path, status }) => `${status} ${path}`) : files;
  };

  it('gives the agent what is uncommitted and counts only what the agent did as its work', async () => {
    const before = await userSide(repo);
    const end = await run();
    assert.equal(end.exitCode, 0, end.stderr);
    assert.deepEqual(server.refusals, []);
    const base = end.lines.find(({ type }) => type === 'task.created')?.['base'];
    const head = (await repo.git('rev-parse', 'HEAD')).trim();
    assert.deepEqual((base as { uncommitted?: unknown }).uncommitted, { on: head, files: 3 });
    assert.ok(server.requests[0]?.rawBody.includes('HEAD with uncommitted changes in 3 files'));
    assert.deepEqual(await changed(), ['modified mine/draft.txt', 'modified src/greet.js']);
    assert.deepEqual(await userSide(repo), before);
    const shown = await cli('show', slug);
    assert.match(shown.stdout.toString('utf8'), /base HEAD with uncommitted changes in 3 files [0-9a-f]{40}/);
  });

  it('lands beside the same uncommitted changes, and undo puts every byte back', async () => {
    assert.equal((await run()).exitCode, 0);
    const before = await userSide(repo);
    const accepted = await cli('accept', slug, '--json');
    assert.equal(accepted.exitCode, 0, accepted.stderr);
    assert.equal(await repo.read('mine/draft.txt'), 'by the agent\n');
    assert.match(await repo.read('src/greet.js'), /good day/);
    assert.equal(await repo.read('staged.txt'), 'staged, then edited\n');
    assert.equal(await repo.read('notes.txt'), 'one\ntwo, by the user\nthree\n');
    const landed = await userSide(repo);
    assert.deepEqual([landed['index'], landed['refs']], [before['index'], before['refs']]);
    const undone = await cli('undo', slug, '--json');
    assert.equal(undone.exitCode, 0, undone.stderr);
    assert.deepEqual(await userSide(repo), before);
    assert.deepEqual(await changed(), ['modified mine/draft.txt', 'modified src/greet.js']);
  });

  it('comes back from a discard on the same base', async () => {
    assert.equal((await run()).exitCode, 0);
    const before = await fingerprint(repo.root);
    assert.equal((await cli('discard', slug)).exitCode, 0);
    assert.equal(await repo.git('for-each-ref', 'refs/heads/tributary'), '');
    // What nothing names any more goes; the base is named.
    await repo.git('gc', '--quiet', '--prune=now');
    assert.equal((await cli('restore', slug)).exitCode, 0);
    assert.deepEqual(await changed(), ['modified mine/draft.txt', 'modified src/greet.js']);
    const worktree = repoAt(repo.folder, `${repo.root}.worktrees/${slug}`);
    assert.equal(await worktree.read('notes.txt'), 'one\ntwo, by the user\nthree\n');
    assert.equal((await fingerprint(repo.root))['files'], before['files']);
  });

  it('is HEAD where nothing is uncommitted, and excludes another base', async () => {
    await repo.git('stash', 'push', '--include-untracked', '--quiet');
    server.script(() => ({ content: [{ type: 'text', text: finalAnswer }] }));
    const end = await run();
    assert.equal(end.exitCode, 0, end.stderr);
    const base = end.lines.find(({ type }) => type === 'task.created')?.['base'];
    assert.deepEqual(base, { ref: 'HEAD', commit: (await repo.git('rev-parse', 'HEAD')).trim() });
    const both = await runJob(server, repo, '--with-uncommitted', '--base', 'main');
    assert.equal(both.exitCode, 2);
    assert.match(both.stdout.toString('utf8'), /excludes --base/);
  });
});
