import assert from 'node:assert/strict';
import {
  access,
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, join } from 'node:path';
import { TributaryError } from '../../src/base/errors';
import { runCommand } from '../../src/process/runCommand';
import { type Layer, openLayer, spiedRun } from './support/layer';
import { cleanUp, fingerprint, gitAt, listing, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const files = {
  'a.txt': 'a\n',
  'dir/b.txt': 'b\n',
  '.gitignore': 'node_modules/\n*.log\n',
  'run.sh': { executable: '#!/bin/sh\n' },
  link: { link: 'a.txt' },
};

function code(expected: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof TributaryError, String(error));
    assert.equal(error.code, expected, `${error.message} ${JSON.stringify(error.details)}`);
    return true;
  };
}

interface Place {
  readonly repo: TempRepo;
  readonly layer: Layer;
  readonly commit: string;
  readonly path: string;
  readonly branch: string;
}

async function place(options: Parameters<typeof makeRepo>[0] = { files }): Promise<Place> {
  const repo = await makeRepo(options);
  const layer = await openLayer(repo.root);
  const { root } = await layer.worktrees.chooseRoot();
  const { path, branch } = await layer.worktrees.chooseName(root, 'fix-it', () => false);
  return { repo, layer, commit: (await layer.repository.head()).commit, path, branch };
}

