import assert from 'node:assert/strict';
import { TributaryError } from '../../../src/base/errors';
import type { RunState, RunStateName } from '../../../src/model/run';
import { isLive, type RunTransition, transition } from '../../../src/tasks/runMachine';
import { at, end, endedStates, makeRun } from '../../fakes/records';

const changes: readonly RunTransition[] = [
  { kind: 'start', at },
  { kind: 'complete', end },
  { kind: 'fail', end },
  { kind: 'stop', end },
  { kind: 'interrupt', end },
];
const states: readonly RunState[] = [
  { state: 'created' },
  { state: 'running', startedAt: at },
  ...endedStates,
];
const expected: Readonly<
  Record<RunStateName, Readonly<Partial<Record<RunTransition['kind'], RunStateName>>>>
> = {
  created: { start: 'running', fail: 'failed', stop: 'stopped', interrupt: 'interrupted' },
  running: { complete: 'completed', fail: 'failed', stop: 'stopped', interrupt: 'interrupted' },
  completed: {},
  failed: {},
  stopped: {},
  interrupted: {},
};

describe('the machine of a Run', () => {
  for (const status of states) {
    for (const change of changes) {
      const next = expected[status.state][change.kind];
      if (next === undefined) {
        it(`forbids "${change.kind}" on a Run that is ${status.state}: every end is final, nothing is reopened`, () => {
          assert.throws(
            () => transition(makeRun({ status }), change),
            (error) => error instanceof TributaryError && error.code === 'wrongState',
          );
        });
      } else {
        it(`takes a Run that is ${status.state} by "${change.kind}" to ${next}`, () => {
          assert.equal(transition(makeRun({ status }), change).status.state, next);
        });
      }
    }
  }

  it('keeps the time a Run started through its end', () => {
    const running = transition(makeRun(), { kind: 'start', at: 'then' });
    const stopped = transition(running, { kind: 'stop', end });
    assert.deepEqual(stopped.status, { state: 'stopped', startedAt: 'then', end });
  });

  it('counts created and running Runs as live, ended ones not', () => {
    assert.deepEqual(
      states.map((status) => isLive(makeRun({ status }))),
      [true, true, false, false, false, false],
    );
  });
});
