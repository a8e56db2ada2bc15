import assert from 'node:assert/strict';
import { OwnRuns, toResume } from '../../../src/editor/resuming';
import { makeTaskId } from '../../../src/model/ids';
import type { Task } from '../../../src/model/task';
import { at, makeRun, makeTask, runIds } from '../../fakes/records';

const now = new Date('2026-01-02T04:00:00.000Z');
const minutesAgo = (minutes: number): string => new Date(now.getTime() - minutes * 60_000).toISOString();
const ids = runIds(4);

function interrupted(index: number, reason: 'shutdown' | 'crash', minutes: number): Task {
  const id = ids[index];
  assert.ok(id);
  const end = { reason, message: '', at: minutesAgo(minutes) };
  return makeTask({
    id: makeTaskId(new Date(at), index + 1),
    runs: [makeRun({ id, status: { state: 'interrupted', end } })],
  });
}

const fresh = interrupted(0, 'shutdown', 9);
const old = interrupted(1, 'shutdown', 11);
const crashed = interrupted(2, 'crash', 1);
const foreign = interrupted(3, 'shutdown', 1);
const own = new Set<string>(ids.slice(0, 3));

describe('interrupted Runs when a window opens', () => {
  it('go on by themselves after a clean shutdown of less than ten minutes ago, else are asked about', () => {
    const found = toResume([fresh, old, crashed, foreign], { setting: 'automatic', own, now });
    assert.deepEqual(found.automatic, [fresh]);
    assert.deepEqual(found.ask, [old, crashed]);
  });

  it('are all asked about when the setting says so', () => {
    const found = toResume([fresh, old, crashed], { setting: 'ask', own, now });
    assert.deepEqual(found, { automatic: [], ask: [fresh, old, crashed] });
  });

  it('are left alone when the setting says never', () => {
    assert.deepEqual(toResume([fresh, crashed], { setting: 'never', own, now }), { automatic: [], ask: [] });
  });

  it('of other processes are their business', () => {
    assert.deepEqual(toResume([foreign], { setting: 'automatic', own, now }), { automatic: [], ask: [] });
  });

  it('of Tasks that have ended do not go on', () => {
    const ended: Task = { ...fresh, state: 'discarded' };
    assert.deepEqual(toResume([ended], { setting: 'automatic', own, now }), { automatic: [], ask: [] });
  });
});

describe('the Runs a window began', () => {
  it('are known again after a restart, the newest hundred of them', () => {
    const map = new Map<string, unknown>();
    const memory = {
      get: (key: string) => map.get(key),
      update: async (key: string, value: unknown) => void map.set(key, value),
    };
    const before = new OwnRuns(memory);
    const many = runIds(120);
    for (const id of many) before.add(id);
    const after = new OwnRuns(memory);
    assert.deepEqual([...after.all], many.slice(20));
  });

  it('are asked about once', () => {
    const map = new Map<string, unknown>([['tributary.ownRuns', ids]]);
    const memory = {
      get: (key: string) => map.get(key),
      update: async (key: string, value: unknown) => void map.set(key, value),
    };
    const runs = new OwnRuns(memory);
    runs.forget([crashed]);
    assert.ok(!runs.all.has(ids[2] ?? ''));
    assert.ok(runs.all.has(ids[0] ?? ''));
  });

  it('are none where the memory holds something else', () => {
    const memory = { get: () => ({ not: 'a list' }), update: async () => undefined };
    assert.equal(new OwnRuns(memory).all.size, 0);
  });
});
