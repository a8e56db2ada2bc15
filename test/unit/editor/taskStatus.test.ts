import assert from 'node:assert/strict';
import {
  canAccept,
  canResume,
  countTasks,
  inOrder,
  isBeingWritten,
  isReady,
  judgedOf,
  statusOf,
  timesOf,
  verdictOfRun,
} from '../../../src/editor/taskStatus';
import { childRuns } from '../../../src/editor/treeNodes';
import { makeTaskId } from '../../../src/model/ids';
import type { Snapshot } from '../../../src/model/snapshot';
import type { Verdict } from '../../../src/model/verdict';
import { at, end, makeRun, makeTask, runIds } from '../../fakes/records';

const tree = 'b'.repeat(40);
const snapshot: Snapshot = {
  ref: 'refs/tributary/x',
  commit: 'c'.repeat(40),
  tree,
  runId: 'r',
  turn: 1,
  at,
  headCommit: 'c'.repeat(40),
};
const done = { state: 'completed', startedAt: at, end } as const;
const ready = makeTask({ runs: [makeRun({ status: done })], snapshot });

function verdictOn(of: string, word: Verdict['verdict'], findings = 0): Verdict {
  return {
    verdict: word,
    runId: 'r',
    tree: of,
    at,
    checks: [],
    reasons: [],
    findings: Array.from({ length: findings }, (_, index) => ({
      id: `f${index}`,
      severity: 'error',
      title: 't',
      detail: '',
      source: 'verifier',
    })),
  };
}

describe('what a Task shows of itself', () => {
  it('is live with the stage of the Run that lives', () => {
    const running = { state: 'running', startedAt: at } as const;
    const stages = (['first', 'fix', 'verify'] as const).map((kind) => {
      const status = statusOf(makeTask({ runs: [makeRun({ kind, status: running })] }));
      return status.kind === 'live' ? status.stage : status.kind;
    });
    assert.deepEqual(stages, ['working', 'fixing', 'verifying']);
  });

  it('is being set up where its record says so, also when another process runs the command', () => {
    const running = makeRun({ status: { state: 'running', startedAt: at } });
    const setup = { state: 'running', at, current: 'npm ci' } as const;
    const of = (task: ReturnType<typeof makeTask>): unknown => {
      const status = statusOf(task);
      return status.kind === 'live' ? status.activity : status.kind;
    };
    const setUp = { kind: 'settingUp', command: 'npm ci' };
    assert.deepEqual(of(makeTask({ runs: [running], setup: { ...setup, commands: [] } })), setUp);
    const done = { state: 'done', at } as const;
    assert.equal(of(makeTask({ runs: [running], setup: { ...done, commands: [] } })), undefined);
  });

  it('is ready with its files and the Verdict on this very tree', () => {
    const task = { ...ready, verdicts: [verdictOn(tree, 'FAIL', 2)] };
    assert.deepEqual(statusOf(task, { files: 3 }), {
      kind: 'ready',
      files: 3,
      judged: { verdict: 'FAIL', findings: 2 },
    });
  });

  it('does not show a Verdict on an earlier tree as one on this', () => {
    assert.equal(judgedOf({ ...ready, verdicts: [verdictOn('d'.repeat(40), 'PASS')] }), undefined);
  });

  it('goes on between two Runs, and is not ready then', () => {
    assert.deepEqual(statusOf(ready, { isBusy: true }), { kind: 'between' });
  });

  it('says how a Run was cut', () => {
    for (const state of ['failed', 'stopped', 'interrupted'] as const) {
      const task = makeTask({ runs: [makeRun({ status: { state, end } })], snapshot });
      assert.deepEqual(statusOf(task), { kind: 'cut', state, end });
      assert.ok(canResume(task));
    }
  });

  it('is on the way while an ending is half done', () => {
    const task = { ...ready, pending: { to: 'accepted', at } as const };
    assert.deepEqual(statusOf(task), { kind: 'ending', to: 'accepted' });
    assert.ok(!canAccept(task));
  });

  it('is answered when a reader has changed nothing', () => {
    assert.deepEqual(statusOf(makeTask({ runs: [makeRun({ status: done })] })), { kind: 'answered' });
  });

  it('shows how it ended', () => {
    for (const state of ['accepted', 'discarded', 'closed'] as const)
      assert.deepEqual(statusOf({ ...ready, state }), { kind: 'ended', state });
  });
});

