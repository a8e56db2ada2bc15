import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, fingerprint, gitAt, listing, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

describe("a base of HEAD with the user's uncommitted changes", () => {
  let repo: TempRepo;
  let layer: Layer;

  beforeEach(async () => {
    repo = await makeRepo({
      files: {
        'edited.txt': 'one\ntwo\nthree\n',
        'staged.txt': 'as committed\n',
        'gone.txt': 'to be deleted\n',
        'plain.sh': 'echo\n',
        '.gitignore': '*.log\n',
      },
    });
    layer = await openLayer(repo.root);
  });
  afterEach(cleanUp);

  async function makeChanges(): Promise<void> {
    await repo.git('stash', 'list');
    await repo.write('staged.txt', 'to be stashed\n');
    await repo.git('stash', 'push', '--quiet');
    await repo.write('staged.txt', 'staged\n');
    await repo.git('add', 'staged.txt');
    await repo.write('staged.txt', 'staged, then edited\r\n');
    await repo.write('edited.txt', 'one\nTWO\nthree\n');
    await repo.remove('gone.txt');
    await chmod(join(repo.root, 'plain.sh'), 0o755);
    await repo.write('new.txt', 'untracked\n');
    await repo.write('neu dir/ü "q".txt', 'hostile name\n');
    await repo.write('debug.log', 'ignored\n');
    await repo.write('to-new', { link: 'new.txt' });
  }

  const head = () => layer.repository.resolveBase();
  const worktreeAt = async (commit: string): Promise<string> => {
    const path = join(`${repo.root}.worktrees`, 'task');
    await layer.worktrees.create({ path, branch: 'refs/heads/tributary/task', commit, lockReason: 'test' });
    return path;
  };

  it('is a commit on HEAD with staged, unstaged and untracked files and without ignored ones', async () => {
    await makeChanges();
    const on = await head();
    const base = await layer.uncommitted.baseOn(on);
    assert.equal(base.ref, 'HEAD');
    assert.deepEqual(base.uncommitted, { on: on.commit, files: 7 });
    assert.equal((await repo.git('rev-parse', `${base.commit}^`)).trim(), on.commit);
    const path = await worktreeAt(base.commit);
    const standing = await listing(path);
    await repo.remove('debug.log');
    assert.equal(standing, await listing(repo.root));
    assert.equal(await repoAt(repo.folder, path).git('status', '--porcelain'), '');
  });

  it('leaves files, index, stash, refs and HEAD byte for byte as they are', async () => {
    await makeChanges();
    const before = await fingerprint(repo.root);
    assert.equal(await layer.uncommitted.count(), 7);
    const base = await layer.uncommitted.baseOn(await head());
    await layer.uncommitted.keep('task_x', base.commit);
    assert.deepEqual(await fingerprint(repo.root), before);
    assert.equal((await repo.git('rev-parse', 'refs/tributary/task_x/base')).trim(), base.commit);
  });

  it('is HEAD itself where nothing is uncommitted', async () => {
    const on = await head();
    assert.equal(await layer.uncommitted.count(), 0);
    assert.deepEqual(await layer.uncommitted.baseOn(on), on);
  });

  it('holds files in conflict as they stand, in the middle of a merge', async () => {
    await repo.git('switch', '--quiet', '--create', 'other');
    await repo.write('edited.txt', 'one\nother\nthree\n');
    await repo.commitAll();
    await repo.git('switch', '--quiet', 'main');
    await repo.write('edited.txt', 'one\nmine\nthree\n');
    await repo.commitAll();
    await repo.git('merge', 'other').catch(() => undefined);
    const before = await fingerprint(repo.root);
    const base = await layer.uncommitted.baseOn(await head());
    assert.equal(await repo.git('show', `${base.commit}:edited.txt`), await repo.read('edited.txt'));
    assert.deepEqual(await fingerprint(repo.root), before);
  });

  it('takes the linked worktree that was opened, not the main one', async () => {
    await repo.write('edited.txt', 'in the main one\n');
    const linked = join(repo.folder, 'linked');
    await repo.git('worktree', 'add', '--quiet', linked);
    const other = repoAt(repo.folder, linked);
    await other.write('new.txt', 'in the linked one\n');
    const before = await fingerprint(linked);
    const opened = await openLayer(linked);
    const base = await opened.uncommitted.baseOn(await opened.repository.resolveBase());
    assert.equal(base.uncommitted?.files, 1);
    assert.equal(await repo.git('show', `${base.commit}:new.txt`), 'in the linked one\n');
    assert.deepEqual(await fingerprint(linked), before);
    const name = (await gitAt(linked, 'rev-parse', '--absolute-git-dir')).toString().trim();
    assert.ok(!(await readdir(name)).some((one) => one.startsWith('tributary')));
  });

  describe('when the work on it lands', () => {
    /** What the Task changed, as a tree, by plain git in its Worktree. */
    async function workedOn(base: string, work: (task: TempRepo) => Promise<void>): Promise<string> {
      const path = await worktreeAt(base);
      await work(repoAt(repo.folder, path));
      return layer.snapshots.treeOf(path);
    }

    const preview = (base: string, theirs: string) =>
      layer.merges.preview({ checkout: repo.root, base, theirs });

    it('writes only what the Task changed: nothing conflicts and nothing is doubled', async () => {
      await makeChanges();
      const { commit } = await layer.uncommitted.baseOn(await head());
      const theirs = await workedOn(commit, async (task) => {
        await task.write('edited.txt', 'one\nTWO\nthree, by the Task\n');
        await task.write('new.txt', 'untracked\nand more\n');
      });
      const merge = await preview(commit, theirs);
      assert.deepEqual(merge.conflicts, []);
      assert.deepEqual(merge.paths.map(({ path }) => path).sort(), ['edited.txt', 'new.txt']);
      assert.equal(await repo.git('show', `${merge.merged}:edited.txt`), 'one\nTWO\nthree, by the Task\n');
    });

    it('merges with edits the user made after the Task began', async () => {
      await makeChanges();
      const { commit } = await layer.uncommitted.baseOn(await head());
      const theirs = await workedOn(commit, (task) =>
        task.write('edited.txt', 'one\nTWO\nthree\nfour\nby the Task\n'),
      );
      await repo.write('edited.txt', 'ONE, later\nTWO\nthree\n');
      const merge = await preview(commit, theirs);
      assert.deepEqual(merge.conflicts, []);
      assert.equal(
        await repo.git('show', `${merge.merged}:edited.txt`),
        'ONE, later\nTWO\nthree\nfour\nby the Task\n',
      );
    });

    it('does not take untracked files for moved ones where the user has added a copy of their folder', async () => {
      const text = (name: string): string => `${name}\n`.repeat(30);
      await repo.write('lib/a.js', text('a'));
      await repo.write('lib/b.js', text('b'));
      const { commit } = await layer.uncommitted.baseOn(await head());
      const theirs = await workedOn(commit, (task) => task.write('lib/c.js', 'new\n'));
      await mkdir(join(repo.root, 'copy'));
      await repo.write('copy/a.js', text('a'));
      await repo.write('copy/b.js', text('b'));
      await repo.git('add', 'copy');
      const merge = await preview(commit, theirs);
      assert.deepEqual(merge.conflicts, []);
      assert.deepEqual(
        merge.paths.map(({ path }) => path),
        ['lib/c.js'],
      );
    });

    it('follows the user, who has moved the untracked folder meanwhile and added it', async () => {
      await repo.write('lib/a.js', 'a\n'.repeat(30));
      await repo.write('lib/b.js', 'b\n'.repeat(30));
      const { commit } = await layer.uncommitted.baseOn(await head());
      const theirs = await workedOn(commit, (task) => task.write('lib/a.js', `${'a\n'.repeat(30)}more\n`));
      await rename(join(repo.root, 'lib'), join(repo.root, 'moved'));
      await repo.git('add', 'moved');
      const merge = await preview(commit, theirs);
      assert.deepEqual(merge.conflicts, []);
      assert.deepEqual(
        merge.paths.map(({ path }) => path),
        ['moved/a.js'],
      );
    });
  });
});
