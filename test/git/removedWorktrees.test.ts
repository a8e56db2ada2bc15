import assert from 'node:assert/strict';
import {
  appendFile,
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, gitAt, listing, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const files = { 'a.txt': 'a\n', 'src/b.txt': 'b\n', '.gitignore': '*.log\n' };

interface Place {
  readonly repo: TempRepo;
  readonly layer: Layer;
  readonly wt: TempRepo;
  readonly path: string;
  readonly branch: string;
  readonly aside: string;
}

interface Kept {
  readonly tree: string;
  readonly commit: string;
  readonly headCommit: string;
}

async function place(): Promise<Place> {
  const repo = await makeRepo({ files });
  const layer = await openLayer(repo.root);
  const path = join(repo.folder, 'repo.worktrees', 'fix-it');
  const branch = 'refs/heads/tributary/fix-it';
  const { commit } = await layer.repository.head();
  await layer.worktrees.create({ path, branch, commit, lockReason: 'tributary task_1' });
  const aside = join(repo.root, '.git', 'tributary', 'aside', 'task_1');
  return { repo, layer, wt: repoAt(repo.folder, path), path, branch, aside };
}

let number = 0;

async function snapshot({ layer, path }: Place): Promise<Kept> {
  number += 1;
  return layer.snapshots.take({ worktreePath: path, taskId: 'task_1', number, message: 'm' });
}

async function remove(at: Place, kept: Kept): Promise<boolean> {
  const { path, branch, aside } = at;
  const request = { path, branch, keptCommit: kept.commit, asideDirectory: aside };
  const { hasAside } = await at.layer.worktrees.remove(request);
  assert.equal(await exists(path), false);
  assert.deepEqual(await readdir(join(at.repo.folder, 'repo.worktrees')), []);
  assert.equal((await at.layer.worktrees.list()).length, 1);
  return hasAside;
}

async function rebuild(at: Place, kept: Kept): Promise<void> {
  const { path, branch, aside } = at;
  const { tree, headCommit } = kept;
  await at.layer.worktrees.rebuild({
    ...{ path, branch, headCommit, tree, asideDirectory: aside, lockReason: 'again' },
  });
}

async function paths(repo: TempRepo, { tree }: Kept): Promise<string[]> {
  return (await repo.git('ls-tree', '-r', '--name-only', '-z', tree))
    .split('\0')
    .filter((path) => path !== '');
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function makeInner(wt: TempRepo, folder: string): Promise<string> {
  const inner = join(wt.root, folder);
  await mkdir(inner, { recursive: true });
  await gitAt(inner, 'init', '-q');
  await writeFile(join(inner, 'w.js'), 'committed');
  await gitAt(inner, 'add', 'w.js');
  await gitAt(inner, 'commit', '-q', '-m', 'only here');
  return inner;
}

/** What an agent may leave in a Worktree that no Snapshot can hold. */
const leftovers: ReadonlyArray<{ title: string; arrange: (wt: TempRepo) => Promise<unknown> }> = [
  { title: 'a repository in a folder with tracked files', arrange: (wt) => makeInner(wt, 'src') },
  {
    title: 'a .git file in a folder with tracked files',
    arrange: (wt) => wt.write('src/.git', 'gitdir: ../elsewhere\n'),
  },
  {
    title: 'a folder .git that is no repository',
    arrange: (wt) => wt.write('sub/.git/notes.txt', 'notes'),
  },
  {
    title: 'a folder .git that is no repository, deep below ignored and tracked files',
    arrange: async (wt) => {
      await wt.write('src/deep/er/.git/notes.txt', 'notes');
      await wt.write('src/deep/er/x.log', 'log');
    },
  },
  {
    title: 'names some file systems take for .git',
    arrange: async (wt) => {
      for (const name of ['git~1', '.GIT/x', '.git ', 'sub/.git./x', 'src/.Git', '.g\u200cit/x'])
        await wt.write(name, `content of ${name}`);
    },
  },
  {
    title: 'such a name in place of a tracked file',
    arrange: async (wt) => {
      await wt.remove('src/b.txt');
      await wt.write('src/b.txt/git~1', 'x');
    },
  },
];

describe('what no Snapshot can hold', () => {
  after(cleanUp);

  for (const { title, arrange } of leftovers) {
    it(`is set aside when its Worktree goes, and comes back with it: ${title}`, async () => {
      const at = await place();
      await arrange(at.wt);
      const stood = await everything(at.path);
      const kept = await snapshot(at);
      assert.equal(await remove(at, kept), true);
      await rebuild(at, kept);
      assert.deepEqual(await everything(at.path), stood);
      assert.equal(await exists(at.aside), false);
    });
  }

  it('is nothing where a Worktree holds only what its Snapshot does, and empty folders', async () => {
    const at = await place();
    await mkdir(join(at.path, 'empty', 'deeper'), { recursive: true });
    await at.wt.write('new/file', 'n');
    assert.equal(await remove(at, await snapshot(at)), false);
  });
});

/** Paths and content of all files, the `.git` of nested repositories included, that of the Worktree not. */
async function everything(root: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of await readdir(root, { recursive: true })) {
    if (name === '.git' || !(await lstat(join(root, name))).isFile()) continue;
    found[name] = await readFile(join(root, name), 'latin1');
  }
  return found;
}

describe('a nested repository of a Worktree', () => {
  after(cleanUp);

  it('stays whole, and nothing stays aside, however often the Worktree goes and comes', async () => {
    const at = await place();
    const inner = await makeInner(at.wt, 'inner');
    await writeFile(join(inner, 'w.js'), 'dirty');
    await writeFile(join(inner, 'private'), 'for me only');
    await chmod(join(inner, 'private'), 0o600);
    const stood = await everything(at.path);
    const status = (await gitAt(inner, 'status', '--porcelain')).toString();
    for (let time = 1; time <= 3; time += 1) {
      const kept = await snapshot(at);
      assert.equal(await remove(at, kept), true);
      assert.deepEqual(await readdir(at.aside), ['inner'], `aside, time ${time}`);
      await rebuild(at, kept);
      assert.equal(await exists(at.aside), false, `aside after time ${time}`);
      assert.deepEqual(await everything(at.path), stood);
      assert.equal((await gitAt(inner, 'status', '--porcelain')).toString(), status);
      assert.match((await gitAt(inner, 'log', '--oneline')).toString(), /only here/);
      assert.equal((await stat(join(inner, 'private'))).mode & 0o777, 0o600);
    }
  });

  it('comes back where the agent has committed a pointer to it', async () => {
    const at = await place();
    await makeInner(at.wt, 'inner');
    await gitAt(at.path, '-c', 'advice.addEmbeddedRepo=false', 'add', 'inner');
    await gitAt(at.path, 'commit', '-q', '-m', 'a pointer');
    const stood = await everything(at.path);
    const kept = await snapshot(at);
    await remove(at, kept);
    await rebuild(at, kept);
    assert.deepEqual(await everything(at.path), stood);
    assert.equal(await at.layer.snapshots.treeOf(at.path), kept.tree);
  });

  it('gets its repository back, and its differing file stays aside, when an earlier state comes back', async () => {
    const at = await place();
    const inner = await makeInner(at.wt, 'inner');
    const earlier = await snapshot(at);
    await writeFile(join(inner, 'w.js'), 'later');
    await remove(at, await snapshot(at));
    await rebuild(at, earlier);
    assert.equal(await readFile(join(inner, 'w.js'), 'utf8'), 'committed');
    assert.match((await gitAt(inner, 'log', '--oneline')).toString(), /only here/);
    assert.deepEqual(await everything(at.aside), { 'inner/w.js': 'later' });
  });
});

describe('what is written into a Worktree while it goes', () => {
  after(cleanUp);

  it('is set aside, whenever it comes: new files, and edits of files that its Snapshot holds', async () => {
    const at = await place();
    for (let folder = 0; folder < 20; folder += 1)
      for (let file = 0; file < 40; file += 1)
        await at.wt.write(`s/${folder}/${file}`, `${folder} ${file}\n`);
    const kept = await snapshot(at);
    const { path, branch, aside } = at;
    // As a terminal or an editor that stands in a folder goes on to write there, whatever it is called by now.
    const trash = join(path, '..', '.tributary-trash-fix-it');
    let saves = 0;
    let isOver = false;
    const write = async (): Promise<void> => {
      for (; !isOver; await setImmediate())
        try {
          await writeFile(join(trash, 's', '7', `new-${saves + 1}`), 'new', { flag: 'wx' });
          saves += 1;
          await appendFile(join(trash, 's', '9', '3'), `save ${saves}\n`);
        } catch (error) {
          assert.match(String(error), /ENOENT/);
        }
    };
    let writing: Promise<void> | undefined;
    const onAway = async (): Promise<void> => {
      writing = write();
    };
    await at.layer.worktrees.remove({ path, branch, keptCommit: kept.commit, asideDirectory: aside, onAway });
    isOver = true;
    await writing;
    assert.ok(saves > 20, `it wrote ${saves} times`);
    const found = await everything(aside);
    const names = Object.keys(found).flatMap((name) => /new-\d+$/.exec(name)?.[0] ?? []);
    assert.equal(new Set(names).size, saves);
    const edits = Object.entries(found).flatMap(([name, text]) =>
      /\/9\/3$/.test(name) ? text.split('\n') : [],
    );
    assert.equal(edits.filter((line) => line.startsWith('save ')).length, saves);
    await rebuild(at, kept);
    const back = Object.keys(await everything(at.path)).filter((name) => !/^s\/7\/new-\d+$/.test(name));
    assert.deepEqual(
      back.sort(),
      (await paths(at.repo, kept)).sort(),
      'no file comes back under another name',
    );
  });
});

describe('commits that only the reflog of a Worktree knows', () => {
  after(cleanUp);

  it('are kept under refs of ours when it goes, those its Snapshot reaches are not', async () => {
    const at = await place();
    await at.wt.git('commit', '-q', '--allow-empty', '-m', 'on the branch');
    await at.wt.git('checkout', '-q', '--detach');
    await at.wt.write('only-here.txt', 'precious');
    const left = await at.wt.commitAll('made and left');
    await at.wt.git('checkout', '-q', '-');
    const kept = await snapshot(at);
    await remove(at, kept);
    const refs = await at.repo.git(
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      'refs/tributary/left',
    );
    assert.equal(refs, `refs/tributary/left/fix-it/${left.slice(0, 12)} ${left}\n`);
    assert.equal(await at.repo.git('cat-file', 'blob', `${left}:only-here.txt`), 'precious');
  });

  /** Content that a ref of ours below `left` holds. */
  const isHeld = async ({ repo }: Place, object: string): Promise<boolean> => {
    const args = ['rev-list', '--objects', '--glob=refs/tributary/left', '--not', '--branches'];
    return (await repo.git(...args)).includes(object);
  };
  const ways: ReadonlyArray<[string, (at: Place, kept: Kept) => Promise<unknown>]> = [
    ['is discarded', remove],
    [
      'comes back after its folder was deleted by hand',
      async (at, kept) => {
        await rm(at.path, { recursive: true });
        const headCommit = (await at.repo.git('rev-parse', at.branch)).trim();
        await rebuild(at, { ...kept, headCommit });
      },
    ],
    [
      'is forgotten',
      async (at) => {
        await rm(at.path, { recursive: true });
        const [registration] = await at.layer.care.registrations();
        assert.ok(registration);
        await at.layer.care.forget(registration, at.aside);
      },
    ],
  ];
  for (const [way, go] of ways)
    it(`and what else only its administration holds is kept when it ${way}: refs of its own, what a rebase put away, what was staged`, async () => {
      const at = await place();
      const commit = async (message: string): Promise<string> =>
        (await at.wt.git('commit-tree', '-m', message, 'HEAD^{tree}')).trim();
      const own = await commit('below refs/worktree');
      await at.wt.git('update-ref', 'refs/worktree/keep', own);
      const bad = await commit('bisected');
      await at.wt.git('update-ref', 'refs/bisect/bad', bad);
      const left = await commit('the own ref left it');
      await at.wt.git('update-ref', '--create-reflog', 'refs/worktree/moved', left);
      await at.wt.git('update-ref', 'refs/worktree/moved', own);
      await at.wt.git('checkout', '-q', '-b', 'side');
      await at.wt.write('src/b.txt', 'side\n');
      await at.wt.commitAll('side');
      await at.wt.git('checkout', '-q', at.branch.slice('refs/heads/'.length));
      await at.wt.write('src/b.txt', 'ours\n');
      await at.wt.commitAll('ours');
      await at.wt.write('a.txt', 'put away\n');
      await assert.rejects(at.wt.git('rebase', '--autostash', 'side'));
      const directory = join(at.repo.root, '.git', 'worktrees', 'fix-it');
      const autostash = (await readFile(join(directory, 'rebase-merge', 'autostash'), 'utf8')).trim();
      await at.wt.write('a.txt', 'staged only\n');
      await at.wt.git('add', 'a.txt');
      const staged = (await at.wt.git('rev-parse', ':a.txt')).trim();
      await at.wt.write('a.txt', 'edited again\n');
      await go(at, await snapshot(at));
      for (const object of [own, bad, left, autostash, staged]) assert.ok(await isHeld(at, object), object);
    });

  it('what was staged is kept also on a branch without a commit', async () => {
    const at = await place();
    await at.wt.git('checkout', '-q', '--orphan', 'lonely');
    await at.wt.write('a.txt', 'staged only\n');
    await at.wt.git('add', 'a.txt');
    const staged = (await at.wt.git('rev-parse', ':a.txt')).trim();
    await at.wt.write('a.txt', 'edited again\n');
    const base = (await at.repo.git('rev-parse', 'HEAD')).trim();
    const request = { worktreePath: at.path, taskId: 'task_1', number: 900, message: 'm', base };
    await remove(at, await at.layer.snapshots.take(request));
    assert.ok(await isHeld(at, staged));
  });

  it('of an index that holds nothing but what stands or stood in HEAD, there is none', async () => {
    const at = await place();
    await at.wt.write('a.txt', 'edited\n');
    await at.wt.write('new.txt', 'staged, and stands so\n');
    await at.wt.git('add', 'new.txt');
    await remove(at, await snapshot(at));
    assert.equal(await at.repo.git('for-each-ref', 'refs/tributary/left'), '');
  });

  it('that are gone already do not stop the removal', async () => {
    const at = await place();
    await at.wt.git('checkout', '-q', '--detach');
    const left = await at.wt.commitAll('made and left');
    await at.wt.git('checkout', '-q', '-');
    await rm(join(at.repo.root, '.git', 'objects', left.slice(0, 2), left.slice(2)));
    await remove(at, await snapshot(at));
    assert.equal(await at.repo.git('for-each-ref', 'refs/tributary/left'), '');
  });
});

describe('a Worktree that git cannot read', () => {
  after(cleanUp);

  const breakages: ReadonlyArray<{ title: string; arrange: (at: Place) => Promise<unknown> }> = [
    {
      title: 'a broken index',
      arrange: (at) => writeFile(join(at.repo.root, '.git', 'worktrees', 'fix-it', 'index'), 'nonsense'),
    },
    {
      title: 'a required filter that fails',
      arrange: async (at) => {
        await at.repo.git('config', 'filter.broken.clean', 'false');
        await at.repo.git('config', 'filter.broken.required', 'true');
        await at.wt.write('.gitattributes', '*.txt filter=broken\n');
      },
    },
    {
      title: 'an encoding there is not',
      arrange: (at) => at.wt.write('.gitattributes', '*.txt working-tree-encoding=nonsense-8\n'),
    },
  ];

  for (const { title, arrange } of breakages) {
    it(`goes all the same, and is set aside whole: ${title}`, async () => {
      const at = await place();
      const kept = await snapshot(at);
      await at.wt.write('a.txt', 'edited');
      await at.wt.write('new/file.txt', 'new');
      await at.wt.write('x.log', 'ignored');
      await arrange(at);
      const stood = await listing(at.path);
      assert.equal(await remove(at, kept), true);
      assert.equal(await listing(at.aside), stood);
    });
  }
});

describe('the owner of a Worktree', () => {
  after(cleanUp);

  it('is its repository', async () => {
    const at = await place();
    assert.equal(await at.layer.worktrees.owns(at.path), true);
  });

  it('is not a copy of its repository, nor another repository, nor one whose record leads elsewhere', async () => {
    const at = await place();
    const copy = join(at.repo.folder, 'copy');
    await cp(at.repo.root, copy, { recursive: true, verbatimSymlinks: true });
    assert.equal(await (await openLayer(copy)).worktrees.owns(at.path), false);
    const other = await place();
    assert.equal(await other.layer.worktrees.owns(at.path), false);
    const moved = join(at.repo.folder, 'moved');
    await cp(at.path, moved, { recursive: true });
    assert.equal(await at.layer.worktrees.owns(moved), false);
  });

  it('is nobody where there is no folder, no .git file, or a repository in its place', async () => {
    const at = await place();
    assert.equal(await at.layer.worktrees.owns(join(at.repo.folder, 'none')), false);
    assert.equal(await at.layer.worktrees.owns(at.repo.root), false);
    await rm(join(at.path, '.git'));
    assert.equal(await at.layer.worktrees.owns(at.path), false);
    await gitAt(at.path, 'init', '-q');
    assert.equal(await at.layer.worktrees.owns(at.path), false);
  });
});
