import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import { settingsSchema } from '../../src/model/settings';
import type { Task } from '../../src/model/task';
import { cleanUp, fingerprint, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from './support/strictServer';

const done: Reply = {
  content: [
    {
      type: 'text',
      text: 'SUMMARY: Done.\n\nCHANGES:\nNone.\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.',
    },
  ],
};
const use = (name: string, input: unknown): Reply => ({ content: [{ type: 'tool_use', name, input }] });
const bash = (command: string): Reply => use('Bash', { command });

describe('conflicts resolved in the Worktree', () => {
  let server: StrictServer;
  let repo: TempRepo;
  let core: Core;
  let replies: Reply[];

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(() => replies.shift() ?? done);
    repo = await makeRepo({
      files: { 'a.txt': '1\n2\n3\n', 'b.txt': 'b\n', 'bin.dat': Buffer.from([0, 1]) },
    });
    core = await open();
  });
  afterEach(async () => {
    await core.dispose();
    await server.close();
    await cleanUp();
    assert.deepEqual(server.refusals, []);
  });

  const open = (when: 'never' | 'writing' = 'never'): Promise<Core> =>
    composeCore({
      directory: repo.root,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url }, verify: { when } }),
      env: process.env,
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
  /** A Task whose agent ran this command. */
  const taskOf = async (command: string): Promise<Task> => {
    replies = [bash(command), done];
    const packet = await core.tasks.prepare({ objective: 'Change line two' });
    return (await (await core.tasks.start({ packet })).settled).task;
  };
  const worktreeFile = (task: Task, path: string): string => join(task.worktreePath ?? '', path);
  const pathsOf = async (task: Task): Promise<string[]> =>
    (await core.tasks.changes(task.id)).map(({ path }) => path);
  const ours = (print: Record<string, string>): Record<string, string> => ({ ...print, refs: '' });

  it('after the merge the ChangeSet, the patch, the base and the preview count from the checkout that was merged in', async () => {
    const task = await taskOf('echo new > new.txt');
    await repo.write('b.txt', 'committed\n');
    await repo.commitAll();
    await repo.write('a.txt', 'dirty\n');
    const before = await fingerprint(repo.root);
    const { kind, paths, conflicts, task: merged } = await core.tasks.mergeIn(task.id);
    assert.deepEqual([kind, paths, conflicts], ['merged', ['a.txt', 'b.txt'], []]);
    assert.deepEqual(ours(await fingerprint(repo.root)), ours(before));
    assert.deepEqual(await pathsOf(task), ['new.txt']);
    const patch = Buffer.from(await core.tasks.patch(task.id)).toString('utf8');
    assert.doesNotMatch(patch, /dirty|committed/);
    assert.equal(String(await core.tasks.baseFile(task.id, 'a.txt')), 'dirty\n');
    assert.equal(merged.movedBases.length, 1);
    assert.equal(merged.snapshotCount, task.snapshotCount + 1);
    const again = await core.tasks.mergeIn(task.id);
    assert.deepEqual([again.kind, again.task.movedBases.length], ['upToDate', 1]);
    const outcome = await core.tasks.accept(task.id);
    assert.deepEqual(outcome.kind === 'landed' && outcome.paths, ['new.txt']);
    assert.equal((await core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(ours(await fingerprint(repo.root)), ours(before));
    assert.deepEqual(await pathsOf(task), ['new.txt']);
  });

  it('accept refuses while a file holds the markers we wrote, names it, and lands once they are gone', async () => {
    const task = await taskOf("printf '1\\ntask\\n3\\n' > a.txt");
    await repo.write('a.txt', '1\nuser\n3\n');
    assert.equal((await core.tasks.accept(task.id)).kind, 'conflict');
    const { conflicts } = await core.tasks.mergeIn(task.id);
    assert.deepEqual(
      conflicts.map(({ path, kind }) => [path, kind]),
      [['a.txt', 'markers']],
    );
    const before = await fingerprint(repo.root);
    const refused = await core.tasks.accept(task.id);
    assert.ok(refused.kind === 'conflict');
    assert.deepEqual(
      refused.conflicts.map(({ path, kind }) => [path, kind]),
      [['a.txt', 'markers']],
    );
    assert.equal((await core.tasks.preview(task.id)).conflicts[0]?.kind, 'markers');
    assert.deepEqual(ours(await fingerprint(repo.root)), ours(before));
    await writeFile(worktreeFile(task, 'a.txt'), '1\nuser and task\n3\n');
    assert.equal((await core.tasks.accept(task.id)).kind, 'landed');
    assert.equal(await repo.read('a.txt'), '1\nuser and task\n3\n');
  });

  it('a side of the Task that was kept needs a look: a second merge takes it for decided', async () => {
    const task = await taskOf("printf '\\000\\002' > bin.dat");
    await repo.write('bin.dat', Buffer.from([0, 3]));
    const { conflicts } = await core.tasks.mergeIn(task.id);
    assert.deepEqual([conflicts[0]?.path, conflicts[0]?.kind], ['bin.dat', 'kept']);
    assert.equal((await core.tasks.accept(task.id)).kind, 'conflict');
    assert.deepEqual((await core.tasks.mergeIn(task.id)).conflicts, []);
    assert.equal((await core.tasks.accept(task.id)).kind, 'landed');
    assert.deepEqual(await readFile(join(repo.root, 'bin.dat')), Buffer.from([0, 2]));
  });

  it('resolve starts a follow-up of the author that is told the files and both intents, and what it resolved lands', async () => {
    const task = await taskOf("printf '1\\ntask\\n3\\n' > a.txt; printf '\\000\\002' > bin.dat");
    await repo.write('a.txt', '1\nuser\n3\n');
    await repo.write('bin.dat', Buffer.from([0, 3]));
    replies = [bash("printf '1\\nuser and task\\n3\\n' > a.txt"), done];
    const outcome = await core.tasks.resolve(task.id);
    assert.ok(outcome.kind === 'started');
    const { runs, task: settled } = await outcome.settled;
    assert.deepEqual(
      runs.map(({ kind, agent }) => [kind, agent]),
      [['followUp', 'general']],
    );
    const said = server.requests
      .map(({ rawBody }) => rawBody)
      .findLast((body) => body.includes('conflict markers'));
    assert.match(said ?? '', /a\.txt: modified, \+1 -1/);
    assert.match(said ?? '', /Change line two/);
    assert.match(said ?? '', /bin\.dat/);
    assert.deepEqual(settled.unresolved, []);
    assert.equal((await core.tasks.accept(task.id)).kind, 'landed');
    assert.equal(await repo.read('a.txt'), '1\nuser and task\n3\n');
  });

  it('resolve has nobody judge files that still hold both sides of a conflict', async () => {
    const task = await taskOf("printf '1\\ntask\\n3\\n' > a.txt");
    await core.dispose();
    core = await open('writing');
    await repo.write('a.txt', '1\nuser\n3\n');
    replies = [bash('echo more > more.txt'), done];
    const outcome = await core.tasks.resolve(task.id);
    assert.ok(outcome.kind === 'started');
    const { runs, verdict, task: settled } = await outcome.settled;
    assert.deepEqual(
      runs.map(({ kind }) => kind),
      ['followUp'],
    );
    assert.equal(verdict, undefined);
    assert.deepEqual(
      settled.unresolved.map(({ path, kind }) => [path, kind]),
      [['a.txt', 'markers']],
    );
  });

  it('resolve without a conflict starts no Run', async () => {
    const task = await taskOf('echo new > new.txt');
    await repo.write('b.txt', 'user\n');
    const asked = server.requests.length;
    const outcome = await core.tasks.resolve(task.id);
    assert.equal(outcome.kind, 'clean');
    assert.equal(outcome.task.runs.length, 1);
    assert.equal(server.requests.length, asked);
  });

  it('a discarded Task comes back on the merged base, its markers still refused', async () => {
    const task = await taskOf("printf '1\\ntask\\n3\\n' > a.txt");
    await repo.write('a.txt', '1\nuser\n3\n');
    await core.tasks.mergeIn(task.id);
    await core.tasks.discard(task.id);
    await core.tasks.restore(task.id);
    assert.match(await readFile(worktreeFile(task, 'a.txt'), 'utf8'), /<<<<<<< your checkout/);
    assert.deepEqual(await pathsOf(task), ['a.txt']);
    assert.equal((await core.tasks.accept(task.id)).kind, 'conflict');
  });

  it('a Verdict holds for the merged tree and the verifier sees the Task’s own change alone', async () => {
    const task = await taskOf('echo new > new.txt');
    await repo.write('b.txt', 'from the user\n');
    await core.tasks.mergeIn(task.id);
    replies = [];
    const { verdict, task: verified } = await (await core.tasks.verify(task.id)).settled;
    assert.equal(verdict?.tree, verified.snapshot?.tree);
    assert.doesNotMatch(server.requests.at(-1)?.rawBody ?? '', /from the user/);
  });

  it('overlaps tell of a Task that the checkout conflicts with, until it is merged in and resolved', async () => {
    const task = await taskOf("printf '1\\ntask\\n3\\n' > a.txt");
    await repo.write('a.txt', '1\nuser\n3\n');
    const { overlaps, order } = await core.tasks.overlaps();
    assert.deepEqual(overlaps, [{ a: task.id, b: 'checkout', paths: [{ path: 'a.txt', kind: 'conflict' }] }]);
    assert.deepEqual(order, [task.id]);
    await core.tasks.mergeIn(task.id);
    await writeFile(worktreeFile(task, 'a.txt'), '1\nboth\n3\n');
    await core.tasks.mergeIn(task.id);
    assert.deepEqual((await core.tasks.overlaps()).overlaps, []);
  });
});
