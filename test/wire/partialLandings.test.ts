import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Core, composeCore } from '../../src/composeCore';
import type { Hunk } from '../../src/model/hunks';
import { settingsSchema } from '../../src/model/settings';
import type { Task } from '../../src/model/task';
import type { PermissionDecision } from '../../src/tasks/permission';
import { byTurn, call, finalAnswer } from '../cli/support/job';
import { cleanUp, fingerprint, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from './support/strictServer';

const lines = Array.from({ length: 12 }, (_, line) => `line ${line + 1}\n`);
const text = lines.join('');
const agents = text
  .replace('line 2\n', 'two\n')
  .replace('line 6\n', 'six\n')
  .replace('line 11\n', 'eleven\n');

describe('landing a part of a Task', () => {
  let server: StrictServer;
  let repo: TempRepo;
  let core: Core;
  let task: Task;
  let before: Record<string, string>;

  const open = (): Promise<Core> =>
    composeCore({
      directory: repo.root,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url } }),
      env: process.env,
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async (): Promise<PermissionDecision> => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    repo = await makeRepo({ files: { 'a.txt': text, 'b.txt': 'b\n' } });
    // The user is at work too.
    await repo.write('a.txt', text.replace('line 9\n', 'nine, by the user\n'));
    await repo.write('mine.txt', 'untracked\n');
    // A folder that stood empty before a file came stays when the file goes.
    await mkdir(join(repo.root, 'sub'));
    before = await fingerprint(repo.root);
    server.script(
      byTurn([
        call('Read', { file_path: 'a.txt' }),
        call('Write', { file_path: 'a.txt', content: agents }),
        call('Write', { file_path: 'sub/new.txt', content: 'new\n' }),
        { content: [{ type: 'text', text: finalAnswer }] },
      ]),
    );
    core = await open();
    const packet = await core.tasks.prepare({ objective: 'Count' });
    ({ task } = await (await core.tasks.start({ packet, verify: 'never' })).settled);
  });

  afterEach(async () => {
    await core.dispose();
    await server.close();
    await cleanUp();
  });

  const hunksOf = async (path: string): Promise<readonly Hunk[]> =>
    (await core.tasks.hunks(task.id)).files.find((file) => file.path === path)?.hunks ?? [];
  const idOf = async (line: string): Promise<string> =>
    (await hunksOf('a.txt')).find((hunk) => hunk.firstLine === `+${line}`)?.id ?? assert.fail(line);
  const users = (content: string): string => content.replace('line 9\n', 'nine, by the user\n');
  const inWorktree = (content: string): Promise<void> =>
    writeFile(join(task.worktreePath ?? '', 'a.txt'), content);
  const userSide = async (): Promise<Record<string, string>> => {
    const { refs: _refs, ...rest } = await fingerprint(repo.root);
    return rest;
  };
  const start = (): Record<string, string> => {
    const { refs: _refs, ...rest } = before;
    return rest;
  };
  const edit = async (file: string, change: (record: Record<string, unknown>) => unknown): Promise<void> =>
    writeFile(file, JSON.stringify(change(JSON.parse(await readFile(file, 'utf8')))));
  const board = (): string => join(repo.root, '.git', 'tributary');

  it('leaves it open with the rest; a whole acceptance ends it, and each undo takes back the last', async () => {
    const wish = { selection: { paths: [], hunks: [await idOf('six')] } };
    const plan = await core.tasks.preview(task.id, wish);
    assert.deepEqual(
      plan.paths.map(({ path }) => path),
      ['a.txt'],
    );
    assert.deepEqual(await userSide(), start());
    const part = await core.tasks.accept(task.id, { ...wish, expected: plan });
    assert.ok(part.kind === 'landed');
    assert.equal(part.task.state, 'open');
    assert.equal(await repo.read('a.txt'), users(text.replace('line 6\n', 'six\n')));
    assert.equal(await readFile(join(task.worktreePath ?? '', 'a.txt'), 'utf8'), agents);
    const hunks = (await core.tasks.hunks(task.id)).files.find(({ path }) => path === 'a.txt')?.hunks ?? [];
    assert.deepEqual(
      hunks.map(({ isLanded }) => isLanded),
      [false, true, false],
    );
    const afterPart = await userSide();

    const whole = await core.tasks.accept(task.id);
    assert.ok(whole.kind === 'landed');
    assert.equal(whole.task.state, 'accepted');
    assert.deepEqual([...whole.paths].sort(), ['a.txt', 'sub/new.txt']);
    assert.equal(await repo.read('a.txt'), users(agents));

    const once = await core.tasks.undo(task.id);
    assert.equal(once.kind, 'undone');
    assert.equal(once.task.state, 'open');
    assert.deepEqual(await userSide(), afterPart);
    const twice = await core.tasks.undo(task.id);
    assert.equal(twice.kind, 'undone');
    assert.deepEqual(await userSide(), start());
    await assert.rejects(core.tasks.undo(task.id), { code: 'wrongState' });
    assert.equal(await readFile(join(task.worktreePath ?? '', 'a.txt'), 'utf8'), agents);
  });

  it('lands what an agent made of a landed hunk since, and not again what the user took back by hand', async () => {
    await core.tasks.accept(task.id, {
      selection: { paths: [], hunks: [await idOf('six'), await idOf('two')] },
    });
    await inWorktree(agents.replace('six\n', 'SIX\n'));
    await repo.write('a.txt', (await repo.read('a.txt')).replace('two\n', 'line 2\n'));
    const whole = await core.tasks.accept(task.id);
    assert.equal(whole.kind, 'landed');
    const expected = agents.replace('six\n', 'SIX\n').replace('two\n', 'line 2\n');
    assert.equal(await repo.read('a.txt'), users(expected));
  });

  it('a part lands by every mode that commits, with what had landed in the files only, and each undo takes one back', async () => {
    const isEnded = async (mode: 'commit' | 'merge' | 'rebase', hunks?: string[]): Promise<string> => {
      const part = hunks === undefined ? {} : { selection: { paths: [], hunks } };
      const outcome = await core.tasks.accept(task.id, { mode, ...part });
      assert.equal(outcome.kind, 'landed');
      return outcome.task.state;
    };
    await repo.git('config', 'user.name', 'Ada');
    await repo.git('config', 'user.email', 'ada@example.invalid');
    const head = async (): Promise<string> => repo.git('show', 'HEAD:a.txt');
    await core.tasks.accept(task.id, { selection: { paths: [], hunks: [await idOf('two')] } });
    assert.equal(await isEnded('rebase', [await idOf('six')]), 'open');
    const both = text.replace('line 6\n', 'six\n').replace('line 2\n', 'two\n');
    assert.equal(await head(), both);
    assert.equal(await repo.read('a.txt'), users(both));
    assert.equal(await isEnded('merge'), 'accepted');
    assert.equal(await head(), agents);
    assert.equal(await repo.read('a.txt'), users(agents));
    for (const expected of [both, text]) {
      const undone = await core.tasks.undo(task.id);
      assert.equal(undone.kind, 'undone');
      assert.equal(await head(), expected);
    }
    assert.equal((await core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(await fingerprint(repo.root).then(({ files }) => files), before['files']);
    await assert.rejects(
      core.tasks.accept(task.id, { mode: 'keepBranch', selection: { paths: ['a.txt'], hunks: [] } }),
      { code: 'badArguments' },
    );
  });

  it('a kept branch is without what was rejected, and the Task that comes back has it still', async () => {
    await repo.git('config', 'user.name', 'Ada');
    await repo.git('config', 'user.email', 'ada@example.invalid');
    await core.tasks.mark(task.id, { paths: ['sub/new.txt'], hunks: [await idOf('six')] }, 'reject');
    const plan = await core.tasks.preview(task.id, { mode: 'keepBranch' });
    assert.deepEqual(plan.leftOut, { paths: ['sub/new.txt'], hunks: [await idOf('six')] });
    const kept = await core.tasks.accept(task.id, { mode: 'keepBranch', expected: plan });
    assert.ok(kept.kind === 'kept');
    assert.equal(await repo.git('show', `${kept.commit}:a.txt`), agents.replace('six\n', 'line 6\n'));
    await assert.rejects(repo.git('show', `${kept.commit}:sub/new.txt`));
    await core.tasks.restore(task.id);
    assert.equal(await readFile(join(task.worktreePath ?? '', 'a.txt'), 'utf8'), agents);
    assert.equal(await readFile(join(task.worktreePath ?? '', 'sub/new.txt'), 'utf8'), 'new\n');
  });

  it('undo of a part is byte for byte, or stale, also after the Worktree went on', async () => {
    await core.tasks.accept(task.id, { selection: { paths: ['sub/new.txt'], hunks: [await idOf('two')] } });
    await inWorktree('something else\n');
    const landed = await repo.read('a.txt');
    await repo.write('a.txt', `${landed}edited\n`);
    const stale = await core.tasks.undo(task.id);
    assert.ok(stale.kind === 'stale');
    assert.deepEqual(stale.paths, ['a.txt']);
    assert.equal(stale.task.state, 'open');
    await repo.write('a.txt', landed);
    assert.equal((await core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(await userSide(), start());
    assert.equal(await readFile(join(task.worktreePath ?? '', 'a.txt'), 'utf8'), 'something else\n');
  });

  it('"Accept" lands all that is not rejected; marks survive reload and later Runs if the hunk is unchanged', async () => {
    const two = await idOf('two');
    await core.tasks.mark(task.id, { hunks: [two] }, 'reject');
    await core.tasks.mark(task.id, { hunks: [two] }, 'reviewed');
    await core.tasks.mark(task.id, { paths: ['sub/new.txt'] }, 'reject');
    await assert.rejects(core.tasks.mark(task.id, { hunks: ['none'] }, 'reject'), { code: 'unknownId' });
    await inWorktree(`top\n${agents}`);
    await core.dispose();
    core = await open();
    const found = await hunksOf('a.txt');
    assert.equal((found.find(({ id }) => id === two) as { decision?: string }).decision, 'reject');
    const plan = await core.tasks.preview(task.id);
    assert.deepEqual(plan.leftOut, { paths: ['sub/new.txt'], hunks: [two] });
    const outcome = await core.tasks.accept(task.id, { expected: plan });
    assert.ok(outcome.kind === 'landed');
    assert.equal(outcome.task.state, 'accepted');
    assert.equal(await repo.read('a.txt'), users(`top\n${agents.replace('two\n', 'line 2\n')}`));
    assert.equal((await core.tasks.undo(task.id)).kind, 'undone');
    assert.equal(await readFile(join(task.worktreePath ?? '', 'sub/new.txt'), 'utf8'), 'new\n');
    await core.tasks.mark(task.id, {}, 'reject');
    await assert.rejects(core.tasks.accept(task.id), { code: 'wrongState' });
    await core.tasks.mark(task.id, {}, undefined);
    assert.equal((await core.tasks.accept(task.id)).kind, 'landed');
  });

  it('"since my last review" shows what differs from what was reviewed, and nothing else', async () => {
    await core.tasks.mark(task.id, {}, 'reviewed');
    const since = async (): Promise<string[]> =>
      (await core.tasks.hunks(task.id, { since: 'review' })).files.flatMap((file) => [
        file.path,
        ...file.hunks.map(({ firstLine }) => firstLine),
      ]);
    assert.deepEqual(await since(), []);
    await inWorktree(`${agents.replace('six\n', 'SIX\n')}end\n`);
    assert.deepEqual(await since(), ['a.txt', '+SIX', '+end']);
  });

  it('undo with a merge keeps what the user edited since, byte for byte elsewhere, and the old bytes in the journal', async () => {
    await core.tasks.accept(task.id);
    const landed = await repo.read('a.txt');
    const edited = landed.replace('line 4\n', 'four, later\n');
    await repo.write('a.txt', edited);
    const plan = await core.tasks.previewUndo(task.id);
    assert.deepEqual([plan.merged, plan.conflicts], [['a.txt'], []]);
    assert.equal((await core.tasks.undo(task.id)).kind, 'stale');
    const outcome = await core.tasks.undo(task.id, { merge: true });
    assert.ok(outcome.kind === 'undone');
    assert.equal(outcome.task.state, 'open');
    assert.deepEqual(outcome.merge?.paths, ['a.txt']);
    assert.equal(await repo.read('a.txt'), users(text.replace('line 4\n', 'four, later\n')));
    const kept = outcome.merge.kept;
    const copies = await Promise.all((await readdir(kept)).map((name) => readFile(join(kept, name), 'utf8')));
    assert.ok(copies.includes(edited));
    await assert.rejects(repo.read('sub/new.txt'));
    assert.deepEqual(await readdir(join(repo.root, 'sub')), []);
  });

  it('undo with a merge that conflicts names the paths and writes nothing', async () => {
    await core.tasks.accept(task.id);
    await repo.write('a.txt', (await repo.read('a.txt')).replace('six\n', 'six, edited\n'));
    await repo.write('sub/new.txt', 'edited too\n');
    const edited = await userSide();
    const outcome = await core.tasks.undo(task.id, { merge: true });
    assert.ok(outcome.kind === 'conflict');
    assert.deepEqual(
      outcome.conflicts.map(({ path, kind }) => `${kind} ${path}`),
      ['content a.txt', 'modify/delete sub/new.txt'],
    );
    assert.equal(outcome.task.state, 'accepted');
    assert.equal(outcome.task.pending, undefined);
    assert.deepEqual(await userSide(), edited);
  });

  it('a process that dies in a partial Landing leaves one that the next start finishes', async () => {
    const outcome = await core.tasks.accept(task.id, { selection: { paths: ['sub/new.txt'], hunks: [] } });
    assert.ok(outcome.kind === 'landed');
    const [landing] = outcome.task.landings;
    assert.ok(landing !== undefined);
    const after = await userSide();
    await core.dispose();
    // As if killed with the journal written and no file yet.
    await rm(join(repo.root, 'sub/new.txt'));
    await edit(join(board(), 'journal', landing.id, 'landing.json'), (record) => ({
      ...record,
      state: 'writing',
    }));
    const pending = { to: 'open', at: landing.at, landingId: landing.id, part: landing.part };
    await edit(join(board(), 'tasks', task.id, 'task.json'), (record) => ({
      ...record,
      landings: [],
      pending,
    }));
    core = await open();
    const { task: finished } = await core.tasks.find(task.id);
    assert.deepEqual([finished.state, finished.pending, finished.landings.length], ['open', undefined, 1]);
    assert.deepEqual(await userSide(), after);
    assert.equal((await core.tasks.undo(task.id)).kind, 'undone');
    assert.deepEqual(await userSide(), start());
  });

  it('a process that dies in an undo with a merge leaves one that the next start finishes', async () => {
    await core.tasks.accept(task.id, { selection: { paths: ['a.txt', 'sub/new.txt'], hunks: [] } });
    const edited = (await repo.read('a.txt')).replace('line 4\n', 'four, later\n');
    await repo.write('a.txt', edited);
    const outcome = await core.tasks.undo(task.id, { merge: true });
    assert.ok(outcome.kind === 'undone');
    const after = await userSide();
    const [landing] = outcome.task.landings;
    assert.ok(landing?.undoneBy !== undefined);
    await core.dispose();
    await repo.write('a.txt', edited);
    const { undoneAt: _at, undoneBy, ...standing } = landing;
    const journal = join(board(), 'journal');
    await edit(join(journal, undoneBy, 'landing.json'), (record) => ({ ...record, state: 'writing' }));
    await edit(join(journal, landing.id, 'landing.json'), (record) => ({ ...record, state: 'landed' }));
    const pending = { to: 'open', at: landing.at, landingId: landing.id, undoneBy };
    await edit(join(board(), 'tasks', task.id, 'task.json'), (record) => ({
      ...record,
      landings: [standing],
      pending,
    }));
    core = await open();
    const { task: finished } = await core.tasks.find(task.id);
    assert.equal(finished.pending, undefined);
    assert.ok(finished.landings[0]?.undoneAt !== undefined);
    assert.deepEqual(await userSide(), after);
  });
});
