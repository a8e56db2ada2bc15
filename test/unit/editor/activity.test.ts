import assert from 'node:assert/strict';
import { type Activity, activityOfTool, nextActivity } from '../../../src/editor/activity';
import type { BoardEvent } from '../../../src/model/events';
import type { NewEntry, TranscriptEntry } from '../../../src/model/transcript';
import { noUsage } from '../../../src/model/usage';
import { at, makeRun, makeTask } from '../../fakes/records';

const task = makeTask();
const { id: runId } = makeRun();
const stamp = { v: 1, at, taskId: task.id } as const;

const board = (now: Activity | undefined, event: BoardEvent): Activity | undefined =>
  nextActivity(now, { from: 'board', event });
const entry = (now: Activity | undefined, made: NewEntry): Activity | undefined => {
  const whole: TranscriptEntry = { ...made, id: 'e1', parentId: null, at };
  return nextActivity(now, { from: 'transcript', entry: whole });
};
const started = (name: string, input: unknown): NewEntry => ({
  type: 'tool.started',
  turn: 1,
  toolUseId: 't1',
  name,
  input,
});

describe('what a live Run is at', () => {
  it('goes from the queue over the worktree to thinking', () => {
    const queued = board(undefined, {
      ...stamp,
      type: 'run.created',
      runId,
      kind: 'first',
      agent: 'a',
      model: 'm',
    });
    assert.deepEqual(queued, { kind: 'queued' });
    const worktree = board(queued, { ...stamp, type: 'run.started', runId });
    assert.deepEqual(worktree, { kind: 'worktree' });
    const made = board(worktree, {
      ...stamp,
      type: 'worktree.create.completed',
      path: '/w',
      branch: 'b',
      base: 'c',
    });
    assert.deepEqual(made, { kind: 'thinking' });
  });

  it('names the file, the command, the pattern of the tool that runs', () => {
    assert.deepEqual(entry(undefined, started('Read', { file_path: 'src/x.ts' })), {
      kind: 'reading',
      path: 'src/x.ts',
    });
    assert.deepEqual(entry(undefined, started('Edit', { file_path: 'a' })), { kind: 'editing', path: 'a' });
    assert.deepEqual(entry(undefined, started('Bash', { command: 'npm test' })), {
      kind: 'running',
      command: 'npm test',
    });
    assert.deepEqual(entry(undefined, started('Grep', { pattern: 'x+' })), {
      kind: 'searching',
      pattern: 'x+',
    });
  });

  it('thinks again when the tool has ended', () => {
    const ended: NewEntry = {
      type: 'tool.ended',
      turn: 1,
      toolUseId: 't1',
      name: 'Bash',
      content: '',
      isError: false,
      durationMs: 1,
    };
    assert.deepEqual(entry({ kind: 'running', command: 'x' }, ended), { kind: 'thinking' });
  });

  it('waits for the user while a question stands, and runs the command once it is allowed', () => {
    const asking = entry(
      { kind: 'running', command: 'rm x' },
      { type: 'question', questionId: 'q', toolUseId: 't', tool: 'Bash', command: 'rm x' },
    );
    assert.deepEqual(asking, { kind: 'asking', command: 'rm x' });
    const answer = (allowed: boolean): NewEntry => ({ type: 'answer', questionId: 'q', allowed, by: 'user' });
    assert.deepEqual(entry(asking, answer(true)), { kind: 'running', command: 'rm x' });
    assert.deepEqual(entry(asking, answer(false)), { kind: 'thinking' });
  });

  it('says a retry with its reason', () => {
    assert.deepEqual(
      entry(undefined, { type: 'retry', attempt: 1, code: 'overloaded', message: '', waitMs: 2_000 }),
      { kind: 'retrying', code: 'overloaded', waitMs: 2_000 },
    );
  });

  it('keeps showing the command while its output streams, and thinking while text does', () => {
    const running: Activity = { kind: 'running', command: 'x' };
    const output = { type: 'tool.output', toolUseId: 't', text: 'y' } as const;
    assert.equal(nextActivity(running, { from: 'stream', event: output }), running);
    const delta = { type: 'text.delta', text: 'y' } as const;
    assert.deepEqual(nextActivity(running, { from: 'stream', event: delta }), { kind: 'thinking' });
  });

  it('is the same object when nothing new is said, so that nobody redraws', () => {
    const thinking: Activity = { kind: 'thinking' };
    const delta = { type: 'text.delta', text: 'y' } as const;
    assert.equal(nextActivity(thinking, { from: 'stream', event: delta }), thinking);
    assert.equal(entry(thinking, { type: 'note', code: 'x', text: 'y' }), thinking);
  });

  it('is nothing once the Run has ended', () => {
    const ended = board(
      { kind: 'thinking' },
      { ...stamp, type: 'run.ended', runId, state: 'completed', reason: 'done', message: '', usage: noUsage },
    );
    assert.equal(ended, undefined);
  });

  it('takes whatever a model sends as a tool call', () => {
    for (const input of [undefined, null, 3, [], { file_path: 7 }, { file_path: null }])
      assert.deepEqual(activityOfTool('Read', input), { kind: 'reading', path: '' });
    assert.deepEqual(activityOfTool('Bash', {}), { kind: 'running', command: '' });
    assert.deepEqual(activityOfTool('Mystery', {}), { kind: 'tool', name: 'Mystery' });
  });
});

describe('a worktree that is being set up', () => {
  const command = { runId, phase: 'setup', command: 'npm ci' } as const;
  const ended = { exitCode: 0, reason: 'exited', durationMs: 1, output: '' } as const;
  const settingUp = board(undefined, { ...stamp, ...command, type: 'worktree.command.started' });

  it('is what the Run is at until its command has ended, though the model answers already', () => {
    assert.deepEqual(settingUp, { kind: 'settingUp', command: 'npm ci' });
    assert.equal(entry(settingUp, started('Read', { file_path: 'x' })), settingUp);
    const after = board(settingUp, { ...stamp, ...command, ...ended, type: 'worktree.command.ended' });
    assert.deepEqual(after, { kind: 'thinking' });
  });

  it('is not what a Run is at that has ended, when the worktree is torn down', () => {
    const down = { ...command, phase: 'teardown' } as const;
    assert.equal(board(undefined, { ...stamp, ...down, type: 'worktree.command.started' }), undefined);
    const after = board(undefined, { ...stamp, ...down, ...ended, type: 'worktree.command.ended' });
    assert.equal(after, undefined);
  });
});
