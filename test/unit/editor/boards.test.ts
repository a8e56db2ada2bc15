import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TributaryError } from '../../../src/base/errors';
import { silentLogger } from '../../../src/base/logger';
import { WindowBoards } from '../../../src/editor/boards';
import type { FoundRepository } from '../../../src/editor/gitFolders';
import { settingsSchema } from '../../../src/model/settings';
import { FakeTaskService } from '../../fakes/fakeTaskService';
import { at, makeTask } from '../../fakes/records';

const run = promisify(execFile);
const settingsOfTest = settingsSchema.parse({});

describe('the boards of a window', () => {
  let folder: string;
  let folders: string[];
  let opened: string[];
  let disposed: number;
  let isBusy: boolean;
  let failure: TributaryError | undefined;
  let fakes: FakeTaskService[];
  let boards: WindowBoards;

  const repository = async (name: string, isMade: boolean): Promise<string> => {
    const root = join(folder, name);
    await mkdir(join(root, 'sub'), { recursive: true });
    await run('git', ['init', '-q'], { cwd: root });
    if (isMade) await mkdir(join(root, '.git', 'tributary', 'tasks'), { recursive: true });
    return root;
  };

  const compose = async ({ root }: FoundRepository) => {
    if (failure !== undefined) throw failure;
    opened.push(root);
    const fake = new FakeTaskService({ list: async () => ({ tasks: [makeTask()], problems: [] }) });
    fakes.push(fake);
    fake.onDispose = () => {
      disposed += 1;
    };
    const core = await fake.compose({
      directory: root,
      settings: settingsOfTest,
      env: {},
      credentials: async () => undefined,
      permission: { ask: async () => ({ kind: 'denied', by: 'test', reason: '' }) },
      appVersion: '0',
    });
    return { ...core, tasks: { ...core.tasks, isBusy: () => isBusy } };
  };

  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tributary-boards-')));
    folders = [];
    opened = [];
    disposed = 0;
    isBusy = false;
    failure = undefined;
    fakes = [];
    const onProblem = (): void => undefined;
    boards = new WindowBoards({ folders: () => folders, compose, onProblem, logger: silentLogger });
  });

  afterEach(async () => {
    await boards.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('are not loaded where nobody made one, until a command asks', async () => {
    const root = await repository('a', false);
    folders = [root];
    await boards.refresh();
    assert.deepEqual(opened, []);
    assert.deepEqual(
      boards.repositories.map((one) => one.root),
      [root],
    );
    const board = await boards.ensure(join(root, '.git'));
    assert.deepEqual(opened, [root]);
    assert.equal(board.label, 'a');
    assert.equal(board.tasks.length, 1);
    assert.equal(await boards.ensure(join(root, '.git')), board);
  });

  it('are one per repository, whatever folders of it are open', async () => {
    const root = await repository('a', true);
    const other = await repository('b', true);
    folders = [join(root, 'sub'), root, other];
    await boards.refresh();
    assert.deepEqual(opened, [root, other]);
    assert.deepEqual(
      boards.all.map(({ label }) => label),
      ['a', 'b'],
    );
  });

  it('are one for a repository and its linked worktree', async () => {
    const root = await repository('a', true);
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'];
    await run('git', [...author, 'commit', '-q', '--allow-empty', '-m', 'x'], { cwd: root });
    const linked = join(folder, 'linked');
    await run('git', ['worktree', 'add', '-q', linked], { cwd: root });
    folders = [linked, root];
    await boards.refresh();
    assert.deepEqual(opened, [linked]);
    assert.equal(boards.all[0]?.id, join(root, '.git'));
  });

  it('open by themselves when another process makes one', async () => {
    const root = await repository('a', false);
    folders = [root];
    await boards.refresh();
    const found = new Promise<void>((resolve) => {
      boards.onDidOpen(() => resolve());
    });
    await mkdir(join(root, '.git', 'tributary', 'tasks'), { recursive: true });
    await found;
    assert.deepEqual(opened, [root]);
  });

  it('close with their folders', async () => {
    const root = await repository('a', true);
    folders = [root];
    await boards.refresh();
    folders = [];
    await boards.refresh();
    assert.deepEqual(boards.all, []);
    assert.equal(disposed, 1);
    assert.equal(fakes[0]?.listenerCount, 0);
  });

  it('know a Task as last heard of, wherever it is', async () => {
    const root = await repository('a', true);
    folders = [root];
    await boards.refresh();
    const task = makeTask();
    assert.equal(boards.find(task.id)?.task.state, 'open');
    const changed = { ...task, state: 'accepted' as const };
    let changes = 0;
    boards.onDidChange(() => {
      changes += 1;
    });
    fakes[0]?.changes.fire({
      task: changed,
      event: { v: 1, at, taskId: task.id, type: 'task.changed', state: 'accepted' },
    });
    assert.equal(boards.find(task.id)?.task.state, 'accepted');
    assert.equal(changes, 1);
  });

  it('that cannot be opened are said, and tried again when something changed', async () => {
    failure = new TributaryError('gitTooOld', 'git 2.0');
    folders = [await repository('a', true)];
    await boards.refresh();
    assert.deepEqual(
      boards.problems.map(({ code }) => code),
      ['gitTooOld'],
    );
    failure = undefined;
    await boards.refresh();
    assert.deepEqual(boards.problems, []);
    assert.equal(boards.all.length, 1);
  });

  it('get a new core when settings change, but not while something goes on', async () => {
    folders = [await repository('a', true)];
    await boards.refresh();
    const first = boards.all[0]?.core;
    isBusy = true;
    boards.renew();
    assert.equal(boards.all[0]?.core, first);
    isBusy = false;
    boards.renew();
    await new Promise<void>((resolve) => {
      boards.onDidChange(() => resolve());
    });
    assert.notEqual(boards.all[0]?.core, first);
    await waitUntil(() => disposed === 1);
  });

  it('keep one core and no other when settings change twice at once', async () => {
    folders = [await repository('a', true)];
    await boards.refresh();
    boards.renew();
    boards.renew();
    await waitUntil(() => disposed === 2);
    assert.equal(fakes.filter(({ listenerCount }) => listenerCount > 0).length, 1);
  });

  it('are all closed at the end', async () => {
    folders = [await repository('a', true), await repository('b', true)];
    await boards.refresh();
    await boards.dispose();
    assert.equal(disposed, 2);
    assert.ok(fakes.every(({ listenerCount }) => listenerCount === 0));
  });
});

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
