import assert from 'node:assert/strict';
import {
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { TributaryError } from '../../src/base/errors';
import type { RestoredFiles } from '../../src/git/restoredTree';
import type { Snapshots } from '../../src/git/snapshots';
import { runCommand } from '../../src/process/runCommand';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, fingerprint, gitAt, listing, makeRepo, type TempRepo } from './support/tempRepo';

/** Paths of a tree with their modes. */
async function entries(repo: TempRepo, tree: string): Promise<Record<string, string>> {
  const lines = (await repo.git('ls-tree', '-r', '-z', tree)).split('\0').filter((line) => line !== '');
  return Object.fromEntries(lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)]));
}

async function content(repo: TempRepo, tree: string, path: string): Promise<string> {
  return (await repo.gitBytes('cat-file', 'blob', `${tree}:${path}`)).toString('latin1');
}

interface State {
  readonly title: string;
  readonly arrange: (repo: TempRepo) => Promise<void>;
  /** What the tree must hold: content by path, `undefined` for absent. */
  readonly expected: Readonly<Record<string, string | undefined>>;
}

const files = {
  'a.txt': 'a\n',
  'dir/b.txt': 'b\n',
  '.gitignore': 'ignored/\n*.log\n',
  'run.sh': { executable: '#!/bin/sh\n' },
};

