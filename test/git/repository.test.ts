import assert from 'node:assert/strict';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TributaryError } from '../../src/base/errors';
import type { RepositoryFacts } from '../../src/git/repository';
import { createRepositories } from '../../src/git/repository';
import { runCommand } from '../../src/process/runCommand';
import { openLayer } from './support/layer';
import { cleanUp, fingerprint, gitAt, makeFolder, makeRepo } from './support/tempRepo';

function open(directory: string, env: NodeJS.ProcessEnv = process.env): Promise<RepositoryFacts> {
  return createRepositories({ runCommand, env }).open(directory);
}

function code(expected: string, reason?: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof TributaryError, String(error));
    assert.equal(error.code, expected);
    if (reason !== undefined) assert.equal(error.details['reason'], reason);
    return true;
  };
}

describe('opening a repository', () => {
  after(cleanUp);

  it('finds the same repository from its top and from a subfolder', async () => {
    const repo = await makeRepo({ files: { 'a/b/c.txt': 'x' } });
    const facts = await open(repo.root);
    assert.deepEqual(facts, {
      root: repo.root,
      commonDir: join(repo.root, '.git'),
      gitDir: join(repo.root, '.git'),
      mainRoot: repo.root,
      objectFormat: 'sha1',
      gitVersion: facts.gitVersion,
    });
    assert.match(facts.gitVersion, /^\d+\.\d+/);
    assert.deepEqual(await open(join(repo.root, 'a', 'b')), facts);
  });

  it('takes a linked worktree as the root and shares the common directory', async () => {
    const repo = await makeRepo();
    const linked = join(repo.folder, 'linked');
    await repo.git('worktree', 'add', '-q', linked);
    const facts = await open(linked);
    assert.equal(facts.root, linked);
    assert.equal(facts.mainRoot, repo.root);
    assert.equal(facts.commonDir, join(repo.root, '.git'));
    assert.equal(facts.gitDir, join(repo.root, '.git', 'worktrees', 'linked'));
  });

  it('opens a worktree of a bare repository, which has no main worktree', async () => {
    const repo = await makeRepo();
    const bare = join(repo.folder, 'hub', '.bare');
    await gitAt(repo.folder, 'clone', '-q', '--bare', repo.root, bare);
    await gitAt(bare, 'worktree', 'add', '-q', join(repo.folder, 'hub', 'main'), 'main');
    const facts = await open(join(repo.folder, 'hub', 'main'));
    assert.equal(facts.root, join(repo.folder, 'hub', 'main'));
    assert.equal(facts.commonDir, bare);
    assert.equal(facts.mainRoot, undefined);
  });

  it('opens a submodule and a linked worktree of a submodule', async () => {
    const inner = await makeRepo({ files: { 'i.txt': 'i' } });
    const outer = await makeRepo();
    await outer.git('submodule', '--quiet', 'add', inner.root, 'sub');
    const facts = await open(join(outer.root, 'sub'));
    assert.equal(facts.root, join(outer.root, 'sub'));
    assert.equal(facts.mainRoot, join(outer.root, 'sub'));
    await gitAt(join(outer.root, 'sub'), 'worktree', 'add', '-q', join(outer.folder, 'linked'));
    const linked = await open(join(outer.folder, 'linked'));
    assert.equal(linked.mainRoot, join(outer.root, 'sub'));
    assert.equal(linked.commonDir, facts.commonDir);
  });

  for (const name of ['with space', 'Ünïcødé 文字', 'new\nline', 'quote\'"', '-dash']) {
    it(`opens a repository in a folder named ${JSON.stringify(name)}`, async () => {
      const repo = await makeRepo({ name, files: { 'a/b': 'x' } });
      const facts = await open(join(repo.root, 'a'));
      assert.equal(facts.root, repo.root);
      assert.equal(facts.commonDir, join(repo.root, '.git'));
    });
  }

  it('resolves symbolic links in the path', async () => {
    const repo = await makeRepo();
    await symlink(repo.root, join(repo.folder, 'link'));
    assert.equal((await open(join(repo.folder, 'link'))).root, repo.root);
  });

  it('knows SHA-256 repositories', async () => {
    const repo = await makeRepo({ initArgs: ['--object-format=sha256'] });
    assert.equal((await open(repo.root)).objectFormat, 'sha256');
    const layer = await openLayer(repo.root);
    assert.match((await layer.repository.head()).commit, /^[0-9a-f]{64}$/);
  });

  it('says notARepository for a plain folder, a missing one, a bare one and the inside of .git', async () => {
    const folder = await makeFolder();
    const repo = await makeRepo();
    const bare = join(folder, 'bare.git');
    await gitAt(folder, 'init', '-q', '--bare', bare);
    await assert.rejects(open(folder), code('notARepository', 'none'));
    await assert.rejects(open(join(folder, 'missing')), code('notARepository', 'missing'));
    await assert.rejects(open(bare), code('notARepository', 'bare'));
    await assert.rejects(open(join(repo.root, '.git')), code('notARepository', 'insideGitDir'));
    await assert.rejects(open(join(repo.root, '.git', 'objects')), code('notARepository', 'insideGitDir'));
  });

  it('says why when git does not trust the owner of the repository', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const repo = await makeRepo();
    await gitAt(repo.folder, 'init', '-q', 'foreign');
    const { chown } = await import('node:fs/promises');
    await chown(join(repo.folder, 'foreign'), 12345, 12345);
    await chown(join(repo.folder, 'foreign', '.git'), 12345, 12345);
    await assert.rejects(open(join(repo.folder, 'foreign')), code('notARepository', 'dubiousOwnership'));
  });

  it('says gitMissing when git is not on the PATH', async () => {
    const repo = await makeRepo();
    await assert.rejects(open(repo.root, { ...process.env, PATH: repo.folder }), code('gitMissing'));
  });

  it('says gitTooOld below 2.38', async () => {
    const repo = await makeRepo();
    const bin = join(repo.folder, 'bin');
    await mkdir(bin);
    const script = '#!/bin/sh\necho "git version 2.37.1 (Old Git-1)"\n';
    await writeFile(join(bin, 'git'), script, { mode: 0o755 });
    await assert.rejects(open(repo.root, { PATH: `${bin}:/bin:/usr/bin` }), code('gitTooOld'));
  });

  it('is not sent elsewhere by GIT_DIR, GIT_WORK_TREE or GIT_INDEX_FILE of its environment', async () => {
    const repo = await makeRepo();
    const other = await makeRepo();
    const env = {
      ...process.env,
      GIT_DIR: join(other.root, '.git'),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: join(other.root, 'index'),
      GIT_CEILING_DIRECTORIES: repo.root,
    };
    assert.equal((await open(repo.root, env)).root, repo.root);
  });
});

