import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileChange } from '../../src/model/changes';
import { openLayer } from './support/layer';
import { cleanUp, gitAt, makeRepo, type TempRepo } from './support/tempRepo';

const files = {
  'text.txt': 'one\ntwo\nthree\nfour\nfive\nsix\n',
  'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
  'noeol.txt': 'one\ntwo',
  'bin.dat': Buffer.from([0, 1, 2, 3, 255, 0, 10, 13]),
  'empty.txt': '',
  'run.sh': { executable: '#!/bin/sh\n' },
  link: { link: 'text.txt' },
  'dir/inner.txt': 'inner\n',
  'trailing.txt': 'blank last context line\n\n',
};

const cases: ReadonlyArray<{ title: string; change: (repo: TempRepo) => Promise<void> }> = [
  { title: 'an edit', change: (repo) => repo.write('text.txt', 'one\n2\nthree\nfour\nfive\nsix\n') },
  { title: 'an edit before a blank last line', change: (repo) => repo.write('trailing.txt', 'changed\n\n') },
  {
    title: 'CRLF added to a line',
    change: (repo) => repo.write('text.txt', 'one\r\ntwo\nthree\nfour\nfive\nsix\n'),
  },
  { title: 'CRLF kept', change: (repo) => repo.write('crlf.txt', 'one\r\n2\r\nthree\r\n') },
  { title: 'CRLF removed', change: (repo) => repo.write('crlf.txt', 'one\ntwo\nthree\n') },
  {
    title: 'trailing blanks and a lone carriage return',
    change: (repo) => repo.write('text.txt', 'one  \ntwo\t\r \rthree'),
  },
  { title: 'a missing last newline added', change: (repo) => repo.write('noeol.txt', 'one\ntwo\n') },
  {
    title: 'a last newline taken away',
    change: (repo) => repo.write('text.txt', 'one\ntwo\nthree\nfour\nfive\nsix'),
  },
  { title: 'a changed binary', change: (repo) => repo.write('bin.dat', Buffer.from([0, 9, 9, 0, 200])) },
  { title: 'text that became binary', change: (repo) => repo.write('text.txt', Buffer.from([0, 1, 0])) },
  { title: 'a new binary', change: (repo) => repo.write('new.bin', Buffer.from([0, 0, 0, 255])) },
  { title: 'a new empty file', change: (repo) => repo.write('new.empty', '') },
  { title: 'a deleted empty file', change: (repo) => repo.remove('empty.txt') },
  { title: 'an emptied file', change: (repo) => repo.write('text.txt', '') },
  { title: 'a deleted binary', change: (repo) => repo.remove('bin.dat') },
  { title: 'a mode alone', change: (repo) => chmod(join(repo.root, 'run.sh'), 0o644) },
  {
    title: 'a mode and content',
    change: async (repo) => {
      await repo.write('text.txt', 'x\n');
      await chmod(join(repo.root, 'text.txt'), 0o755);
    },
  },
  { title: 'another target of a link', change: (repo) => repo.write('link', { link: 'dir/inner.txt' }) },
  {
    title: 'a file that became a link',
    change: async (repo) => {
      await repo.remove('text.txt');
      await repo.write('text.txt', { link: 'crlf.txt' });
    },
  },
  {
    title: 'a link that became a file',
    change: async (repo) => {
      await repo.remove('link');
      await repo.write('link', 'file\n');
    },
  },
  {
    title: 'a rename with an edit',
    change: async (repo) => {
      await repo.remove('text.txt');
      await repo.write('moved/text.txt', 'one\ntwo\nthree\nfour\nfive\n6\n');
    },
  },
  {
    title: 'a file that became a folder',
    change: async (repo) => {
      await repo.remove('text.txt');
      await repo.write('text.txt/inner', 'x\n');
    },
  },
  {
    title: 'a folder that became a file',
    change: async (repo) => {
      await repo.remove('dir');
      await repo.write('dir', 'x\n');
    },
  },
  {
    title: 'odd names',
    change: async (repo) => {
      for (const name of ['new\nline', '"quoted"', ' blank ', 'tab\there', 'ünï', '-dash', 'a b/c d']) {
        await repo.write(name, `${name}\n`);
      }
    },
  },
  {
    title: 'content that looks like a patch',
    change: (repo) => repo.write('p', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'),
  },
];

describe('a patch', () => {
  after(cleanUp);

  for (const { title, change } of cases) {
    it(`applied with plain git to the base gives the tree exactly: ${title}`, async () => {
      const repo = await makeRepo({ files });
      const layer = await openLayer(repo.root);
      await change(repo);
      const tree = await layer.snapshots.treeOf(repo.root);
      const patch = await layer.changes.patch('HEAD', tree);
      assert.ok(patch.length > 0);
      const target = join(repo.folder, 'target');
      await repo.git('worktree', 'add', '-q', '--detach', target, 'HEAD');
      const file = join(repo.folder, 'the.patch');
      await writeFile(file, patch);
      await gitAt(target, 'apply', '--binary', '--whitespace=nowarn', file);
      assert.equal(await (await openLayer(target)).snapshots.treeOf(target), tree);
      await gitAt(target, 'apply', '--binary', '--whitespace=nowarn', '--reverse', file);
      assert.equal(
        await (await openLayer(target)).snapshots.treeOf(target),
        await layer.repository.treeOf('HEAD'),
      );
    });
  }

  it('holds one path only when asked, literally', async () => {
    const repo = await makeRepo({ files });
    const layer = await openLayer(repo.root);
    await repo.write('*', 'star\n');
    await repo.write('text.txt', 'x\n');
    const tree = await layer.snapshots.treeOf(repo.root);
    const patch = (await layer.changes.patch('HEAD', tree, '*')).toString();
    assert.match(patch, /\+star/);
    assert.doesNotMatch(patch, /text\.txt/);
    assert.equal((await layer.changes.patch('HEAD', tree, 'dir')).length, 0);
  });

  it('holds one path whose name is not UTF-8', async () => {
    const repo = await makeRepo({ files });
    const layer = await openLayer(repo.root);
    await writeFile(Buffer.concat([Buffer.from(`${repo.root}/o`), Buffer.from([0xff])]), 'odd\n');
    await repo.write('other', 'x\n');
    const tree = await layer.snapshots.treeOf(repo.root);
    const path = (await layer.changes.changeSet('HEAD', tree)).files.find((file) =>
      file.path.startsWith('o\udcff'),
    )?.path;
    const patch = (await layer.changes.patch('HEAD', tree, path)).toString('latin1');
    assert.match(patch, /\+odd/);
    assert.doesNotMatch(patch, /other/);
  });

  it('looks the same whatever the user configured', async () => {
    const repo = await makeRepo({ files });
    const layer = await openLayer(repo.root);
    for (const { change } of cases.slice(0, 4)) await change(repo);
    await repo.remove('noeol.txt');
    await repo.write('renamed', 'one\ntwo');
    const tree = await layer.snapshots.treeOf(repo.root);
    const [patch, set] = [
      await layer.changes.patch('HEAD', tree),
      await layer.changes.changeSet('HEAD', tree),
    ];
    const order = join(repo.folder, 'order');
    await writeFile(order, 'trailing*\ntext*\n');
    const settings = {
      'diff.noprefix': 'true',
      'diff.mnemonicPrefix': 'true',
      'diff.context': '0',
      'diff.interHunkContext': '9',
      'diff.algorithm': 'patience',
      'diff.renames': 'copies',
      'diff.renameLimit': '1',
      'diff.orderFile': order,
      'diff.external': '/bin/false',
      'diff.suppressBlankEmpty': 'true',
      'diff.relative': 'true',
      'diff.wordRegex': '.',
      'diff.colorMoved': 'zebra',
      'color.ui': 'always',
      'core.pager': 'false',
      'core.quotePath': 'true',
    };
    for (const [key, value] of Object.entries(settings)) await repo.git('config', key, value);
    assert.equal((await layer.changes.patch('HEAD', tree)).toString('latin1'), patch.toString('latin1'));
    assert.deepEqual(await layer.changes.changeSet('HEAD', tree), set);
  });
});

describe('a change set', () => {
  after(cleanUp);

  async function changesOf(change: (repo: TempRepo) => Promise<void>): Promise<Map<string, FileChange>> {
    const repo = await makeRepo({ files });
    await change(repo);
    const layer = await openLayer(repo.root);
    const set = await layer.changes.changeSet('HEAD', await layer.snapshots.treeOf(repo.root));
    return new Map(set.files.map((file) => [file.path, file]));
  }

  it('tells additions, edits, deletions, renames and type changes apart, with modes and counts', async () => {
    const set = await changesOf(async (repo) => {
      await repo.write('text.txt', 'one\nTWO\nthree\nfour\nfive\nsix\nseven\n');
      await repo.remove('crlf.txt');
      await repo.write('dir/moved.txt', 'one\r\ntwo\r\nthree\r\n');
      await repo.write('new.txt', 'a\nb\n');
      await repo.remove('empty.txt');
      await repo.remove('run.sh');
      await repo.write('run.sh', { link: 'text.txt' });
      await repo.write('bin.dat', Buffer.from([0, 5]));
    });
    const brief = [...set.values()].map((file) => [
      file.path,
      file.status,
      file.oldPath,
      file.oldMode,
      file.newMode,
      file.isBinary,
      file.added,
      file.removed,
    ]);
    assert.deepEqual(brief, [
      ['bin.dat', 'modified', undefined, '100644', '100644', true, 0, 0],
      ['dir/moved.txt', 'renamed', 'crlf.txt', '100644', '100644', false, 0, 0],
      ['empty.txt', 'deleted', undefined, '100644', '000000', false, 0, 0],
      ['new.txt', 'added', undefined, '000000', '100644', false, 2, 0],
      ['run.sh', 'typeChanged', undefined, '100755', '120000', false, 1, 1],
      ['text.txt', 'modified', undefined, '100644', '100644', false, 2, 1],
    ]);
  });

  it('holds names as they are', async () => {
    const names = ['new\nline', '"quoted"', ' blank ', 'tab\there', 'ünï', '-dash', 'a b/c d', ':(top)x'];
    const set = await changesOf(async (repo) => {
      for (const name of names) await repo.write(name, 'x\n');
    });
    assert.deepEqual([...set.keys()].sort(), [...names].sort());
  });

  it('is empty for equal trees, and shows a submodule as its commits', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const repo = await makeRepo({ files });
    await repo.git('submodule', '--quiet', 'add', inner.root, 'sub');
    const layer = await openLayer(repo.root);
    assert.deepEqual((await layer.changes.changeSet('HEAD', 'HEAD')).files, []);
    const set = await layer.changes.changeSet('HEAD', await layer.snapshots.treeOf(repo.root));
    const sub = set.files.find((file) => file.path === 'sub');
    assert.equal(sub?.newMode, '160000');
    assert.equal(sub?.newBlob, (await inner.git('rev-parse', 'HEAD')).trim());
  });

  it('does not depend on commits, branches, resets or stashes of the agent', async () => {
    const repo = await makeRepo({ files });
    const layer = await openLayer(repo.root);
    const base = (await layer.repository.head()).commit;
    await repo.write('text.txt', 'changed\n');
    await repo.write('new.txt', 'new\n');
    const expected = await layer.changes.changeSet(base, await layer.snapshots.treeOf(repo.root));
    await repo.git('checkout', '-q', '-b', 'elsewhere');
    await repo.commitAll('by the agent');
    assert.deepEqual(await layer.changes.changeSet(base, await layer.snapshots.treeOf(repo.root)), expected);
    await repo.git('reset', '-q', '--soft', base);
    assert.deepEqual(await layer.changes.changeSet(base, await layer.snapshots.treeOf(repo.root)), expected);
    await repo.git('reset', '-q');
    assert.deepEqual(await layer.changes.changeSet(base, await layer.snapshots.treeOf(repo.root)), expected);
  });
});
