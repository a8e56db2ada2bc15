import assert from 'node:assert/strict';
import { lstat, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLayer } from './support/layer';
import { cleanUp, makeFolder, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

interface CaseRename {
  readonly title: string;
  readonly arrange: (repo: TempRepo) => Promise<void>;
  readonly expected: readonly string[];
}

async function move(repo: TempRepo, from: string, to: string): Promise<void> {
  await rename(join(repo.root, from), join(repo.root, to));
}

const renames: readonly CaseRename[] = [
  {
    title: 'a file',
    arrange: (repo) => move(repo, 'README.md', 'readme.md'),
    expected: ['readme.md', 'src/Main.ts'],
  },
  {
    title: 'a file, edited on the way',
    arrange: async (repo) => {
      await move(repo, 'README.md', 'Readme.md');
      await repo.write('Readme.md', 'edited');
    },
    expected: ['Readme.md', 'src/Main.ts'],
  },
  {
    title: 'a folder',
    arrange: (repo) => move(repo, 'src', 'Src'),
    expected: ['README.md', 'Src/Main.ts'],
  },
  {
    title: 'every file',
    arrange: async (repo) => {
      await move(repo, 'README.md', 'readme.md');
      await move(repo, 'src', 'SRC');
    },
    expected: ['SRC/Main.ts', 'readme.md'],
  },
  {
    title: 'none, with a second file beside the first',
    arrange: (repo) => repo.write('readme.md', 'beside'),
    expected: ['README.md', 'readme.md', 'src/Main.ts'],
  },
  {
    title: 'none, with a second folder beside the first',
    arrange: (repo) => repo.write('SRC/new.ts', 'beside'),
    expected: ['README.md', 'SRC/new.ts', 'src/Main.ts'],
  },
];

/** A race shows itself in some of many looks only. */
const looks = process.env['TRIBUTARY_LONG'] === undefined ? 3 : 20;

/** Both ways a checkout is looked at: with an ordinary index, and with one that hides edits. */
const hidden = ['nothing hidden', 'a file hidden by a flag'] as const;

describe('names that differ in case only, where core.ignoreCase says they are the same', () => {
  after(cleanUp);

  before(async function () {
    const folder = await makeFolder();
    await writeFile(join(folder, 'a'), '');
    const isSensitive = await lstat(join(folder, 'A')).then(
      () => false,
      () => true,
    );
    if (!isSensitive) this.skip();
  });

  for (const { title, arrange, expected } of renames) {
    for (const flag of hidden) {
      it(`are each in the tree when ${title} was renamed (${flag}), look after look`, async () => {
        const repo = await makeRepo({ files: { 'README.md': 'r', 'src/Main.ts': 'm' } });
        await repo.git('config', 'core.ignoreCase', 'true');
        if (flag !== 'nothing hidden')
          await repo.git('update-index', '--assume-unchanged', 'README.md', 'src/Main.ts');
        await arrange(repo);
        const { snapshots } = await openLayer(repo.root);
        for (let time = 0; time < looks; time += 1) {
          const tree = await snapshots.treeOf(repo.root);
          const names = await repo.git('ls-tree', '-r', '--name-only', tree);
          assert.deepEqual(names.trim().split('\n').sort(), [...expected], `look ${time}`);
        }
      });
    }
  }

  it('are noticed by the second look at a Worktree, and come back with it', async () => {
    const repo = await makeRepo({ files: { 'README.md': 'r', 'src/Main.ts': 'm' } });
    await repo.git('config', 'core.ignoreCase', 'true');
    const layer = await openLayer(repo.root);
    const path = join(repo.folder, 'w', 'x');
    const branch = 'refs/heads/tributary/x';
    const commit = (await layer.repository.head()).commit;
    await layer.worktrees.create({ path, branch, commit, lockReason: 'r' });
    const first = await layer.snapshots.treeOf(path);
    assert.equal(await layer.snapshots.treeOf(path), first);
    const wt = repoAt(repo.folder, path);
    await wt.write('readme.md', 'beside');
    const both = await layer.snapshots.treeOf(path);
    assert.equal(await repo.git('cat-file', 'blob', `${both}:readme.md`), 'beside');
    await rm(join(path, 'readme.md'));
    await rm(join(path, 'README.md'));
    await layer.snapshots.restoreFiles(path, {
      tree: both,
      recorded: await layer.snapshots.treeOf(path),
      asideDirectory: `${path}-aside`,
    });
    assert.equal(await wt.read('README.md'), 'r');
    assert.equal(await wt.read('readme.md'), 'beside');
  });
});