async function create({ layer, path, branch, commit }: Place): Promise<void> {
  await layer.worktrees.create({ path, branch, commit, lockReason: 'tributary task_1 run_1' });
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Everything that a failed creation could have left behind. */
async function leftovers(repo: TempRepo): Promise<string> {
  return [
    await repo.git('for-each-ref'),
    await repo.git('worktree', 'list', '--porcelain'),
    (await readdir(join(repo.root, '.git', 'worktrees')).catch(() => [])).join(),
    (await readdir(repo.folder)).join(),
  ].join('\n');
}

async function removed(
  at: Place,
  options: { edit?: (wt: TempRepo) => Promise<void> } = {},
): Promise<{
  tree: string;
  keptCommit: string;
  headCommit: string;
  status: string;
  files: string;
  hasAside: boolean;
  aside: string;
}> {
  const wt = repoAt(at.repo.folder, at.path);
  await options.edit?.(wt);
  const taken = await at.layer.snapshots.take({
    worktreePath: at.path,
    taskId: 'task_1',
    number: 1,
    message: 'm',
  });
  const status = await wt.git('status', '--porcelain=v2', '-z');
  const stood = await listing(at.path);
  const aside = join(at.repo.root, '.git', 'tributary', 'aside', 'task_1');
  const { hasAside } = await at.layer.worktrees.remove({
    path: at.path,
    branch: at.branch,
    keptCommit: taken.commit,
    asideDirectory: aside,
  });
  const { tree, commit: keptCommit, headCommit } = taken;
  return { tree, keptCommit, headCommit, status, files: stood, hasAside, aside };
}

describe('the folder of Worktrees', () => {
  after(cleanUp);

  it('is the sibling <repo>.worktrees', async () => {
    const repo = await makeRepo({ name: 'my repo' });
    const { worktrees } = await openLayer(repo.root);
    const root = join(repo.folder, 'my repo.worktrees');
    assert.deepEqual(await worktrees.chooseRoot(), { root, isInside: false });
    assert.equal(await exists(root), false);
  });

  it('is named after the main worktree when a linked one was opened', async () => {
    const repo = await makeRepo();
    await repo.git('worktree', 'add', '-q', join(repo.folder, 'linked'));
    const { worktrees } = await openLayer(join(repo.folder, 'linked'));
    assert.deepEqual(await worktrees.chooseRoot(), {
      root: join(repo.folder, 'repo.worktrees'),
      isInside: false,
    });
  });

  it('stands beside a bare repository, or beside the folder of a hidden one', async () => {
    const repo = await makeRepo();
    for (const [bare, expected] of [
      ['project.git', 'project.worktrees'],
      ['hub/.bare', 'hub.worktrees'],
    ] as const) {
      await gitAt(repo.folder, 'clone', '-q', '--bare', repo.root, join(repo.folder, bare));
      const linked = join(repo.folder, `${basename(bare)}-wt`);
      await gitAt(join(repo.folder, bare), 'worktree', 'add', '-q', linked, 'main');
      const { worktrees } = await openLayer(linked);
      assert.deepEqual(await worktrees.chooseRoot(), { root: join(repo.folder, expected), isInside: false });
    }
  });

  it('falls back to .worktrees inside, invisible to git status, where the sibling cannot be used', async () => {
    const repo = await makeRepo({ files });
    await writeFile(join(repo.folder, 'repo.worktrees'), 'a file in the way');
    const at = await placeIn(repo);
    assert.equal(at.path, join(repo.root, '.worktrees', 'fix-it'));
    await create(at);
    assert.equal(await readFile(join(repo.root, '.worktrees', '.gitignore'), 'utf8'), '*\n');
    assert.equal(await repo.git('status', '--porcelain'), '');
    assert.equal(await readFile(join(at.path, 'a.txt'), 'utf8'), 'a\n');
  });

  it('falls back inside when the sibling lies on another file system', async function () {
    const shm = '/dev/shm';
    if (!(await exists(shm))) this.skip();
    const repo = await makeRepo();
    const target = join(shm, basename(repo.folder));
    await mkdir(target);
    try {
      await symlink(target, join(repo.folder, 'repo.worktrees'));
      const { worktrees } = await openLayer(repo.root);
      assert.deepEqual(await worktrees.chooseRoot(), { root: join(repo.root, '.worktrees'), isInside: true });
    } finally {
      await rm(target, { recursive: true });
    }
  });

  it('follows the setting, absolute or relative to the repository, but never into .git', async () => {
    const repo = await makeRepo();
    const { worktrees } = await openLayer(repo.root);
    const elsewhere = join(repo.folder, 'elsewhere');
    assert.deepEqual(await worktrees.chooseRoot(elsewhere), { root: elsewhere, isInside: false });
    assert.deepEqual(await worktrees.chooseRoot('../beside'), {
      root: join(repo.folder, 'beside'),
      isInside: false,
    });
    assert.deepEqual(await worktrees.chooseRoot('inside'), {
      root: join(repo.root, 'inside'),
      isInside: true,
    });
    await assert.rejects(worktrees.chooseRoot('.git/wt'), code('badArguments'));
  });

  async function placeIn(repo: TempRepo): Promise<Place> {
    const layer = await openLayer(repo.root);
    const { root } = await layer.worktrees.chooseRoot();
    const { path, branch } = await layer.worktrees.chooseName(root, 'fix-it', () => false);
    return { repo, layer, commit: (await layer.repository.head()).commit, path, branch };
  }
});

describe('the name of a Worktree', () => {
  after(cleanUp);

  it('is the slug, numbered where the folder, the branch or the record is taken', async () => {
    const repo = await makeRepo();
    const { worktrees } = await openLayer(repo.root);
    const root = join(repo.folder, 'r');
    const choose = (taken: string[] = []): Promise<{ slug: string; path: string; branch: string }> =>
      worktrees.chooseName(root, 'x', (slug) => taken.includes(slug));
    assert.deepEqual(await choose(), { slug: 'x', path: join(root, 'x'), branch: 'refs/heads/tributary/x' });
    await repo.git('branch', 'tributary/x');
    assert.equal((await choose()).slug, 'x-2');
    await mkdir(join(root, 'x-2'), { recursive: true });
    assert.equal((await choose()).slug, 'x-3');
    await repo.git('branch', 'tributary/x-3/below');
    await repo.git('branch', 'Tributary/X-4');
    assert.equal((await choose(['x-5'])).slug, 'x-6');
    await repo.git('worktree', 'add', '-q', join(root, 'x-6'));
    await rm(join(root, 'x-6'), { recursive: true });
    assert.equal((await choose(['x-5'])).slug, 'x-7');
    await assert.rejects(
      worktrees.chooseName(root, '../x', () => false),
      code('badArguments'),
    );
  });

  it('gives way to a branch named tributary', async () => {
    const repo = await makeRepo();
    await repo.git('branch', 'tributary');
    const { worktrees } = await openLayer(repo.root);
    const chosen = await worktrees.chooseName(repo.folder, 'x', () => false);
    assert.equal(chosen.branch, 'refs/heads/tributary-x');
    await repo.git('branch', 'tributary-x');
    assert.equal(
      (await worktrees.chooseName(repo.folder, 'x', () => false)).branch,
      'refs/heads/tributary-x-2',
    );
  });
});

describe('creating a Worktree', () => {
  after(cleanUp);

  it('checks the commit out on a new branch, locked, and leaves the checkout alone', async () => {
    const at = await place();
    await at.repo.write('a.txt', 'dirty');
    await at.repo.write('untracked', 'u');
    const before = await fingerprint(at.repo.root);
    await create(at);
    const after = await fingerprint(at.repo.root);
    assert.deepEqual({ ...after, refs: '' }, { ...before, refs: '' });
    assert.equal(after['refs'], `${before['refs']?.trimEnd()}\n${at.branch} ${at.commit}\n`);
    const wt = repoAt(at.repo.folder, at.path);
    assert.equal(await wt.git('status', '--porcelain', '--ignored'), '');
    assert.equal((await wt.git('symbolic-ref', 'HEAD')).trim(), at.branch);
    assert.equal((await wt.git('rev-parse', 'HEAD')).trim(), at.commit);
    assert.equal((await lstat(join(at.path, 'run.sh'))).mode & 0o111, 0o111);
    const listed = (await at.layer.worktrees.list()).find((one) => one.path === at.path);
    assert.deepEqual(listed, {
      path: at.path,
      head: at.commit,
      branch: at.branch,
      isBare: false,
      lockReason: 'tributary task_1 run_1',
    });
  });

  it('works from any commit, not only HEAD, and beside a tag of the branch name', async () => {
    const at = await place();
    await at.repo.write('later', 'l');
    await at.repo.commitAll('later');
    await at.repo.git('tag', 'tributary/fix-it');
    await create(at);
    assert.equal(await exists(join(at.path, 'later')), false);
    assert.equal(await repoAt(at.repo.folder, at.path).git('status', '--porcelain'), '');
  });

  it('runs no hook', async () => {
    const at = await place();
    const marker = join(at.repo.folder, 'ran');
    await mkdir(join(at.repo.root, '.git', 'hooks'), { recursive: true });
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
      await writeFile(join(at.repo.root, '.git', 'hooks', hook), `#!/bin/sh\ntouch ${marker}\n`, {
        mode: 0o755,
      });
    }
    await create(at);
    assert.equal(await exists(marker), false);
  });

  const shapes: ReadonlyArray<{
    title: string;
    shape: (repo: TempRepo) => Promise<void>;
    check?: (path: string) => Promise<void>;
  }> = [
    {
      title: 'CRLF by attributes',
      shape: async (repo) => {
        await repo.write('.gitattributes', '*.txt text eol=crlf\n');
        await repo.git('add', '--renormalize', '.');
        await repo.commitAll();
      },
      check: async (path) => assert.equal(await readFile(join(path, 'a.txt'), 'utf8'), 'a\r\n'),
    },
    {
      title: 'core.autocrlf',
      shape: async (repo) => void (await repo.git('config', 'core.autocrlf', 'true')),
      check: async (path) => assert.equal(await readFile(join(path, 'a.txt'), 'utf8'), 'a\r\n'),
    },
    {
      title: 'a smudge filter',
      shape: async (repo) => {
        await repo.git('config', 'filter.rot.clean', 'tr b-za a-z');
        await repo.git('config', 'filter.rot.smudge', 'tr a-z b-za');
        await repo.write('.gitattributes', '*.enc filter=rot\n');
        await repo.write('x.enc', 'bcd\n');
        await repo.commitAll();
        assert.equal(await repo.git('cat-file', 'blob', 'HEAD:x.enc'), 'abc\n');
      },
      check: async (path) => assert.equal(await readFile(join(path, 'x.enc'), 'utf8'), 'bcd\n'),
    },
    {
      title: 'a sparse checkout',
      shape: async (repo) => void (await repo.git('sparse-checkout', 'set', '--cone', 'other')),
      check: async (path) => assert.equal(await exists(join(path, 'dir')), false),
    },
    {
      title: 'a submodule',
      shape: async (repo) => {
        const inner = await makeRepo({ files: { i: '1' } });
        await repo.git('submodule', '--quiet', 'add', inner.root, 'sub');
        await repo.commitAll();
        await repo.git('config', 'submodule.recurse', 'true');
      },
    },
    {
      title: 'worktree configuration switched on',
      shape: async (repo) => void (await repo.git('config', 'extensions.worktreeConfig', 'true')),
    },
    { title: 'a detached HEAD', shape: async (repo) => void (await repo.git('checkout', '-q', '--detach')) },
    {
      title: 'signing switched on and no user name',
      shape: async (repo) => {
        await repo.git('config', 'commit.gpgSign', 'true');
        await repo.git('config', 'user.useConfigOnly', 'true');
      },
    },
  ];
  for (const { title, shape, check } of shapes) {
    it(`works with ${title}`, async () => {
      const repo = await makeRepo({ files });
      await shape(repo);
      const layer = await openLayer(repo.root);
      const at = {
        repo,
        layer,
        commit: (await layer.repository.head()).commit,
        path: join(repo.folder, 'wt'),
        branch: 'refs/heads/tributary/x',
      };
      const before = await fingerprint(repo.root);
      await create(at);
      const after = await fingerprint(repo.root);
      assert.equal(after['config'], before['config']);
      assert.equal(after['status'], before['status']);
      assert.equal(await repoAt(repo.folder, at.path).git('status', '--porcelain'), '');
      await check?.(at.path);
      assert.equal(await layer.snapshots.treeOf(at.path), await layer.repository.treeOf('HEAD'));
    });
  }

  for (const name of ['with space', 'Ünïcødé 文字', 'new\nline', '-dash']) {
    it(`works in a repository named ${JSON.stringify(name)}, from a linked worktree too`, async () => {
      const at = await place({ files, name });
      await create(at);
      assert.equal(await readFile(join(at.path, 'a.txt'), 'utf8'), 'a\n');
      const layer = await openLayer(at.path);
      const second = join(at.repo.folder, 'second');
      await layer.worktrees.create({
        path: second,
        branch: 'refs/heads/second',
        commit: at.commit,
        lockReason: 'r',
      });
      assert.equal(await readFile(join(second, 'a.txt'), 'utf8'), 'a\n');
    });
  }

  it('works in a shallow clone and in a bare repository with worktrees', async () => {
    const origin = await makeRepo({ files });
    await origin.write('a.txt', 'second\n');
    await origin.commitAll('second');
    await gitAt(origin.folder, 'clone', '-q', '--depth=1', `file://${origin.root}`, 'shallow');
    await gitAt(origin.folder, 'clone', '-q', '--bare', origin.root, 'bare.git');
    await gitAt(
      join(origin.folder, 'bare.git'),
      'worktree',
      'add',
      '-q',
      join(origin.folder, 'main'),
      'main',
    );
    for (const root of ['shallow', 'main']) {
      const layer = await openLayer(join(origin.folder, root));
      const chosen = await layer.worktrees.chooseRoot();
      const { commit } = await layer.repository.head();
      const path = join(chosen.root, 'x');
      await layer.worktrees.create({ path, branch: 'refs/heads/tributary/x', commit, lockReason: 'r' });
      assert.equal(await readFile(join(path, 'a.txt'), 'utf8'), 'second\n');
    }
  });

  it('refuses a worktree that resolves to the main checkout because of core.worktree, before writing a file', async () => {
    const at = await place();
    await at.repo.git('config', 'extensions.worktreeConfig', 'true');
    await at.repo.git('config', 'core.worktree', at.repo.root);
    const before = [await leftovers(at.repo), await listing(at.repo.root)];
    const gits: string[] = [];
    const layer = await openLayer(
      at.repo.root,
      spiedRun((git) => gits.push(git)),
    );
    await assert.rejects(create({ ...at, layer }), code('worktreeNotIsolated'));
    assert.ok(!gits.includes('read-tree'));
    assert.deepEqual([await leftovers(at.repo), await listing(at.repo.root)], before);
  });

  it('refuses a branch that exists and a folder that exists, and touches neither', async () => {
    const at = await place();
    await at.repo.git('branch', 'tributary/fix-it');
    const before = await leftovers(at.repo);
    await assert.rejects(create(at), code('branchInUse'));
    await assert.rejects(create({ ...at, branch: 'refs/heads/tributary/fix-it/below' }), code('branchInUse'));
    assert.equal(await leftovers(at.repo), before);
    await mkdir(at.path, { recursive: true });
    await writeFile(join(at.path, 'mine'), 'mine');
    await assert.rejects(create({ ...at, branch: 'refs/heads/free' }), code('worktreeFailed'));
    assert.equal(await readFile(join(at.path, 'mine'), 'utf8'), 'mine');
    assert.equal((await at.repo.git('for-each-ref', 'refs/heads/free')).trim(), '');
  });

  it('refuses a commit that is not there', async () => {
    const at = await place();
    const before = await leftovers(at.repo);
    await assert.rejects(create({ ...at, commit: '1'.repeat(40) }), code('worktreeFailed'));
    assert.equal(await leftovers(at.repo), before);
  });

  it('leaves no folder, registration or branch behind when any of its git commands fails or is stopped', async () => {
    const at = await place();
    const before = await leftovers(at.repo);
    const steps: string[] = [];
    await create({
      ...at,
      layer: await openLayer(
        at.repo.root,
        spiedRun((git) => steps.push(git)),
      ),
    });
    await removed(at);
    await at.repo.git('update-ref', '-d', 'refs/tributary/task_1/1');
    await rm(join(at.repo.folder, 'repo.worktrees'), { recursive: true, force: true });
    await rm(join(at.repo.root, '.git', 'worktrees'), { recursive: true, force: true });
    assert.equal(await leftovers(at.repo), before);
    // The first two open the repository.
    for (let failing = 2; failing < steps.length; failing += 1) {
      for (const how of ['before', 'after', 'disk full', 'abort'] as const) {
        await failAt(at, { failing, how });
        assert.equal(await leftovers(at.repo), before, `${how} at ${steps[failing]}`);
      }
    }
  });

  async function failAt(
    at: Place,
    { failing, how }: { failing: number; how: 'before' | 'after' | 'disk full' | 'abort' },
  ): Promise<void> {
    const controller = new AbortController();
    let count = -1;
    const layer = await openLayer(at.repo.root, async (request) => {
      count += 1;
      if (count !== failing) return runCommand(request);
      if (how === 'abort') controller.abort('user');
      const result = await runCommand(
        how === 'before' ? { ...request, command: { kind: 'args', file: 'false', args: [] } } : request,
      );
      if (how === 'abort') return result;
      const stderr = how === 'disk full' ? 'fatal: cannot write: No space left on device' : 'fatal: injected';
      // No code that any command takes for an answer.
      return { ...result, reason: 'exited', exitCode: 99, stderr: Buffer.from(stderr) };
    });
    const { path, branch, commit } = at;
    const request = { path, branch, commit, lockReason: 'r', signal: controller.signal };
    const expected = how === 'disk full' ? 'diskFull' : how === 'abort' ? 'cancelled' : undefined;
    await assert.rejects(layer.worktrees.create(request), (error) => {
      assert.ok(error instanceof TributaryError);
      if (expected !== undefined && error.code !== 'worktreeNotIsolated') assert.equal(error.code, expected);
      return true;
    });
  }

  it('can be used while its files are still on their way, and is taken back when they cannot come', async () => {
    for (const succeeds of [true, false]) {
      const at = await place();
      const before = await leftovers(at.repo);
      let goOn: (result: 'write' | 'fail') => void = () => undefined;
      const gate = new Promise<'write' | 'fail'>((resolve) => {
        goOn = resolve;
      });
      const { worktrees } = await openLayer(at.repo.root, async (request) => {
        const isCheckout = request.command.kind === 'args' && request.command.args.includes('read-tree');
        if (isCheckout && (await gate) === 'fail') throw new Error('injected');
        return runCommand(request);
      });
      const { path, branch, commit } = at;
      const begun = await worktrees.begin({ path, branch, commit, lockReason: 'r' });
      assert.equal(begun.tree, (await at.repo.git('rev-parse', `${commit}^{tree}`)).trim());
      const listed = (await worktrees.list()).find((one) => one.path === path);
      assert.equal(listed?.branch, branch);
      assert.notEqual(listed?.lockReason, undefined);
      goOn(succeeds ? 'write' : 'fail');
      if (succeeds) {
        await begun.files;
        assert.equal(await readFile(join(path, 'a.txt'), 'utf8'), 'a\n');
      } else {
        await assert.rejects(begun.files, (error) => error instanceof TributaryError);
        assert.equal(await leftovers(at.repo), before);
      }
    }
  });

  it('keeps the files of a user who took the folder of a failed creation meanwhile out of it', async () => {
    const at = await place();
    await mkdir(join(at.repo.folder, 'repo.worktrees'));
    await writeFile(join(at.repo.folder, 'repo.worktrees', 'mine'), 'mine');
    const layer = await openLayer(
      at.repo.root,
      spiedRun((git) => {
        if (git === 'read-tree') throw new Error('injected');
      }),
    );
    await assert.rejects(create({ ...at, layer }));
    assert.deepEqual(await readdir(join(at.repo.folder, 'repo.worktrees')), ['mine']);
  });

  it('waits for a lock another git holds', async () => {
    const at = await place();
    const lock = join(at.repo.root, '.git', 'refs', 'heads', 'tributary', 'fix-it.lock');
    await mkdir(join(lock, '..'), { recursive: true });
    await writeFile(lock, '');
    let refused = 0;
    const layer = await openLayer(at.repo.root, async (request) => {
      const result = await runCommand(request);
      if (result.exitCode !== 0 && result.stderr.includes('File exists')) {
        refused += 1;
        if (refused === 2) await rm(lock);
      }
      return result;
    });
    await create({ ...at, layer });
    assert.equal(refused, 2);
    assert.equal(await readFile(join(at.path, 'a.txt'), 'utf8'), 'a\n');
  });

  it('makes ten at once on one repository, each whole', async () => {
    const repo = await makeRepo({ files });
    for (let n = 0; n < 40; n += 1) await repo.write(`many/${n}.txt`, `${n}\n`);
    const commit = await repo.commitAll('many');
    const layer = await openLayer(repo.root);
    const numbers = Array.from({ length: 10 }, (_, n) => n);
    const before = await fingerprint(repo.root);
    await Promise.all(
      numbers.map((n) =>
        layer.worktrees.create({
          path: join(repo.folder, 'w', `${n}`),
          branch: `refs/heads/tributary/${n}`,
          commit,
          lockReason: `r${n}`,
        }),
      ),
    );
    const tree = await layer.repository.treeOf(commit);
    const listed = await layer.worktrees.list();
    for (const n of numbers) {
      const path = join(repo.folder, 'w', `${n}`);
      const found = listed.find((one) => one.path === path);
      assert.equal(found?.branch, `refs/heads/tributary/${n}`);
      assert.equal(found?.lockReason, `r${n}`);
      assert.equal(await layer.snapshots.treeOf(path), tree);
      assert.equal(await gitAt(path, 'status', '--porcelain').then(String), '');
    }
    assert.equal((await fingerprint(repo.root))['files'], before['files']);
  });
});

