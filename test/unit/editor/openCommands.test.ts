import assert from 'node:assert/strict';
import { callKey, isLostRow, OpenCommands } from '../../../src/editor/commands/openCommands';
import type { Dialogs } from '../../../src/editor/dialogs';

const taskId = 'task_20261130T120000000_1';
const runId = 'run_20261130T120000000_1';

describe('commands that are open', () => {
  const silent: Dialogs = {
    say: async () => undefined,
    decide: async () => undefined,
    ask: async () => ({ kind: 'left' }),
    pick: async () => ({ kind: 'left' }),
    pickMany: async () => ({ kind: 'left' }),
  };

  it('a second call while the first asks does nothing; one after it is carried out', async () => {
    const commands = new OpenCommands();
    let answer: (text: string | undefined) => void = () => assert.fail('nothing was asked');
    let calls = 0;
    const dialogs: Dialogs = { ...silent, decide: () => new Promise((resolve) => (answer = resolve)) };
    const body = async (given: Dialogs): Promise<void> => {
      calls += 1;
      await given.decide('Accept?', '');
    };
    const first = commands.once('accept a', dialogs, body);
    await commands.once('accept a', dialogs, body);
    assert.equal(calls, 1);
    answer(undefined);
    await first;
    const later = commands.once('accept a', dialogs, body);
    assert.equal(calls, 2);
    answer(undefined);
    await later;
  });

  it('a notification that stands, and a failure, are no reason to refuse the next call', async () => {
    const commands = new OpenCommands();
    const dialogs: Dialogs = { ...silent, say: () => new Promise(() => undefined) };
    let calls = 0;
    const body = async (given: Dialogs): Promise<void> => {
      calls += 1;
      await given.say('warning', 'It has not stopped yet.', 'Force');
    };
    void commands.once('stop a', dialogs, body);
    void commands.once('stop a', dialogs, body);
    assert.equal(calls, 2);
    const fails = (): Promise<void> =>
      commands.once('undo a', dialogs, () => Promise.reject(new Error('no')));
    await assert.rejects(fails());
    await assert.rejects(fails());
  });

  it('what a call is about is its row, else the selected one', () => {
    const id = 'tributary.task.stop';
    const run = callKey(id, { taskId, runId }, undefined);
    const task = callKey(id, { taskId }, { taskId, runId });
    assert.equal(callKey(id, undefined, { taskId }), task);
    const finding = callKey(id, { taskId, findingId: 'f1' }, undefined);
    const question = callKey(id, { taskId, runId, questionId: 'q1' }, undefined);
    const none = callKey(id, undefined, undefined);
    assert.equal(new Set([run, task, finding, question, none]).size, 5);
  });

  it('a menu of a row that gave no row is told from the palette and from a title bar', () => {
    const id = 'tributary.task.stop';
    assert.ok(isLostRow(id, [undefined, undefined]));
    assert.ok(isLostRow(id, [null, undefined]));
    assert.ok(!isLostRow(id, []));
    assert.ok(!isLostRow(id, [undefined]));
    assert.ok(!isLostRow(id, [{ taskId }, undefined]));
    assert.ok(!isLostRow('tributary.task.new', [undefined, undefined]));
  });
});
