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
      settings: () => settingsOfTest,
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

  async function repositoryWithWorktree(): Promise<{ root: string; linked: string }> {
    const root = await repository('a', true);
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'];
    await run('git', [...author, 'commit', '-q', '--allow-empty', '-m', 'x'], { cwd: root });
    const linked = join(folder, 'linked');
    await run('git', ['worktree', 'add', '-q', linked], { cwd: root });
    return { root, linked };
  }

  it('are one for a repository and its linked worktree', async () => {
    const { root, linked } = await repositoryWithWorktree();
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

  it('that cannot be opened are tried again when settings or the key changed; the open ones keep their core', async () => {
    failure = new TributaryError('gitTooOld', 'git 2.0');
    folders = [await repository('a', true)];
    await boards.refresh();
    failure = undefined;
    boards.retry();
    await waitUntil(() => boards.all.length === 1);
    const core = boards.all[0]?.core;
    boards.retry();
    await boards.refresh();
    assert.equal(boards.all[0]?.core, core);
  });

  it('go over to the checkout that is left of their repository at once, while what runs ends where it began', async () => {
    const { root, linked } = await repositoryWithWorktree();
    folders = [root, linked];
    await boards.refresh();
    const task = makeTask();
    isBusy = true;
    folders = [linked];
    await boards.refresh();
    const board = boards.all[0] ?? assert.fail('no board');
    assert.deepEqual(opened, [root, linked]);
    assert.deepEqual([board.root, board.label, disposed], [linked, 'linked', 0]);
    assert.ok(board.isBusy(task.id));
    let heard = 0;
    board.onDidChangeTask(() => {
      heard += 1;
    });
    fakes[0]?.changes.fire({
      task,
      event: { v: 1, at, taskId: task.id, type: 'task.changed', state: 'open' },
    });
    assert.equal(heard, 1);
    isBusy = false;
    await waitUntil(() => disposed === 1);
    assert.equal(fakes[0]?.listenerCount, 0);
  });

  it('are closed when they cannot go over to the checkout that is left', async () => {
    const { root, linked } = await repositoryWithWorktree();
    folders = [root, linked];
    await boards.refresh();
    failure = new TributaryError('gitTooOld', 'git 2.0');
    folders = [linked];
    await boards.refresh();
    assert.deepEqual(
      [boards.all.length, boards.problems.map(({ code }) => code), disposed],
      [0, ['gitTooOld'], 1],
    );
  });

  it('forget a Task whose record is gone from the disk, but not one that is at work in this window', async () => {
    folders = [await repository('a', true)];
    await boards.refresh();
    const { id } = makeTask();
    isBusy = true;
    fakes[0]?.gone(id);
    assert.equal(boards.find(id)?.task.id, id);
    isBusy = false;
    let changes = 0;
    boards.onDidChange(() => {
      changes += 1;
    });
    fakes[0]?.gone(id);
    assert.equal(boards.find(id), undefined);
    assert.equal(changes, 1);
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
