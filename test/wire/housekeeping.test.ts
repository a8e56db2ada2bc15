import assert from 'node:assert/strict';
import { access, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Core } from '../../src/composeCore';
import type { Task } from '../../src/model/task';
import { cleanUp, fingerprint, gitAt, makeRepo, repoAt, type TempRepo } from '../git/support/tempRepo';
import { age, TestCores } from './support/board';

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe('housekeeping', () => {
  let cores: TestCores;
  let repo: TempRepo;
  let core: Core;

  beforeEach(async () => {
    cores = await TestCores.start();
    repo = await makeRepo({ files: { 'a.txt': 'one\n', '.gitignore': '*.log\n' } });
    core = await cores.open(repo.root);
  });
  afterEach(async () => {
    await cores.close();
    await cleanUp();
  });

  const worktreeOf = (task: Task): TempRepo => repoAt(repo.folder, task.worktreePath ?? assert.fail('none'));
  const refsOf = (task: Task): Promise<string> => repo.git('for-each-ref', `refs/tributary/${task.id}`);

  describe('restore to any Turn', () => {
    it('puts the Worktree to it, keeps what stood there, and is taken back the same way', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1', 'two.txt': '2' });
      const before = await fingerprint(repo.root);
      const run = task.runs[0]?.id ?? '';
      const listed = await core.tasks.snapshots(task.id);
      assert.deepEqual(
        listed.map(({ number, runId, turn, isNewest }) => [number, runId, turn, isNewest]),
        [
          [1, run, 1, false],
          [2, run, 2, true],
        ],
      );
      await worktreeOf(task).write('three.txt', 'by hand');
      await assert.rejects(core.tasks.restoreTo(task.id, { run, turn: 9 }), /has no turn 9; its last is 3/);
      const back = await core.tasks.restoreTo(task.id, { run, turn: 1 });
      assert.deepEqual([back.to, back.before, back.removed.toSorted()], [1, 3, ['three.txt', 'two.txt']]);
      assert.deepEqual((await readdir(worktreeOf(task).root)).sort(), [
        '.git',
        '.gitignore',
        'a.txt',
        'one.txt',
      ]);
      assert.deepEqual(
        (await core.tasks.changes(task.id)).map(({ path }) => path),
        ['one.txt'],
      );
      await core.tasks.restoreTo(task.id, { snapshot: 3 });
      assert.equal(await worktreeOf(task).read('three.txt'), 'by hand');
      const base = await core.tasks.restoreTo(task.id, { run, turn: 0 });
      assert.equal(base.to, 0);
      assert.deepEqual(await core.tasks.changes(task.id), []);
      assert.deepEqual(await fingerprint(repo.root), before);
    });

    it('goes behind a merge of the checkout and back: the change counts from what each state was made on', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await repo.write('user.txt', 'committed');
      await repo.commitAll('of the user');
      await repo.write('a.txt', 'edited\n');
      assert.equal((await core.tasks.mergeIn(task.id)).kind, 'merged');
      const before = await fingerprint(repo.root);
      const paths = async (): Promise<string[]> =>
        (await core.tasks.changes(task.id)).map(({ path }) => path).toSorted();
      const files = async (): Promise<string[]> => (await readdir(worktreeOf(task).root)).toSorted();
      const status = (): Promise<string> => worktreeOf(task).git('status', '--porcelain');
      const merged = [await files(), await status(), await worktreeOf(task).git('rev-parse', 'HEAD')];
      const back = await core.tasks.restoreTo(task.id, { snapshot: 1 });
      assert.deepEqual(back.task.movedBases, []);
      assert.deepEqual(await paths(), ['one.txt']);
      assert.ok(!(await files()).includes('user.txt'));
      assert.doesNotMatch(await worktreeOf(task).git('log', '--format=%s'), /of the user/);
      const again = await core.tasks.restoreTo(task.id, { snapshot: back.before });
      assert.equal(again.task.movedBases.length, 1);
      assert.deepEqual(await paths(), ['one.txt']);
      assert.deepEqual(
        [await files(), await status(), await worktreeOf(task).git('rev-parse', 'HEAD')],
        merged,
      );
      await core.tasks.restoreTo(task.id, { snapshot: 1 });
      await repo.write('more.txt', 'later');
      assert.equal((await core.tasks.mergeIn(task.id)).kind, 'merged');
      assert.deepEqual(await paths(), ['one.txt']);
      const bases = (await refsOf(task)).split('\n').filter((line) => line.includes('/base-'));
      assert.equal(bases.length, 2);
      await core.tasks.restoreTo(task.id, { snapshot: 1 });
      assert.equal((await core.tasks.accept(task.id)).kind, 'landed');
      await repo.remove('one.txt');
      await repo.remove('more.txt');
      const { refs: _, ...own } = before;
      const { refs, ...after } = await fingerprint(repo.root);
      assert.deepEqual(after, own);
      // The Task's branch went with its Worktree.
      assert.equal(refs?.split('\n').length, 2);
    });

    it('sets aside what is ignored there and stands where the earlier state has something else', async () => {
      const task = await cores.task(core, 'Write', { 'kept/note.txt': '1', 'plain.txt': '1' });
      const tree = worktreeOf(task);
      await tree.remove('kept');
      await tree.remove('plain.txt');
      await tree.write('.gitignore', '*.log\nkept\n/plain.txt\n');
      await tree.write('kept', 'a file, ignored');
      await tree.write('plain.txt/deep/own.log', 'ignored too');
      const back = await core.tasks.restoreTo(task.id, { snapshot: 2 });
      assert.equal(await tree.read('kept/note.txt'), '1');
      assert.equal(await tree.read('plain.txt'), '1');
      assert.deepEqual(back.aside?.paths.toSorted(), ['kept', 'plain.txt']);
      const folder = back.aside?.folder ?? assert.fail('nowhere');
      assert.equal(await readFile(join(folder, 'kept'), 'utf8'), 'a file, ignored');
      assert.equal(await readFile(join(folder, 'plain.txt/deep/own.log'), 'utf8'), 'ignored too');
      assert.equal((await core.tasks.find(task.id)).task.aside, folder);
    });

    it('overwrites no ignored file of the name of one that it brings back', async () => {
      const task = await cores.task(core, 'Write', { 'plain.txt': '1' });
      const tree = worktreeOf(task);
      await tree.remove('plain.txt');
      await tree.write('.gitignore', '*.log\n/plain.txt\n');
      await tree.write('plain.txt', 'ignored by now');
      const back = await core.tasks.restoreTo(task.id, { snapshot: 1 });
      assert.equal(await tree.read('plain.txt'), '1');
      const folder = back.aside?.folder ?? assert.fail('nowhere');
      assert.equal(await readFile(join(folder, 'plain.txt'), 'utf8'), 'ignored by now');
    });

    it('deletes no repository that stands where a file of the earlier state was', async () => {
      const task = await cores.task(core, 'Write', { kept: '1' });
      const tree = worktreeOf(task);
      await tree.remove('kept');
      await tree.git('init', '--quiet', 'kept');
      await tree.write('kept/note.txt', 'of the repository');
      const inner = join(tree.root, 'kept');
      await gitAt(inner, 'add', '--all');
      await gitAt(inner, 'commit', '--quiet', '--message', 'own');
      const commit = await gitAt(inner, 'rev-parse', 'HEAD');
      const back = await core.tasks.restoreTo(task.id, { snapshot: 1 });
      assert.equal(await tree.read('kept'), '1');
      assert.deepEqual(back.aside?.paths, ['kept'], 'its files are in the Snapshot');
      const folder = back.aside?.folder ?? assert.fail('nowhere');
      assert.deepEqual(await gitAt(join(folder, 'kept'), 'rev-parse', 'HEAD'), commit);
    });

    it('knows what was edited by hand before a Run wrote over it', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await worktreeOf(task).write('one.txt', 'by hand');
      cores.script({ 'two.txt': '2' });
      const { task: after, runs } = await (await core.tasks.followUp(task.id, 'Go on')).settled;
      await core.tasks.restoreTo(after.id, { run: runs[0]?.id ?? '', turn: 0 });
      assert.equal(await worktreeOf(task).read('one.txt'), 'by hand');
      assert.ok(!(await readdir(worktreeOf(task).root)).includes('two.txt'));
    });

    it('refuses a state that is not recorded', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await assert.rejects(core.tasks.restoreTo(task.id, { snapshot: 9 }), { code: 'unknownId' });
      await assert.rejects(core.tasks.restoreTo(task.id, { run: 'run_none', turn: 1 }), {
        code: 'unknownId',
      });
    });
  });

  describe('a sweep', () => {
    it('takes an unchanged Worktree after 15 idle minutes, ignored files aside, and it comes back on follow-up', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await core.tasks.restoreTo(task.id, { snapshot: 0 });
      await worktreeOf(task).write('x.log', 'ignored');
      assert.deepEqual(await core.tasks.housekeeping.sweep(), []);
      await age(core, task, 1);
      const [would] = await core.tasks.housekeeping.sweep({ isDryRun: true });
      assert.equal(would?.outcome, 'wouldRemove');
      assert.equal(await exists(worktreeOf(task).root), true);
      const [item] = await core.tasks.housekeeping.sweep();
      assert.deepEqual([item?.kind, item?.outcome], ['worktree', 'removed']);
      assert.equal(await exists(worktreeOf(task).root), false);
      assert.deepEqual(await core.tasks.housekeeping.sweep(), []);
      cores.script({ 'two.txt': '2' });
      await (await core.tasks.followUp(task.id, 'Go on')).settled;
      assert.equal(await worktreeOf(task).read('x.log'), 'ignored');
    });

    it('that was killed on its way is finished by the next command, which tells what was set aside', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await core.tasks.restoreTo(task.id, { snapshot: 0 });
      await worktreeOf(task).write('x.log', 'ignored');
      const index = join(repo.root, '.git/tributary/worktrees/index.json');
      const text = await readFile(index, 'utf8');
      await writeFile(index, text.replace('"state": "ready"', '"state": "removing"'));
      await core.tasks.list();
      assert.equal(await exists(worktreeOf(task).root), false);
      const { aside } = (await core.tasks.find(task.id)).task;
      assert.equal(await readFile(join(aside ?? assert.fail('nowhere'), 'x.log'), 'utf8'), 'ignored');
      cores.script({ 'two.txt': '2' });
      await (await core.tasks.followUp(task.id, 'Go on')).settled;
      assert.equal(await worktreeOf(task).read('x.log'), 'ignored');
    });

    it('takes only what it was told to of what may go', async () => {
      const [one, other] = [
        await cores.task(core, 'Write', { 'one.txt': '1' }),
        await cores.task(core, 'Other', { 'one.txt': '1' }),
      ];
      for (const task of [one, other]) {
        await core.tasks.restoreTo(task.id, { snapshot: 0 });
        await age(core, task, 1);
      }
      const none = await core.tasks.housekeeping.sweep({ only: [{ kind: 'kept', taskId: one.id }] });
      assert.deepEqual(none, []);
      await core.tasks.housekeeping.sweep({ only: [{ kind: 'worktree', taskId: one.id }] });
      assert.equal(await exists(worktreeOf(one).root), false);
      assert.equal(await exists(worktreeOf(other).root), true);
    });

    it('never takes one that is changed, nor one the user opened', async () => {
      const changed = await cores.task(core, 'Write', { 'one.txt': '1' });
      const opened = await cores.task(core, 'Other', { 'one.txt': '1' });
      await core.tasks.restoreTo(opened.id, { snapshot: 0 });
      await core.tasks.housekeeping.noteOpened(opened.id);
      await age(core, changed, 90);
      await age(core, opened, 90);
      assert.deepEqual(await core.tasks.housekeeping.sweep(), []);
      const { worktrees } = await core.tasks.housekeeping.worktrees();
      assert.deepEqual(
        worktrees.map(({ slug, isChanged, openedAt, stands }) => [
          slug,
          isChanged,
          openedAt !== undefined,
          stands,
        ]),
        [
          ['write', true, false, 'whole'],
          ['other', false, true, 'whole'],
        ],
      );
    });

    it('keeps what brings an ended Task back for 30 days from its end; record and transcript stay for good', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await worktreeOf(task).write('x.log', 'ignored');
      await core.tasks.discard(task.id);
      await age(core, task, 29);
      assert.deepEqual(await core.tasks.housekeeping.sweep({ olderThanDays: 1 }), []);
      await age(core, task, 31);
      assert.deepEqual(await core.tasks.housekeeping.sweep({ olderThanDays: 60 }), []);
      const [item] = await core.tasks.housekeeping.sweep();
      assert.deepEqual([item?.kind, item?.outcome], ['kept', 'removed']);
      assert.equal(await refsOf(task), '');
      assert.equal(await exists(join(core.repository.commonDir, 'tributary', 'aside', task.id)), false);
      await assert.rejects(core.tasks.restore(task.id), /ended too long ago/);
      const { entries } = await core.tasks.transcript(task.id, task.runs[0]?.id ?? assert.fail());
      assert.ok(entries.length > 0);
      assert.deepEqual(await core.tasks.housekeeping.sweep(), []);
    });

    it('never takes the branch that a Task was ended by keeping', async () => {
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await repo.git('config', 'user.name', 'Ann');
      await repo.git('config', 'user.email', 'ann@example.org');
      const kept = await core.tasks.accept(task.id, { mode: 'keepBranch' });
      assert.equal(kept.kind, 'kept');
      await age(core, task, 60);
      const [item] = await core.tasks.housekeeping.sweep();
      assert.equal(item?.outcome, 'removed');
      await core.tasks.housekeeping.examine({ mend: true });
      assert.equal(await repo.git('show', `${task.branch}:one.txt`), '1');
    });

    it('takes the undo of an accepted Task with its Snapshots, and nothing of an open one', async () => {
      const open = await cores.task(core, 'Keep', { 'keep.txt': '1' });
      const task = await cores.task(core, 'Write', { 'one.txt': '1' });
      await core.tasks.accept(task.id);
      await age(core, task, 31);
      await age(core, open, 31);
      const before = await fingerprint(repo.root);
      const items = await core.tasks.housekeeping.sweep();
      assert.deepEqual(
        items.map(({ slug, outcome }) => [slug, outcome]),
        [['write', 'removed']],
      );
      assert.deepEqual(await readdir(join(core.repository.commonDir, 'tributary', 'journal')), []);
      assert.notEqual(await refsOf(open), '');
      await assert.rejects(core.tasks.undo(task.id), { code: 'wrongState' });
      assert.deepEqual(await fingerprint(repo.root), before);
    });
  });

  it('a list of Worktrees names strangers under our folder and what stands in place of ours', async () => {
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    const stranger = join(repo.folder, 'repo.worktrees', 'not-ours');
    await repoAt(repo.folder, stranger).write('x', 'y'.repeat(5_000));
    const report = await core.tasks.housekeeping.worktrees();
    assert.deepEqual(
      report.strangers.map(({ path }) => path),
      [stranger],
    );
    const [one] = report.worktrees;
    assert.deepEqual([one?.path, one?.state, one?.isChanged], [task.worktreePath, 'ready', true]);
    assert.ok((one?.size?.bytes ?? 0) > 0 && one?.size?.isWhole);
  });

  it('an accept sees what its preview saw also when the list of Worktrees is lost', async () => {
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    await worktreeOf(task).write('late.txt', 'by hand');
    await repoAt(repo.folder, join(core.repository.commonDir, 'tributary', 'worktrees')).remove('index.json');
    const plan = await core.tasks.preview(task.id);
    assert.deepEqual(plan.paths.map(({ path }) => path).sort(), ['late.txt', 'one.txt']);
    const outcome = await core.tasks.accept(task.id);
    assert.equal(outcome.kind, 'landed');
    assert.equal(await readFile(join(repo.root, 'late.txt'), 'utf8'), 'by hand');
  });
});
