import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '../../src/model/task';
import { cleanUp } from '../git/support/tempRepo';
import { type LandingSite, makeLandingSite, userSideOf } from './support/landingSite';

describe('a Landing that was cut off before the user went on', () => {
  let site: LandingSite;

  beforeEach(async () => {
    site = await makeLandingSite();
  });
  afterEach(async () => {
    await site.dispose();
    await cleanUp();
  });

  const userSide = (): Promise<Record<string, unknown>> => userSideOf(site);
  const change = async (file: string, fields: Readonly<Record<string, unknown>>): Promise<void> => {
    const record: object = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...record, ...fields }));
  };
  /** As a kill leaves it. */
  const cutOff = async (task: Task, state: 'writing' | 'undoing', fields: object): Promise<void> => {
    const folder = join(site.repo.root, '.git/tributary');
    const [id = ''] = await readdir(join(folder, 'journal'));
    await change(join(folder, 'journal', id, 'landing.json'), { state });
    const pending = { to: 'open', at: new Date().toISOString(), landingId: id };
    await change(join(folder, 'tasks', task.id, 'task.json'), {
      ...fields,
      pending: { ...pending, ...(state === 'writing' ? { part: task.landings[0]?.part } : {}) },
    });
  };
  const listed = async (task: Task): Promise<Task | undefined> => {
    const { tasks, problems } = await site.core.tasks.list();
    assert.deepEqual(problems, []);
    return tasks.find(({ id }) => id === task.id);
  };
  const landedPart = async (): Promise<Task> => {
    const task = await site.task("sed -i '1s/.*/first, changed/' a.txt && echo new > new.txt");
    const selection = { paths: ['a.txt'], hunks: [] };
    const outcome = await site.core.tasks.accept(task.id, { mode: 'commit', selection });
    assert.equal(outcome.kind, 'landed');
    return outcome.task;
  };

  for (const [how, goOn] of [
    ['on top', ['commit', '-q', '--allow-empty', '-m', 'on top']],
    ['by amending its commit', ['commit', '-q', '--amend', '-m', 'in my words']],
    ['on another branch', ['switch', '-q', '-c', 'other', 'HEAD~1']],
  ] as const)
    it(`an undo stands as not begun where they went on ${how}: nothing is written`, async () => {
      const task = await landedPart();
      await cutOff(task, 'undoing', {});
      await site.repo.git(...goOn);
      const before = await userSide();
      const now = await listed(task);
      assert.deepEqual(await userSide(), before);
      assert.deepEqual([now?.pending, now?.landings], [undefined, task.landings]);
    });

  it('is taken back, staged entries too, where they committed something else from the commit before', async () => {
    const task = await landedPart();
    const from = (await site.repo.git('rev-parse', 'HEAD~1')).trim();
    await site.repo.git('reset', '-q', '--soft', from);
    await cutOff(task, 'writing', { landings: [] });
    await site.repo.git('commit', '-q', '--allow-empty', '--only', '-m', 'mine');
    const now = await listed(task);
    assert.equal(await site.repo.git('status', '--porcelain'), '');
    assert.deepEqual([now?.pending, now?.landings], [undefined, []]);
  });

  it('stands where they committed its files themselves', async () => {
    const task = await landedPart();
    const from = (await site.repo.git('rev-parse', 'HEAD~1')).trim();
    await site.repo.git('reset', '-q', '--soft', from);
    await cutOff(task, 'writing', { landings: [] });
    await site.repo.git('commit', '-q', '-m', 'mine');
    const before = await userSide();
    const now = await listed(task);
    assert.deepEqual(await userSide(), before);
    assert.equal(now?.pending, undefined);
    assert.equal(now?.landings.length, 1);
  });

  it('comes to its end where they staged something else of its files: what they staged is left', async () => {
    const task = await landedPart();
    const from = (await site.repo.git('rev-parse', 'HEAD~1')).trim();
    await site.repo.git('reset', '-q', '--soft', from);
    await cutOff(task, 'writing', { landings: [] });
    await site.repo.write('a.txt', 'mine\n');
    await site.repo.git('add', 'a.txt');
    const { tasks, problems } = await site.core.tasks.list();
    const now = tasks.find(({ id }) => id === task.id);
    assert.deepEqual(now?.pending, undefined);
    assert.deepEqual([now?.cutOff?.paths, now?.cutOff?.stands], [['a.txt'], false]);
    assert.equal(problems.length, 1);
    assert.match(problems[0]?.message ?? '', /a\.txt.*tributary accept/);
    assert.equal(await site.repo.git('show', ':a.txt'), 'mine\n');
    assert.equal((await site.repo.git('rev-parse', 'HEAD')).trim(), from);
  });

  it('an undo by a merge comes to its end where they edited a file while it was cut off', async () => {
    const task = await site.task("sed -i '1s/.*/first, changed/' a.txt && echo new > new.txt");
    assert.equal((await site.core.tasks.accept(task.id, {})).kind, 'landed');
    await site.repo.write('a.txt', `${await site.repo.read('a.txt')}mine\n`);
    const landed = await site.core.tasks.find(task.id);
    assert.equal((await site.core.tasks.undo(task.id, { merge: true })).kind, 'undone');
    const journal = join(site.repo.root, '.git/tributary/journal');
    const [first = '', second = ''] = (await readdir(journal)).sort();
    await change(join(journal, first, 'landing.json'), { state: 'landed' });
    await change(join(journal, second, 'landing.json'), { state: 'writing' });
    const pending = { to: 'open', at: new Date().toISOString(), landingId: first, undoneBy: second };
    const { landings, state } = landed.task;
    await change(join(site.repo.root, '.git/tributary/tasks', task.id, 'task.json'), {
      landings,
      state,
      pending,
    });
    await site.repo.write('a.txt', 'something else\n');
    const { tasks } = await site.core.tasks.list();
    const now = tasks.find(({ id }) => id === task.id);
    assert.equal(now?.pending, undefined);
    assert.deepEqual(now?.cutOff?.paths, ['a.txt']);
    assert.equal(await site.repo.read('a.txt'), 'something else\n');
  });
});
