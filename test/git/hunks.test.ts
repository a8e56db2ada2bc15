import assert from 'node:assert/strict';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileHunks } from '../../src/model/hunks';
import type { LandingSelection } from '../../src/model/landing';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, listing, makeRepo, type TempRepo } from './support/tempRepo';

const ten = Array.from({ length: 10 }, (_, line) => `line ${line + 1}\n`).join('');

describe('hunks', () => {
  let repo: TempRepo;
  let layer: Layer;
  let base: string;

  const start = async (files: Parameters<typeof makeRepo>[0]): Promise<void> => {
    repo = await makeRepo(files);
    layer = await openLayer(repo.root);
    base = (await repo.git('rev-parse', 'HEAD')).trim();
  };
  const treeNow = (): Promise<string> => layer.snapshots.treeOf(repo.root);
  const treeOf = (theirs: string, selection: Partial<LandingSelection>, landed?: string): Promise<string> =>
    layer.hunks.treeOf({ base, landed, theirs, selection: { paths: [], hunks: [], ...selection } });
  const show = async (tree: string, path: string): Promise<string> =>
    (await repo.gitBytes('show', `${tree}:${path}`)).toString('latin1');
  const namesIn = async (tree: string): Promise<string[]> =>
    (await repo.git('ls-tree', '-r', '--name-only', tree)).split('\n').filter((name) => name !== '');
  const only = (files: readonly FileHunks[], path: string): FileHunks =>
    files.find((file) => file.path === path) ?? assert.fail(`${path} did not change`);

  afterEach(cleanUp);

  it('keep their ids in later trees while they are as they were, whatever happens around them', async () => {
    await start({ files: { a: ten } });
    await repo.write('a', ten.replace('line 8\n', 'eight\n'));
    const [before] = only(await layer.hunks.list(base, await treeNow()), 'a').hunks;
    await repo.write('a', `top\n${ten.replace('line 8\n', 'eight\n').replace('line 3\n', '')}end\n`);
    const after = only(await layer.hunks.list(base, await treeNow()), 'a').hunks;
    assert.equal(after.length, 4);
    assert.equal(after[2]?.id, before?.id);
    await repo.write('a', ten.replace('line 8\n', 'eight!\n'));
    const changed = only(await layer.hunks.list(base, await treeNow()), 'a').hunks;
    assert.ok(!changed.some(({ id }) => id === before?.id));
  });

  it('are not offered for renames, kinds, binaries, modes, links and empty files: these change whole', async () => {
    const files = {
      moved: ten,
      kind: 'x\n',
      bin: Buffer.from([0, 1]),
      mode: 'x\n',
      link: { link: 'mode' },
    };
    await start({ files });
    await rename(join(repo.root, 'moved'), join(repo.root, 'moved2'));
    await repo.write('moved2', `${ten}more\n`);
    await rm(join(repo.root, 'kind'));
    await repo.write('kind', { link: 'mode' });
    await repo.write('bin', Buffer.from([0, 2]));
    await rm(join(repo.root, 'mode'));
    await repo.write('mode', { executable: 'x\n' });
    await repo.write('link', { link: 'bin' });
    await repo.write('empty', '');
    const tree = await treeNow();
    const found = await layer.hunks.list(base, tree);
    assert.deepEqual(
      found.map((file) => [file.path, file.hunks.length]),
      ['bin', 'empty', 'kind', 'link', 'mode', 'moved2'].map((path) => [path, 0]),
    );
    const moved = await treeOf(tree, { paths: ['moved2'] });
    assert.deepEqual(await namesIn(moved), ['bin', 'kind', 'link', 'mode', 'moved2']);
    const mode = await treeOf(tree, { paths: ['mode', 'kind', 'empty'] });
    const listed = await repo.git('ls-tree', mode, 'mode', 'kind', 'empty');
    assert.match(listed, /^100644 .*\tempty\n120000 .*\tkind\n100755 .*\tmode\n$/);
  });

  it('leave the mode to the choice of the file, or to a choice of its own', async () => {
    await start({ files: { a: ten } });
    await rm(join(repo.root, 'a'));
    await repo.write('a', { executable: `top\n${ten}end\n` });
    const tree = await treeNow();
    const [top, end] = only(await layer.hunks.list(base, tree), 'a').hunks.map(({ id }) => id);
    const modeOf = async (wish: Partial<LandingSelection>): Promise<string> =>
      (await repo.git('ls-tree', await treeOf(tree, wish), 'a')).slice(0, 6);
    assert.equal(await modeOf({ hunks: [top ?? ''] }), '100644');
    assert.equal(await modeOf({ hunks: [top ?? '', end ?? ''] }), '100644');
    assert.equal(await modeOf({ hunks: [top ?? ''], modes: ['a'] }), '100755');
    assert.equal(await treeOf(tree, { paths: ['a'] }), tree);
  });

  it('can be whole files that come or go', async () => {
    await start({ files: { old: 'o\n', 'dir/x': 'x\n' } });
    await rm(join(repo.root, 'old'));
    await rm(join(repo.root, 'dir'), { recursive: true });
    await repo.write('dir', 'a file now\n');
    await repo.write('new', { executable: 'n' });
    const tree = await treeNow();
    const files = await layer.hunks.list(base, tree);
    const idsOf = (path: string): string[] => only(files, path).hunks.map(({ id }) => id);
    assert.deepEqual(await namesIn(await treeOf(tree, { hunks: idsOf('old') })), ['dir/x']);
    const added = await treeOf(tree, { hunks: idsOf('new') });
    assert.match(await repo.git('ls-tree', added, 'new'), /^100755 /);
    assert.deepEqual(await namesIn(await treeOf(tree, { paths: ['dir'] })), ['dir', 'old']);
  });

  it('keep bytes: line ends, a missing last newline, bytes that are no text, at the start and the end', async () => {
    await start({ files: { a: Buffer.from('1\r\n2\r\n3\xff\r\n4\r\n5', 'latin1') } });
    await repo.write('a', Buffer.from('one\xfe\r\n2\r\n3\xff\r\n4\n5\n', 'latin1'));
    const tree = await treeNow();
    const [first, last] = only(await layer.hunks.list(base, tree), 'a').hunks;
    assert.equal(
      await show(await treeOf(tree, { hunks: [first?.id ?? ''] }), 'a'),
      'one\xfe\r\n2\r\n3\xff\r\n4\r\n5',
    );
    assert.equal(
      await show(await treeOf(tree, { hunks: [last?.id ?? ''] }), 'a'),
      '1\r\n2\r\n3\xff\r\n4\n5\n',
    );
  });

  it('are drawn the same whatever the user configured about differences', async () => {
    await start({ files: { a: ten } });
    await repo.write('a', ten.replace('line 3\n', 'three\n').replace('line 6\n', 'six\n'));
    const tree = await treeNow();
    const before = await layer.hunks.list(base, tree);
    for (const [key, value] of Object.entries({
      'diff.algorithm': 'patience',
      'diff.context': '20',
      'diff.interHunkContext': '9',
      'diff.noprefix': 'true',
      'diff.external': 'false',
      'diff.indentHeuristic': 'false',
      'diff.renames': 'copies',
      'color.ui': 'always',
    }))
      await repo.git('config', key, value);
    assert.deepEqual(await layer.hunks.list(base, tree), before);
  });

  it('that landed stay beside later ones, and give way to a later choice of the same lines', async () => {
    await start({ files: { a: ten } });
    await repo.write('a', ten.replace('line 3\n', 'three\n').replace('line 8\n', 'eight\n'));
    const first = await treeNow();
    const [three] = only(await layer.hunks.list(base, first), 'a').hunks;
    const landed = await treeOf(first, { hunks: [three?.id ?? ''] });
    await repo.write('a', ten.replace('line 3\n', 'THREE\n').replace('line 8\n', 'eight\n'));
    const second = await treeNow();
    const [loud, eight] = only(await layer.hunks.list(base, second), 'a').hunks;
    const beside = await show(await treeOf(second, { hunks: [eight?.id ?? ''] }, landed), 'a');
    assert.equal(beside, ten.replace('line 3\n', 'three\n').replace('line 8\n', 'eight\n'));
    const instead = await show(await treeOf(second, { hunks: [loud?.id ?? ''] }, landed), 'a');
    assert.equal(instead, ten.replace('line 3\n', 'THREE\n'));
  });

  it('that are none are refused by name', async () => {
    await start({ files: { a: ten } });
    await repo.write('a', `${ten}x\n`);
    const tree = await treeNow();
    await assert.rejects(treeOf(tree, { hunks: ['nothing'] }), { code: 'unknownId' });
    await assert.rejects(treeOf(tree, { paths: ['b'] }), { code: 'unknownId' });
  });

  it('touch neither checkout nor index', async () => {
    await start({ files: { a: ten } });
    await repo.write('a', `x\n${ten}`);
    const tree = await treeNow();
    const before = await listing(repo.root);
    const index = await repo.git('ls-files', '--stage', '--debug');
    await treeOf(tree, { hunks: only(await layer.hunks.list(base, tree), 'a').hunks.map(({ id }) => id) });
    assert.equal(await listing(repo.root), before);
    assert.equal(await repo.git('ls-files', '--stage', '--debug'), index);
  });
});