describe('what a Run shows of itself', () => {
  const took = (waitedMs?: number) => {
    const status = { ...done, end: { ...end, at: '2026-01-02T03:07:19.678Z' } };
    return timesOf(makeRun({ status, ...(waitedMs === undefined ? {} : { waitedMs }) }), new Date(at));
  };

  it('is the time at work, without the time it waited for the user', () => {
    assert.deepEqual(took(180_000), { workedMs: 14_000, waitedMs: 180_000 });
    assert.deepEqual(took(), { workedMs: 194_000, waitedMs: 0 });
    assert.equal(timesOf(makeRun(), new Date(at)), undefined);
  });

  it('is its own Verdict where it is a verification', () => {
    const verify = makeRun({ kind: 'verify', status: done });
    const task = makeTask({ runs: [verify], verdicts: [{ ...verdictOn(tree, 'FAIL'), runId: verify.id }] });
    assert.equal(verdictOfRun(task, verify), 'FAIL');
    assert.equal(verdictOfRun({ ...task, verdicts: [] }, verify), undefined);
    assert.equal(verdictOfRun(task, { ...verify, kind: 'first' }), undefined);
  });
});

describe('a Task whose files somebody may look at', () => {
  it('is being written while a Run works on it, and not any more while its work is judged', () => {
    const running = { state: 'running', startedAt: at } as const;
    const [first] = ready.runs;
    assert.ok(first);
    const withLast = (kind: 'fix' | 'verify') =>
      makeTask({ runs: [first, makeRun({ kind, status: running })], snapshot });
    assert.deepEqual([ready, withLast('fix'), withLast('verify')].map(isBeingWritten), [false, true, false]);
  });
});

describe('counts for badge and status bar', () => {
  it('count each Task once in what it is', () => {
    const id = (counter: number) => makeTaskId(new Date(at), counter);
    const running = makeTask({ id: id(1), runs: [makeRun({ status: { state: 'running', startedAt: at } })] });
    const between = { ...ready, id: id(2) };
    const tasks = [
      running,
      between,
      { ...ready, id: id(3) },
      { ...ready, id: id(4), state: 'accepted' as const },
    ];
    const counts = countTasks(tasks, {
      isAsking: (task) => task.id === running.id,
      isBusy: (task) => task.id === between.id,
    });
    assert.deepEqual(counts, { running: 2, ready: 1, waiting: 1 });
    assert.ok(isReady(ready));
  });
});

describe('the order of Tasks', () => {
  it('has open ones first, and the newest first', () => {
    const id = (counter: number) => makeTaskId(new Date(at), counter);
    const tasks = [
      makeTask({ id: id(1) }),
      makeTask({ id: id(2), state: 'accepted' }),
      makeTask({ id: id(3) }),
    ];
    assert.deepEqual(
      inOrder(tasks).map((task) => task.id),
      [id(3), id(1), id(2)],
    );
  });
});

describe('Runs under a Task', () => {
  it('are those without a parent that is known, children under theirs', () => {
    const [first, child, stray, gone] = runIds(4);
    assert.ok(first && child && stray && gone);
    const runs = [
      makeRun({ id: first }),
      makeRun({ id: child, kind: 'child', parentRunId: first }),
      makeRun({ id: stray, kind: 'child', parentRunId: gone }),
    ];
    const task = makeTask({ runs });
    assert.deepEqual(
      childRuns(task, undefined).map((run) => run.id),
      [first, stray],
    );
    assert.deepEqual(
      childRuns(task, first).map((run) => run.id),
      [child],
    );
  });
});
