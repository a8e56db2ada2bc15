import assert from 'node:assert/strict';
import { silentLogger } from '../../../src/base/logger';
import type { Boards, OpenBoard } from '../../../src/editor/boards';
import { ChangedFiles } from '../../../src/editor/changedFiles';
import type { FileChange } from '../../../src/model/changes';
import { makeRunId } from '../../../src/model/ids';
import { FakeTaskService } from '../../fakes/fakeTaskService';
import { at, makeTask } from '../../fakes/records';

describe('what Tasks changed, for the editor', () => {
  const snapshot = {
    ref: 'refs/tributary/x/1',
    commit: 'c',
    tree: 't1',
    runId: makeRunId('20260102T030405678', 1),
    turn: 1,
    at,
    headCommit: 'h',
  };
  const task = makeTask({ snapshot });
  const file = { status: 'added', path: 'a.txt' } as FileChange;
  let answers: (() => Promise<readonly FileChange[]>)[];
  let files: ChangedFiles;

  beforeEach(() => {
    answers = [];
    const fake = new FakeTaskService({
      changes: () => answers.shift()?.() ?? Promise.reject(new Error('asked too often')),
    });
    const board = { core: { tasks: fake.service } } as OpenBoard;
    const boards = { find: () => ({ board, task }) } as unknown as Boards;
    files = new ChangedFiles({ boards, logger: silentLogger });
  });

  const loaded = (): Promise<void> => new Promise((resolve) => files.onDidLoad(() => resolve()));
  /** What was asked for has failed. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('is asked for once per Snapshot', async () => {
    answers = [async () => [file]];
    const told = loaded();
    assert.equal(files.of(task), undefined);
    assert.equal(files.of(task), undefined);
    await told;
    assert.deepEqual(files.of(task), [file]);
  });

  it('is asked for again after it could not be found out', async () => {
    answers = [() => Promise.reject(new Error('git is busy')), async () => [file]];
    assert.equal(files.of(task), undefined);
    await settled();
    const told = loaded();
    assert.equal(files.of(task), undefined);
    await told;
    assert.deepEqual(files.of(task), [file]);
  });
});
