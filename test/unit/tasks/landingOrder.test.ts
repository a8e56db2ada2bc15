import assert from 'node:assert/strict';
import { makeTaskId } from '../../../src/model/ids';
import type { Overlap } from '../../../src/model/overlap';
import type { Task } from '../../../src/model/task';
import { landingOrder } from '../../../src/tasks/landingOrder';
import { at, end, makeRun, makeTask } from '../../fakes/records';

const tree = 'b'.repeat(40);

function task(number: number, parts: Partial<Task> = {}): Task {
  return makeTask({ id: makeTaskId(new Date(at), number), slug: `task-${number}`, ...parts });
}

function overlap(a: Task, b: Task | 'checkout', kind: 'same' | 'conflict' = 'conflict'): Overlap {
  return { a: a.id, b: b === 'checkout' ? b : b.id, paths: [{ path: 'a.txt', kind }] };
}

const ended = (endedAt: string): Partial<Task> => ({
  runs: [makeRun({ status: { state: 'completed', startedAt: at, end: { ...end, at: endedAt } } })],
});
const running: Partial<Task> = { runs: [makeRun({ status: { state: 'running', startedAt: at } })] };
const passed: Partial<Task> = {
  snapshot: { ref: 'r', commit: tree, tree, headCommit: tree, runId: 'r', turn: 1, at },
  verdicts: [{ verdict: 'PASS', runId: 'r', tree, at, checks: [], findings: [], reasons: [] }],
};

describe('the order in which Tasks are best landed', () => {
  const cases: readonly (readonly [
    title: string,
    tasks: readonly Task[],
    overlaps: readonly Overlap[],
    order: readonly number[],
  ])[] = [
    [
      'begins with the fewest conflicts, those with the checkout among them',
      [task(1), task(2), task(3)],
      [overlap(task(1), task(2)), overlap(task(1), 'checkout')],
      [3, 2, 1],
    ],
    [
      'does not count what merges cleanly',
      [task(1), task(2)],
      [overlap(task(1), 'checkout', 'same')],
      [1, 2],
    ],
    ['puts a Task whose Run goes on behind', [task(1, running), task(2, ended(at))], [], [2, 1]],
    [
      'puts one that passed before one that did not',
      [task(1, ended(at)), task(2, { ...ended('2027-01-01T00:00:00.000Z'), ...passed })],
      [],
      [2, 1],
    ],
    [
      'puts the one that is done longest first, else the older one',
      [task(2, ended('2027-01-01T00:00:00.000Z')), task(3, ended(at)), task(1, ended(at))],
      [],
      [1, 3, 2],
    ],
  ];
  for (const [title, tasks, overlaps, order] of cases)
    it(title, () => {
      const expected = order.map((number) => task(number).id);
      assert.deepEqual(landingOrder(tasks, overlaps), expected);
      assert.deepEqual(landingOrder(tasks.toReversed(), overlaps), expected, 'whatever order they come in');
    });
});