describe('removing a Worktree', () => {
  after(cleanUp);

  it('takes folder, registration and branch, keeps the Snapshot, and leaves the checkout alone', async () => {
    const at = await place();
    const before = await fingerprint(at.repo.root);
    await create(at);
    const result = await removed(at, { edit: (wt) => wt.write('new.txt', 'n') });
    assert.equal(result.hasAside, false);
    assert.equal(await exists(at.path), false);
    assert.deepEqual(await fingerprint(at.repo.root), before);
    assert.equal((await at.layer.worktrees.list()).length, 1);
    assert.deepEqual(await readdir(join(at.repo.folder, 'repo.worktrees')), []);
    assert.equal((await at.layer.repository.readFile(result.keptCommit, 'new.txt'))?.toString(), 'n');
  });

  it('sets ignored files and nested repositories aside, whole', async () => {
    const at = await place();
    await create(at);
    const result = await removed(at, {
      edit: async (wt) => {
        await wt.write('node_modules/dep/index.js', 'dep');
        await wt.write('dir/debug.log', 'log');
        await wt.write('app/file', 'in a repository');
        await gitAt(join(wt.root, 'app'), 'init', '-q');
        await gitAt(join(wt.root, 'app'), 'add', '-A');
        await gitAt(join(wt.root, 'app'), 'commit', '-q', '-m', 'only here');
      },
    });
    assert.equal(result.hasAside, true);
    assert.equal(await exists(at.path), false);
    assert.equal(await readFile(join(result.aside, 'node_modules', 'dep', 'index.js'), 'utf8'), 'dep');
    assert.equal(await readFile(join(result.aside, 'dir', 'debug.log'), 'utf8'), 'log');
    assert.match((await gitAt(join(result.aside, 'app'), 'log', '--oneline')).toString(), /only here/);
  });

  it('sets aside across file systems too', async function () {
    if (!(await exists('/dev/shm'))) this.skip();
    const at = await place();
    await create(at);
    await writeFile(join(at.path, 'x.log'), 'log');
    await mkdir(join(at.path, 'node_modules'));
    await symlink('../x.log', join(at.path, 'node_modules', 'link'));
    const taken = await at.layer.snapshots.take({
      worktreePath: at.path,
      taskId: 't',
      number: 1,
      message: 'm',
    });
    const aside = join('/dev/shm', basename(at.repo.folder));
    try {
      await at.layer.worktrees.remove({
        path: at.path,
        branch: at.branch,
        keptCommit: taken.commit,
        asideDirectory: aside,
      });
      assert.equal(await readFile(join(aside, 'x.log'), 'utf8'), 'log');
      assert.ok((await lstat(join(aside, 'node_modules', 'link'))).isSymbolicLink());
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  });

  it('never overwrites what was set aside before: what is newer has its place, the older is kept beside', async () => {
    const at = await place();
    await create(at);
    const aside = join(at.repo.root, '.git', 'tributary', 'aside', 'task_1');
    await mkdir(aside, { recursive: true });
    await writeFile(join(aside, 'x.log'), 'older');
    await writeFile(join(aside, 'node_modules'), 'a file where a folder comes');
    await removed(at, {
      edit: async (wt) => {
        await wt.write('x.log', 'newer');
        await wt.write('node_modules/m', 'm');
      },
    });
    assert.equal(await readFile(join(aside, 'x.log'), 'utf8'), 'newer');
    assert.equal(await readFile(join(aside, 'node_modules', 'm'), 'utf8'), 'm');
    const earlier = (await readdir(aside)).filter((name) => name.startsWith('.tributary-earlier-'));
    const names = await Promise.all(earlier.map((name) => readdir(join(aside, name))));
    assert.deepEqual(names.flat().sort(), ['node_modules', 'x.log']);
  });

  it('sets aside what changed after the Snapshot', async () => {
    const at = await place();
    await create(at);
    const taken = await at.layer.snapshots.take({
      worktreePath: at.path,
      taskId: 't',
      number: 1,
      message: 'm',
    });
    await writeFile(join(at.path, 'a.txt'), 'a later edit');
    await writeFile(join(at.path, 'late.txt'), 'a late file');
    const aside = join(at.repo.root, '.git', 'tributary', 'aside', 't');
    const request = { path: at.path, branch: at.branch, keptCommit: taken.commit, asideDirectory: aside };
    assert.deepEqual(await at.layer.worktrees.remove(request), { hasAside: true });
    assert.equal(await readFile(join(aside, 'a.txt'), 'utf8'), 'a later edit');
    assert.equal(await readFile(join(aside, 'late.txt'), 'utf8'), 'a late file');
  });

  it('keeps the repositories of submodules, whose commits may exist nowhere else', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const repo = await makeRepo({ files });
    await repo.git('submodule', '--quiet', 'add', inner.root, 'sub');
    await repo.commitAll('submodule');
    const layer = await openLayer(repo.root);
    const at = {
      repo,
      layer,
      commit: (await layer.repository.head()).commit,
      path: join(repo.folder, 'w', 'x'),
      branch: 'refs/heads/tributary/x',
    };
    await create(at);
    await gitAt(at.path, 'submodule', '--quiet', 'update', '--init');
    await writeFile(join(at.path, 'sub', 'i'), '2');
    await gitAt(join(at.path, 'sub'), 'commit', '-q', '-am', 'only here');
    const tip = (await gitAt(join(at.path, 'sub'), 'rev-parse', 'HEAD')).toString().trim();
    const result = await removed(at);
    assert.equal(result.hasAside, true);
    assert.equal(await exists(at.path), false);
    await layer.worktrees.rebuild({
      path: at.path,
      branch: at.branch,
      headCommit: result.headCommit,
      tree: result.tree,
      asideDirectory: result.aside,
      lockReason: 'r',
    });
    assert.equal((await gitAt(join(at.path, 'sub'), 'rev-parse', 'HEAD')).toString().trim(), tip);
  });

  it('succeeds again when everything is gone, and when the folder alone is gone', async () => {
    const at = await place();
    await create(at);
    const { keptCommit, aside } = await removed(at);
    const request = { path: at.path, branch: at.branch, keptCommit, asideDirectory: aside };
    assert.deepEqual(await at.layer.worktrees.remove(request), { hasAside: false });
    await create(at);
    await rm(at.path, { recursive: true });
    const strangers = join(at.repo.folder, 'usb-drive');
    await at.repo.git('worktree', 'add', '-q', strangers);
    await rename(strangers, `${strangers}-unmounted`);
    await at.layer.worktrees.remove(request);
    const listed = await at.layer.worktrees.list();
    assert.deepEqual(
      listed.map((one) => one.path),
      [at.repo.root, strangers],
    );
  });

  it('is finished by the next call wherever it broke off', async function () {
    // A removal, and another creation, for every git of a removal.
    this.timeout(240_000);
    const at = await place();
    const steps: string[] = [];
    await create(at);
    await writeFile(join(at.path, 'x.log'), 'log');
    const taken = await at.layer.snapshots.take({
      worktreePath: at.path,
      taskId: 't',
      number: 1,
      message: 'm',
    });
    const aside = join(at.repo.folder, 'aside');
    const request = { path: at.path, branch: at.branch, keptCommit: taken.commit, asideDirectory: aside };
    const trial = await openLayer(
      at.repo.root,
      spiedRun((git) => steps.push(git)),
    );
    await trial.worktrees.remove(request);
    for (let failing = 2; failing < steps.length; failing += 1) {
      await rm(aside, { recursive: true });
      await create(at);
      await writeFile(join(at.path, 'x.log'), 'log');
      let count = -1;
      const layer = await openLayer(
        at.repo.root,
        spiedRun(() => {
          count += 1;
          if (count === failing) throw new Error('killed');
        }),
      );
      await assert.rejects(layer.worktrees.remove(request), /killed/);
      assert.deepEqual(await at.layer.worktrees.remove(request), { hasAside: true }, steps[failing]);
      assert.equal(await readFile(join(aside, 'x.log'), 'utf8'), 'log');
      assert.deepEqual(await readdir(join(at.repo.folder, 'repo.worktrees')), []);
      assert.equal((await at.layer.worktrees.list()).length, 1);
      assert.equal(await at.layer.repository.resolveRef(at.branch), undefined);
    }
  });

  it('refuses whatever is not, beyond doubt, a linked worktree of this repository', async () => {
    const at = await place();
    await create(at);
    const other = await makeRepo({ files });
    await other.git('worktree', 'add', '-q', join(other.folder, 'theirs'));
    await symlink(at.path, join(at.repo.folder, 'link'));
    const plain = join(at.repo.folder, 'plain');
    await mkdir(plain);
    await writeFile(join(plain, 'mine'), 'mine');
    const places = [at.repo.root, at.repo.folder, join(at.repo.root, 'dir'), join(at.repo.root, '.git')];
    places.push(other.root, join(other.folder, 'theirs'), join(at.repo.folder, 'link'), plain);
    const request = {
      branch: at.branch,
      keptCommit: at.commit,
      asideDirectory: join(at.repo.folder, 'aside'),
    };
    for (const path of places) {
      const stood = await listing(at.repo.folder);
      await assert.rejects(at.layer.worktrees.remove({ ...request, path }), code('worktreeFailed'), path);
      assert.equal(await listing(at.repo.folder), stood, path);
    }
    const opened = await openLayer(at.path);
    await assert.rejects(opened.worktrees.remove({ ...request, path: at.path }), code('worktreeFailed'));
    await access(at.path);
  });

  it('refuses a folder whose .git was swapped for another repository', async () => {
    const at = await place();
    await create(at);
    await rm(join(at.path, '.git'));
    await gitAt(at.path, 'init', '-q');
    const request = {
      path: at.path,
      branch: at.branch,
      keptCommit: at.commit,
      asideDirectory: join(at.repo.folder, 'aside'),
    };
    await assert.rejects(at.layer.worktrees.remove(request), code('worktreeFailed'));
    await access(join(at.path, 'a.txt'));
  });

  it('removes read-only folders too', async () => {
    const at = await place();
    await create(at);
    await removed(at, {
      edit: async (wt) => {
        await wt.write('cache/module/file', 'x');
        await chmod(join(wt.root, 'cache', 'module'), 0o555);
      },
    });
    assert.equal(await exists(at.path), false);
  });
});

