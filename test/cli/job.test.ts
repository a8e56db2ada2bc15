import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, fingerprint, type TempRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { type CliEnd, endClis, type JsonLine, runCli } from './support/cli';
import { byTurn, fiveTurns, makeProject, runJob } from './support/job';

const slug = 'say-good-day';

describe('a five-turn job', () => {
  let server: StrictServer;
  let repo: TempRepo;
  let end: CliEnd;
  let before: Record<string, string>;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(byTurn(fiveTurns));
    repo = await makeProject();
    // Work of the user's own, in every state git knows.
    await repo.write('notes.txt', 'one\ntwo, edited\r\nthree');
    await repo.write('staged.txt', 'staged\n');
    await repo.git('add', 'staged.txt');
    await repo.write('staged.txt', 'staged, then edited\n');
    await repo.write('untracked.bin', Buffer.from([0, 255, 13, 10, 0]));
    before = await fingerprint(repo.root);
    end = await runJob(server, repo);
  });

  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  const cli = (...args: string[]): Promise<CliEnd> => runCli(args, { cwd: repo.root });

  const entries = (type: string): JsonLine[] =>
    end.lines.flatMap((line) => {
      const entry = line['entry'];
      return typeof entry === 'object' && entry !== null && 'type' in entry && entry.type === type
        ? [Object.fromEntries(Object.entries(entry))]
        : [];
    });

  it('ends with 0, told event by event, and no request is refused', () => {
    assert.equal(end.exitCode, 0, end.stderr);
    assert.deepEqual(server.refusals, []);
    assert.equal(server.requests.length, 5);
    const told = end.lines
      .map(({ type }) => String(type))
      .filter((type) => !/^(entry|text\.delta)$/.test(type));
    for (const type of ['task.created', 'run.created', 'worktree.create.completed', 'snapshot', 'run.ended'])
      assert.ok(told.includes(type), type);
    assert.equal(told[0], 'task.created');
    assert.equal(told.at(-1), 'result');
    assert.deepEqual(
      entries('tool.ended').map(({ name, isError }) => [name, isError]),
      [
        ['Read', false],
        ['Grep', false],
        ['Edit', false],
        ['Bash', false],
      ],
    );
    assert.equal(entries('tool.ended').at(-1)?.['exitCode'], 0);
    assert.match(JSON.stringify(entries('tool.ended').at(-1)), /greeting is right/);
  });

  it('leaves the checkout, its index, its refs and the dirty files as they were', async () => {
    const after = await fingerprint(repo.root);
    assert.deepEqual(withoutOurBranch(after), before);
  });

  it('shows up in list, show and diff', async () => {
    assert.match((await cli('list')).stdout.toString(), /^say-good-day +open +completed +general/m);
    const show = (await cli('show', slug)).stdout.toString();
    assert.match(show, /M src\/greet\.js \(\+1 -1\)/);
    assert.match(show, /branch tributary\/say-good-day/);
    assert.match(show, /tributary accept say-good-day/);
    const patch = (await cli('diff', slug)).stdout;
    await writeFile(join(repo.folder, 'change.patch'), patch);
    await repo.git('apply', '--check', join(repo.folder, 'change.patch'));
    const { files } = (await cli('diff', slug, '--json')).data;
    assert.equal(JSON.parse(JSON.stringify(files))[0].path, 'src/greet.js');
  });

  it('accept --dry-run writes nothing', async () => {
    const state = await fingerprint(repo.root);
    const dry = await cli('accept', slug, '--dry-run');
    assert.equal(dry.exitCode, 0, dry.stderr);
    assert.match(dry.stdout.toString(), /M src\/greet\.js/);
    assert.deepEqual(await fingerprint(repo.root), state);
  });

  it('accept writes only what changed; dirty, staged and untracked files stay byte for byte', async () => {
    const accepted = await cli('accept', slug);
    assert.equal(accepted.exitCode, 0, accepted.stderr);
    assert.match(accepted.stdout.toString(), /Take it back with: tributary undo say-good-day/);
    assert.match(await repo.read('src/greet.js'), /good day, /);
    assert.equal(await repo.read('notes.txt'), 'one\ntwo, edited\r\nthree');
    assert.equal(await repo.read('staged.txt'), 'staged, then edited\n');
    assert.equal(await repo.git('show', ':staged.txt'), 'staged\n');
    assert.deepEqual(await readFile(join(repo.root, 'untracked.bin')), Buffer.from([0, 255, 13, 10, 0]));
    assert.deepEqual(await readdir(`${repo.root}.worktrees`).catch(() => []), []);
    const { index, head, stash, config } = await fingerprint(repo.root);
    assert.deepEqual(
      { index, head, stash, config },
      { index: before['index'], head: before['head'], stash: before['stash'], config: before['config'] },
    );
  });

  it('undo brings every byte and the worktree back', async () => {
    await cli('accept', slug);
    const undone = await cli('undo', slug);
    assert.equal(undone.exitCode, 0, undone.stderr);
    assert.deepEqual(withoutOurBranch(await fingerprint(repo.root)), before);
    const worktree = join(`${repo.root}.worktrees`, slug);
    assert.match(await readFile(join(worktree, 'src', 'greet.js'), 'utf8'), /good day, /);
    assert.equal((await cli('accept', slug)).exitCode, 0);
  });

  it('undo after a later edit of the same file writes nothing: 3', async () => {
    await cli('accept', slug);
    await repo.write('src/greet.js', 'mine now\n');
    const undone = await cli('undo', slug);
    assert.equal(undone.exitCode, 3, undone.stderr);
    assert.match(undone.stderr, /src\/greet\.js/);
    assert.equal(await repo.read('src/greet.js'), 'mine now\n');
  });

  it('a conflict is shown by file, and nothing is written: 3', async () => {
    await repo.write('src/greet.js', "export function greet(name) {\n  return 'hi, ' + name;\n}\n");
    const state = await fingerprint(repo.root);
    const conflicting = await cli('accept', slug);
    assert.equal(conflicting.exitCode, 3);
    assert.match(conflicting.stderr, /error \(conflict\)[\s\S]*src\/greet\.js/);
    assert.deepEqual(await fingerprint(repo.root), state);
  });

  it('discard takes the worktree away, restore brings it back', async () => {
    const worktree = join(`${repo.root}.worktrees`, slug);
    const discarded = await cli('discard', slug);
    assert.equal(discarded.exitCode, 0, discarded.stderr);
    await assert.rejects(stat(worktree));
    assert.deepEqual(withoutOurBranch(await fingerprint(repo.root)), before);
    const restored = await cli('restore', slug);
    assert.equal(restored.exitCode, 0, restored.stderr);
    assert.match(await readFile(join(worktree, 'src', 'greet.js'), 'utf8'), /good day, /);
    assert.equal((await cli('accept', slug)).exitCode, 0);
  });

  it('accept a second time says that the state forbids it: 1', async () => {
    await cli('accept', slug);
    const again = await cli('accept', slug);
    assert.equal(again.exitCode, 1);
    assert.match(again.stderr, /error \(wrongState\)/);
  });
});

