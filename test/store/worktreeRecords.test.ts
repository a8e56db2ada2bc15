import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import type { BoardEvent } from '../../src/model/events';
import { makeTaskId } from '../../src/model/ids';
import type { Store, StoreProblem } from '../../src/store/store';
import { Board, HandClock, LoggedLines, newWorktree, someTask } from './boards';
import { ChildProcesses } from './childProcesses';

const otherTask = makeTaskId(new Date('2026-01-02T03:04:05.006Z'), 2);
const event = (at: string): BoardEvent => ({ v: 1, at, taskId: someTask, type: 'worktree.create.started' });

describe('The worktree records', () => {
  let board: Board;
  let store: Store;
  const problems: StoreProblem[] = [];
  const logger = new LoggedLines();
  const index = (): string => board.path('worktrees', 'index.json');
  const events = (): string => board.path('worktrees', 'events.jsonl');
  beforeEach(async () => {
    problems.length = 0;
    logger.lines.length = 0;
    board = await Board.create();
    store = await board.open({
      clock: new HandClock(),
      logger,
      onProblem: (problem) => problems.push(problem),
    });
  });
  afterEach(() => board.remove());

  it('name every Worktree and replace the record of a Task', async () => {
    await store.worktrees.put(newWorktree(someTask));
    await store.worktrees.put(newWorktree(otherTask, { path: '/repo.worktrees/ü' }));
    await store.worktrees.put(newWorktree(someTask, { state: 'removed' }));
    assert.deepEqual(await store.worktrees.list(), [
      newWorktree(someTask, { state: 'removed' }),
      newWorktree(otherTask, { path: '/repo.worktrees/ü' }),
    ]);
  });

  it('lose nothing when several stores write at once', async () => {
    const other = await board.open();
    const ids = Array.from({ length: 20 }, (_, counter) => makeTaskId(new Date(0), counter + 1));
    await Promise.all(ids.map((id, at) => (at % 2 ? store : other).worktrees.put(newWorktree(id))));
    const listed = (await store.worktrees.list()).map(({ taskId }) => taskId);
    assert.deepEqual(new Set(listed), new Set(ids));
  });

  it('keep a damaged index under another name, say so, and begin a new one', async () => {
    await store.worktrees.put(newWorktree(someTask));
    await writeFile(index(), '{"v":1,"worktrees":[');
    assert.deepEqual(await store.worktrees.list(), []);
    assert.equal(problems[0]?.code, 'corruptFile');
    await store.worktrees.put(newWorktree(otherTask));
    assert.deepEqual(await store.worktrees.list(), [newWorktree(otherTask)]);
    assert.deepEqual(await readdir(board.path('worktrees')), [
      'index.json',
      'index.json.corrupt-20260304T050607089',
    ]);
  });

  it('of a newer version are read and not written', async () => {
    await store.worktrees.put(newWorktree(someTask));
    await writeFile(index(), (await readFile(index(), 'utf8')).replace('"v": 1', '"v": 2'));
    assert.deepEqual(await store.worktrees.list(), [newWorktree(someTask)]);
    assert.equal(problems[0]?.code, 'newerStore');
    await assert.rejects(store.worktrees.put(newWorktree(otherTask)), { code: 'newerStore' });
    await writeFile(index(), '{"v":2}');
    await assert.rejects(store.worktrees.list(), { code: 'newerStore' });
  });

  it('refuse a record that is not valid', async () => {
    await assert.rejects(store.worktrees.put(newWorktree(someTask, { base: { ref: '', commit: 'x' } })), {
      code: 'internal',
    });
    await assert.rejects(readdir(board.path('worktrees')), { code: 'ENOENT' });
  });

  it('give the events back in the order of the calls', async () => {
    const sent = Array.from({ length: 50 }, (_, at) => event(String(at)));
    await Promise.all(sent.map((each) => store.worktrees.appendEvent(each)));
    assert.deepEqual(await store.worktrees.readEvents(), sent);
  });

  it('do not glue an event to the half line of a killed writer, and read past it', async () => {
    await store.worktrees.appendEvent(event('1'));
    await appendFile(events(), '{"v":1,"at":"hal');
    assert.deepEqual(await store.worktrees.readEvents(), [event('1')]);
    await store.worktrees.appendEvent(event('2'));
    await appendFile(events(), '{"v":2,"type":"from the future"}\n');
    assert.deepEqual(await store.worktrees.readEvents(), [event('1'), event('2')]);
    assert.ok(logger.lines.some((line) => line.startsWith('warn lines of the event file')));
  });

  it('say when an event could not be written', async () => {
    await mkdir(events(), { recursive: true });
    await assert.rejects(store.worktrees.appendEvent(event('1')), { message: /events\.jsonl/ });
  });

  describe('between processes', () => {
    let children: ChildProcesses;
    before(async () => {
      children = await ChildProcesses.of('eventWriter');
    });
    after(() => children.remove());

    it('never mix the lines of three that write at once', async () => {
      const count = process.env['TRIBUTARY_LONG'] === undefined ? 100 : 3_000;
      const writers = [1, 2, 3].map((counter) =>
        children.start({ commonDir: board.commonDir, counter, count }),
      );
      await Promise.all(writers.map((writer) => writer.says('ready')));
      for (const writer of writers) writer.tell('go');
      for (const writer of writers)
        assert.deepEqual(await writer.ended, { code: 0, signal: null, errors: '' });
      const read = await store.worktrees.readEvents();
      const lines = (await readFile(events(), 'utf8')).split('\n').filter((line) => line !== '');
      assert.equal(lines.length, 3 * count);
      for (const counter of [1, 2, 3]) {
        const own = read.filter(({ taskId }) => taskId === makeTaskId(new Date(0), counter));
        assert.deepEqual(
          own.map(({ at }) => at),
          Array.from({ length: count }, (_, at) => `${counter}-${at}`),
        );
      }
    });
  });
});