describe('the branch of a removed Worktree', () => {
  after(cleanUp);

  async function branchAfter(
    arrange: (at: Place) => Promise<void>,
    keep?: (at: Place) => string,
  ): Promise<boolean> {
    const at = await place();
    await create(at);
    await arrange(at);
    const taken = await at.layer.snapshots.take({
      worktreePath: at.path,
      taskId: 't',
      number: 1,
      message: 'm',
    });
    await at.layer.worktrees.remove({
      path: at.path,
      branch: at.branch,
      keptCommit: keep?.(at) ?? taken.commit,
      asideDirectory: join(at.repo.folder, 'aside'),
    });
    return (await at.layer.repository.resolveRef(at.branch)) !== undefined;
  }

  it('goes with the commits of the agent, which the Snapshot holds', async () => {
    assert.equal(
      await branchAfter(async (at) => {
        await writeFile(join(at.path, 'c'), 'c');
        await repoAt(at.repo.folder, at.path).commitAll('by the agent');
      }),
      false,
    );
  });

  it('goes when another ref of ours than the kept commit holds its tip', async () => {
    const arrange = async (at: Place): Promise<void> => {
      await repoAt(at.repo.folder, at.path).commitAll('by the agent');
      await gitAt(at.path, 'checkout', '-q', '--detach', 'HEAD~1');
    };
    assert.equal(await branchAfter(arrange), false);
  });

  it('stays when no ref of ours holds its tip', async () => {
    const arrange = async (at: Place): Promise<void> => {
      await gitAt(at.path, 'checkout', '-q', '--detach');
      const commit = await at.repo.commitAll('by the user');
      await at.repo.git('branch', '--force', 'tributary/fix-it', commit);
    };
    assert.equal(await branchAfter(arrange), true);
  });

  it('stays when another worktree has it checked out', async () => {
    assert.equal(
      await branchAfter(async (at) => {
        await gitAt(at.path, 'checkout', '-q', '--detach');
        await at.repo.git('checkout', '-q', 'tributary/fix-it');
      }),
      true,
    );
  });

  it('stays when it was pushed or has an upstream', async () => {
    assert.equal(
      await branchAfter(async (at) => {
        await gitAt(at.repo.folder, 'init', '-q', '--bare', 'remote.git');
        await at.repo.git('remote', 'add', 'origin', join(at.repo.folder, 'remote.git'));
        await at.repo.git('push', '-q', 'origin', 'tributary/fix-it');
      }),
      true,
    );
    assert.equal(
      await branchAfter(async (at) => {
        await at.repo.git('branch', '-q', '--set-upstream-to=main', 'tributary/fix-it');
      }),
      true,
    );
  });

  it('goes when a remote merely has the commit it started from', async () => {
    assert.equal(
      await branchAfter(async (at) => {
        await gitAt(at.repo.folder, 'init', '-q', '--bare', 'remote.git');
        await at.repo.git('remote', 'add', 'origin', join(at.repo.folder, 'remote.git'));
        await at.repo.git('push', '-q', 'origin', 'main');
      }),
      false,
    );
  });
});

