import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, fingerprint } from '../git/support/tempRepo';
import { type LandingSite, longText, makeLandingSite } from './support/landingSite';

const change = "sed -i '1s/.*/first, changed/' a.txt";

describe('acceptance tests before a Landing', () => {
  let site: LandingSite;

  beforeEach(async () => {
    site = await makeLandingSite();
  });
  afterEach(async () => {
    await site.dispose();
    await cleanUp();
  });

  /** A command that notes where it ran, and fails where the file `bad.txt` stands. */
  const check = (): string => `pwd >> '${join(site.repo.folder, 'ran')}' && test ! -e bad.txt`;
  const ran = async (): Promise<string[]> => {
    const text = await readFile(join(site.repo.folder, 'ran'), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  };
  const left = (): Promise<string[]> => readdir(`${site.repo.root}.worktrees`);

  it('run on the merged tree in a scratch checkout of its own, which goes again; a pass is not asked for twice', async () => {
    const task = await site.task(change, { checks: [check()], setup: ['echo set up > ignored.marker'] });
    const before = (await ran()).length;
    // With this edit the merged tree is one that nobody has tested yet.
    await site.repo.write('b.txt', 'dirty\n');
    assert.equal((await site.core.tasks.preview(task.id)).gate, 'due');
    await site.repo.write('a.txt', longText.replace('line 12', 'meets nothing'));
    const first = await site.core.tasks.accept(task.id);
    assert.equal(first.kind, 'landed');
    const places = (await ran()).slice(before);
    assert.equal(places.length, 1);
    assert.match(places[0] ?? '', /\.tributary-scratch-/);
    assert.deepEqual(await left(), []);
    assert.equal((await site.repo.git('worktree', 'list')).trim().split('\n').length, 1);
    await site.core.tasks.undo(task.id);
    assert.equal((await site.core.tasks.preview(task.id)).gate, 'passed');
    assert.equal((await site.core.tasks.accept(task.id)).kind, 'landed');
    assert.equal((await ran()).length, before + 1);
  });

  it('are taken from a verification of exactly the tree that would land', async () => {
    const task = await site.task(change, { checks: [check()] });
    const before = (await ran()).length;
    assert.equal(before, 1);
    assert.equal((await site.core.tasks.preview(task.id)).gate, 'passed');
    assert.equal((await site.core.tasks.accept(task.id, { mode: 'commit' })).kind, 'landed');
    assert.equal((await ran()).length, before);
  });

  it('one that fails on the merge lands nothing, says so, and can be passed over', async () => {
    const task = await site.task(change, { checks: [check()] });
    await site.repo.write('bad.txt', 'breaks the test\n');
    await site.repo.commitAll('bad');
    const before = await fingerprint(site.repo.root);
    for (const mode of ['apply', 'commit'] as const) {
      const outcome = await site.core.tasks.accept(task.id, { mode });
      assert.ok(outcome.kind === 'gateFailed', JSON.stringify(outcome));
      assert.deepEqual([outcome.command, outcome.exitCode], [check(), 1]);
      assert.deepEqual(await fingerprint(site.repo.root), before);
    }
    const passed = await site.core.tasks.accept(task.id, { mode: 'commit', skipGate: true });
    assert.equal(passed.kind, 'landed');
    assert.deepEqual(await left(), []);
  });

  it('are given up on a stop, and nothing is written', async () => {
    const task = await site.task(change, { checks: ['true'] });
    await site.repo.write('b.txt', 'moved\n');
    await site.repo.commitAll('moved');
    const before = await fingerprint(site.repo.root);
    const stopped = new AbortController();
    stopped.abort();
    await assert.rejects(site.core.tasks.accept(task.id, { signal: stopped.signal }), { code: 'cancelled' });
    assert.deepEqual(await fingerprint(site.repo.root), before);
  });
});