/** The Task's branch is the one ref outside `refs/tributary/` that we make. */
function withoutOurBranch(print: Record<string, string>): Record<string, string> {
  const refs = print['refs'] ?? '';
  return {
    ...print,
    refs: refs
      .split('\n')
      .filter((line) => !line.startsWith('refs/heads/tributary/'))
      .join('\n'),
  };
}

describe('three runs at once', () => {
  let server: StrictServer;
  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(byTurn(fiveTurns));
  });
  afterEach(async () => {
    await endClis();
    await server.close();
    await cleanUp();
  });

  it('all end well, each in its own worktree and branch', async () => {
    const repo = await makeProject();
    const ends = await Promise.all([runJob(server, repo), runJob(server, repo), runJob(server, repo)]);
    for (const end of ends) assert.equal(end.exitCode, 0, end.stderr);
    assert.deepEqual(server.refusals, []);
    const list = await runCli(['list', '--json'], { cwd: repo.root });
    const tasks: { id: string; slug: string; worktreePath: string; branch: string }[] = JSON.parse(
      JSON.stringify(list.data['tasks']),
    );
    assert.deepEqual(tasks.map((task) => task.slug).sort(), [slug, `${slug}-2`, `${slug}-3`]);
    for (const key of ['id', 'worktreePath', 'branch'] as const)
      assert.equal(new Set(tasks.map((task) => task[key])).size, 3, key);
    for (const { worktreePath } of tasks)
      assert.match(await readFile(join(worktreePath, 'src', 'greet.js'), 'utf8'), /good day, /);
  });
});
