import assert from 'node:assert/strict';
import { access, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileOps } from '../../src/base/atomicFile';
import { systemFileOps } from '../../src/base/atomicFile';
import { makeRunId, makeTaskId, type TaskId } from '../../src/model/ids';
import type { Migrations } from '../../src/store/migrations';
import type { Store, StoreProblem } from '../../src/store/store';
import type { WatchFolder } from '../../src/store/ticker';
import { Board, HandClock, HandTicker, LoggedLines, newRun, newTask, silentWatch } from './boards';

describe('The task store', () => {
  let board: Board;
  let store: Store;
  const clock = new HandClock();
  beforeEach(async () => {
    board = await Board.create();
    await mkdir(board.commonDir, { recursive: true });
    store = await board.open({ clock });
  });
  afterEach(() => board.remove());

  const taskFile = (id: TaskId): string => board.path('tasks', id, 'task.json');
  const createTask = (): Promise<TaskId> => store.tasks.create((id) => newTask(id)).then((task) => task.id);

  it('makes nothing on the disk until something is written', async () => {
    assert.deepEqual(await store.tasks.list(), { tasks: [], problems: [] });
    assert.deepEqual(await store.worktrees.list(), []);
    assert.deepEqual(await store.worktrees.readEvents(), []);
    assert.deepEqual(await store.journal.list(), []);
    await assert.rejects(store.tasks.load(makeTaskId(clock.now(), 1)), { code: 'unknownId' });
    store.tasks.watch(() => undefined).dispose();
    assert.deepEqual(await readdir(board.commonDir), []);
  });

  it('gives Tasks ids by time and counter, decided by exclusive creation of the folder', async () => {
    await mkdir(board.path('tasks', 'task_20260304T050607089_2'), { recursive: true });
    const ids = [await createTask(), await createTask()];
    assert.deepEqual(ids, ['task_20260304T050607089_1', 'task_20260304T050607089_3']);
    assert.deepEqual((await store.tasks.load(ids[0] ?? ids[1] ?? makeTaskId(clock.now(), 9))).id, ids[0]);
  });

  it('gives different ids to stores that create at the same moment', async () => {
    const other = await board.open({ clock });
    const tasks = await Promise.all(
      Array.from({ length: 12 }, (_, index) => (index % 2 ? store : other).tasks.create((id) => newTask(id))),
    );
    assert.equal(new Set(tasks.map((task) => task.id)).size, 12);
    const listed = (await store.tasks.list()).tasks.map((task) => task.id);
    assert.deepEqual(
      listed,
      Array.from({ length: 12 }, (_, index) => `task_20260304T050607089_${index + 1}`),
      'sorted by id, the counter as a number',
    );
  });

  it('passes over the empty folder of a creation that a crash cut short', async () => {
    await mkdir(board.path('tasks', 'task_20260304T050607089_1'), { recursive: true });
    assert.deepEqual(await store.tasks.list(), { tasks: [], problems: [] });
    await assert.rejects(store.tasks.load(makeTaskId(clock.now(), 1)), { code: 'unknownId' });
    await assert.rejects(
      store.tasks.update(makeTaskId(clock.now(), 1), (task) => task),
      { code: 'unknownId' },
    );
  });

  it('leaves no folder behind when a creation fails', async () => {
    await assert.rejects(
      store.tasks.create(() => {
        throw new Error('no');
      }),
      { message: 'no' },
    );
    await assert.rejects(
      store.tasks.create((id) => newTask(id, { slug: '' })),
      { code: 'internal' },
    );
    assert.deepEqual(await readdir(board.path('tasks')), []);
  });

  it('reads from disk before each change, since another process may have written', async () => {
    const id = await createTask();
    const other = await board.open({ clock });
    await other.tasks.update(id, (task) => ({ ...task, agent: 'explore' }));
    const updated = await store.tasks.update(id, (task) => ({ ...task, state: 'closed' }));
    assert.equal(updated.agent, 'explore');
    assert.deepEqual(await other.tasks.load(id), updated);
  });

  it('loses no change of concurrent stores', async () => {
    const id = await createTask();
    const other = await board.open({ clock });
    await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        (index % 2 ? store : other).tasks.update(id, (task) => ({
          ...task,
          snapshotCount: task.snapshotCount + 1,
        })),
      ),
    );
    assert.equal((await store.tasks.load(id)).snapshotCount, 30);
  });

  it('writes nothing when the change gives the same object back', async () => {
    const id = await createTask();
    const before = await readFile(taskFile(id));
    // Unlike what the store writes, so that a write would show.
    await writeFile(taskFile(id), Buffer.concat([before, Buffer.from('\n\n')]));
    await store.tasks.update(id, (task) => task);
    assert.equal((await readFile(taskFile(id))).length, before.length + 2);
  });

  it('keeps the saved Task when a change throws, is not valid, or the disk is full', async () => {
    const id = await createTask();
    const before = await readFile(taskFile(id), 'utf8');
    await assert.rejects(
      store.tasks.update(id, () => {
        throw new Error('no');
      }),
    );
    await assert.rejects(
      store.tasks.update(id, (task) => ({ ...task, id: makeTaskId(clock.now(), 99) })),
      { code: 'internal' },
    );
    const full: FileOps = {
      ...systemFileOps,
      open: async (path, flags, mode) => {
        const file = await systemFileOps.open(path, flags, mode);
        if (!path.includes('task.json')) return file;
        const failure = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
        return { write: () => Promise.reject(failure), sync: () => file.sync(), close: () => file.close() };
      },
    };
    const poor = await board.open({ clock, machine: { ops: full } });
    await assert.rejects(
      poor.tasks.update(id, (task) => ({ ...task, state: 'closed' })),
      { code: 'diskFull' },
    );
    await assert.rejects(
      poor.tasks.create((newId) => newTask(newId)),
      { code: 'diskFull' },
    );
    assert.equal(await readFile(taskFile(id), 'utf8'), before);
    assert.deepEqual(await readdir(board.path('tasks', id)), ['task.json']);
    assert.equal((await store.tasks.list()).tasks.length, 1);
  });

  describe('and damaged files', () => {
    const damages: readonly [string, (good: string) => string | Buffer][] = [
      ['an empty file', () => ''],
      ['a file that was cut short', (good) => good.slice(0, good.length / 2)],
      ['a file that is no JSON object', () => '[1]'],
      ['a file without a version', (good) => good.replace('"v": 1', '"w": 1')],
      ['a file of wrong types', (good) => good.replace('"open"', '7')],
      ['a file that is not text', () => Buffer.from([0x7b, 0xff, 0x7d])],
      ['a file of a version nobody knows', (good) => good.replace('"v": 1', '"v": 0')],
    ];
    for (const [name, damage] of damages) {
      it(`keeps ${name} under another name, says so, and goes on with the other Tasks`, async () => {
        const [bad, good] = [await createTask(), await createTask()];
        const damaged = damage(await readFile(taskFile(bad), 'utf8'));
        await writeFile(taskFile(bad), damaged);
        const { tasks, problems } = await store.tasks.list();
        assert.deepEqual(
          tasks.map((task) => task.id),
          [good],
        );
        const problem = problems[0];
        assert.ok(problem !== undefined && problems.length === 1);
        assert.equal(problem.code, 'corruptFile');
        assert.equal(problem.taskId, bad);
        assert.equal(problem.path, taskFile(bad));
        const kept = 'task.json.corrupt-20260304T050607089';
        assert.ok(problem.message.includes(taskFile(bad)) && problem.message.includes(kept), problem.message);
        assert.deepEqual(await readdir(board.path('tasks', bad)), [kept]);
        assert.deepEqual(await readFile(board.path('tasks', bad, kept)), Buffer.from(damaged));
      });
    }

    it('says a damaged Task again each time, until somebody mends it', async () => {
      const id = await createTask();
      const good = await readFile(taskFile(id));
      await writeFile(taskFile(id), '{');
      await store.tasks.list();
      assert.equal((await store.tasks.list()).problems[0]?.code, 'corruptFile');
      await writeFile(taskFile(id), good);
      assert.deepEqual((await store.tasks.list()).problems, []);
    });

    it('never replaces a damaged file that was kept before', async () => {
      const id = await createTask();
      for (const text of ['{first', '{second']) {
        await writeFile(taskFile(id), text);
        await assert.rejects(store.tasks.load(id), { code: 'corruptFile' });
      }
      await writeFile(taskFile(id), '{third');
      await assert.rejects(
        store.tasks.update(id, (task) => task),
        { code: 'corruptFile' },
      );
      const names = (await readdir(board.path('tasks', id))).sort();
      const texts = await Promise.all(names.map((name) => readFile(board.path('tasks', id, name), 'utf8')));
      assert.deepEqual(texts, ['{first', '{second', '{third']);
    });

    it('does not rename a file that its writer mends meanwhile', async () => {
      const id = await createTask();
      const good = await readFile(taskFile(id), 'utf8');
      await writeFile(taskFile(id), '{');
      const lock = await store.locks.acquire('board');
      const listing = store.tasks.list();
      await writeFile(taskFile(id), good);
      await lock.release();
      assert.deepEqual(
        (await listing).tasks.map((task) => task.id),
        [id],
      );
    });

    it('reads a file that an editor saved with a byte order mark', async () => {
      const id = await createTask();
      await writeFile(taskFile(id), `\uFEFF${await readFile(taskFile(id), 'utf8')}`);
      assert.equal((await store.tasks.load(id)).id, id);
    });
  });

  describe('and versions', () => {
    it('migrates an older file step by step before it is checked', async () => {
      const id = await createTask();
      const text = await readFile(taskFile(id), 'utf8');
      await writeFile(taskFile(id), text.replace('"v": 1', '"v": 0').replace('"slug"', '"name"'));
      const migrations: Migrations = {
        task: { 0: ({ name, ...rest }) => ({ ...rest, slug: name }) },
      };
      const migrating = await board.open({ clock, machine: { migrations } });
      assert.equal((await migrating.tasks.load(id)).slug, 'fix-parser');
      await migrating.tasks.update(id, (task) => ({ ...task, state: 'closed' }));
      assert.equal((await store.tasks.load(id)).state, 'closed', 'saved in the current version');
    });

    it('opens a newer file read-only: it is shown and said, and every change is refused', async () => {
      const id = await createTask();
      const newer = (await readFile(taskFile(id), 'utf8')).replace('"v": 1', '"v": 2');
      await writeFile(taskFile(id), newer);
      const { tasks, problems } = await store.tasks.list();
      assert.equal(tasks.length, 1);
      assert.equal(problems[0]?.code, 'newerStore');
      assert.equal(problems[0]?.taskId, id);
      assert.equal((await store.tasks.load(id)).id, id);
      await assert.rejects(
        store.tasks.update(id, (task) => ({ ...task, state: 'closed' })),
        { code: 'newerStore', message: /version 2/ },
      );
      assert.equal(await readFile(taskFile(id), 'utf8'), newer);
    });

    it('leaves a newer file alone that it cannot understand', async () => {
      const id = await createTask();
      await writeFile(taskFile(id), '{"v":2,"all":"different"}');
      const { tasks, problems } = await store.tasks.list();
      assert.deepEqual(tasks, []);
      assert.equal(problems[0]?.code, 'newerStore');
      await assert.rejects(store.tasks.load(id), { code: 'newerStore' });
      assert.deepEqual(await readdir(board.path('tasks', id)), ['task.json']);
    });

    it('refuses new Run ids when the board is of a newer version', async () => {
      await mkdir(board.path(), { recursive: true });
      await writeFile(board.path('board.json'), '{"v":9}');
      await assert.rejects(store.tasks.newRunId(), { code: 'newerStore' });
    });
  });

  describe('and Run ids', () => {
    it('gives every id once, also to several stores and when the clock goes back', async () => {
      const own = new HandClock();
      const first = await board.open({ clock: own });
      const second = await board.open({ clock: own });
      const ids: string[] = [];
      for (const move of [0, 5, -60_000, 0, 120_000]) {
        own.move(move);
        ids.push(...(await Promise.all([first.tasks.newRunId(), second.tasks.newRunId()])));
      }
      assert.equal(new Set(ids).size, ids.length);
      assert.ok(ids.includes('run_20260304T050607094_5'), 'counts on while the clock is behind');
      assert.ok(ids.at(-1)?.startsWith('run_20260304T050707094_'));
    });

    it('repeats none when the file with the last one is lost or damaged', async () => {
      const id = await createTask();
      const inRecord = makeRunId('20270101T000000000', 3);
      await store.tasks.update(id, (task) => ({ ...task, runs: [newRun(inRecord)] }));
      await writeFile(board.path('board.json'), 'garbage');
      const problems: StoreProblem[] = [];
      const told = await board.open({ clock, onProblem: (problem) => problems.push(problem) });
      assert.equal(await told.tasks.newRunId(), 'run_20270101T000000000_4');
      assert.equal(problems[0]?.code, 'corruptFile');
      await rm(board.path('board.json'));
      await mkdir(board.path('tasks', id, 'runs'), { recursive: true });
      await writeFile(board.path('tasks', id, 'runs', 'run_20270101T000000000_12.jsonl'), '');
      assert.equal(await store.tasks.newRunId(), 'run_20270101T000000000_13');
    });
  });

  describe('and watching', () => {
    /** Resolves with the next id the watch gives. */
    function nextChange(of: Store): Promise<TaskId> {
      return new Promise((resolve) => {
        const watch = of.tasks.watch((id) => {
          watch.dispose();
          resolve(id);
        });
      });
    }

    it('hears of our own changes and of those of another store', async () => {
      const own = nextChange(store);
      const id = await createTask();
      assert.equal(await own, id);
      // Without its poll: Node's watch on the folder of all Tasks is enough.
      const other = await board.open({ clock, machine: { every: new HandTicker().every } });
      const seen = new Promise<string>((resolve) => {
        other.tasks.watch((changed) => {
          if (changed !== id) resolve(changed);
        });
      });
      const second = await createTask();
      assert.equal(await seen, second);
      const third = new Promise<string>((resolve) => other.tasks.watch(resolve));
      await store.tasks.update(id, (task) => ({ ...task, agent: 'explore' }));
      assert.equal(await third, id);
    });

    it('hears by polling alone, once for each change, and not of what stayed the same', async () => {
      const hand = new HandTicker();
      const quiet = await createTask();
      const id = await createTask();
      const polled = await board.open({ clock, machine: { every: hand.every, watchFolder: silentWatch } });
      const seen: TaskId[] = [];
      let wake = (): void => undefined;
      const watch = polled.tasks.watch((changed) => {
        seen.push(changed);
        wake();
      });
      const heard = (): Promise<void> =>
        new Promise((resolve) => {
          wake = resolve;
        });
      // What was written a moment before the watch began may be told once: not to miss a change counts more.
      for (const agent of ['a', 'b']) {
        seen.length = 0;
        const changed = heard();
        await store.tasks.update(id, (task) => ({ ...task, agent }));
        hand.tick(2_000);
        await changed;
      }
      assert.ok(
        seen.every((changed) => changed === id) && seen.length === 1,
        `${seen} but ${quiet} is unchanged`,
      );
      watch.dispose();
      assert.equal(hand.count(2_000), 0);
    });

    it('begins before the folder exists and goes on by polling when the watch fails', async () => {
      const hand = new HandTicker();
      const logger = new LoggedLines();
      let fail = (): void => undefined;
      let isClosed = false;
      const watchFolder: WatchFolder = (_folder, _onEvent, onError) => {
        fail = () => onError(new Error('the watch broke'));
        return {
          dispose: () => {
            isClosed = true;
          },
        };
      };
      const polled = await board.open({ clock, logger, machine: { every: hand.every, watchFolder } });
      const change = nextChange(polled);
      fail();
      assert.ok(isClosed);
      assert.ok(logger.lines.some((line) => line.startsWith('warn')));
      const id = await createTask();
      hand.tick(2_000);
      assert.equal(await change, id);
    });

    it('holds no timer and no watch after it is disposed', async () => {
      const hand = new HandTicker();
      let open = 0;
      const watchFolder: WatchFolder = () => {
        open += 1;
        return {
          dispose: () => {
            open -= 1;
          },
        };
      };
      const other = await board.open({ machine: { every: hand.every, watchFolder } });
      const watches = [other.tasks.watch(() => undefined), other.tasks.watch(() => undefined)];
      assert.equal(open, 1);
      for (const watch of watches) watch.dispose();
      assert.equal(open, 0);
      assert.equal(hand.count(2_000), 0);
      other.tasks.watch(() => undefined);
      await other.dispose();
      assert.equal(open, 0);
    });
  });

  it('lists a thousand Tasks', async () => {
    const template = await createTask();
    const text = await readFile(taskFile(template), 'utf8');
    for (let counter = 2; counter <= 1_000; counter += 1) {
      const id = makeTaskId(clock.now(), counter);
      await mkdir(board.path('tasks', id));
      await writeFile(taskFile(id), text.replace(template, id));
    }
    const { tasks } = await store.tasks.list();
    assert.equal(tasks.length, 1_000);
    assert.equal(tasks.at(-1)?.id, makeTaskId(clock.now(), 1_000));
  });

  it('can be moved: no file holds a path of the board', async () => {
    const id = await createTask();
    await store.tasks.newRunId();
    await rename(board.commonDir, `${board.commonDir} moved`);
    const moved = new Board(`${board.commonDir} moved`);
    const again = await moved.open({ clock });
    assert.equal((await again.tasks.load(id)).id, id);
    await again.dispose();
    await access(join(moved.commonDir, 'tributary', 'board.json'));
  });
});
