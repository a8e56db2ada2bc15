import assert from 'node:assert/strict';
import { makeTaskId } from '../../../src/model/ids';
import type { Unresolved } from '../../../src/model/movedBase';
import type { BoardOverlaps } from '../../../src/model/overlap';
import type { Task } from '../../../src/model/task';
import type { MergeInOutcome } from '../../../src/tasks/taskApi';
import type { Script } from '../../fakes/fakeTaskService';
import { at, endedStates, makeRun, makeTask } from '../../fakes/records';
import { FakeHost } from './support/fakeHost';

const [completed] = endedStates;
const tree = 'b'.repeat(40);
const snapshot = { ref: 'r', commit: tree, tree, headCommit: tree, runId: 'r', turn: 1, at };
const one = makeTask({
  slug: 'one',
  snapshot,
  runs: [makeRun({ status: completed ?? { state: 'created' } })],
});
const two = makeTask({ id: makeTaskId(new Date(at), 2), slug: 'two', snapshot });
const found: BoardOverlaps = {
  overlaps: [
    { a: one.id, b: two.id, paths: [{ path: 'b.txt', kind: 'same' }] },
    {
      a: one.id,
      b: 'checkout',
      paths: [
        { path: 'a.txt', kind: 'conflict' },
        { path: 'b\u001b[31m.txt', kind: 'same' },
      ],
    },
  ],
  order: [two.id, one.id],
};
const marked: Unresolved = { path: 'a.txt', kind: 'markers', message: 'both changed it' };

function host(script: Script): FakeHost {
  return new FakeHost({
    list: async () => ({ tasks: [one, two], problems: [] }),
    find: async () => ({ task: one }),
    changes: async () => [],
    ...script,
  });
}

function merged(parts: Partial<MergeInOutcome> = {}): MergeInOutcome {
  const task: Task = { ...one, worktreePath: '/repo.worktrees/one' };
  return { kind: 'merged', task, paths: ['a.txt', 'b.txt'], conflicts: [], ...parts };
}

describe('conflicts', () => {
  it('shows the pairs, those in conflict first, and the order to accept them in', async () => {
    const cli = host({ overlaps: async () => found });
    assert.equal(await cli.run('conflicts'), 0);
    assert.equal(
      cli.stdout,
      [
        'one conflicts with your checkout:',
        '  a.txt: conflict',
        '  b.txt: merges cleanly',
        '',
        'one and two touch the same files, which merge cleanly:',
        '  b.txt: merges cleanly',
        '',
        'Accept them in this order:',
        '  1. two',
        '  2. one',
        '',
      ].join('\n'),
    );
  });

  it('--json prints the pairs and the order', async () => {
    const cli = host({ overlaps: async () => found });
    await cli.run('conflicts', '--json');
    assert.deepEqual(JSON.parse(JSON.stringify(cli.lines().at(-1)?.['data'])), found);
  });

  it('says where there is none', async () => {
    const cli = host({ overlaps: async () => ({ overlaps: [], order: [] }) });
    await cli.run('conflicts');
    assert.equal(cli.stdout, 'No open Task has changed anything.\n');
  });

  it('are a line of `list`, and rows of `show` with the step that resolves them', async () => {
    const cli = host({ overlaps: async () => found });
    await cli.run('list');
    assert.match(cli.stdout, /\none conflicts with your checkout: a\.txt\nSee: tributary conflicts\n$/);
    const shown = host({ overlaps: async () => found });
    await shown.run('show', 'one');
    assert.match(shown.stdout, /Conflicts\n {2}with your checkout: a\.txt\n/);
    assert.match(shown.stdout, /Next\n {2}tributary resolve one\n/);
  });

  it('that cannot be found out keep nothing else from being shown', async () => {
    const cli = host({ overlaps: () => Promise.reject(new Error('no git today')) });
    assert.equal(await cli.run('list'), 0);
    assert.match(cli.stdout, /^TASK/);
    assert.match(cli.stderr, /no git today/);
  });
});

describe('merge-in', () => {
  it('prints what is to be resolved, and where', async () => {
    const cli = host({ mergeIn: async () => merged({ conflicts: [marked] }) });
    assert.equal(await cli.run('merge-in', 'one'), 0);
    assert.equal(
      cli.stdout,
      [
        'Your checkout was merged into the worktree of one: 2 files changed there.',
        'Conflicts:',
        '  a.txt: conflict markers (both changed it)',
        'Resolve them in /repo.worktrees/one, then: tributary accept one',
        'Or have the agent do it: tributary resolve one',
        '',
      ].join('\n'),
    );
  });

  it('--json gives the outcome, the conflicts and the path of the worktree', async () => {
    const cli = host({ mergeIn: async () => merged({ kind: 'upToDate', paths: [], conflicts: [marked] }) });
    await cli.run('merge-in', 'one', '--json');
    const data = JSON.parse(JSON.stringify(cli.lines().at(-1)?.['data']));
    assert.deepEqual(
      [data.outcome, data.conflicts, data.worktreePath],
      ['upToDate', [marked], '/repo.worktrees/one'],
    );
  });
});

describe('resolve', () => {
  it('without a conflict says that no agent was started', async () => {
    const cli = host({ resolve: async () => ({ kind: 'clean', task: one, merged: merged() }) });
    assert.equal(await cli.run('resolve', 'one'), 0);
    assert.match(cli.stdout, /2 files changed there\.\nNothing conflicts, so no agent was started\.\n$/);
  });

  it('exits with 3 and names the file when a marker is left after the Run', async () => {
    const run = makeRun({ kind: 'followUp', status: completed ?? { state: 'created' } });
    const conflicts = [{ path: 'a.txt', kind: 'markers', message: 'it still holds markers' }];
    const cli = host({
      resolve: async () => ({
        kind: 'started',
        task: one,
        merged: merged({ conflicts: [marked] }),
        settled: Promise.resolve({ task: one, runs: [run] }),
      }),
      preview: async () => ({ task: one, paths: [], conflicts }),
    });
    assert.equal(await cli.run('resolve', 'one'), 3);
    assert.match(
      cli.stderr,
      /not resolved yet; nothing was written: a\.txt: conflict markers\n {2}Resolve it in /,
    );
  });
});
