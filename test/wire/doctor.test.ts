import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Core } from '../../src/composeCore';
import type { Task } from '../../src/model/task';
import type { AilmentReport } from '../../src/tasks/housekeepingApi';
import {
  cleanUp,
  fingerprint,
  gitAt,
  listing,
  makeRepo,
  repoAt,
  type TempRepo,
} from '../git/support/tempRepo';
import { TestCores } from './support/board';

describe('the doctor', () => {
  let cores: TestCores;
  let repo: TempRepo;

  beforeEach(async () => {
    cores = await TestCores.start();
    repo = await makeRepo({ files: { 'a.txt': 'one\n', '.gitignore': '*.log\n' } });
  });
  afterEach(async () => {
    await cores.close();
    await cleanUp();
  });

  // What killed processes of others left in the folder for temporary files is no concern of these.
  const own = (found: readonly AilmentReport[]): AilmentReport[] =>
    found.filter(({ kind }) => kind !== 'temporary');
  const ailing = (found: readonly AilmentReport[]): string[] =>
    own(found)
      .filter(({ weight }) => weight === 'problem')
      .map(({ kind }) => kind);
  const worktreeOf = (task: Task): string => task.worktreePath ?? assert.fail('none');
  /** Mends, then shows that nothing is left and a second time does nothing. */
  const mended = async (core: Core): Promise<readonly AilmentReport[]> => {
    const found = await core.tasks.housekeeping.examine({ mend: true });
    assert.deepEqual(
      own(found).filter(({ outcome }) => outcome?.kind === 'failed'),
      [],
    );
    const again = await core.tasks.housekeeping.examine({ mend: true });
    assert.deepEqual(ailing(again), []);
    return found;
  };
  const one = async (core: Core): Promise<Task> =>
    (await core.tasks.list()).tasks[0] ?? assert.fail('no Task');

  it('finds nothing where nothing is wrong', async () => {
    const core = await cores.open(repo.root);
    await cores.task(core, 'Write', { 'one.txt': '1' });
    assert.deepEqual(own(await core.tasks.housekeeping.examine()), []);
  });

  it('changes not a byte unless it is told to mend, whatever it finds', async () => {
    const core = await cores.open(repo.root);
    const gone = await cores.task(core, 'Gone', { 'one.txt': '1' });
    const pruned = await cores.task(core, 'Pruned', { 'one.txt': '1' });
    await core.dispose();
    const board = join(repo.root, '.git', 'tributary');
    await rm(worktreeOf(gone), { recursive: true });
    await rm(join(repo.root, '.git', 'worktrees', 'pruned'), { recursive: true });
    await writeFile(join(board, 'worktrees', 'index.json'), '{"v": 1, ');
    await mkdir(join(board, 'locks'), { recursive: true });
    const owner = { bootId: 'dead', pid: 4_000_000, host: 'elsewhere' };
    const lock = { v: 1, nonce: 'abc', owner, at: '2020-01-01T00:00:00.000Z' };
    await writeFile(join(board, 'locks', 'old.lock'), JSON.stringify(lock));
    await repo.git('update-ref', 'refs/tributary/task_20200101T000000000_1/1', 'HEAD');
    await repo.git('branch', 'tributary/nobodys');
    const looking = await cores.open(repo.root);
    const before = [await listing(join(repo.root, '.git')), await listing(repo.folder)];
    const found = await looking.tasks.housekeeping.examine();
    await looking.dispose();
    assert.deepEqual([await listing(join(repo.root, '.git')), await listing(repo.folder)], before);
    const kinds = new Set(found.map(({ kind }) => kind));
    for (const kind of [
      'folderGone',
      'forgotten',
      'unreadable',
      'deadLock',
      'refWithoutTask',
      'branchWithoutTask',
    ])
      assert.ok(kinds.has(kind as AilmentReport['kind']), `${kind} in ${[...kinds].join(' ')}`);
    const again = await cores.open(repo.root);
    const user = await fingerprint(repo.root);
    await again.tasks.housekeeping.examine({ mend: true });
    const second = await again.tasks.housekeeping.examine({ mend: true });
    assert.deepEqual(
      own(second).filter(({ outcome }) => outcome !== undefined),
      [],
    );
    assert.deepEqual(await fingerprint(repo.root), { ...user, refs: (await fingerprint(repo.root))['refs'] });
    assert.equal((await again.tasks.accept(pruned.id)).kind, 'landed');
  });

  it('mends one that git has forgotten and in whose place a killed process was about to make it anew', async () => {
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    const folder = worktreeOf(task);
    await writeFile(join(folder, 'later.txt'), 'by hand');
    await rename(folder, `${folder}-away`);
    await repo.git('worktree', 'prune');
    await rename(`${folder}-away`, folder);
    const index = join(repo.root, '.git', 'tributary', 'worktrees', 'index.json');
    const text = await readFile(index, 'utf8');
    assert.match(text, /"state": ?"ready"/);
    await writeFile(index, text.replace(/"state": ?"ready"/, '"state":"creating"'));
    const again = await cores.open(repo.root);
    assert.deepEqual((await again.tasks.list()).problems, []);
    assert.deepEqual(ailing(await mended(again)), ['forgotten']);
    assert.equal(await readFile(join(folder, 'later.txt'), 'utf8'), 'by hand');
    assert.equal((await again.tasks.accept(task.id)).kind, 'landed');
    assert.equal(await repo.read('later.txt'), 'by hand');
  });

  it('registers a folder again that git has forgotten, with all that lies in it', async () => {
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    const folder = repoAt(repo.folder, worktreeOf(task));
    await folder.write('late.txt', 'late');
    await folder.write('x.log', 'ignored');
    const before = await listing(folder.root);
    await rename(folder.root, `${folder.root}.away`);
    await repo.git('worktree', 'prune');
    await rename(`${folder.root}.away`, folder.root);
    assert.deepEqual(ailing(await mended(core)), ['forgotten']);
    assert.equal(await listing(folder.root), before);
    const paths = (await core.tasks.changes(task.id)).map(({ path }) => path);
    assert.deepEqual(paths.sort(), ['late.txt', 'one.txt']);
    assert.match(await folder.git('status', '--branch'), /On branch tributary\/write/);
  });

  it('is where a discard that was refused, as git had forgotten the Worktree, goes on from', async () => {
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    const folder = repoAt(repo.folder, worktreeOf(task));
    await rename(folder.root, `${folder.root}.away`);
    await repo.git('worktree', 'prune');
    await rename(`${folder.root}.away`, folder.root);
    await folder.write('late.txt', 'late');
    for (const verb of ['discard', 'discard'] as const)
      await assert.rejects(core.tasks[verb](task.id), { code: 'worktreeFailed' });
    const board = await core.tasks.list();
    assert.deepEqual(board.problems, []);
    const after = board.tasks.find(({ id }) => id === task.id);
    assert.deepEqual([after?.state, after?.pending], ['open', undefined]);
    assert.deepEqual(ailing(await mended(core)), ['forgotten']);
    await core.tasks.discard(task.id);
    await core.tasks.restore(task.id);
    assert.equal(await folder.read('late.txt'), 'late');
  });

  it('lets go of a registration whose folder is gone; the Worktree comes back from its Snapshot', async () => {
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    await rm(worktreeOf(task), { recursive: true });
    assert.deepEqual(ailing(await mended(core)), ['folderGone']);
    await core.tasks.restoreTo(task.id, { snapshot: 1 });
    assert.equal(await repoAt(repo.folder, worktreeOf(task)).read('one.txt'), '1');
  });

  for (const withFolders of [false, true]) {
    const what = withFolders ? 'together with its Worktrees' : 'away from its Worktrees';
    it(`makes Tasks of a repository that was moved ${what} acceptable and discardable again`, async () => {
      const first = await cores.open(repo.root);
      const task = await cores.task(first, 'Write', { 'one.txt': '1' });
      const other = await cores.task(first, 'Other', { 'two.txt': '2' });
      await repoAt(repo.folder, worktreeOf(task)).write('late.txt', 'late');
      await first.dispose();
      const root = join(repo.folder, 'moved');
      await rename(repo.root, root);
      if (withFolders) await rename(`${repo.root}.worktrees`, `${root}.worktrees`);
      const core = await cores.open(root);
      const kinds = ailing(await mended(core));
      assert.ok(
        kinds.every((kind) => kind === 'repositoryMoved' || kind === 'unrecorded'),
        kinds.join(),
      );
      const now = (await core.tasks.find(task.id)).task;
      assert.equal(now.packet.repository.root, root);
      assert.equal(now.moves?.[0]?.root, repo.root);
      assert.equal((await core.tasks.accept(task.id)).kind, 'landed');
      assert.equal(await repoAt(repo.folder, root).read('late.txt'), 'late');
      assert.equal((await core.tasks.discard(other.id)).state, 'discarded');
      assert.equal((await gitAt(root, 'worktree', 'list')).toString().trim().split('\n').length, 1);
    });
  }

  it('a copied repository leaves the Worktrees to the original and makes its own from Snapshots', async () => {
    const first = await cores.open(repo.root);
    const task = await cores.task(first, 'Write', { 'one.txt': '1' });
    await repoAt(repo.folder, worktreeOf(task)).write('x.log', 'of the original');
    await first.dispose();
    const root = join(repo.folder, 'copy');
    await cp(repo.root, root, { recursive: true, verbatimSymlinks: true });
    const original = async (): Promise<string> =>
      `${await listing(`${repo.root}.worktrees`)}${await listing(join(repo.root, '.git'))}`;
    const before = await original();
    const core = await cores.open(root);
    assert.ok(ailing(await mended(core)).includes('repositoryCopied'));
    const now = await one(core);
    assert.equal(now.worktreePath, join(`${root}.worktrees`, 'write'));
    await core.tasks.restoreTo(task.id, { snapshot: 1 });
    assert.equal(await repoAt(repo.folder, worktreeOf(now)).read('one.txt'), '1');
    assert.equal((await core.tasks.discard(task.id)).state, 'discarded');
    await core.dispose();
    assert.equal(await original(), before);
    const again = await cores.open(repo.root);
    assert.deepEqual(ailing(await again.tasks.housekeeping.examine()), []);
  });

  it('a link in place of a Worktree is said and left, and so is what it leads to', async () => {
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    await rm(worktreeOf(task), { recursive: true });
    await symlink(repo.root, worktreeOf(task));
    const before = await fingerprint(repo.root);
    await assert.rejects(core.tasks.discard(task.id), { code: 'worktreeFailed' });
    const found = await core.tasks.housekeeping.examine({ mend: true });
    assert.ok(ailing(found).includes('inTheWay'));
    assert.deepEqual(await fingerprint(repo.root), before);
    await rm(worktreeOf(task));
    await mended(core);
    assert.equal((await one(core)).state, 'open');
    assert.equal((await core.tasks.discard(task.id)).state, 'discarded');
  });

  it('removes temporary indexes of dead processes and of no other', async () => {
    const core = await cores.open(repo.root);
    const names = [
      `tributary-index-4000001-${process.pid}`,
      `tributary-index-${process.pid}-x${process.pid}`,
    ];
    for (const name of names) {
      await mkdir(join(tmpdir(), name));
      await utimes(join(tmpdir(), name), 1, 1);
    }
    await core.tasks.housekeeping.examine({ mend: true });
    const left = await readdir(tmpdir());
    assert.deepEqual(
      names.map((name) => left.includes(name)),
      [false, true],
    );
    await rm(join(tmpdir(), names[1] ?? ''), { recursive: true });
  });
});