const states: readonly State[] = [
  {
    title: 'an untouched checkout',
    arrange: async () => undefined,
    expected: { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' },
  },
  {
    title: 'edits, staged and not, additions and deletions',
    arrange: async (repo) => {
      await repo.write('a.txt', 'edited\n');
      await repo.write('staged.txt', 'staged');
      await repo.git('add', 'staged.txt');
      await repo.write('staged.txt', 'then edited');
      await repo.write('new/deep/file.txt', 'untracked');
      await repo.remove('dir/b.txt');
    },
    expected: {
      'a.txt': 'edited\n',
      'staged.txt': 'then edited',
      'new/deep/file.txt': 'untracked',
      'dir/b.txt': undefined,
    },
  },
  {
    title: 'ignored files, which are left out, and tracked ones that match an ignore rule, which are not',
    arrange: async (repo) => {
      await repo.write('ignored/x', 'x');
      await repo.write('y.log', 'y');
      await repo.write('kept.log', 'first');
      await repo.git('add', '--force', 'kept.log');
      await repo.write('kept.log', 'second');
    },
    expected: { 'ignored/x': undefined, 'y.log': undefined, 'kept.log': 'second' },
  },
  {
    title: 'status.showUntrackedFiles=no',
    arrange: async (repo) => {
      await repo.git('config', 'status.showUntrackedFiles', 'no');
      await repo.write('new.txt', 'seen');
    },
    expected: { 'new.txt': 'seen' },
  },
  {
    title: "the user's own excludes file",
    arrange: async (repo) => {
      await writeFile(join(repo.folder, 'excludes'), '*.bak\n');
      await repo.git('config', 'core.excludesFile', join(repo.folder, 'excludes'));
      await repo.write('x.bak', 'not seen');
      await repo.write('x.txt', 'seen');
    },
    expected: { 'x.bak': undefined, 'x.txt': 'seen' },
  },
  {
    title: 'an edit hidden by assume-unchanged',
    arrange: async (repo) => {
      await repo.git('update-index', '--assume-unchanged', 'a.txt');
      await repo.write('a.txt', 'hidden edit');
    },
    expected: { 'a.txt': 'hidden edit' },
  },
  {
    title: 'a deletion hidden by assume-unchanged',
    arrange: async (repo) => {
      await repo.git('update-index', '--assume-unchanged', 'a.txt');
      await repo.remove('a.txt');
    },
    expected: { 'a.txt': undefined },
  },
  {
    title: 'an edit hidden by skip-worktree, and a file that skip-worktree left out',
    arrange: async (repo) => {
      await repo.git('update-index', '--skip-worktree', 'a.txt', 'dir/b.txt');
      await repo.write('a.txt', 'hidden edit');
      await repo.remove('dir/b.txt');
    },
    expected: { 'a.txt': 'hidden edit', 'dir/b.txt': 'b\n' },
  },
  {
    title: 'both flags on one file',
    arrange: async (repo) => {
      await repo.git('update-index', '--skip-worktree', 'a.txt');
      await repo.git('update-index', '--assume-unchanged', 'a.txt');
      await repo.write('a.txt', 'hidden edit');
    },
    expected: { 'a.txt': 'hidden edit' },
  },
  {
    title: 'an intent-to-add entry',
    arrange: async (repo) => {
      await repo.write('later.txt', 'content');
      await repo.git('add', '--intent-to-add', 'later.txt');
    },
    expected: { 'later.txt': 'content' },
  },
  {
    title: 'an unmerged index',
    arrange: async (repo) => {
      await repo.git('checkout', '-q', '-b', 'other');
      await repo.write('a.txt', 'other\n');
      await repo.commitAll();
      await repo.git('checkout', '-q', 'main');
      await repo.write('a.txt', 'main\n');
      await repo.commitAll();
      await assert.rejects(repo.git('merge', 'other'));
      await repo.write('a.txt', 'resolved by hand\n');
    },
    expected: { 'a.txt': 'resolved by hand\n' },
  },
  {
    title: 'a file that became a folder, and a folder that became a file or a link',
    arrange: async (repo) => {
      await repo.remove('a.txt');
      await repo.write('a.txt/inner', 'inner');
      await repo.remove('dir');
      await repo.write('dir', { link: 'a.txt' });
    },
    expected: { 'a.txt': undefined, 'a.txt/inner': 'inner', dir: 'a.txt', 'dir/b.txt': undefined },
  },
  {
    title: 'a folder replaced by a link to a folder with the same names',
    arrange: async (repo) => {
      await mkdir(join(repo.folder, 'outside'));
      await writeFile(join(repo.folder, 'outside', 'b.txt'), 'outside');
      await repo.remove('dir');
      await symlink('../outside', join(repo.root, 'dir'));
    },
    expected: { dir: '../outside', 'dir/b.txt': undefined },
  },
  {
    title: 'names with newline, quotes, leading dash, blanks, glob characters and Unicode',
    arrange: async (repo) => {
      for (const name of ['new\nline', '"q" \'q\'', '-dash', ' blank ', '*', '[a]', 'ünï', 'back\\slash']) {
        await repo.write(name, name);
      }
    },
    expected: Object.fromEntries(
      ['new\nline', '"q" \'q\'', '-dash', ' blank ', '*', '[a]', 'back\\slash'].map((name) => [name, name]),
    ),
  },
  {
    title: 'an empty file, a missing last newline and CRLF as they are',
    arrange: async (repo) => {
      await repo.write('empty', '');
      await repo.write('crlf', 'one\r\ntwo');
    },
    expected: { empty: '', crlf: 'one\r\ntwo' },
  },
  {
    title: 'line endings that attributes convert, with safecrlf on',
    arrange: async (repo) => {
      await repo.git('config', 'core.safecrlf', 'true');
      await repo.write('.gitattributes', '*.txt text eol=crlf\n');
      await repo.write('new.txt', 'one\r\ntwo\n');
    },
    expected: { 'new.txt': 'one\ntwo\n' },
  },
  {
    title: 'a split index',
    arrange: async (repo) => {
      await repo.git('update-index', '--split-index');
      await repo.write('a.txt', 'edited');
    },
    expected: { 'a.txt': 'edited', 'dir/b.txt': 'b\n' },
  },
  {
    title: 'no index at all',
    arrange: async (repo) => rm(join(repo.root, '.git', 'index')),
    expected: { 'a.txt': 'a\n', 'dir/b.txt': 'b\n' },
  },
  {
    title: 'a sparse checkout, with a new file outside of it',
    arrange: async (repo) => {
      await repo.git('sparse-checkout', 'set', '--cone', 'other');
      await repo.write('dir/outside.txt', 'new outside the cone');
      await repo.write('a.txt', 'edited');
    },
    expected: { 'dir/b.txt': 'b\n', 'dir/outside.txt': 'new outside the cone', 'a.txt': 'edited' },
  },
];

describe('the tree of what stands in a checkout', () => {
  after(cleanUp);

  for (const state of states) {
    it(`is right for ${state.title}, and nothing of the checkout changes`, async () => {
      const repo = await makeRepo({ files });
      await state.arrange(repo);
      const before = await fingerprint(repo.root);
      const layer = await openLayer(repo.root);
      const tree = await layer.snapshots.treeOf(repo.root);
      assert.deepEqual(await fingerprint(repo.root), before);
      const found = await entries(repo, tree);
      for (const [path, expected] of Object.entries(state.expected)) {
        if (expected === undefined) assert.ok(!(path in found), `${path} should not be there`);
        else assert.equal(await content(repo, tree, path), expected, path);
      }
      assert.equal(found['run.sh'], '100755');
    });
  }

  it('keeps modes and links', async () => {
    const repo = await makeRepo({ files });
    await chmod(join(repo.root, 'run.sh'), 0o644);
    await chmod(join(repo.root, 'a.txt'), 0o755);
    await repo.write('link', { link: 'no/where' });
    const layer = await openLayer(repo.root);
    const tree = await layer.snapshots.treeOf(repo.root);
    const found = await entries(repo, tree);
    assert.equal(found['run.sh'], '100644');
    assert.equal(found['a.txt'], '100755');
    assert.equal(found['link'], '120000');
    assert.equal(await content(repo, tree, 'link'), 'no/where');
  });

  it('sees an edit of the same size made right after the index was written', async () => {
    const repo = await makeRepo({ files });
    const layer = await openLayer(repo.root);
    for (let round = 0; round < 5; round += 1) {
      await repo.write('a.txt', `x${round}`);
      await repo.git('add', 'a.txt');
      await repo.write('a.txt', `y${round}`);
      const tree = await layer.snapshots.treeOf(repo.root);
      assert.equal(await content(repo, tree, 'a.txt'), `y${round}`);
    }
  });

  it('sees an edit that keeps size and time of change, however little of a file git is told to look at', async () => {
    const repo = await makeRepo({ files });
    await repo.git('config', 'core.checkStat', 'minimal');
    await repo.git('config', 'core.trustctime', 'false');
    const path = join(repo.root, 'a.txt');
    await utimes(path, 1_700_000_000, 1_700_000_000);
    await repo.git('update-index', '--refresh');
    const saved = join(repo.root, '.git', 'saved');
    await writeFile(saved, 'x\n');
    await utimes(saved, 1_700_000_000, 1_700_000_000);
    await rename(saved, path);
    assert.equal(await repo.git('status', '--porcelain'), '', 'git itself does not');
    const tree = await (await openLayer(repo.root)).snapshots.treeOf(repo.root);
    assert.equal(await content(repo, tree, 'a.txt'), 'x\n');
  });

  it('keeps names that are not UTF-8', async () => {
    const repo = await makeRepo({ files });
    const name = Buffer.concat([
      Buffer.from(`${repo.root}/odd-`),
      Buffer.from([0xff, 0xe9]),
      Buffer.from('.txt'),
    ]);
    await writeFile(name, 'odd');
    const layer = await openLayer(repo.root);
    const tree = await layer.snapshots.treeOf(repo.root);
    const listed = await repo.gitBytes('ls-tree', '-z', '--name-only', tree);
    assert.ok(listed.includes(Buffer.from([0xff, 0xe9])));
    const [odd] = (await layer.repository.listFiles(tree)).filter((path) => path.startsWith('odd-'));
    assert.equal((await layer.repository.readFile(tree, odd ?? ''))?.toString(), 'odd');
  });

  it('works while the index is locked by another git', async () => {
    const repo = await makeRepo({ files });
    await repo.write('a.txt', 'edited');
    await writeFile(join(repo.root, '.git', 'index.lock'), '');
    const layer = await openLayer(repo.root);
    const tree = await layer.snapshots.treeOf(repo.root);
    await rm(join(repo.root, '.git', 'index.lock'));
    assert.equal(await content(repo, tree, 'a.txt'), 'edited');
  });

  it('runs no hook, no fsmonitor, no external diff of the repository', async () => {
    const repo = await makeRepo({ files });
    const marker = join(repo.folder, 'ran');
    const script = join(repo.folder, 'script.sh');
    await writeFile(script, `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    await mkdir(join(repo.folder, 'hooks'));
    for (const hook of [
      'post-checkout',
      'post-index-change',
      'reference-transaction',
      'pre-commit',
      'post-commit',
    ]) {
      await writeFile(join(repo.folder, 'hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
    }
    await repo.git('config', 'core.hooksPath', join(repo.folder, 'hooks'));
    await repo.git('config', 'core.fsmonitor', script);
    await repo.git('config', 'diff.external', script);
    await repo.git('config', 'diff.x.textconv', script);
    await repo.git('config', 'diff.x.command', script);
    await writeFile(join(repo.root, '.git', 'info', 'attributes'), '* diff=x\n');
    await rm(marker, { force: true });
    const layer = await openLayer(repo.root);
    await repo.write('a.txt', 'edited');
    await repo.write('new', 'n');
    const taken = await layer.snapshots.take({
      worktreePath: repo.root,
      taskId: 't',
      number: 1,
      message: 'm',
    });
    await layer.changes.changeSet('HEAD', taken.tree);
    await layer.changes.patch('HEAD', taken.tree);
    await layer.merges.preview({ checkout: repo.root, base: taken.headCommit, theirs: taken.tree });
    const path = join(repo.folder, 'wt');
    const branch = 'refs/heads/tributary/x';
    await layer.worktrees.create({ path, branch, commit: taken.headCommit, lockReason: 'r' });
    await layer.snapshots.treeOf(path);
    await assert.rejects(readFile(marker), /ENOENT/);
  });

  it('uses clean filters of the repository', async () => {
    const repo = await makeRepo({ files: { ...files, '.gitattributes': '*.enc filter=rot\n' } });
    await repo.git('config', 'filter.rot.clean', 'tr a-z b-za');
    await repo.git('config', 'filter.rot.smudge', 'tr b-za a-z');
    await repo.git('config', 'filter.rot.required', 'true');
    await repo.write('x.enc', 'abc');
    const layer = await openLayer(repo.root);
    const tree = await layer.snapshots.treeOf(repo.root);
    assert.equal(await content(repo, tree, 'x.enc'), 'bcd');
  });
});

describe('repositories inside a Worktree', () => {
  after(cleanUp);

  async function scaffold(repo: TempRepo, path: string, commit: boolean): Promise<void> {
    await repo.write(`${path}/package.json`, '{}');
    await repo.write(`${path}/src/index.ts`, 'export {}');
    await repo.write(`${path}/.gitignore`, 'node_modules/\n');
    await repo.write(`${path}/node_modules/dep/index.js`, 'dep');
    await repo.write(`${path}/debug.log`, 'ignored by the outer repository');
    await gitAt(join(repo.root, path), 'init', '-q');
    if (!commit) return;
    await gitAt(join(repo.root, path), 'add', '-A');
    await gitAt(join(repo.root, path), 'commit', '-q', '-m', 'scaffold');
  }

  const expected = { '.gitignore': '100644', 'package.json': '100644', 'src/index.ts': '100644' };

  async function check(repo: TempRepo, layer: Layer, path: string): Promise<void> {
    const before = await fingerprint(repo.root);
    const tree = await layer.snapshots.treeOf(repo.root);
    assert.deepEqual(await fingerprint(repo.root), before);
    const below = Object.entries(await entries(repo, tree)).filter(([name]) => name.startsWith(path));
    assert.deepEqual(
      Object.fromEntries(below.map(([name, mode]) => [name.slice(path.length + 1), mode])),
      expected,
    );
  }

  for (const commit of [true, false]) {
    it(`are recorded as files, never as a pointer (${commit ? 'with' : 'without'} a commit)`, async () => {
      const repo = await makeRepo({ files });
      await scaffold(repo, 'app', commit);
      await check(repo, await openLayer(repo.root), 'app');
    });
  }

  it('are recorded as files when the agent staged or committed the pointer', async () => {
    const repo = await makeRepo({ files });
    await scaffold(repo, 'app', true);
    await repo.git('-c', 'advice.addEmbeddedRepo=false', 'add', 'app');
    const layer = await openLayer(repo.root);
    await check(repo, layer, 'app');
    await repo.git('commit', '-q', '-m', 'pointer');
    await check(repo, layer, 'app');
  });

  for (const commits of [0, 1])
    it(`are recorded as files where they stand in the place of a tracked file, with ${commits} commits`, async () => {
      const repo = await makeRepo({ files });
      const { snapshots } = await openLayer(repo.root);
      await repo.git('add', '--force', 'a.txt');
      await repo.remove('a.txt');
      await repo.git('init', '-q', 'a.txt');
      await repo.write('a.txt/note', 'of the repository');
      if (commits > 0) {
        await gitAt(join(repo.root, 'a.txt'), 'add', '--all');
        await gitAt(join(repo.root, 'a.txt'), 'commit', '-q', '-m', 'own');
      }
      const tree = await snapshots.treeOf(repo.root);
      assert.equal(await content(repo, tree, 'a.txt/note'), 'of the repository');
      assert.equal((await entries(repo, tree))['a.txt'], undefined);
    });

  it('are found inside each other', async () => {
    const repo = await makeRepo({ files });
    await scaffold(repo, 'app', true);
    await scaffold(repo, 'app/vendor/lib', true);
    const layer = await openLayer(repo.root);
    const found = await entries(repo, await layer.snapshots.treeOf(repo.root));
    assert.equal(found['app/vendor/lib/src/index.ts'], '100644');
    assert.ok(!Object.keys(found).some((path) => path.includes('.git/') || path.includes('node_modules')));
  });

  it('stay submodules where the project registers them, at the commit they are on', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const repo = await makeRepo({ files });
    await repo.git('submodule', '--quiet', 'add', inner.root, 'sub');
    await repo.commitAll('submodule');
    const layer = await openLayer(repo.root);
    await writeFile(join(repo.root, 'sub', 'i'), '2');
    await gitAt(join(repo.root, 'sub'), 'commit', '-q', '-am', 'two');
    const head = (await gitAt(join(repo.root, 'sub'), 'rev-parse', 'HEAD')).toString().trim();
    const tree = await layer.snapshots.treeOf(repo.root);
    assert.match(await repo.git('ls-tree', tree, 'sub'), new RegExp(`^160000 commit ${head}\\tsub`));
  });

  it('stay pointers where the submodule is not checked out', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const repo = await makeRepo({ files });
    await repo.git('submodule', '--quiet', 'add', inner.root, 'sub');
    await repo.commitAll('submodule');
    await repo.git('worktree', 'add', '-q', join(repo.folder, 'linked'));
    const layer = await openLayer(join(repo.folder, 'linked'));
    const tree = await layer.snapshots.treeOf(join(repo.folder, 'linked'));
    assert.equal(tree, await layer.repository.treeOf('HEAD'));
  });
});

describe('files that move under a snapshot', () => {
  after(cleanUp);

  it('are looked at again when one vanishes during the walk', async () => {
    const repo = await makeRepo({ files });
    await repo.write('gone.txt', 'soon gone');
    let calls = 0;
    const layer = await openLayer(repo.root, async (request) => {
      const args = request.command.kind === 'args' ? request.command.args : [];
      if (args.includes('update-index') && calls === 0) {
        calls += 1;
        await rm(join(repo.root, 'gone.txt'));
        await rename(join(repo.root, 'dir'), join(repo.root, 'moved'));
      }
      return runCommand(request);
    });
    const tree = await layer.snapshots.treeOf(repo.root);
    assert.equal(calls, 1);
    assert.ok(!('gone.txt' in (await entries(repo, tree))));
  });

  it('makes the walk fail, not lie, when git keeps failing', async () => {
    const repo = await makeRepo({ files });
    const layer = await openLayer(repo.root, async (request) => {
      const args = request.command.kind === 'args' ? request.command.args : [];
      const result = await runCommand(request);
      return args.includes('status')
        ? { ...result, exitCode: 128, stderr: Buffer.from('fatal: unable to stat') }
        : result;
    });
    await assert.rejects(layer.snapshots.treeOf(repo.root), (error) => {
      return error instanceof TributaryError && error.code === 'gitFailed';
    });
  });
});

describe('taking a Snapshot', () => {
  after(cleanUp);

  it('commits under refs/tributary with HEAD as first parent and touches nothing else', async () => {
    const repo = await makeRepo({ files });
    await repo.write('a.txt', 'stashed');
    await repo.git('stash');
    await repo.write('a.txt', 'edited');
    await repo.git('add', 'a.txt');
    await repo.write('new', 'n');
    const before = await fingerprint(repo.root);
    const { snapshots, repository } = await openLayer(repo.root);
    const first = await snapshots.take({
      worktreePath: repo.root,
      taskId: 'task_1',
      number: 1,
      message: 'one\n\nbody',
    });
    const head = await repository.head();
    assert.equal(first.ref, 'refs/tributary/task_1/1');
    assert.equal(first.headCommit, head.commit);
    assert.equal(first.headRef, 'refs/heads/main');
    assert.equal(await repository.resolveRef(first.ref), first.commit);
    await repo.write('new', 'more');
    const second = await snapshots.take({
      worktreePath: repo.root,
      taskId: 'task_1',
      number: 2,
      message: 'two',
      previous: first.commit,
    });
    assert.equal(
      (await repo.git('rev-parse', `${second.commit}^1`, `${second.commit}^2`)).trim(),
      `${head.commit}\n${first.commit}`,
    );
    assert.equal(
      (await repo.git('log', '-1', '--format=%an <%ae>|%B', first.commit)).trim(),
      'Tributary <snapshots@tributary.invalid>|one\n\nbody',
    );
    await repo.write('new', 'n');
    assert.deepEqual(await fingerprint(repo.root), before);
  });

  it('needs no user.name, signs nothing and works on a detached HEAD', async () => {
    const repo = await makeRepo({ files });
    await repo.git('config', 'user.useConfigOnly', 'true');
    await repo.git('config', 'commit.gpgSign', 'true');
    await repo.git('config', 'gpg.program', '/nonexistent');
    await repo.git('checkout', '-q', '--detach');
    const { snapshots } = await openLayer(repo.root);
    const taken = await snapshots.take({ worktreePath: repo.root, taskId: 't', number: 1, message: 'm' });
    assert.equal(taken.headRef, undefined);
    assert.doesNotMatch(await repo.git('cat-file', 'commit', taken.commit), /gpgsig/);
  });

  it('never drops a commit that its ref already named', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const request = { worktreePath: repo.root, taskId: 't', number: 1, message: 'm' };
    const first = await snapshots.take(request);
    await repo.write('a.txt', 'later');
    const second = await snapshots.take(request);
    assert.notEqual(second.commit, first.commit);
    await repo.git('merge-base', '--is-ancestor', first.commit, second.ref);
  });

  it('records an agent that left every commit behind on the last Snapshot, or on the base', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const first = await snapshots.take({ worktreePath: repo.root, taskId: 't', number: 1, message: 'm' });
    await repo.git('checkout', '-q', '--orphan', 'fresh');
    const request = { worktreePath: repo.root, taskId: 't', number: 2, message: 'm' };
    await assert.rejects(
      snapshots.take(request),
      (error) => error instanceof TributaryError && error.code === 'unbornBranch',
    );
    const second = await snapshots.take({ ...request, previous: first.commit });
    assert.equal(second.headCommit, first.commit);
    assert.equal(second.headRef, 'refs/heads/fresh');
    const third = await snapshots.take({ ...request, number: 3, base: first.headCommit });
    assert.equal(third.headCommit, first.headCommit);
  });

  it('does not follow a .git file that was swapped, nor core.worktree', async () => {
    const repo = await makeRepo({ files });
    const path = join(repo.folder, 'wt');
    await repo.git('worktree', 'add', '-q', path);
    const other = await makeRepo({ files: { other: 'o' } });
    const layer = await openLayer(repo.root);
    await writeFile(join(path, '.git'), `gitdir: ${other.root}/.git\n`);
    await writeFile(join(path, 'a.txt'), 'edited');
    const before = await fingerprint(other.root);
    const taken = await layer.snapshots.take({ worktreePath: path, taskId: 't', number: 1, message: 'm' });
    assert.equal(await content(repo, taken.tree, 'a.txt'), 'edited');
    assert.equal(taken.headRef, 'refs/heads/wt');
    assert.deepEqual(await fingerprint(other.root), before);
  });

  it('refuses a folder that is no worktree of the repository', async () => {
    const repo = await makeRepo({ files });
    const other = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    await symlink(repo.root, join(repo.folder, 'link'));
    for (const path of [
      other.root,
      join(repo.root, 'dir'),
      join(repo.folder, 'none'),
      join(repo.folder, 'link'),
    ]) {
      await assert.rejects(
        snapshots.treeOf(path),
        (error) => error instanceof TributaryError && error.code === 'worktreeMissing',
      );
    }
  });

  it('stops when asked to', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const controller = new AbortController();
    controller.abort('user');
    await assert.rejects(snapshots.treeOf(repo.root, controller.signal), (error) => {
      return error instanceof TributaryError && error.code === 'cancelled';
    });
  });
});

describe('restoring files', () => {
  after(cleanUp);

  /** Of a checkout whose state is kept. */
  const restore = async (repo: TempRepo, snapshots: Snapshots, tree: string): Promise<RestoredFiles> => {
    const recorded = await snapshots.treeOf(repo.root);
    return snapshots.restoreFiles(repo.root, { tree, recorded, asideDirectory: join(repo.folder, 'aside') });
  };

  it('brings back edits, deletions, modes, links and folders, removes the rest, keeps index and ignored files', async () => {
    const repo = await makeRepo({ files });
    await repo.write('untracked/one', '1');
    await repo.write('link', { link: 'a.txt' });
    const { snapshots } = await openLayer(repo.root);
    const tree = await snapshots.treeOf(repo.root);
    const stood = await listing(repo.root);
    await repo.write('a.txt', 'edited');
    await repo.git('add', 'a.txt');
    await repo.write('staged-new', 's');
    await repo.git('add', 'staged-new');
    const index = await readFile(join(repo.root, '.git', 'index'));
    await repo.remove('dir');
    await repo.write('dir', 'now a file');
    await repo.remove('untracked');
    await repo.remove('link');
    await repo.write('link/inner/file', 'now a folder');
    await repo.write('new/deep/file', 'n');
    await chmod(join(repo.root, 'run.sh'), 0o644);
    const result = await restore(repo, snapshots, tree);
    assert.equal(await listing(repo.root), stood);
    assert.deepEqual(await readFile(join(repo.root, '.git', 'index')), index);
    assert.deepEqual(result.removed.toSorted(), ['dir', 'link/inner/file', 'new/deep/file', 'staged-new']);
    assert.deepEqual(result.restored.toSorted(), ['a.txt', 'dir/b.txt', 'link', 'run.sh', 'untracked/one']);
    await repo.write('x.log', 'ignored stays');
    assert.deepEqual(await restore(repo, snapshots, tree), {
      restored: [],
      removed: [],
      aside: [],
    });
    assert.equal(await repo.read('x.log'), 'ignored stays');
  });

  it('leaves what the rules of the state it goes back to ignore, as it stood there then', async () => {
    const repo = await makeRepo({
      files: { ...files, 'old/.gitignore': '*\n', 'old/kept': 'k', log: 'a file' },
    });
    await repo.write('x.log', 'x');
    await repo.write('old/cache', 'c');
    const { snapshots } = await openLayer(repo.root);
    const tree = await snapshots.treeOf(repo.root);
    await repo.write('.gitignore', '');
    await repo.remove('old/.gitignore');
    await repo.remove('log');
    await repo.write('log/file.log', 'in the way of a file');
    await repo.write('new', 'n');
    const later = await snapshots.treeOf(repo.root);
    const result = await restore(repo, snapshots, tree);
    assert.equal(await repo.read('x.log'), 'x');
    assert.equal(await repo.read('old/cache'), 'c');
    assert.equal(await repo.read('log'), 'a file');
    assert.deepEqual(result.removed.toSorted(), ['log/file.log', 'new']);
    assert.equal(await snapshots.treeOf(repo.root), tree);
    await restore(repo, snapshots, later);
    assert.equal(await snapshots.treeOf(repo.root), later);
  });

  it('goes back over other ignore rules with a repository inside that the agent staged, and removes what is tracked', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const tree = await snapshots.treeOf(repo.root);
    await repo.write('.gitignore', '');
    await repo.write('nest/inner.txt', 'i');
    await repo.write('forced.log', 'tracked, although ignored then');
    await repo.git('init', '-q', 'nest');
    await repo.git('-C', 'nest', 'add', '.');
    await repo.git(
      '-C',
      'nest',
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@example.com',
      'commit',
      '-q',
      '-m',
      'x',
    );
    await repo.git('-c', 'advice.addEmbeddedRepo=false', 'add', '.');
    const result = await restore(repo, snapshots, tree);
    assert.deepEqual(result.removed.toSorted(), ['forced.log', 'nest/inner.txt']);
    assert.equal(await snapshots.treeOf(repo.root), tree);
  });

  it('applies line endings and filters', async () => {
    const repo = await makeRepo({ files: { ...files, '.gitattributes': '*.txt text eol=crlf\n' } });
    await repo.write('a.txt', 'one\r\ntwo\r\n');
    const { snapshots } = await openLayer(repo.root);
    const tree = await snapshots.treeOf(repo.root);
    await repo.write('a.txt', 'other');
    await restore(repo, snapshots, tree);
    assert.equal(await repo.read('a.txt'), 'one\r\ntwo\r\n');
  });

  it('moves aside what was edited after the state was kept, and puts its files all the same', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const tree = await snapshots.treeOf(repo.root);
    await repo.write('a.txt', 'kept');
    await repo.write('new', 'kept');
    await repo.remove('run.sh');
    const recorded = await snapshots.treeOf(repo.root);
    await repo.write('a.txt', 'edited since');
    await repo.write('dir/b.txt', 'edited since, and the same in both states');
    await repo.write('new', 'edited since');
    await repo.write('newer', 'made since');
    await repo.write('run.sh', 'made since');
    const asideDirectory = join(repo.folder, 'aside');
    const result = await snapshots.restoreFiles(repo.root, { tree, recorded, asideDirectory });
    assert.deepEqual(result.aside.toSorted(), ['a.txt', 'dir/b.txt', 'new', 'newer', 'run.sh']);
    assert.equal(await snapshots.treeOf(repo.root), tree);
    const found = Object.fromEntries(
      await Promise.all(
        result.aside.map(async (path) => [path, await readFile(join(asideDirectory, path), 'utf8')] as const),
      ),
    );
    assert.deepEqual(found, {
      'a.txt': 'edited since',
      'dir/b.txt': 'edited since, and the same in both states',
      new: 'edited since',
      newer: 'made since',
      'run.sh': 'made since',
    });
  });

  it('loses nothing that is saved between its steps: what it writes over or removes was kept, the rest is aside', async () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`d/${at % 7}/${at}`, 'base\n']));
    const repo = await makeRepo({ files: { ...files, ...many } });
    const paths = [...Object.keys(many), 'd/3/only-now'];
    const saved = new Map<string, string>();
    let isRestoring = false;
    // As editors save, whole or not at all: another file before each git, and after it.
    const save = async (): Promise<void> => {
      const path = paths[(saved.size * 17) % paths.length] ?? '';
      if (!isRestoring || saved.has(path)) return;
      saved.set(path, `saved ${path}\n`);
      const whole = join(repo.folder, `saved-${saved.size}`);
      await writeFile(whole, `saved ${path}\n`);
      await rename(whole, join(repo.root, path));
    };
    const { snapshots } = await openLayer(repo.root, async (request) => {
      await save();
      const result = await runCommand(request);
      await save();
      return result;
    });
    const tree = await snapshots.treeOf(repo.root);
    for (const path of Object.keys(many)) await repo.write(path, 'kept\n');
    await repo.write('d/3/only-now', 'kept\n');
    const recorded = await snapshots.treeOf(repo.root);
    const asideDirectory = join(repo.folder, 'aside');
    isRestoring = true;
    await snapshots.restoreFiles(repo.root, { tree, recorded, asideDirectory });
    isRestoring = false;
    assert.ok(saved.size > 10, `${saved.size} were saved`);
    const held = new Set<string>();
    for (const folder of [repo.root, asideDirectory])
      for (const name of await readdir(folder, { recursive: true }))
        if (/(?:^|\/)d\//.test(name) && (await lstat(join(folder, name))).isFile())
          held.add(await readFile(join(folder, name), 'utf8'));
    for (const [path, text] of saved) assert.ok(held.has(text), path);
  });

  it('writes files as the attributes of the state it goes back to say', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const plain = await snapshots.treeOf(repo.root);
    await repo.write('.gitattributes', '*.txt text eol=crlf\n');
    await repo.write('a.txt', 'one\r\ntwo\r\n');
    const attributed = await snapshots.treeOf(repo.root);
    await restore(repo, snapshots, plain);
    assert.equal(await repo.read('a.txt'), 'a\n');
    await restore(repo, snapshots, attributed);
    assert.equal(await repo.read('a.txt'), 'one\r\ntwo\r\n');
    assert.equal(await snapshots.treeOf(repo.root), attributed);
  });

  it('never writes through a link that took the place of a folder', async () => {
    const repo = await makeRepo({ files });
    const { snapshots } = await openLayer(repo.root);
    const tree = await snapshots.treeOf(repo.root);
    await mkdir(join(repo.folder, 'outside'));
    await writeFile(join(repo.folder, 'outside', 'b.txt'), 'outside');
    await repo.remove('dir');
    await symlink('../outside', join(repo.root, 'dir'));
    await restore(repo, snapshots, tree);
    assert.equal(await repo.read('dir/b.txt'), 'b\n');
    assert.equal(await readFile(join(repo.folder, 'outside', 'b.txt'), 'utf8'), 'outside');
  });
});
