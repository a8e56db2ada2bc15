import assert from 'node:assert/strict';
import { chmod, lstat, mkdir, readFile, readlink, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeGit } from '../../src/git/plumbing';
import { GitProvision } from '../../src/git/provision';
import { createRepositories } from '../../src/git/repository';
import { type CopyWays, copyWays, type PlaceFile } from '../../src/git/treeCopy';
import type { Provided, SetupPlan } from '../../src/model/setup';
import { runCommand } from '../../src/process/runCommand';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, fingerprint, listing, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const ignoreRules = ['node_modules/', '.env*', '*.log', 'build/', 'secret/', ''].join('\n');

describe('what a worktree gets of the ignored files', () => {
  let repo: TempRepo;
  let layer: Layer;
  let worktree: TempRepo;

  beforeEach(async () => {
    repo = await makeRepo({ files: { 'a.txt': 'a\n', '.gitignore': ignoreRules } });
    layer = await openLayer(repo.root);
  });
  afterEach(cleanUp);

  const make = async (commit = 'HEAD'): Promise<void> => {
    const path = join(`${repo.root}.worktrees`, 'task');
    const base = (await repo.git('rev-parse', commit)).trim();
    const branch = 'refs/heads/tributary/task';
    await layer.worktrees.create({ path, branch, commit: base, lockReason: 'test' });
    worktree = repoAt(repo.folder, path);
  };
  const provide = async (plan: Partial<SetupPlan> = {}, provision = layer.provision): Promise<Provided> => {
    const whole = { link: [], clone: [], include: [], ...plan };
    return provision.provide({ worktreePath: worktree.root, plan: whole });
  };
  const got = async (): Promise<string[]> => {
    const lines = (await listing(worktree.root)).split('\n');
    return lines.filter((line) => / \d{3} /.test(line) && !/^(a\.txt|\.gitignore) /.test(line));
  };
  /** What a Snapshot would record. */
  const recorded = async (): Promise<readonly string[]> =>
    layer.repository.listFiles(await layer.snapshots.treeOf(worktree.root));

  describe('by .worktreeinclude', () => {
    it('copies what it matches and git ignores, and nothing else', async () => {
      await repo.write(
        '.worktreeinclude',
        '**/.env*\n!.env.example\nsecret/\nplain/\n[bad\n# comment\nlogs/\n',
      );
      await repo.write('.env', 'KEY=1\n');
      await repo.write('.env.example', 'left out by the last rule\n');
      await repo.write('packages/one/.env.local', 'deep\n');
      await repo.write('secret/x/key', 'k\n');
      await repo.write('plain/untracked.txt', 'matched, but not ignored\n');
      await repo.write('plain/x.log', 'in a folder that matches\n');
      await repo.write('logs/a.log', 'the folder matches, only its file is ignored\n');
      await repo.write('other.log', 'ignored, but not matched\n');
      const before = await fingerprint(repo.root);
      await make();
      const { refs: _, ...rest } = before;
      assert.deepEqual(await provide(), { copied: 5, shared: [], skipped: [] });
      assert.deepEqual(await got(), [
        '.env 644 KEY=1',
        'logs/a.log 644 the folder matches, only its file is ignored',
        'packages/one/.env.local 644 deep',
        'plain/x.log 644 in a folder that matches',
        'secret/x/key 644 k',
      ]);
      const { refs: __, ...after } = await fingerprint(repo.root);
      assert.deepEqual(after, rest);
    });

    it('never copies tracked files, and never over a file of the base', async () => {
      await repo.write('secret/tracked', 'committed by force\n');
      await repo.commitAll();
      await repo.write('secret/tracked', 'edited by the user\n');
      await repo.write('secret/key', 'k\n');
      await repo.write('.worktreeinclude', 'secret/\n*.txt\n');
      await make();
      await provide();
      assert.equal(await worktree.read('secret/tracked'), 'committed by force\n');
      assert.equal(await worktree.read('secret/key'), 'k\n');
      assert.equal(await worktree.git('status', '--porcelain'), '');
    });

    it('keeps what the base does not ignore out of the worktree, so that no Snapshot holds it', async () => {
      await repo.git('rm', '--quiet', '--cached', '.gitignore');
      await repo.git('commit', '--quiet', '--message', 'no rules');
      await repo.write('.worktreeinclude', '.env\nsecret/\n');
      await repo.write('.env', 'KEY=1\n');
      await repo.write('secret/key', 'k\n');
      await make();
      const why = 'git does not ignore it at the base, or a link or file is in the way';
      assert.deepEqual(await provide(), {
        copied: 0,
        shared: [],
        skipped: [
          { path: '.env', why },
          { path: 'secret', why },
        ],
      });
      assert.deepEqual(await recorded(), ['a.txt']);
    });

    it('keeps links, permission bits, times and hostile names', async () => {
      await repo.write('.worktreeinclude', 'secret/\n');
      const odd = 'secret/a "b"\n ü :(top)*';
      await repo.write(odd, 'odd\n');
      await repo.write('secret/run', { executable: 'x\n' });
      await repo.write('secret/private', 'p\n');
      await chmod(join(repo.root, 'secret/private'), 0o600);
      await repo.write('secret/to-run', { link: 'run' });
      await repo.write('secret/outright', { link: join(repo.root, 'secret/run') });
      await repo.write('secret/dangling', { link: '../nowhere' });
      await mkdir(join(repo.root, 'secret/closed'));
      await repo.write('secret/closed/in', 'in\n');
      await chmod(join(repo.root, 'secret/closed'), 0o555);
      const old = new Date('2020-01-02T03:04:05Z');
      await utimes(join(repo.root, 'secret/run'), old, old);
      await make();
      assert.equal((await provide()).copied, 7);
      assert.equal(await worktree.read(odd), 'odd\n');
      const mode = async (path: string): Promise<number> =>
        (await lstat(join(worktree.root, path))).mode & 0o777;
      assert.equal(await mode('secret/run'), 0o755);
      assert.equal(await mode('secret/private'), 0o600);
      assert.equal(await mode('secret/closed'), 0o555);
      assert.equal((await stat(join(worktree.root, 'secret/run'))).mtime.getTime(), old.getTime());
      assert.equal(await readlink(join(worktree.root, 'secret/to-run')), 'run');
      assert.equal(await readlink(join(worktree.root, 'secret/dangling')), '../nowhere');
      // One that names the checkout outright would lead the agent there.
      assert.equal(await readlink(join(worktree.root, 'secret/outright')), join(worktree.root, 'secret/run'));
      for (const root of [repo.root, worktree.root]) await chmod(join(root, 'secret/closed'), 0o755);
    });

    it('copies no repository and nothing through a link that the base holds', async () => {
      await repo.write('hole', { link: '../outside' });
      await repo.git('add', 'hole');
      await repo.git('commit', '--quiet', '--message', 'a link');
      await mkdir(join(repo.folder, 'outside'));
      await repo.remove('hole');
      await repo.write('hole/.env', 'KEY=1\n');
      await repo.write('secret/nested/file', 'n\n');
      await repo.git('-C', 'secret/nested', 'init', '--quiet');
      await repo.write('secret/key', 'k\n');
      await repo.write('.worktreeinclude', '**/.env\nsecret/\n');
      await make();
      const { copied, skipped } = await provide();
      assert.equal(copied, 1);
      assert.deepEqual(
        skipped.map(({ path }) => path),
        ['hole/.env'],
      );
      assert.equal(await listing(join(repo.folder, 'outside')), '');
      await assert.rejects(lstat(join(worktree.root, 'secret/nested')), /ENOENT/);
    });

    it('never copies the folder of worktrees into a worktree that stands in it', async () => {
      await repo.write('.worktreeinclude', '*\n');
      await repo.write('.worktrees/.gitignore', '*\n');
      await repo.write('.env', 'KEY=1\n');
      const path = join(repo.root, '.worktrees', 'task');
      const commit = (await repo.git('rev-parse', 'HEAD')).trim();
      const branch = 'refs/heads/tributary/task';
      await layer.worktrees.create({ path, branch, commit, lockReason: 'test' });
      worktree = repoAt(repo.folder, path);
      await provide();
      assert.equal(await worktree.read('.env'), 'KEY=1\n');
      await assert.rejects(lstat(join(path, '.worktrees', 'task')), /ENOENT/);
    });
  });

  describe('by the setting of the editor', () => {
    beforeEach(async () => {
      await repo.write('.env', 'KEY=1\n');
      await repo.write('packages/one/.env.local', 'deep\n');
      await repo.write('build/out/x', 'x\n');
      await repo.write('untracked.txt', 'not ignored\n');
    });

    it('copies ignored files that a glob matches, and all of a folder that one matches', async () => {
      await make();
      const include = ['**/.env{,.local}', 'build', '*.txt'];
      assert.deepEqual(await provide({ include }), { copied: 3, shared: [], skipped: [] });
      assert.equal(await worktree.read('packages/one/.env.local'), 'deep\n');
      assert.equal(await worktree.read('build/out/x'), 'x\n');
    });

    it('yields to a .worktreeinclude, also an empty one', async () => {
      await repo.write('.worktreeinclude', '');
      await make();
      assert.equal((await provide({ include: ['**/.env'] })).copied, 0);
    });
  });

  describe('as shared folders', () => {
    beforeEach(async () => {
      await repo.write('node_modules/pkg/index.js', 'pkg\n');
      await repo.write('node_modules/.bin/pkg', { link: '../pkg/index.js' });
    });

    it('are links for `link`, which no Snapshot holds, also when the agent adds or commits them', async () => {
      await make();
      const shared = [{ path: 'node_modules', how: 'link' }];
      assert.deepEqual(await provide({ link: ['node_modules'] }), { copied: 0, shared, skipped: [] });
      assert.equal(await worktree.read('node_modules/pkg/index.js'), 'pkg\n');
      // The rule `node_modules/` does not ignore a link.
      assert.match(await worktree.git('status', '--porcelain'), /\?\? node_modules/);
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt']);
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt'], 'at a second look too');
      await worktree.git('add', '--all');
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt']);
      await worktree.git('commit', '--quiet', '--message', 'all of it');
      await worktree.write('new.txt', 'new\n');
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt', 'new.txt']);
    });

    it('are recorded once the agent has put something of its own in the place of a link', async () => {
      await make();
      await provide({ link: ['node_modules'] });
      await worktree.remove('node_modules');
      await worktree.write('node_modules', 'a file\n');
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt', 'node_modules']);
    });

    it('go with the worktree and come back with it: a link is moved, what it leads to is not touched', async () => {
      await make();
      await provide({ link: ['node_modules'] });
      const before = await listing(repo.root);
      const keptCommit = (await repo.git('rev-parse', 'HEAD')).trim();
      const aside = join(repo.folder, 'aside');
      const branch = 'refs/heads/tributary/task';
      const path = worktree.root;
      await layer.worktrees.setLock(path, undefined);
      await layer.worktrees.remove({ path, branch, keptCommit, asideDirectory: aside });
      assert.equal(await listing(repo.root), before);
      await layer.worktrees.rebuild({
        path,
        branch,
        headCommit: keptCommit,
        tree: keptCommit,
        asideDirectory: aside,
        lockReason: 'test',
      });
      await provide({ link: ['node_modules'] });
      assert.equal(await worktree.read('node_modules/pkg/index.js'), 'pkg\n');
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt']);
    });

    const unable: PlaceFile = () => Promise.reject(Object.assign(new Error('cannot'), { code: 'EXDEV' }));
    const withWays = async (ways: Partial<CopyWays>): Promise<GitProvision> => {
      const deps = { runCommand, env: process.env };
      const facts = await createRepositories(deps).open(repo.root);
      return new GitProvision({ git: makeGit(deps), facts, ways: { ...copyWays, ...ways } });
    };
    const clone = ['node_modules/'];
    const inode = async (root: string): Promise<number> =>
      (await stat(join(root, 'node_modules/pkg/index.js'))).ino;

    it('are copied on write for `clone` where the file system can', async () => {
      await make();
      const provision = await withWays({ copyOnWrite: copyWays.copy, hardLink: unable });
      const shared = [{ path: 'node_modules', how: 'copyOnWrite' }];
      assert.deepEqual(await provide({ clone }, provision), { copied: 0, shared, skipped: [] });
      assert.notEqual(await inode(worktree.root), await inode(repo.root));
      assert.equal(await readlink(join(worktree.root, 'node_modules/.bin/pkg')), '../pkg/index.js');
      assert.equal(await worktree.git('status', '--porcelain'), '');
    });

    it('are hard links where it cannot, with the time of the file as it was', async () => {
      const file = join(repo.root, 'node_modules/pkg/index.js');
      const { mtimeNs } = await stat(file, { bigint: true });
      await make();
      const provision = await withWays({ copyOnWrite: unable });
      const shared = [{ path: 'node_modules', how: 'hardLinks' }];
      assert.deepEqual(await provide({ clone }, provision), { copied: 0, shared, skipped: [] });
      assert.equal(await inode(worktree.root), await inode(repo.root));
      assert.equal((await stat(file, { bigint: true })).mtimeNs, mtimeNs);
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt']);
      await worktree.remove('node_modules');
      assert.equal(await readFile(file, 'utf8'), 'pkg\n');
    });

    it('are links where neither can be had', async () => {
      await make();
      const provision = await withWays({ copyOnWrite: unable, hardLink: unable });
      const shared = [{ path: 'node_modules', how: 'link' }];
      assert.deepEqual(await provide({ clone }, provision), { copied: 0, shared, skipped: [] });
      assert.deepEqual(await recorded(), ['.gitignore', 'a.txt']);
    });

    it('are copied, file by file, where a single file cannot be linked', async () => {
      await repo.write('node_modules/full/x', 'x\n');
      await make();
      const hardLink: PlaceFile = (from, to) =>
        String(from).endsWith('x') ? unable(from, to) : copyWays.hardLink(from, to);
      const provision = await withWays({ copyOnWrite: unable, hardLink });
      await provide({ clone }, provision);
      assert.equal(await worktree.read('node_modules/full/x'), 'x\n');
    });

    it('must be there and ignored on both sides; what is not is told, and the rest comes', async () => {
      await repo.write('lib/x.js', 'x\n');
      await make();
      const { shared, skipped } = await provide({ link: ['lib', 'build', 'node_modules'] });
      assert.deepEqual(shared, [{ path: 'node_modules', how: 'link' }]);
      assert.deepEqual(skipped, [
        { path: 'lib', why: 'git does not ignore it in the checkout' },
        { path: 'build', why: 'there is no such folder in the checkout' },
      ]);
    });

    it('are no reason to take files that stand there for theirs', async () => {
      await make();
      await mkdir(join(worktree.root, 'node_modules'));
      await writeFile(join(worktree.root, 'node_modules', 'own'), 'own\n');
      const { skipped } = await provide({ link: ['node_modules'] });
      assert.deepEqual(skipped, [{ path: 'node_modules', why: 'something stands there already' }]);
      assert.equal(await worktree.read('node_modules/own'), 'own\n');
    });
  });
});