describe('rebuilding a Worktree', () => {
  after(cleanUp);

  async function rebuild(at: Place, from: Awaited<ReturnType<typeof removed>>): Promise<void> {
    await at.layer.worktrees.rebuild({
      path: at.path,
      branch: at.branch,
      headCommit: from.headCommit,
      tree: from.tree,
      asideDirectory: from.aside,
      lockReason: 'again',
    });
  }

  it('brings files, status, commits and what was set aside back', async () => {
    const at = await place();
    await create(at);
    const from = await removed(at, {
      edit: async (wt) => {
        await wt.write('committed', 'c');
        await wt.commitAll('by the agent');
        await wt.write('a.txt', 'edited');
        await wt.write('new/untracked', 'u');
        await wt.remove('dir/b.txt');
        await chmod(join(wt.root, 'run.sh'), 0o644);
        await wt.write('node_modules/dep/x', 'dep');
        await wt.write('dir/x.log', 'log');
      },
    });
    const before = await fingerprint(at.repo.root);
    await rebuild(at, from);
    assert.equal((await fingerprint(at.repo.root))['files'], before['files']);
    assert.equal(await listing(at.path), from.files);
    const wt = repoAt(at.repo.folder, at.path);
    assert.equal(await wt.git('status', '--porcelain=v2', '-z'), from.status);
    assert.equal((await wt.git('rev-parse', at.branch)).trim(), from.headCommit);
    assert.equal(await exists(from.aside), false);
    assert.equal((await at.layer.worktrees.list()).find((one) => one.path === at.path)?.lockReason, 'again');
  });

  it('leaves aside what something stands in the way of', async () => {
    const at = await place();
    await create(at);
    const from = await removed(at, { edit: (wt) => wt.write('x.log', 'log') });
    await mkdir(join(from.aside), { recursive: true });
    await writeFile(join(from.aside, 'a.txt'), 'not over the restored one');
    await rebuild(at, from);
    assert.equal(await readFile(join(at.path, 'a.txt'), 'utf8'), 'a\n');
    assert.equal(await readFile(join(at.path, 'x.log'), 'utf8'), 'log');
    assert.equal(await readFile(join(from.aside, 'a.txt'), 'utf8'), 'not over the restored one');
  });

  it('uses the branch when it still stands where it stood', async () => {
    const at = await place();
    await create(at);
    const from = await removed(at);
    await at.repo.git('update-ref', at.branch, from.headCommit);
    await rebuild(at, from);
    assert.equal(await listing(at.path), from.files);
  });

  it('says branchInUse when the branch moved or is checked out, and leaves it alone', async () => {
    const at = await place();
    await create(at);
    const from = await removed(at);
    await at.repo.write('x', 'x');
    const moved = await at.repo.commitAll('x');
    await at.repo.git('update-ref', at.branch, moved);
    await assert.rejects(rebuild(at, from), code('branchInUse'));
    assert.equal(await at.layer.repository.resolveRef(at.branch), moved);
    await at.repo.git('update-ref', at.branch, from.headCommit);
    await at.repo.git('checkout', '-q', 'tributary/fix-it');
    await assert.rejects(rebuild(at, from), code('branchInUse'));
    assert.equal(await at.layer.repository.resolveRef(at.branch), from.headCommit);
    assert.equal(await exists(at.path), false);
  });

  it('works when the folder was deleted by hand', async () => {
    const at = await place();
    await create(at);
    await writeFile(join(at.path, 'new'), 'n');
    const taken = await at.layer.snapshots.take({
      worktreePath: at.path,
      taskId: 't',
      number: 1,
      message: 'm',
    });
    await rm(at.path, { recursive: true });
    const { path, branch } = at;
    await at.layer.worktrees.rebuild({
      path,
      branch,
      headCommit: taken.headCommit,
      tree: taken.tree,
      lockReason: 'r',
    });
    assert.equal(await readFile(join(path, 'new'), 'utf8'), 'n');
  });

  it('works when the folder was deleted by hand after the agent had left its branch; the branch stays where it was', async () => {
    const at = await place();
    await create(at);
    const { path, branch } = at;
    const wt = repoAt(at.repo.folder, path);
    await wt.write('on-branch', 'b');
    const onBranch = await wt.commitAll('on the branch');
    const first = { worktreePath: path, taskId: 't', number: 1, message: 'm' };
    const { commit: previous } = await at.layer.snapshots.take(first);
    await wt.git('checkout', '-q', '--detach', 'HEAD^');
    await wt.write('elsewhere', 'e');
    await wt.commitAll('elsewhere');
    const taken = await at.layer.snapshots.take({ ...first, number: 2, previous });
    await rm(path, { recursive: true });
    const { headCommit, tree, commit: keptCommit } = taken;
    await at.layer.worktrees.rebuild({ path, branch, headCommit, tree, keptCommit, lockReason: 'r' });
    assert.equal((await at.repo.git('rev-parse', branch)).trim(), onBranch);
    assert.equal((await wt.git('symbolic-ref', 'HEAD')).trim(), branch);
    assert.equal(await at.layer.snapshots.treeOf(path), tree);
  });

  it('refuses a branch that holds what no Snapshot knows', async () => {
    const at = await place();
    await create(at);
    const { path, branch } = at;
    const taken = await at.layer.snapshots.take({
      ...{ worktreePath: path, taskId: 't', number: 1, message: 'm' },
    });
    await rm(path, { recursive: true });
    const later = (await at.repo.git('commit-tree', '-p', branch, '-m', 'x', `${branch}^{tree}`)).trim();
    await at.repo.git('update-ref', branch, later);
    const { headCommit, tree, commit: keptCommit } = taken;
    const rebuilt = at.layer.worktrees.rebuild({
      ...{ path, branch, headCommit, tree, keptCommit, lockReason: 'r' },
    });
    await assert.rejects(rebuilt, code('branchInUse'));
    assert.equal((await at.repo.git('rev-parse', branch)).trim(), later);
  });

  it('leaves nothing behind when it fails, and what was set aside stays there', async () => {
    const at = await place();
    await create(at);
    const from = await removed(at, { edit: (wt) => wt.write('x.log', 'log') });
    const before = await leftovers(at.repo);
    await assert.rejects(rebuild(at, { ...from, tree: '1'.repeat(40) }), code('worktreeFailed'));
    assert.equal(await leftovers(at.repo), before);
    assert.equal(await readFile(join(from.aside, 'x.log'), 'utf8'), 'log');
  });
});

