import assert from 'node:assert/strict';
import { appendFile, chmod, mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OwnNames } from '../../src/git/drift';
import { driftText } from '../../src/model/alarm';
import { runCommand } from '../../src/process/runCommand';
import { type Layer, openLayer, spiedRun } from './support/layer';
import { cleanUp, makeRepo, type TempRepo } from './support/tempRepo';

const nobody: OwnNames = { worktrees: new Set(), branches: new Set() };

describe('what commands of agents must not change', () => {
  let repo: TempRepo;
  let layer: Layer;
  let gits: string[];

  beforeEach(async () => {
    repo = await makeRepo({ files: { 'a.txt': 'one\n', 'b.txt': 'two\n' } });
    gits = [];
    layer = await openLayer(
      repo.root,
      spiedRun((subcommand) => gits.push(subcommand)),
    );
  });
  after(cleanUp);

  /** What two looks around `act` find, as rows. */
  const around = async (act: () => Promise<unknown>, own = nobody): Promise<string[]> => {
    const before = await layer.drift.look();
    await act();
    const { changes, newBranches } = layer.drift.compare(before, await layer.drift.look(), own);
    return [...changes.map(driftText), ...newBranches.map((name) => `new ${name}`)];
  };
  const tip = async (): Promise<string> => (await repo.git('rev-parse', 'HEAD')).slice(0, 12);

  it('is looked at without git once the hooks folder is known', async () => {
    await layer.drift.look();
    gits.length = 0;
    await layer.drift.look();
    assert.deepEqual(gits, []);
  });

  it('a commit in the checkout names the branch, from where to where, and what is staged', async () => {
    const old = await tip();
    await repo.write('a.txt', 'three\n');
    const rows = await around(() => repo.git('commit', '--quiet', '--all', '--message', 'mine'));
    assert.deepEqual(rows, [`refs/heads/main: ${old} -> ${await tip()}`, `what is staged in ${repo.root}`]);
  });

  it('HEAD of the checkout and of foreign worktrees', async () => {
    const other = join(repo.folder, 'other');
    await repo.git('branch', 'side');
    await repo.git('worktree', 'add', '--quiet', '--detach', other);
    const commit = await tip();
    const rows = await around(async () => {
      await repo.git('symbolic-ref', 'HEAD', 'refs/heads/side');
      await repo.git('-C', other, 'checkout', '--quiet', '-b', 'third');
    });
    assert.deepEqual(rows, [
      `HEAD of ${other}: ${commit} -> refs/heads/third`,
      `HEAD of ${repo.root}: refs/heads/main -> refs/heads/side`,
      'new refs/heads/third',
    ]);
  });

  it('refs that were moved, made or deleted, loose or packed', async () => {
    await repo.git('tag', 'v1');
    await repo.git('branch', 'gone');
    const one = await tip();
    await repo.commitAll('second');
    assert.deepEqual(await around(() => repo.git('pack-refs', '--all')), []);
    const rows = await around(async () => {
      await repo.git('branch', '-D', 'gone');
      await repo.git('update-ref', 'refs/remotes/origin/main', 'HEAD');
      await repo.git('tag', '--force', 'v1');
    });
    const two = await tip();
    assert.deepEqual(rows, [
      `refs/heads/gone: ${one} -> none`,
      `refs/remotes/origin/main: none -> ${two}`,
      `refs/tags/v1: ${one} -> ${two}`,
    ]);
  });

  it('the stash, also an entry below the newest', async () => {
    for (const text of ['x\n', 'y\n']) {
      await repo.write('a.txt', text);
      await repo.git('stash', 'push', '--quiet');
    }
    assert.equal((await around(() => repo.git('stash', 'drop', '--quiet', 'stash@{1}'))).length, 1);
    assert.match(
      (await around(() => repo.git('stash', 'drop', '--quiet'))).join(),
      /^the stash: \w{12} -> none$/,
    );
  });

  it('what is staged, told by content and never by stat data', async () => {
    const refreshed = await around(async () => {
      await utimes(join(repo.root, 'a.txt'), 1, 1);
      await repo.git('status');
      await repo.git('update-index', '--refresh');
    });
    assert.deepEqual(refreshed, []);
    for (const version of ['4', '2', '3']) {
      assert.deepEqual(await around(() => repo.git('update-index', '--index-version', version)), []);
      await repo.write('c.txt', version);
      assert.deepEqual(await around(() => repo.git('add', 'c.txt')), [`what is staged in ${repo.root}`]);
      await repo.write('intended.txt', version);
      const intended = await around(() => repo.git('add', '--intent-to-add', 'intended.txt'));
      assert.deepEqual(intended, [`what is staged in ${repo.root}`]);
      await repo.git('reset', '--quiet');
    }
  });

  it('the same where the index is split', async () => {
    await repo.git('update-index', '--split-index');
    assert.deepEqual(await around(() => repo.git('status')), []);
    await repo.write('c.txt', 'three\n');
    assert.deepEqual(await around(() => repo.git('add', 'c.txt')), [`what is staged in ${repo.root}`]);
  });

  it('the shared configuration and hooks, also where the hooks are elsewhere', async () => {
    const common = join(repo.root, '.git');
    await mkdir(join(common, 'info'), { recursive: true });
    await mkdir(join(common, 'hooks'), { recursive: true });
    const rows = await around(async () => {
      await repo.git('config', 'core.pager', 'evil');
      await appendFile(join(common, 'info', 'attributes'), '* text\n');
      await appendFile(join(common, 'info', 'exclude'), 'x\n');
      await writeFile(join(common, 'hooks', 'pre-commit'), '#!/bin/sh\n');
    });
    const named = ['config', 'info/attributes', 'info/exclude'].map((name) => join(common, name));
    assert.deepEqual(rows, [
      ...named.map((path) => `the configuration file ${path}`),
      `the hook ${join(common, 'hooks', 'pre-commit')}`,
    ]);
    assert.deepEqual(await around(() => chmod(join(common, 'hooks', 'pre-commit'), 0o755)), [
      `the hook ${join(common, 'hooks', 'pre-commit')}`,
    ]);
    await mkdir(join(repo.root, '.husky'));
    await repo.git('config', 'core.hooksPath', '.husky');
    layer = await openLayer(repo.root);
    assert.deepEqual(await around(() => repo.write('.husky/pre-push', 'x')), [
      `the hook ${join(repo.root, '.husky', 'pre-push')}`,
    ]);
  });

  it('a value that comes back to what it was within one tick of the clock is no change, another one is', async () => {
    const path = join(repo.root, '.git', 'info', 'exclude');
    await mkdir(join(repo.root, '.git', 'info'), { recursive: true });
    await writeFile(path, 'aaaa\n');
    for (let round = 0; round < 20; round += 1) {
      const rows = await around(() => writeFile(path, round % 2 === 0 ? 'bbbb\n' : 'aaaa\n'));
      assert.equal(rows.length, 1);
    }
  });

  it('is not what is ours: branches and worktrees of Tasks, and refs below refs/tributary', async () => {
    const path = join(repo.folder, 'repo.worktrees', 'one');
    const own = { worktrees: new Set([path]), branches: new Set(['refs/heads/tributary/one']) };
    const rows = await around(async () => {
      await repo.git('worktree', 'add', '--quiet', '-b', 'tributary/one', path);
      await repo.git('update-ref', 'refs/tributary/task/1', 'HEAD');
      await repo.git('-C', path, 'commit', '--quiet', '--allow-empty', '--message', 'work');
      await repo.git('-C', path, 'checkout', '--quiet', '--detach');
      await rm(path, { recursive: true });
    }, own);
    assert.deepEqual(rows, []);
  });

  it('costs a few milliseconds with a thousand files', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, at) => [`dir${at % 20}/file${at}`, `${at}`]),
    );
    const large = await makeRepo({ files });
    const { drift } = await openLayer(large.root, runCommand);
    await drift.look();
    const took: number[] = [];
    for (let round = 0; round < 21; round += 1) {
      const start = performance.now();
      const before = await drift.look();
      drift.compare(before, await drift.look(), nobody);
      took.push(performance.now() - start);
    }
    const median = took.sort((a, b) => a - b)[10] ?? Number.NaN;
    // A loaded machine is slow; a git process would still be told from it.
    assert.ok(median < 50, `${median} ms`);
  });
});
