import assert from 'node:assert/strict';
import { TributaryError } from '../../../src/base/errors';
import { makeTaskId } from '../../../src/model/ids';
import { findTask } from '../../../src/tasks/findTask';
import { makeRun, makeTask, runIds } from '../../fakes/records';

const when = new Date('2026-01-02T03:04:05.678Z');
const [firstRun, secondRun] = runIds(2);
const first = makeTask({
  id: makeTaskId(when, 1),
  slug: 'fix',
  ...(firstRun ? { runs: [makeRun({ id: firstRun })] } : {}),
});
const second = makeTask({
  id: makeTaskId(when, 2),
  slug: 'fix-parser',
  ...(secondRun ? { runs: [makeRun({ id: secondRun })] } : {}),
});
const tasks = [first, second];

function codeOf(text: string): string {
  try {
    findTask(tasks, text);
    return 'found';
  } catch (error) {
    return error instanceof TributaryError ? error.code : 'other';
  }
}

describe('finding what a user means', () => {
  it('takes a whole Task id, a slug and a unique prefix', () => {
    assert.equal(findTask(tasks, first.id).task, first);
    assert.equal(findTask(tasks, 'fix-parser').task, second);
    assert.equal(findTask(tasks, 'fix-p').task, second);
  });

  it('takes a whole slug although it is the prefix of another', () => {
    assert.equal(findTask(tasks, 'fix').task, first);
  });

  it('takes a Run id and answers its Task with it', () => {
    assert.equal(findTask(tasks, secondRun ?? '').run?.id, secondRun);
    assert.equal(findTask(tasks, secondRun ?? '').task, second);
  });

  it('refuses a prefix that several have, and one that nobody has', () => {
    assert.equal(codeOf('task_2026'), 'ambiguousId');
    assert.equal(codeOf('nothing'), 'unknownId');
    assert.equal(codeOf(''), 'unknownId');
  });
});
