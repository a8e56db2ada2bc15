import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type LandingId, makeLandingId } from '../../src/model/ids';
import type { LandingRecord } from '../../src/model/landing';
import type { Store, StoreProblem } from '../../src/store/store';
import { Board, HandClock, someTask } from './boards';

describe('The journal', () => {
  let board: Board;
  let store: Store;
  const clock = new HandClock();
  const problems: StoreProblem[] = [];
  beforeEach(async () => {
    problems.length = 0;
    board = await Board.create();
    store = await board.open({ clock, onProblem: (problem) => problems.push(problem) });
  });
  afterEach(() => board.remove());

  const record = (id: LandingId, over: Partial<LandingRecord> = {}): LandingRecord => ({
    v: 1,
    id,
    taskId: someTask,
    at: '2026-01-02T03:04:05.006Z',
    checkout: '/repo',
    state: 'writing',
    ours: 'a',
    merged: 'b',
    paths: [{ path: 'ü/\n', before: { kind: 'absent' }, after: { kind: 'symlink', target: 'x' } }],
    ...over,
  });

  it('gives each Landing a folder and an id of its own, with room for the contents of both sides', async () => {
    const other = await board.open({ clock });
    const made = await Promise.all([store.journal.create(), other.journal.create(), store.journal.create()]);
    assert.deepEqual(
      made.map(({ id }) => id).sort(),
      [1, 2, 3].map((counter) => makeLandingId(clock.now(), counter)),
    );
    for (const { id, directory } of made) {
      assert.equal(directory, store.journal.directory(id));
      assert.deepEqual(await readdir(directory), ['after', 'before']);
    }
  });

  it('gives a record back as it was last saved', async () => {
    const { id } = await store.journal.create();
    await store.journal.save(record(id));
    await store.journal.save(record(id, { state: 'landed' }));
    assert.deepEqual(await store.journal.load(id), record(id, { state: 'landed' }));
  });

  it('lists records by id and passes over a Landing that never began', async () => {
    const ids: LandingId[] = [];
    for (let counter = 1; counter <= 11; counter += 1) ids.push((await store.journal.create()).id);
    const never = ids[4];
    for (const id of [...ids].reverse()) if (id !== never) await store.journal.save(record(id));
    assert.deepEqual(
      (await store.journal.list()).map(({ id }) => id),
      ids.filter((id) => id !== never),
    );
    assert.deepEqual(problems, []);
  });

  it('does not know what was not made there', async () => {
    const id = makeLandingId(clock.now(), 7);
    await assert.rejects(store.journal.load(id), { code: 'unknownId' });
    await assert.rejects(store.journal.save(record(id)), { code: 'unknownId' });
  });

  it('keeps a damaged record under another name and says so', async () => {
    const { id, directory } = await store.journal.create();
    await writeFile(`${directory}/landing.json`, '');
    assert.deepEqual(await store.journal.list(), []);
    assert.equal(problems[0]?.code, 'corruptFile');
    assert.ok((await readdir(directory)).includes('landing.json.corrupt-20260304T050607089'));
    await assert.rejects(store.journal.load(id), { code: 'corruptFile' });
  });

  it('reads a record of a newer version and refuses to change it', async () => {
    const { id, directory } = await store.journal.create();
    await store.journal.save(record(id));
    const path = `${directory}/landing.json`;
    await writeFile(path, (await readFile(path, 'utf8')).replace('"v": 1', '"v": 2'));
    assert.equal((await store.journal.load(id)).id, id);
    assert.equal((await store.journal.list()).length, 1);
    await assert.rejects(store.journal.save(record(id, { state: 'undoing' })), { code: 'newerStore' });
  });

  it('refuses a record that could not be read again', async () => {
    const { id, directory } = await store.journal.create();
    const wrong = record(id, { paths: [] });
    await assert.rejects(store.journal.save({ ...wrong, taskId: JSON.parse('7') }), { code: 'internal' });
    assert.deepEqual(await readdir(directory), ['after', 'before']);
  });
});
