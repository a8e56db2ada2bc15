import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store } from '../../src/store/store';
import { Board, HandClock, newWorktree, someTask } from './boards';

const dayMs = 24 * 60 * 60 * 1_000;

describe('The care of a board', () => {
  let board: Board;
  let store: Store;
  let clock: HandClock;
  beforeEach(async () => {
    board = await Board.create();
    clock = new HandClock();
    store = await board.open({ clock });
  });
  afterEach(() => board.remove());

  const aTask = (): Promise<unknown> => mkdir(board.path('tasks', someTask), { recursive: true });

  it('gives the daily sweep to one process of all, once a day, also after the clock was set back', async () => {
    await aTask();
    const others = await Promise.all([board.open({ clock }), board.open({ clock }), board.open({ clock })]);
    const claims = async (): Promise<number> => {
      const asked = [store, ...others].map((one) => one.care.claimHousekeeping(dayMs));
      return (await Promise.all(asked)).filter(Boolean).length;
    };
    assert.equal(await claims(), 1);
    assert.equal(await claims(), 0);
    clock.move(dayMs - 1);
    assert.equal(await claims(), 0);
    clock.move(1);
    assert.equal(await claims(), 1);
    clock.move(-5 * dayMs);
    assert.equal(await claims(), 1);
  });

  it('makes nothing where there is no Task, and takes a damaged note for none', async () => {
    assert.equal(await store.care.claimHousekeeping(dayMs), false);
    await assert.rejects(readFile(board.path('housekeeping.json')), { code: 'ENOENT' });
    await aTask();
    await writeFile(board.path('housekeeping.json'), '{"v":1,');
    assert.equal(await store.care.claimHousekeeping(dayMs), true);
  });

  it('looks at damaged records without moving or writing any', async () => {
    await aTask();
    await store.worktrees.put(newWorktree(someTask));
    await writeFile(board.path('tasks', someTask, 'task.json'), 'no JSON');
    await writeFile(board.path('worktrees', 'index.json'), '{"v": 1, ');
    const names = async (): Promise<string[]> => (await readdir(board.path(), { recursive: true })).sort();
    const before = await names();
    const look = await store.care.look();
    assert.deepEqual(look.taskIds, [someTask]);
    assert.deepEqual(look.tasks, []);
    assert.deepEqual(
      look.problems.map(({ code, path }) => [code, path]),
      [
        ['corruptFile', board.path('tasks', someTask, 'task.json')],
        ['corruptFile', board.path('worktrees', 'index.json')],
      ],
    );
    assert.deepEqual(await names(), before);
  });

  it('drops the files set aside of one Task, and through no link', async () => {
    await mkdir(board.path('aside', someTask), { recursive: true });
    await writeFile(board.path('aside', someTask, 'x'), 'x');
    const victim = join(board.commonDir, 'victim');
    await mkdir(victim);
    await writeFile(join(victim, 'work'), 'of the user');
    await symlink(victim, board.path('aside', someTask, 'link'));
    await store.care.dropAside(someTask);
    assert.deepEqual(await readdir(board.path('aside')), []);
    await symlink(victim, board.path('aside', someTask));
    await assert.rejects(store.care.dropAside(someTask), { code: 'corruptFile' });
    assert.deepEqual(await readdir(victim), ['work']);
  });

  it('remembers that the user opened a Worktree until it is made anew', async () => {
    await store.worktrees.put(newWorktree(someTask, { state: 'ready' }));
    await store.worktrees.noteOpened(someTask, clock.now().toISOString());
    const opened = async (): Promise<boolean> => (await store.worktrees.list())[0]?.openedAt !== undefined;
    assert.equal(await opened(), true);
    await store.worktrees.put(newWorktree(someTask, { state: 'busy' }));
    assert.equal(await opened(), true);
    await store.worktrees.put(newWorktree(someTask, { state: 'removed' }));
    assert.equal(await opened(), false);
  });
});
