import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { TributaryError } from '../../src/base/errors';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, gitAt, listing, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
const branch = 'refs/heads/tributary/fix-it';

interface Place {
  readonly repo: TempRepo;
  readonly layer: Layer;
  readonly path: string;
  readonly kept: string;
  readonly aside: string;
}

/** A checkout with a Worktree of ours and one of the user's, and files around them. */
async function place(): Promise<Place> {
  const repo = await makeRepo({
    files: { 'a.txt': 'a\n', 'src/b.txt': 'b\n', '.gitignore': 'node_modules\n' },
  });
  await repo.write('untracked.txt', 'mine');
  await mkdir(join(repo.folder, 'empty'));
  await writeFile(join(repo.folder, 'beside.txt'), 'beside');
  await repo.git('worktree', 'add', '-q', '-b', 'mine', join(repo.folder, 'mine'));
  await repoAt(repo.folder, join(repo.folder, 'mine')).write('mine.txt', 'work of the user');
  const layer = await openLayer(repo.root);
  const path = join(repo.folder, 'repo.worktrees', 'fix-it');
  const { commit } = await layer.repository.head();
  await layer.worktrees.create({ path, branch, commit, lockReason: 'tributary task_1' });
  await layer.worktrees.setLock(path, undefined);
  return { repo, layer, path, kept: commit, aside: join(repo.folder, 'aside') };
}