describe('locks and lists of Worktrees', () => {
  after(cleanUp);

  it('locks and unlocks, twice without complaint', async () => {
    const at = await place();
    await create(at);
    const reason = async (): Promise<string | undefined> =>
      (await at.layer.worktrees.list()).find((one) => one.path === at.path)?.lockReason;
    await at.layer.worktrees.setLock(at.path, 'again');
    await at.layer.worktrees.setLock(at.path, undefined);
    assert.equal(await reason(), undefined);
    await at.layer.worktrees.setLock(at.path, undefined);
    await at.layer.worktrees.setLock(at.path, 'two\nlines');
    assert.equal(await reason(), 'two\nlines');
  });

  it('lists the main, detached, missing and oddly named ones', async () => {
    const repo = await makeRepo();
    await repo.git('worktree', 'add', '-q', '--detach', join(repo.folder, 'new\nline'));
    await repo.git('worktree', 'add', '-q', join(repo.folder, 'gone'));
    await rm(join(repo.folder, 'gone'), { recursive: true });
    const { worktrees } = await openLayer(repo.root);
    const listed = await worktrees.list();
    assert.equal(listed[0]?.path, repo.root);
    assert.equal(listed.find((one) => one.path.endsWith('new\nline'))?.branch, undefined);
    assert.match(listed.find((one) => one.path.endsWith('gone'))?.prunableReason ?? '', /non-existent/);
  });
});

