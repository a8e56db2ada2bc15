import assert from 'node:assert/strict';
import { Emitter } from '../../../src/base/emitter';
import { silentLogger } from '../../../src/base/logger';
import type { OpenBoard } from '../../../src/editor/boards';
import { OverlapMarks } from '../../../src/editor/overlapMarks';
import { makeRunId, makeTaskId } from '../../../src/model/ids';
import type { BoardOverlaps } from '../../../src/model/overlap';
import type { Task } from '../../../src/model/task';
import { FakeTaskService } from '../../fakes/fakeTaskService';
import { at, makeTask } from '../../fakes/records';

/** Timers that were set with no wait have run. */
const timers = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

function changedTask(number: number, tree: string): Task {
  const snapshot = {
    ref: 'refs/tributary/x/1',
    commit: 'c',
    tree,
    runId: makeRunId('20260102T030405678', number),
    turn: 1,
    at,
    headCommit: 'h',
  };
  return makeTask({ id: makeTaskId(new Date(at), number), snapshot });
}

describe('marks of Tasks that conflict', () => {
  const [one, other] = [changedTask(1, 't1'), changedTask(2, 't2')];
  let tasks: readonly Task[];
  let isSeen: boolean;
  let answer: BoardOverlaps;
  let looks: number;
  let onLook: () => void;
  let marks: OverlapMarks;
  const [boardsChanged, seenChanged, edited] = [
    new Emitter<void>(),
    new Emitter<void>(),
    new Emitter<void>(),
  ];

  beforeEach(async () => {
    tasks = [one, other];
    isSeen = true;
    answer = {
      overlaps: [
        { a: one.id, b: other.id, paths: [{ path: 'a.txt', kind: 'conflict' }] },
        { a: one.id, b: 'checkout', paths: [{ path: 'b.txt', kind: 'same' }] },
      ],
      order: [one.id, other.id],
    };
    looks = 0;
    onLook = () => undefined;
    const fake = new FakeTaskService({
      overlaps: async () => {
        looks += 1;
        onLook();
        return answer;
      },
    });
    const core = { tasks: fake.service } as OpenBoard['core'];
    const board = (): OpenBoard => ({ id: 'board', label: 'repo', core, tasks });
    marks = new OverlapMarks({
      boards: {
        get all() {
          return [board()];
        },
        onDidChange: boardsChanged.event,
        find: (id) => {
          const task = tasks.find((task) => task.id === id);
          return task === undefined ? undefined : { board: board(), task };
        },
      },
      seen: {
        get isSeen() {
          return isSeen;
        },
        onDidChange: seenChanged.event,
        onDidEdit: edited.event,
      },
      gatherMs: 0,
      logger: silentLogger,
    });
  });

  afterEach(() => marks.dispose());

  const changed = (): Promise<void> =>
    new Promise((resolve) => {
      const subscription = marks.onDidChange(() => {
        subscription.dispose();
        resolve();
      });
    });
  const looked = (): Promise<void> =>
    new Promise((resolve) => {
      onLook = resolve;
    });

  it('says of both Tasks that they conflict, and nothing of files that git merges', async () => {
    await changed();
    assert.deepEqual(
      marks.of(one.id).map(({ b }) => b),
      [other.id],
    );
    assert.equal(marks.of(other.id).length, 1);
  });

  it('looks once however often the board tells of the same, and again when a Snapshot or a file changed', async () => {
    await changed();
    for (let index = 0; index < 20; index += 1) boardsChanged.fire();
    assert.equal(looks, 1);
    answer = { overlaps: [], order: [] };
    const gone = changed();
    edited.fire();
    edited.fire();
    await gone;
    assert.equal(looks, 2);
    assert.deepEqual(marks.of(one.id), []);
    const next = looked();
    tasks = [one, changedTask(2, 't3')];
    boardsChanged.fire();
    await next;
    assert.equal(looks, 3);
  });

  it('does not look while nobody sees it, and does when somebody does', async () => {
    await changed();
    isSeen = false;
    edited.fire();
    boardsChanged.fire();
    const next = looked();
    await timers();
    assert.equal(looks, 1);
    isSeen = true;
    seenChanged.fire();
    await next;
    assert.equal(looks, 2);
  });

  it('forgets a conflict with a Task that has ended, without a look', async () => {
    await changed();
    tasks = [one, { ...other, state: 'accepted' }];
    assert.deepEqual(marks.of(one.id), []);
    assert.deepEqual(marks.of(other.id), []);
  });

  it('asks git nothing where no open Task has a change', async () => {
    await changed();
    tasks = [{ ...one, state: 'accepted' }];
    const gone = changed();
    boardsChanged.fire();
    await gone;
    edited.fire();
    await timers();
    assert.equal(looks, 1);
  });
});
