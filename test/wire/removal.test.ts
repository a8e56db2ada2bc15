import assert from 'node:assert/strict';
import { access, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Core } from '../../src/composeCore';
import type { Task } from '../../src/model/task';
import { cleanUp, makeRepo, repoAt, type TempRepo } from '../git/support/tempRepo';
import { TestCores } from './support/board';

describe('the removal of a Worktree', () => {
  let cores: TestCores;
  let repo: TempRepo;
  let core: Core;
  let task: Task;

  beforeEach(async () => {
    cores = await TestCores.start();
    repo = await makeRepo({ files: { 'a.txt': 'one\n', '.gitignore': '*.log\n' } });
    core = await cores.open(repo.root);
    task = await cores.task(core, 'Write', { 'one.txt': '1' });
    await worktree().write('x.log', 'ignored');
  });
  afterEach(async () => {
    await cores.close();
    await cleanUp();
  });

  const worktree = (): TempRepo => repoAt(repo.folder, task.worktreePath ?? assert.fail('none'));
  const trashes = async (): Promise<string[]> =>
    (await readdir(`${repo.root}.worktrees`)).filter((name) => name.startsWith('.tributary-trash-'));
  const recordedState = async (): Promise<string | undefined> =>
    (await core.tasks.housekeeping.worktrees()).worktrees.find((one) => one.taskId === task.id)?.state;

  /** Calls `body` in the middle: the Task has just become `state`, the folder is not yet emptied. */
  function atOnce<T>(state: Task['state'], body: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isSeen = false;
      core.tasks.onDidChangeTask(({ task: changed }) => {
        if (isSeen || changed.id !== task.id || changed.state !== state) return;
        isSeen = true;
        body().then(resolve, reject);
      });
    });
  }

  it('is over for the Task as soon as the folder is renamed aside: it is emptied and deleted later', async () => {
    const seen = atOnce('discarded', async () => ({
      place: await access(worktree().root).then(
        () => 'there',
        () => 'gone',
      ),
      state: await recordedState(),
      trash: await trashes(),
    }));
    const ended = await core.tasks.discard(task.id);
    assert.deepEqual(await seen, {
      place: 'gone',
      state: 'removing',
      trash: [`.tributary-trash-${task.slug}`],
    });
    assert.deepEqual([await recordedState(), await trashes()], [undefined, []]);
    assert.deepEqual(await readdir(ended.aside ?? assert.fail('nothing is kept')), ['x.log']);
  });

  it('is told to have kept something aside until that came back, and of what could not come back after it too', async () => {
    await core.tasks.discard(task.id);
    assert.equal((await core.tasks.restore(task.id)).aside, undefined);
    const ended = await core.tasks.discard(task.id);
    const aside = ended.aside ?? assert.fail('nothing is kept');
    await writeFile(join(aside, 'one.txt'), 'in whose place another stands');
    assert.equal((await core.tasks.restore(task.id)).aside, aside);
    assert.deepEqual(await readdir(aside), ['one.txt']);
  });

  it('tells of itself with the Task as it is: nobody who listens goes back to what it was', async () => {
    const told: string[] = [];
    core.tasks.onDidChangeTask(({ event, task: changed }) =>
      told.push(`${event.type} ${changed.state} ${changed.pending?.to ?? 'at rest'}`),
    );
    await core.tasks.discard(task.id);
    assert.deepEqual(told, [
      'worktree.remove.started open discarded',
      'task.changed discarded at rest',
      'worktree.remove.completed discarded at rest',
    ]);
  });

  it('is waited for by a restore that comes meanwhile, which brings everything back', async () => {
    const restored = atOnce('discarded', () => core.tasks.restore(task.id));
    await core.tasks.discard(task.id);
    assert.equal((await restored).state, 'open');
    assert.deepEqual(
      [await worktree().read('one.txt'), await worktree().read('x.log'), await trashes()],
      ['1', 'ignored', []],
    );
  });

  it('is waited for by an undo that comes meanwhile, which brings everything back', async () => {
    const undone = atOnce('accepted', () => core.tasks.undo(task.id));
    await core.tasks.accept(task.id);
    assert.equal((await undone).kind, 'undone');
    assert.deepEqual(
      [await worktree().read('one.txt'), await worktree().read('x.log'), await trashes()],
      ['1', 'ignored', []],
    );
    await assert.rejects(access(join(repo.root, 'one.txt')));
  });

  it('is not taken for something that was cut off while it goes on', async () => {
    const other = await cores.open(repo.root);
    const found = atOnce('discarded', async () => [
      // What lies in the machine's temporary folder is not this test's.
      (await other.tasks.housekeeping.examine())
        .map(({ kind }) => kind)
        .filter((kind) => kind !== 'temporary'),
      (await other.tasks.list()).problems,
    ]);
    await core.tasks.discard(task.id);
    assert.deepEqual(await found, [[], []]);
    assert.equal((await core.tasks.find(task.id)).task.state, 'discarded');
  });
});