/** Everything but our root and what was set aside; refs of ours come and go. */
async function outside({ repo }: Place): Promise<string> {
  const lines = (await listing(repo.folder)).split('\n');
  const theirs = lines.filter((line) => line !== '' && !/^(repo\.worktrees|aside)\//.test(line));
  const refs = await repo.git('for-each-ref', 'refs/heads/main', 'refs/heads/mine');
  const listed = (await repo.git('worktree', 'list'))
    .split('\n')
    .filter((line) => !line.includes('[tributary'));
  return [...theirs, refs, ...listed.map((line) => line.replace(/ +/g, ' '))].join('\n');
}

async function remove(at: Place, path: string, onBranch = branch): Promise<string> {
  const request = { path, branch: onBranch, keptCommit: at.kept, asideDirectory: at.aside };
  return at.layer.worktrees.remove(request).then(
    () => 'removed',
    (error: unknown) => (error instanceof TributaryError ? error.code : String(error)),
  );
}

describe('nothing outside our root and refs is ever removed', () => {
  after(cleanUp);

  it('whatever path a damaged or hostile record names', async () => {
    const at = await place();
    const { folder, root } = at.repo;
    const before = await outside(at);
    const bases = ['/', folder, root, `${root}/.git`, `${folder}/mine`, `${folder}/repo.worktrees`, at.path];
    const parts = ['', '.', '..', 'src', 'a.txt', 'empty', 'mine', 'beside.txt', 'new\nline', '.git', 'none'];
    const paths = fc.tuple(fc.constantFrom(...bases), fc.array(fc.constantFrom(...parts), { maxLength: 3 }));
    const branches = fc.constantFrom(branch, 'refs/heads/mine', 'refs/heads/main', 'refs/heads/tributary/x');
    await fc.assert(
      fc.asyncProperty(paths, branches, async ([base, more], named) => {
        const path = [base, ...more].join('/');
        // The one that may go.
        fc.pre(join(path) !== at.path || named !== branch);
        const outcome = await remove(at, path, named);
        assert.ok(['removed', 'worktreeFailed'].includes(outcome), `${path}: ${outcome}`);
        assert.equal(await outside(at), before);
        assert.deepEqual(await readdir(at.path), ['.git', '.gitignore', 'a.txt', 'src']);
      }),
      { numRuns: isLong ? 300 : 25, seed: 7 },
    );
  });

  it('a folder that was swapped for a link to the checkout is refused, and the link stays', async () => {
    const at = await place();
    await rm(at.path, { recursive: true });
    await symlink(at.repo.root, at.path);
    const before = await outside(at);
    assert.equal(await remove(at, at.path), 'worktreeFailed');
    assert.equal(await outside(at), before);
    assert.deepEqual(await readdir(join(at.path, '..')), ['fix-it']);
  });

  it('a root that became a link leads to no other folder', async () => {
    const at = await place();
    await rename(join(at.path, '..'), join(at.repo.folder, 'elsewhere'));
    await symlink(at.repo.folder, join(at.path, '..'));
    await mkdir(join(at.repo.folder, 'fix-it'));
    await writeFile(join(at.repo.folder, 'fix-it', 'work'), 'of the user');
    const before = await listing(at.repo.folder);
    assert.equal(await remove(at, at.path), 'worktreeFailed');
    assert.equal(await listing(at.repo.folder), before);
  });

  it('a worktree of the user is refused, also on a branch that is called like ours', async () => {
    const at = await place();
    const theirs = join(at.repo.folder, 'repo.worktrees', 'theirs');
    await at.repo.git('worktree', 'add', '-q', '-b', 'other', theirs);
    const before = await listing(at.repo.folder);
    assert.equal(await remove(at, theirs, 'refs/heads/tributary/theirs'), 'worktreeFailed');
    assert.equal(await listing(at.repo.folder), before);
  });

  it('links into the checkout are unlinked, never followed', async () => {
    const at = await place();
    await mkdir(join(at.path, 'node_modules'));
    await symlink(join(at.repo.root, 'src'), join(at.path, 'node_modules', 'junction'));
    await symlink(at.repo.root, join(at.path, 'src', 'up'));
    const before = await outside(at);
    assert.equal(await remove(at, at.path), 'removed');
    assert.equal(await outside(at), before);
  });

  it('a folder that was replaced by another one is set aside whole before it goes', async () => {
    const at = await place();
    await rm(at.path, { recursive: true });
    await mkdir(at.path);
    await writeFile(join(at.path, 'work'), 'of somebody');
    const before = await outside(at);
    assert.equal(await remove(at, at.path), 'removed');
    assert.equal(await outside(at), before);
    assert.equal(await repoAt(at.repo.folder, at.aside).read('work'), 'of somebody');
  });

  it('a removal that was killed keeps commits that only the worktree held, whatever is pruned meanwhile', async () => {
    const at = await place();
    const worktree = repoAt(at.repo.folder, at.path);
    await worktree.write('left.txt', 'left');
    await worktree.git('add', '-A');
    await worktree.git('commit', '-q', '-m', 'left');
    const left = (await worktree.git('rev-parse', 'HEAD')).trim();
    await worktree.git('reset', '-q', '--hard', 'HEAD^');
    const request = { path: at.path, branch, keptCommit: at.kept, asideDirectory: at.aside };
    const killed = new Error('killed');
    const onAway = (): Promise<void> => Promise.reject(killed);
    await assert.rejects(at.layer.worktrees.remove({ ...request, onAway }), killed);
    await at.repo.git('worktree', 'prune', '--expire', 'now');
    await at.repo.git('prune', '--expire', 'now');
    assert.equal(await remove(at, at.path), 'removed');
    assert.match(await at.repo.git('for-each-ref', '--contains', left), /refs\/tributary\/left\/fix-it/);
    assert.doesNotMatch(await at.repo.git('worktree', 'list'), /fix-it/);
  });

  it('repositories of submodules are kept also where the folder itself is gone', async () => {
    const at = await place();
    const modules = join(at.repo.root, '.git', 'worktrees', 'fix-it', 'modules', 'sub');
    await mkdir(modules, { recursive: true });
    await writeFile(join(modules, 'object'), 'nowhere else');
    await rm(at.path, { recursive: true });
    assert.equal(await remove(at, at.path), 'removed');
    assert.equal(
      await repoAt(at.repo.folder, at.aside).read('.git-modules/modules/sub/object'),
      'nowhere else',
    );
  });

  it('a removal that was killed keeps repositories of submodules, whatever is pruned meanwhile', async () => {
    const at = await place();
    const modules = join(at.repo.root, '.git', 'worktrees', 'fix-it', 'modules', 'sub');
    await mkdir(modules, { recursive: true });
    await writeFile(join(modules, 'object'), 'nowhere else');
    const killed = new Error('killed');
    const onAway = (): Promise<void> => Promise.reject(killed);
    const request = { path: at.path, branch, keptCommit: at.kept, asideDirectory: at.aside };
    await assert.rejects(at.layer.worktrees.remove({ ...request, onAway }), killed);
    await at.repo.git('worktree', 'prune', '--expire', 'now');
    assert.equal(await remove(at, at.path), 'removed');
    assert.equal(
      await repoAt(at.repo.folder, at.aside).read('.git-modules/modules/sub/object'),
      'nowhere else',
    );
  });

  it('a folder that withstands is kept whole, out of the way, and the removal is over', async () => {
    const at = await place();
    await writeFile(join(at.path, 'late.txt'), 'late');
    const notAFolder = join(at.repo.folder, 'beside.txt', 'aside');
    const request = { path: at.path, branch, keptCommit: at.kept, asideDirectory: notAFolder };
    const { kept } = await at.layer.worktrees.remove({ ...request, asideDirectory: notAFolder });
    assert.equal(kept, `${at.path}.kept-1`);
    assert.deepEqual(await readdir(kept), ['.gitignore', 'a.txt', 'late.txt', 'src']);
    assert.doesNotMatch(await at.repo.git('worktree', 'list'), /fix-it/);
    await at.layer.worktrees.create({
      path: at.path,
      branch,
      commit: at.kept,
      lockReason: 'tributary task_1',
    });
    assert.deepEqual(await readdir(at.path), ['.git', '.gitignore', 'a.txt', 'src']);
  });

  it('a removal that was killed loses nothing when its registration was pruned meanwhile', async () => {
    const at = await place();
    await writeFile(join(at.path, 'late.txt'), 'late');
    await rename(at.path, join(at.path, '..', '.tributary-trash-fix-it'));
    await at.repo.git('worktree', 'prune');
    assert.equal(await remove(at, at.path), 'removed');
    assert.equal(await repoAt(at.repo.folder, at.aside).read('late.txt'), 'late');
    assert.deepEqual(await readdir(join(at.path, '..')), []);
  });

  it('what was set aside earlier gives way to what is newer, and both are kept', async () => {
    const at = await place();
    const aside = repoAt(at.repo.folder, at.aside);
    await aside.write('node_modules/x', 'of an earlier removal');
    await aside.write('cache', 'a file of an earlier removal');
    await repoAt(at.repo.folder, at.path).write('node_modules/x', 'new');
    await repoAt(at.repo.folder, at.path).write('cache/file', 'new');
    assert.equal(await remove(at, at.path), 'removed');
    assert.equal(await aside.read('node_modules/x'), 'new');
    assert.equal(await aside.read('cache/file'), 'new');
    const names = (await readdir(at.aside)).filter((name) => /^\.tributary-earlier-[0-9a-f]{16}$/.test(name));
    const earlier = await Promise.all(
      names.map((name) => readdir(join(at.aside, name), { recursive: true, withFileTypes: true })),
    );
    const kept = earlier.flat().filter((entry) => entry.isFile());
    const texts = await Promise.all(kept.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
    assert.deepEqual(texts.sort(), ['a file of an earlier removal', 'of an earlier removal']);
    await gitAt(at.repo.root, 'fsck', '--no-dangling');
  });
});