describe('asking a repository', () => {
  after(cleanUp);

  it('answers HEAD with its branch, and without one when detached', async () => {
    const repo = await makeRepo();
    const { repository } = await openLayer(repo.root);
    const commit = (await repo.git('rev-parse', 'HEAD')).trim();
    assert.deepEqual(await repository.head(), { commit, ref: 'refs/heads/main' });
    await repo.git('checkout', '-q', '--detach');
    assert.deepEqual(await repository.head(), { commit });
  });

  it('says unbornBranch where there is no commit yet', async () => {
    const repo = await makeRepo({ unborn: true });
    const { repository } = await openLayer(repo.root);
    await assert.rejects(repository.head(), code('unbornBranch'));
    await assert.rejects(repository.resolveBase(), code('unbornBranch'));
  });

  it('resolves branches, tags (peeled), short commits and remote branches to a commit', async () => {
    const origin = await makeRepo({ files: { a: '1' } });
    const repo = await makeRepo({ files: { b: '1' } });
    const commit = (await repo.git('rev-parse', 'HEAD')).trim();
    await repo.git('tag', '-a', 'v1', '-m', 'first');
    await repo.git('branch', 'feature/x');
    await repo.git('remote', 'add', 'origin', origin.root);
    await repo.git('fetch', '-q', 'origin');
    const { repository } = await openLayer(repo.root);
    for (const ref of ['HEAD', 'main', 'refs/heads/main', 'feature/x', 'v1', commit, commit.slice(0, 8)]) {
      assert.deepEqual(await repository.resolveBase(ref), { ref, commit }, ref);
    }
    const remote = (await origin.git('rev-parse', 'HEAD')).trim();
    assert.deepEqual(await repository.resolveBase('origin/main'), { ref: 'origin/main', commit: remote });
  });

  it('counts how far a branch is behind its upstream', async () => {
    const origin = await makeRepo();
    await gitAt(origin.folder, 'clone', '-q', origin.root, 'clone');
    for (const name of ['one', 'two']) {
      await origin.write(name, name);
      await origin.commitAll(name);
    }
    await gitAt(join(origin.folder, 'clone'), 'fetch', '-q');
    const { repository } = await openLayer(join(origin.folder, 'clone'));
    for (const ref of ['HEAD', 'main', 'refs/heads/main']) {
      assert.equal((await repository.resolveBase(ref)).behind, 2, ref);
    }
    assert.equal((await repository.resolveBase('origin/main')).behind, undefined);
  });

  it('refuses names that are options, searches, ranges or nothing', async () => {
    const repo = await makeRepo({ files: { f: 'x' } });
    const { repository } = await openLayer(repo.root);
    const marker = join(repo.folder, 'marker');
    for (const ref of [
      '',
      '--all',
      `--output=${marker}`,
      '-h',
      ':/first',
      'HEAD..HEAD',
      '^HEAD',
      'nothing',
      'HEAD:f',
      'a\0b',
    ]) {
      await assert.rejects(repository.resolveBase(ref), code('unknownBase'), ref);
    }
  });

  it('reads whole files of a commit, bytes as they are, whatever the name', async () => {
    const bytes = Buffer.from([0, 255, 13, 10, 10, 32, 10]);
    const odd = 'dir/new\nline "q" -x';
    const repo = await makeRepo({ files: { 'bin.dat': bytes, [odd]: '\n\n', empty: '' } });
    const { repository } = await openLayer(repo.root);
    assert.deepEqual(await repository.readFile('HEAD', 'bin.dat'), bytes);
    assert.equal((await repository.readFile('HEAD', odd))?.toString(), '\n\n');
    assert.equal((await repository.readFile('HEAD', 'empty'))?.length, 0);
    assert.equal(await repository.readFile('HEAD', 'missing'), undefined);
    assert.equal(await repository.readFile('HEAD', 'dir'), undefined);
    assert.deepEqual(await repository.listFiles('HEAD'), ['bin.dat', odd, 'empty']);
  });

  it('lists files from the top even when a subfolder was opened', async () => {
    const repo = await makeRepo({ files: { 'a/x': '', 'b/y': '' } });
    const { repository } = await openLayer(join(repo.root, 'a'));
    assert.deepEqual(await repository.listFiles('HEAD'), ['a/x', 'b/y']);
  });

  it('resolves full ref names and answers undefined for one that does not exist', async () => {
    const repo = await makeRepo();
    const { repository } = await openLayer(repo.root);
    assert.equal(await repository.resolveRef('refs/heads/main'), (await repository.head()).commit);
    assert.equal(await repository.resolveRef('refs/heads/none'), undefined);
    await assert.rejects(repository.resolveRef('main'), code('internal'));
    await assert.rejects(repository.treeOf('nothing'), code('unknownBase'));
  });

  it('leaves index, HEAD, refs, stash and files alone', async () => {
    const repo = await makeRepo({ files: { a: '1', b: '2' } });
    await repo.write('a', 'stashed');
    await repo.git('stash');
    await repo.write('b', 'dirty');
    const before = await fingerprint(repo.root);
    const { repository } = await openLayer(repo.root);
    await repository.head();
    await repository.resolveBase('main');
    await repository.readFile('HEAD', 'a');
    assert.deepEqual(await fingerprint(repo.root), before);
  });
});