describe('Worktrees in special repositories', () => {
  after(cleanUp);

  it('of a submodule stay out of sight of the project around it', async () => {
    const inner = await makeRepo({ files });
    const outer = await makeRepo();
    await outer.git('submodule', '--quiet', 'add', inner.root, 'sub');
    await outer.commitAll('submodule');
    const repo = repoAt(outer.folder, join(outer.root, 'sub'));
    const layer = await openLayer(repo.root);
    const { root } = await layer.worktrees.chooseRoot();
    const { path, branch } = await layer.worktrees.chooseName(root, 'x', () => false);
    const at = { repo, layer, commit: (await layer.repository.head()).commit, path, branch };
    await create(at);
    assert.equal(await readFile(join(path, 'a.txt'), 'utf8'), 'a\n');
    assert.equal(await outer.git('status', '--porcelain'), '');
    await layer.worktrees.remove({
      path,
      branch,
      keptCommit: at.commit,
      asideDirectory: join(outer.folder, 'aside'),
    });
    assert.equal(await exists(path), false);
    assert.equal(await readFile(join(repo.root, 'a.txt'), 'utf8'), 'a\n');
  });

  it('are made with every variable of git and its helpers set in the environment', async () => {
    const repo = await makeRepo({ files });
    const other = await makeRepo({ files: { other: 'o' } });
    const saved = { ...process.env };
    Object.assign(process.env, {
      GIT_DIR: join(other.root, '.git'),
      GIT_WORK_TREE: other.root,
      GIT_INDEX_FILE: join(other.root, '.git', 'index'),
      GIT_OBJECT_DIRECTORY: join(other.root, '.git', 'objects'),
      GIT_NAMESPACE: 'n',
      GIT_SSH_COMMAND: 'ssh',
      GIT_ASKPASS: '/bin/false',
      GIT_EDITOR: 'false',
      GIT_PAGER: 'false',
      GIT_EXTERNAL_DIFF: 'false',
      PAGER: 'false',
      EDITOR: 'false',
    });
    try {
      const before = await fingerprint(other.root);
      const layer = await openLayer(repo.root);
      const { path, branch } = await layer.worktrees.chooseName(join(repo.folder, 'w'), 'x', () => false);
      await create({ repo, layer, commit: (await layer.repository.head()).commit, path, branch });
      const taken = await layer.snapshots.take({ worktreePath: path, taskId: 't', number: 1, message: 'm' });
      await layer.worktrees.remove({
        path,
        branch,
        keptCommit: taken.commit,
        asideDirectory: join(repo.folder, 'aside'),
      });
      assert.equal(await layer.repository.resolveRef(taken.ref), taken.commit);
      assert.deepEqual(await fingerprint(other.root), before);
    } finally {
      for (const name of Object.keys(process.env)) if (!(name in saved)) delete process.env[name];
      Object.assign(process.env, saved);
    }
  });
});
