import assert from 'node:assert/strict';
import { makeTaskId } from '../../src/model/ids';
import type { BoardOverlaps } from '../../src/model/overlap';
import type { Task } from '../../src/model/task';
import type { OverlapCache } from '../../src/store/store';
import { OverlapFinder } from '../../src/tasks/overlapFinder';
import { at, makeTask } from '../fakes/records';
import { type Layer, openLayer, spiedRun } from './support/layer';
import { cleanUp, fingerprint, makeRepo, type TempRepo } from './support/tempRepo';

const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);

/** `a.txt` with some of its lines changed. */
function text(changes: Readonly<Record<number, string>>): string {
  return `${lines.map((line, index) => changes[index] ?? line).join('\n')}\n`;
}

describe('overlaps of Tasks', () => {
  let repo: TempRepo;
  let base: string;
  let kept: ReadonlyMap<string, readonly string[]>;
  let gits: string[];

  const cache: OverlapCache = {
    load: async () => kept,
    save: async (known) => {
      kept = new Map(known);
    },
  };
  const open = (): Promise<Layer> =>
    openLayer(
      repo.root,
      spiedRun((subcommand) => gits.push(subcommand)),
    );
  const among = async (tasks: readonly Task[], layer?: Layer): Promise<BoardOverlaps> =>
    new OverlapFinder({ overlaps: (layer ?? (await open())).overlaps, cache }).among(tasks);

  /** A Task whose Snapshot is `base` with these files changed. */
  const taskWith = async (number: number, changed: Readonly<Record<string, string>>): Promise<Task> => {
    for (const [path, content] of Object.entries(changed)) await repo.write(path, content);
    const commit = await repo.commitAll();
    const tree = (await repo.git('rev-parse', `${commit}^{tree}`)).trim();
    await repo.git('reset', '-q', '--hard', base);
    const id = makeTaskId(new Date(at), number);
    const { packet } = makeTask();
    const repository = { root: repo.root, head: base, base: { ref: 'HEAD', commit: base } };
    const snapshot = { ref: 'refs/x', commit, tree, headCommit: base, runId: 'run', turn: 1, at };
    return makeTask({ id, slug: `task-${number}`, packet: { ...packet, repository }, snapshot });
  };

  beforeEach(async () => {
    repo = await makeRepo({ files: { 'a.txt': text({}), 'b.txt': 'b\n', 'dir/c.txt': 'c\n' } });
    base = (await repo.git('rev-parse', 'HEAD')).trim();
    kept = new Map();
    gits = [];
  });
  afterEach(cleanUp);

  it('are the files that two touch, and whether git can merge them', async () => {
    const [one, two, three] = [
      await taskWith(1, { 'a.txt': text({ 1: 'one' }), 'b.txt': 'one\n' }),
      await taskWith(2, { 'a.txt': text({ 25: 'two' }), 'b.txt': 'two\n' }),
      await taskWith(3, { 'a.txt': text({ 13: 'three' }) }),
    ];
    const before = await fingerprint(repo.root);
    const { overlaps, order } = await among([one, two, three]);
    assert.deepEqual(await fingerprint(repo.root), before, 'nothing is written');
    const same = { path: 'a.txt', kind: 'same' };
    assert.deepEqual(overlaps, [
      { a: one.id, b: two.id, paths: [same, { path: 'b.txt', kind: 'conflict' }] },
      { a: one.id, b: three.id, paths: [same] },
      { a: two.id, b: three.id, paths: [same] },
    ]);
    assert.deepEqual(order, [three.id, one.id, two.id]);
  });

  it('count the user’s uncommitted edits and untracked files as one more side', async () => {
    const [one, two] = [
      await taskWith(1, { 'b.txt': 'one\n' }),
      await taskWith(2, { 'new.txt': 'two\n', 'a.txt': text({ 1: 'two' }) }),
    ];
    await repo.write('b.txt', 'mine\n');
    await repo.write('new.txt', 'mine\n');
    await repo.write('a.txt', text({ 25: 'mine' }));
    const { overlaps } = await among([one, two]);
    assert.deepEqual(overlaps, [
      { a: one.id, b: 'checkout', paths: [{ path: 'b.txt', kind: 'conflict' }] },
      {
        a: two.id,
        b: 'checkout',
        paths: [
          { path: 'a.txt', kind: 'same' },
          { path: 'new.txt', kind: 'conflict' },
        ],
      },
    ]);
  });

  it('see a file where another has a folder', async () => {
    const [one, two] = [await taskWith(1, { spot: 'file\n' }), await taskWith(2, { 'spot/in.txt': 'in\n' })];
    const { overlaps } = await among([one, two]);
    assert.equal(overlaps.length, 1);
    assert.ok(overlaps[0]?.paths.some(({ path, kind }) => path === 'spot' && kind === 'conflict'));
  });

  it('leave out Tasks that are not open or have no Snapshot, and need no git where none is left', async () => {
    const done = { ...(await taskWith(1, { 'b.txt': 'one\n' })), state: 'accepted' } as const;
    const layer = await open();
    gits.length = 0;
    assert.deepEqual(await among([done, makeTask()], layer), { overlaps: [], order: [] });
    assert.deepEqual(gits, []);
  });

  it('count from the checkout that was merged in last: its own edits are no change of the Task', async () => {
    const task = await taskWith(1, { 'b.txt': 'mine\n', 'new.txt': 'task\n' });
    await repo.write('b.txt', 'mine\n');
    const commit = await repo.commitAll();
    const tree = (await repo.git('rev-parse', `${commit}^{tree}`)).trim();
    const moved = { commit, tree, at, head: commit, from: base, result: tree, snapshots: 1 };
    assert.deepEqual((await among([{ ...task, movedBases: [moved] }])).overlaps, []);
    assert.equal((await among([task])).overlaps.length, 1);
  });

  it('of twenty Tasks cost a git per Task and one per pair that shares a file, and nothing of that a second time', async () => {
    const tasks: Task[] = [];
    for (let number = 1; number <= 18; number += 1)
      tasks.push(await taskWith(number, { [`own-${number}.txt`]: 'own\n' }));
    tasks.push(await taskWith(19, { 'b.txt': 'one\n' }), await taskWith(20, { 'b.txt': 'two\n' }));
    const layer = await open();
    gits.length = 0;
    assert.equal((await among(tasks, layer)).overlaps.length, 1);
    const count = (name: string): number => gits.filter((one) => one === name).length;
    assert.deepEqual([count('diff-tree'), count('merge-tree'), count('commit-tree')], [21, 1, 2]);
    assert.ok(gits.length <= 30, gits.join(' '));
    gits.length = 0;
    assert.equal((await among(tasks)).overlaps.length, 1);
    assert.deepEqual([count('diff-tree'), count('merge-tree'), count('commit-tree')], [0, 0, 0]);
    assert.ok(gits.length <= 8, gits.join(' '));
  });
});