describe('the references a Task may start from', () => {
  after(cleanUp);

  it('are branches, remote branches and tags with the commit they name and its first line', async () => {
    const repo = await makeRepo({ files: { a: '1' } });
    const first = (await repo.git('rev-parse', 'HEAD')).trim();
    await repo.git('branch', 'feature/long name'.replace(' ', '-'));
    await repo.git('tag', 'light');
    await repo.git('tag', '-a', '-m', 'a release', 'annotated');
    await repo.git('tag', 'a-tree', 'HEAD^{tree}');
    await repo.git('update-ref', 'refs/remotes/origin/main', first);
    await repo.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
    const { repository } = await openLayer(repo.root);
    const refs = await repository.listRefs();
    assert.deepEqual(refs.map(({ kind, ref }) => `${kind} ${ref}`).sort(), [
      'branch refs/heads/feature/long-name',
      'branch refs/heads/main',
      'remote refs/remotes/origin/main',
      'tag refs/tags/annotated',
      'tag refs/tags/light',
    ]);
    assert.ok(refs.every(({ commit }) => commit === first));
    const subject = await repository.subjectOf(first);
    assert.ok(subject !== '');
    assert.ok(
      refs.filter(({ ref }) => ref !== 'refs/tags/annotated').every((one) => one.subject === subject),
    );
  });
});
