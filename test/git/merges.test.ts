import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  access,
  appendFile,
  chmod,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { TributaryError } from '../../src/base/errors';
import type { MergePreview } from '../../src/git/merges';
import { type Layer, openLayer } from './support/layer';
import {
  cleanUp,
  fingerprint,
  gitAt,
  listing,
  makeFolder,
  makeRepo,
  repoAt,
  type TempRepo,
} from './support/tempRepo';

const files = {
  'a.txt': '1\n2\n3\n4\n5\n6\n7\n8\n9\n',
  'b.txt': 'b\n',
  'dir/c.txt': 'c\n',
  'bin.dat': Buffer.from([0, 1, 2]),
  '.gitignore': '*.log\nbuild/\n',
  'run.sh': { executable: '#!/bin/sh\n' },
};

interface Scene {
  readonly repo: TempRepo;
  readonly layer: Layer;
  readonly base: string;
  readonly theirs: string;
  readonly preview: MergePreview;
  readonly before: Record<string, string>;
}

type Change = (repo: TempRepo) => Promise<void>;

/** A repository, a Task's tree made by `theirs` in a worktree, and the user's checkout as `ours` leaves it. */
async function scene(theirs: Change, ours: Change, options: { base?: Change } = {}): Promise<Scene> {
  const repo = await makeRepo({ files });
  if (options.base) {
    await options.base(repo);
    await repo.commitAll('base');
  }
  const path = join(repo.folder, 'task');
  await repo.git('worktree', 'add', '-q', '--detach', path);
  await theirs(repoAt(repo.folder, path));
  const layer = await openLayer(repo.root);
  const base = (await layer.repository.head()).commit;
  const tree = await layer.snapshots.treeOf(path);
  await ours(repo);
  const before = await fingerprint(repo.root);
  const preview = await layer.merges.preview({ checkout: repo.root, base, theirs: tree });
  assert.deepEqual(await fingerprint(repo.root), before, 'a preview writes nothing');
  return { repo, layer, base, theirs: tree, preview, before };
}

/** Lands the preview the way landing does, checks that only its paths changed, and takes it back again. */
async function land(at: Scene): Promise<void> {
  const { repo, layer, preview } = at;
  const { merges } = layer;
  const directory = join(repo.folder, 'journal');
  const { merged, paths } = preview;
  assert.deepEqual(await merges.stalePaths(repo.root, paths), []);
  const staged = await merges.stage({ checkout: repo.root, merged, paths, directory });
  await put(at, staged, 'after');
  const after = await fingerprint(repo.root);
  for (const key of ['head', 'index', 'config', 'stash', 'refs'])
    assert.equal(after[key], at.before[key], key);
  for (const { path, after: side } of staged)
    assert.deepEqual({ ...(await merges.standing(repo.root, path)).side, mode: 0 }, { ...side, mode: 0 });
  await put(at, staged, 'before');
  assert.deepEqual(await fingerprint(repo.root), at.before, 'taken back byte for byte');
  await put(at, staged, 'after');
}

async function put(
  { repo, layer }: Scene,
  staged: Awaited<ReturnType<Layer['merges']['stage']>>,
  to: 'before' | 'after',
): Promise<void> {
  const order = [...staged.keys()].sort((x, y) => rank(staged[x]?.[to].kind) - rank(staged[y]?.[to].kind));
  for (const index of order) {
    const one = staged[index];
    if (one)
      await layer.merges.putSide(repo.root, one.path, one[to], {
        contentFile: join(repo.folder, 'journal', to, `${index}`),
      });
  }
}

function rank(kind: string | undefined): number {
  return kind === 'absent' ? 0 : 1;
}

const nothing: Change = async () => undefined;
const edit =
  (path: string, content: string | Buffer): Change =>
  (repo) =>
    repo.write(path, content);
const all =
  (...changes: Change[]): Change =>
  async (repo) => {
    for (const change of changes) await change(repo);
  };
const drop =
  (path: string): Change =>
  (repo) =>
    repo.remove(path);
const git =
  (...args: string[]): Change =>
  async (repo) =>
    void (await repo.git(...args));

const topEdited = '1x\n2\n3\n4\n5\n6\n7\n8\n9\n';
const endEdited = '1\n2\n3\n4\n5\n6\n7\n8\n9x\n';
const bothEdited = '1x\n2\n3\n4\n5\n6\n7\n8\n9x\n';

interface Clean {
  readonly title: string;
  readonly theirs: Change;
  readonly ours: Change;
  readonly base?: Change;
  /** The files after landing; `undefined`: not there. */
  readonly expected: Readonly<Record<string, string | undefined>>;
  readonly paths: readonly string[];
}

const cleanCases: readonly Clean[] = [
  {
    title: 'an edit onto a clean checkout',
    theirs: edit('a.txt', topEdited),
    ours: nothing,
    expected: { 'a.txt': topEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit beside an unstaged edit of the same file',
    theirs: edit('a.txt', topEdited),
    ours: edit('a.txt', endEdited),
    expected: { 'a.txt': bothEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit beside a staged edit of the same file',
    theirs: edit('a.txt', topEdited),
    ours: all(edit('a.txt', endEdited), git('add', 'a.txt')),
    expected: { 'a.txt': bothEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit beside one the user committed on another branch meanwhile',
    theirs: edit('a.txt', topEdited),
    ours: all(
      edit('a.txt', endEdited),
      git('checkout', '-q', '-b', 'other'),
      git('commit', '-q', '-am', 'theirs'),
    ),
    expected: { 'a.txt': bothEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit beside one hidden by assume-unchanged',
    theirs: edit('a.txt', topEdited),
    ours: all(git('update-index', '--assume-unchanged', 'a.txt'), edit('a.txt', endEdited)),
    expected: { 'a.txt': bothEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit beside one hidden by skip-worktree',
    theirs: edit('a.txt', topEdited),
    ours: all(git('update-index', '--skip-worktree', 'a.txt'), edit('a.txt', endEdited)),
    expected: { 'a.txt': bothEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit of a file the user removed from the index only',
    theirs: edit('a.txt', topEdited),
    ours: all(git('rm', '-q', '--cached', 'a.txt'), edit('a.txt', endEdited)),
    expected: { 'a.txt': bothEdited },
    paths: ['a.txt'],
  },
  {
    title: 'an edit of a file a sparse checkout left out',
    theirs: edit('dir/c.txt', 'c2\n'),
    ours: git('sparse-checkout', 'set', '--cone', 'none'),
    expected: { 'dir/c.txt': 'c2\n' },
    paths: ['dir/c.txt'],
  },
  {
    title: 'a new file in a new folder',
    theirs: edit('x/y/z.txt', 'z'),
    ours: nothing,
    expected: { 'x/y/z.txt': 'z' },
    paths: ['x/y/z.txt'],
  },
  {
    title: 'a deletion that empties its folder',
    theirs: drop('dir/c.txt'),
    ours: nothing,
    expected: { dir: undefined },
    paths: ['dir/c.txt'],
  },
  {
    title: 'a deletion beside an untracked file of the user',
    theirs: drop('dir/c.txt'),
    ours: edit('dir/mine', 'mine'),
    expected: { 'dir/c.txt': undefined, 'dir/mine': 'mine' },
    paths: ['dir/c.txt'],
  },
  {
    title: 'a deletion both made',
    theirs: drop('b.txt'),
    ours: drop('b.txt'),
    expected: { 'b.txt': undefined },
    paths: [],
  },
  {
    title: 'an edit both made',
    theirs: edit('b.txt', 'same'),
    ours: edit('b.txt', 'same'),
    expected: { 'b.txt': 'same' },
    paths: [],
  },
  {
    title: 'a file both added, untracked here',
    theirs: edit('new', 'same'),
    ours: edit('new', 'same'),
    expected: { new: 'same' },
    paths: [],
  },
  {
    title: 'a file both added, ignored here',
    theirs: all(edit('new.log', 'same'), git('add', '-f', 'new.log')),
    ours: edit('new.log', 'same'),
    expected: { 'new.log': 'same' },
    paths: [],
  },
  {
    title: 'a rename onto an edit of the user',
    theirs: all(drop('a.txt'), edit('moved/a.txt', '1\n2\n3\n4\n5\n6\n7\n8\n9\n')),
    ours: edit('a.txt', endEdited),
    expected: { 'a.txt': undefined, 'moved/a.txt': endEdited },
    paths: ['a.txt', 'moved/a.txt'],
  },
  {
    title: 'an edit of a file the user renamed',
    theirs: edit('a.txt', topEdited),
    ours: git('mv', 'a.txt', 'renamed.txt'),
    expected: { 'a.txt': undefined, 'renamed.txt': topEdited },
    paths: ['renamed.txt'],
  },
  {
    title: 'a binary',
    theirs: edit('bin.dat', Buffer.from([0, 9, 10, 13])),
    ours: nothing,
    expected: { 'bin.dat': '\0\x09\n\r' },
    paths: ['bin.dat'],
  },
  {
    title: 'an empty file',
    theirs: edit('empty', ''),
    ours: nothing,
    expected: { empty: '' },
    paths: ['empty'],
  },
  {
    title: 'a missing last newline',
    theirs: edit('b.txt', 'b'),
    ours: nothing,
    expected: { 'b.txt': 'b' },
    paths: ['b.txt'],
  },
  {
    title: 'a file that became a folder',
    theirs: all(drop('b.txt'), edit('b.txt/inner', 'i')),
    ours: nothing,
    expected: { 'b.txt/inner': 'i' },
    paths: ['b.txt', 'b.txt/inner'],
  },
  {
    title: 'a folder that became a file',
    theirs: all(drop('dir'), edit('dir', 'file')),
    ours: nothing,
    expected: { dir: 'file' },
    paths: ['dir', 'dir/c.txt'],
  },
  {
    title: 'names with newline, quotes, blanks, glob characters and a leading dash',
    theirs: all(edit('new\nline', '1'), edit('"q"', '2'), edit(' b ', '3'), edit('*', '4'), edit('-d', '5')),
    ours: nothing,
    expected: { 'new\nline': '1', '"q"': '2', ' b ': '3', '*': '4', '-d': '5' },
    paths: [' b ', '"q"', '*', '-d', 'new\nline'],
  },
  {
    title: 'line endings that the attributes ask for',
    base: all(edit('.gitattributes', '*.txt text eol=crlf\n'), edit('a.txt', 'x\r\ny\r\n')),
    theirs: all(edit('a.txt', 'x\r\ny2\r\n'), edit('new.txt', 'n\n')),
    ours: nothing,
    expected: { 'a.txt': 'x\r\ny2\r\n', 'new.txt': 'n\r\n' },
    paths: ['a.txt', 'new.txt'],
  },
  {
    title: 'attributes that come with the landing itself',
    theirs: all(edit('.gitattributes', '*.bat text eol=crlf\n'), edit('new.bat', 'n\n')),
    ours: nothing,
    expected: { 'new.bat': 'n\r\n' },
    paths: ['.gitattributes', 'new.bat'],
  },
  {
    title: 'a file behind a filter with a path relative to the checkout',
    base: all(
      edit('.gitattributes', '*.enc filter=rot\n'),
      (repo) => repo.write('tools/enc.sh', { executable: '#!/bin/sh\ntr a-z b-za\n' }),
      (repo) => repo.write('tools/dec.sh', { executable: '#!/bin/sh\ntr b-za a-z\n' }),
      git('config', 'filter.rot.clean', './tools/dec.sh'),
      git('config', 'filter.rot.smudge', './tools/enc.sh'),
      git('config', 'filter.rot.required', 'true'),
    ),
    theirs: edit('x.enc', 'secret\n'),
    ours: nothing,
    expected: { 'x.enc': 'secret\n' },
    paths: ['x.enc'],
  },
  {
    title: 'other files dirty, staged, untracked, ignored and stashed',
    theirs: edit('a.txt', topEdited),
    ours: all(
      edit('b.txt', 'stashed'),
      git('stash'),
      edit('b.txt', 'dirty'),
      edit('staged', 's'),
      git('add', 'staged'),
      edit('untracked', 'u'),
      edit('x.log', 'i'),
      git('add', '--intent-to-add', 'untracked'),
    ),
    expected: { 'a.txt': topEdited, 'b.txt': 'dirty', staged: 's', untracked: 'u', 'x.log': 'i' },
    paths: ['a.txt'],
  },
  {
    title: 'while the user is in the middle of a merge of other files',
    base: nothing,
    theirs: edit('a.txt', topEdited),
    ours: async (repo) => {
      await repo.git('checkout', '-q', '-b', 'other');
      await repo.write('b.txt', 'other\n');
      await repo.commitAll();
      await repo.git('checkout', '-q', 'main');
      await repo.write('b.txt', 'main\n');
      await repo.commitAll();
      await assert.rejects(repo.git('merge', 'other'));
    },
    expected: { 'a.txt': topEdited },
    paths: ['a.txt'],
  },
];

describe('a preview without conflicts', () => {
  after(cleanUp);

  for (const one of cleanCases) {
    it(`lands exactly, and is undone exactly: ${one.title}`, async () => {
      const at = await scene(one.theirs, one.ours, one.base ? { base: one.base } : {});
      assert.deepEqual(at.preview.conflicts, []);
      assert.deepEqual(at.preview.paths.map(({ path }) => path).sort(), [...one.paths].sort());
      await land(at);
      for (const [path, expected] of Object.entries(one.expected)) {
        const found = await readFile(join(at.repo.root, path), 'latin1').catch(() => undefined);
        assert.equal(found, expected, path);
      }
    });
  }

  it('carries modes and links', async () => {
    const at = await scene(
      async (repo) => {
        await chmod(join(repo.root, 'b.txt'), 0o755);
        await chmod(join(repo.root, 'run.sh'), 0o644);
        await repo.write('link', { link: '../outside/nowhere' });
        await repo.write('new.sh', { executable: 'x' });
      },
      (repo) => chmod(join(repo.root, 'run.sh'), 0o700),
    );
    assert.deepEqual(at.preview.conflicts, []);
    await land(at);
    assert.equal((await stat(join(at.repo.root, 'b.txt'))).mode & 0o777, 0o755);
    assert.equal((await stat(join(at.repo.root, 'run.sh'))).mode & 0o111, 0);
    assert.equal((await stat(join(at.repo.root, 'new.sh'))).mode & 0o111, 0o111);
    assert.equal(await readlink(join(at.repo.root, 'link')), '../outside/nowhere');
  });

  it('carries names that are not UTF-8', async () => {
    const odd = (root: string): Buffer =>
      Buffer.concat([Buffer.from(`${root}/`), Buffer.from([0x6f, 0xff, 0xfe])]);
    const at = await scene((repo) => writeFile(odd(repo.root), 'odd'), nothing);
    await land(at);
    assert.equal(await readFile(odd(at.repo.root), 'utf8'), 'odd');
  });

  it('works in a linked worktree and from a subfolder', async () => {
    const at = await scene(edit('a.txt', topEdited), nothing);
    const linked = join(at.repo.folder, 'linked');
    await at.repo.git('worktree', 'add', '-q', linked);
    const layer = await openLayer(join(linked, 'dir'));
    await writeFile(join(linked, 'a.txt'), endEdited);
    const { base, theirs } = at;
    const preview = await layer.merges.preview({ checkout: layer.facts.root, base, theirs });
    assert.deepEqual(preview.conflicts, []);
    const merged = await layer.repository.readFile(preview.merged, 'a.txt');
    assert.equal(merged?.toString(), bothEdited);
  });

  it('gives the same trees each time and keeps no new objects alive', async () => {
    const at = await scene(edit('a.txt', topEdited), edit('b.txt', 'dirty'));
    const count = async (): Promise<string> => at.repo.git('count-objects');
    const before = await count();
    const again = await at.layer.merges.preview({ checkout: at.repo.root, base: at.base, theirs: at.theirs });
    assert.deepEqual(again, at.preview);
    assert.equal(await count(), before);
  });

  it('leaves a submodule that only moved here alone', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const at = await scene(
      edit('a.txt', topEdited),
      async (repo) => {
        await writeFile(join(repo.root, 'sub', 'i'), '2');
        await gitAt(join(repo.root, 'sub'), 'commit', '-q', '-am', 'two');
      },
      { base: git('submodule', '--quiet', 'add', inner.root, 'sub') },
    );
    assert.deepEqual(at.preview.conflicts, []);
    assert.deepEqual(
      at.preview.paths.map(({ path }) => path),
      ['a.txt'],
    );
  });
});

interface Conflicted {
  readonly title: string;
  readonly theirs: Change;
  readonly ours: Change;
  readonly base?: Change;
  readonly kinds: Readonly<Record<string, string>>;
}

const conflictCases: readonly Conflicted[] = [
  {
    title: 'both edited a line',
    theirs: edit('b.txt', 'theirs\n'),
    ours: edit('b.txt', 'ours\n'),
    kinds: { 'b.txt': 'content' },
  },
  {
    title: 'both changed a binary',
    theirs: edit('bin.dat', Buffer.from([0, 5])),
    ours: edit('bin.dat', Buffer.from([0, 6])),
    kinds: { 'bin.dat': 'binary' },
  },
  {
    title: 'a deletion of what the user edited',
    theirs: drop('b.txt'),
    ours: edit('b.txt', 'ours\n'),
    kinds: { 'b.txt': 'modify/delete' },
  },
  {
    title: 'an edit of what the user deleted',
    theirs: edit('b.txt', 'theirs\n'),
    ours: drop('b.txt'),
    kinds: { 'b.txt': 'modify/delete' },
  },
  {
    title: 'a new file where an untracked one stands',
    theirs: edit('new', 'theirs\n'),
    ours: edit('new', 'ours\n'),
    kinds: { new: 'add/add' },
  },
  {
    title: 'a new file where an ignored one stands',
    theirs: all(edit('secret.log', 'theirs\n'), git('add', '-f', 'secret.log')),
    ours: edit('secret.log', 'ours\n'),
    kinds: { 'secret.log': 'add/add' },
  },
  {
    title: 'an edit of a line hidden by assume-unchanged',
    theirs: edit('b.txt', 'theirs\n'),
    ours: all(git('update-index', '--assume-unchanged', 'b.txt'), edit('b.txt', 'ours\n')),
    kinds: { 'b.txt': 'content' },
  },
  {
    title: 'an edit of a line hidden by skip-worktree',
    theirs: edit('b.txt', 'theirs\n'),
    ours: all(git('update-index', '--skip-worktree', 'b.txt'), edit('b.txt', 'ours\n')),
    kinds: { 'b.txt': 'content' },
  },
  {
    title: 'a folder where an untracked file stands',
    theirs: edit('new/file', 'theirs\n'),
    ours: edit('new', 'ours\n'),
    kinds: { new: 'file/directory' },
  },
  {
    title: 'a folder where an ignored file stands',
    theirs: all(edit('x.log/file', 'theirs\n'), git('add', '-f', 'x.log/file')),
    ours: edit('x.log', 'ours\n'),
    kinds: { 'x.log': 'file/directory' },
  },
  {
    title: 'a folder where an untracked link to a folder stands',
    theirs: edit('new/file', 'theirs\n'),
    ours: all(
      (repo) => mkdir(join(repo.folder, 'outside')),
      (repo) => repo.write('new', { link: '../outside' }),
    ),
    kinds: { new: 'file/directory' },
  },
  {
    title: 'a file where a folder with an untracked file stands',
    theirs: edit('new', 'theirs\n'),
    ours: edit('new/mine', 'ours\n'),
    kinds: { new: 'file/directory' },
  },
  {
    title: 'a file where a folder with an ignored file stands',
    theirs: edit('build', 'theirs\n'),
    ours: edit('build/out', 'ours\n'),
    kinds: { build: 'file/directory' },
  },
  {
    title: 'a file in place of a folder to which the user added',
    theirs: all(drop('dir'), edit('dir', 'file\n')),
    ours: edit('dir/mine', 'mine\n'),
    kinds: { dir: 'file/directory' },
  },
  {
    title: 'different modes of a type: link here, file there',
    theirs: edit('b.txt', 'theirs\n'),
    ours: all(drop('b.txt'), (repo) => repo.write('b.txt', { link: 'a.txt' })),
    kinds: { 'b.txt': 'distinct types' },
  },
  {
    title: 'two renames of one file',
    theirs: git('mv', 'a.txt', 'theirs.txt'),
    ours: git('mv', 'a.txt', 'ours.txt'),
    kinds: { 'a.txt': 'rename/rename' },
  },
];

describe('a preview with conflicts', () => {
  after(cleanUp);

  for (const one of conflictCases) {
    it(`names file and kind, and speaks of people, not hashes: ${one.title}`, async () => {
      const { preview } = await scene(one.theirs, one.ours, one.base ? { base: one.base } : {});
      for (const [path, kind] of Object.entries(one.kinds)) {
        const found = preview.conflicts
          .filter((conflict) => conflict.path === path)
          .map((conflict) => conflict.kind);
        assert.ok(found.includes(kind), JSON.stringify(preview.conflicts));
      }
      for (const { message, path } of preview.conflicts) {
        assert.doesNotMatch(`${message}${path}`, /[0-9a-f]{40}/);
        assert.ok(!message.endsWith('\n'));
      }
    });
  }

  it('says submodule for a moved pointer, and writes no gitlink', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const at = await scene(
      async (repo) => {
        await repo.git('submodule', '--quiet', 'update', '--init');
        await writeFile(join(repo.root, 'sub', 'i'), '2');
        await gitAt(join(repo.root, 'sub'), 'commit', '-q', '-am', 'two');
        await repo.write('a.txt', topEdited);
      },
      nothing,
      { base: git('submodule', '--quiet', 'add', inner.root, 'sub') },
    );
    assert.deepEqual(
      at.preview.conflicts.map(({ path, kind }) => ({ path, kind })),
      [{ path: 'sub', kind: 'submodule' }],
    );
    assert.deepEqual(
      at.preview.paths.map(({ path }) => path),
      ['a.txt'],
    );
  });

  it('says submodule for a file that would land inside one', async () => {
    const inner = await makeRepo({ files: { i: '1' } });
    const at = await scene(
      async (repo) => {
        await repo.git('rm', '-q', '--cached', 'sub');
        await rm(join(repo.root, 'sub'), { recursive: true, force: true });
        await repo.write('sub/file', 'f');
      },
      nothing,
      { base: git('submodule', '--quiet', 'add', inner.root, 'sub') },
    );
    assert.ok(at.preview.conflicts.some(({ path, kind }) => path === 'sub/file' && kind === 'submodule'));
  });

  for (const path of ['.git/hooks/post-checkout', '../escape', 'a/../../b', '.GIT/config', 'git~1/x']) {
    it(`refuses a tree that names ${path}`, async () => {
      const at = await scene(nothing, nothing);
      const blob = (await at.repo.git('hash-object', '-w', 'b.txt')).trim();
      const theirs = await hostileTree(at.repo, path, blob);
      const { base } = at;
      const preview = await at.layer.merges.preview({ checkout: at.repo.root, base, theirs });
      assert.deepEqual(preview.paths, []);
      assert.ok(
        preview.conflicts.some((conflict) => conflict.kind === 'path'),
        JSON.stringify(preview.conflicts),
      );
      assert.deepEqual(await fingerprint(at.repo.root), at.before);
    });
  }

  /** Written by hand: git itself makes no such tree. */
  async function hostileTree(repo: TempRepo, path: string, blob: string): Promise<string> {
    let object = blob;
    let mode = '100644';
    for (const name of path.split('/').reverse()) {
      const entry = Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, 'hex')]);
      await writeFile(join(repo.folder, 'raw'), entry);
      object = (
        await repo.git('hash-object', '-t', 'tree', '-w', '--literally', join(repo.folder, 'raw'))
      ).trim();
      mode = '40000';
    }
    return object;
  }
});

describe('stale paths', () => {
  after(cleanUp);

  it('are those whose file is no longer what the preview saw, and no others', async () => {
    const at = await scene(
      all(
        edit('a.txt', topEdited),
        edit('b.txt', 'b2\n'),
        edit('new', 'n'),
        drop('dir/c.txt'),
        edit('x/y', 'y'),
        edit('run.sh', '#!/bin/sh\nx\n'),
      ),
      nothing,
    );
    const { merges } = at.layer;
    const { paths } = at.preview;
    const stale = (): Promise<readonly string[]> => merges.stalePaths(at.repo.root, paths);
    assert.deepEqual(await stale(), []);
    await at.repo.write('unrelated', 'u');
    assert.deepEqual(await stale(), []);
    await at.repo.write('a.txt', endEdited);
    await at.repo.write('new', 'mine');
    await at.repo.remove('dir/c.txt');
    await at.repo.write('x', 'a file in the way is seen when the folder is made');
    await chmod(join(at.repo.root, 'run.sh'), 0o644);
    assert.deepEqual([...(await stale())].sort(), ['a.txt', 'dir/c.txt', 'new', 'run.sh']);
  });

  it('see an edit that an index flag hides, and one of the same size', async () => {
    const at = await scene(edit('b.txt', 'theirs\n'), git('update-index', '--assume-unchanged', 'b.txt'));
    assert.deepEqual(await at.layer.merges.stalePaths(at.repo.root, at.preview.paths), []);
    await at.repo.write('b.txt', 'x\n');
    assert.deepEqual(await at.layer.merges.stalePaths(at.repo.root, at.preview.paths), ['b.txt']);
  });

  it('see a folder, a link or something odd in the place of a file', async () => {
    const at = await scene(
      all(edit('a.txt', topEdited), edit('b.txt', 'x\n'), edit('run.sh', 'x\n')),
      nothing,
    );
    for (const path of ['a.txt', 'b.txt', 'run.sh']) await at.repo.remove(path);
    await at.repo.write('a.txt/inner', 'x');
    await at.repo.write('b.txt', { link: 'dir/c.txt' });
    const { execFile } = await import('node:child_process');
    await new Promise((resolve) => execFile('mkfifo', [join(at.repo.root, 'run.sh')], resolve));
    assert.deepEqual([...(await at.layer.merges.stalePaths(at.repo.root, at.preview.paths))].sort(), [
      'a.txt',
      'b.txt',
      'run.sh',
    ]);
  });
});

describe('writing a file of the checkout', () => {
  after(cleanUp);

  async function checkout(): Promise<{ root: string; outside: string; content: string; layer: Layer }> {
    const repo = await makeRepo({ files });
    const outside = await makeFolder();
    const content = join(repo.folder, 'content');
    await writeFile(content, 'new content');
    return { root: repo.root, outside, content, layer: await openLayer(repo.root) };
  }

  const newContent = {
    kind: 'file',
    sha256: 'fe32608c9ef5b6cf7e3f946480253ff76f24f4ec0678f3d0f07f9844cbff9601',
    executable: false,
  } as const;

  function refused(expected: string): (error: unknown) => boolean {
    return (error) => {
      assert.ok(error instanceof TributaryError, String(error));
      assert.equal(error.code, expected);
      return true;
    };
  }

  it('never goes through a link in place of a folder, to write or to remove, and sees nothing there', async () => {
    const { root, outside, content, layer } = await checkout();
    await writeFile(join(outside, 'file'), 'outside');
    await symlink(outside, join(root, 'link'));
    await mkdir(join(root, 'real'));
    await symlink(outside, join(root, 'real', 'deep'));
    await symlink(join(outside, 'missing'), join(root, 'dangling'));
    for (const path of ['link/file', 'link/new', 'real/deep/file', 'dangling/new']) {
      await assert.rejects(
        layer.merges.putSide(root, path, newContent, { contentFile: content }),
        refused('stale'),
        path,
      );
      await assert.rejects(
        layer.merges.putSide(root, path, { kind: 'absent' }, { contentFile: content }),
        refused('stale'),
        path,
      );
      assert.deepEqual((await layer.merges.standing(root, path)).side, { kind: 'absent' }, path);
    }
    await layer.merges.sweep(root, ['link/file']);
    assert.deepEqual(await readdir(outside), ['file']);
    assert.equal(await readFile(join(outside, 'file'), 'utf8'), 'outside');
  });

  it('replaces a link, not what it points to', async () => {
    const { root, outside, content, layer } = await checkout();
    await writeFile(join(outside, 'file'), 'outside');
    await symlink(join(outside, 'file'), join(root, 'link'));
    await layer.merges.putSide(root, 'link', newContent, { contentFile: content });
    assert.equal(await readFile(join(outside, 'file'), 'utf8'), 'outside');
    assert.ok((await lstat(join(root, 'link'))).isFile());
  });

  for (const path of [
    '../x',
    'dir/../../x',
    '/abs',
    '',
    '.',
    'dir/',
    'a//b',
    'dir/./x',
    '.git/config',
    '.GIT/hooks/x',
    'sub/.git/config',
    '.git',
    '.g\u200cit/x',
    '.git./x',
    '.git /x',
    '.git::$INDEX_ALLOCATION/x',
    'git~1/x',
    '.git\\config',
    'a\\..\\..\\x',
    'C:\\x',
    'nul\0x',
  ]) {
    it(`refuses the path ${JSON.stringify(path)}`, async () => {
      const { root, content, layer } = await checkout();
      const before = await fingerprint(root);
      await assert.rejects(
        layer.merges.putSide(root, path, newContent, { contentFile: content }),
        refused('stale'),
      );
      await assert.rejects(
        layer.merges.putSide(root, path, { kind: 'absent' }, { contentFile: content }),
        refused('stale'),
      );
      await assert.rejects(layer.merges.standing(root, path), refused('stale'));
      assert.deepEqual(await fingerprint(root), before);
    });
  }

  it('allows names that only resemble those', async () => {
    const { root, content, layer } = await checkout();
    for (const path of ['.gitignore2', '.github/x', 'git', 'a.git/x', '..x', 'x..', 'a\\b', ' .git']) {
      await layer.merges.putSide(root, path, newContent, { contentFile: content });
      assert.equal(await readFile(join(root, path), 'utf8'), 'new content');
    }
  });

  it('leaves the file as it was, and no other, when the content is not what was recorded', async () => {
    const { root, content, layer } = await checkout();
    await writeFile(content, 'tampered');
    const before = await listing(root);
    await assert.rejects(
      layer.merges.putSide(root, 'b.txt', newContent, { contentFile: content }),
      refused('corruptFile'),
    );
    await assert.rejects(
      layer.merges.putSide(root, 'deep/er/new', newContent, { contentFile: content }),
      refused('corruptFile'),
    );
    await assert.rejects(
      layer.merges.putSide(root, 'b.txt', newContent, { contentFile: join(root, 'none') }),
    );
    assert.equal(await listing(root), before);
  });

  it('leaves what its user saved while the new content was copied', async () => {
    const { root, content, layer } = await checkout();
    const large = Buffer.alloc(60_000_000, 'x');
    await writeFile(content, large);
    const side = { ...newContent, sha256: createHash('sha256').update(large).digest('hex') };
    const put = layer.merges.putSide(root, 'b.txt', side, { contentFile: content });
    const saved = (async () => {
      while (!(await readdir(root)).some((name) => name.endsWith('.tmp'))) await setImmediate();
      await writeFile(join(root, 'b.txt'), 'saved by the user');
    })();
    await assert.rejects(put, refused('stale'));
    await saved;
    assert.equal(await readFile(join(root, 'b.txt'), 'utf8'), 'saved by the user');
    assert.ok(!(await readdir(root)).some((name) => name.endsWith('.tmp')));
  });

  it('leaves what its user saved after the look at a file, be it to be replaced, removed or new', async () => {
    const { root, content, layer } = await checkout();
    for (const path of ['b.txt', 'new.txt']) {
      for (const side of [newContent, { kind: 'absent' }] as const) {
        const { stamp } = await layer.merges.standing(root, path);
        await writeFile(join(root, path), `saved by the user for ${side.kind}`);
        const put = layer.merges.putSide(root, path, side, { contentFile: content, over: stamp });
        await assert.rejects(put, refused('stale'));
        assert.equal(await readFile(join(root, path), 'utf8'), `saved by the user for ${side.kind}`);
      }
    }
    const { stamp } = await layer.merges.standing(root, 'b.txt');
    await rm(join(root, 'b.txt'));
    const put = layer.merges.putSide(root, 'b.txt', newContent, { contentFile: content, over: stamp });
    await assert.rejects(put, refused('stale'), 'one that its user deleted stays deleted');
  });

  it('says of a file that is written while it is read that nothing can be said', async () => {
    const { root, layer } = await checkout();
    const large = join(root, 'b.txt');
    await writeFile(large, Buffer.alloc(60_000_000, 'x'));
    const look = layer.merges.standing(root, 'b.txt');
    let isOver = false;
    const looked = look.then(
      () => 'answered',
      (error: unknown) => (error instanceof TributaryError ? error.code : String(error)),
    );
    void looked.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await appendFile(large, 'y');
      await setImmediate();
    }
    assert.equal(await looked, 'stale');
  });

  it('keeps other permissions of a file it replaces', async () => {
    const { root, content, layer } = await checkout();
    await chmod(join(root, 'b.txt'), 0o600);
    await layer.merges.putSide(root, 'b.txt', newContent, { contentFile: content });
    assert.equal((await stat(join(root, 'b.txt'))).mode & 0o777, 0o600);
    await layer.merges.putSide(root, 'b.txt', { ...newContent, executable: true }, { contentFile: content });
    assert.equal((await stat(join(root, 'b.txt'))).mode & 0o777, 0o700);
  });

  it('gives a file back with all its permissions', async () => {
    const { root, content, layer } = await checkout();
    for (const mode of [0o600, 0o640, 0o664, 0o750, 0o444, 0o777]) {
      await chmod(join(root, 'b.txt'), mode);
      const { side } = await layer.merges.standing(root, 'b.txt');
      assert.ok(side.kind === 'file');
      assert.equal(side.mode, mode);
      await rm(join(root, 'b.txt'));
      await layer.merges.putSide(
        root,
        'b.txt',
        { ...side, sha256: newContent.sha256 },
        { contentFile: content },
      );
      assert.equal((await stat(join(root, 'b.txt'))).mode & 0o777, mode);
    }
  });

  it('refuses to replace a folder with files, and replaces an empty one', async () => {
    const { root, content, layer } = await checkout();
    await assert.rejects(
      layer.merges.putSide(root, 'dir', newContent, { contentFile: content }),
      refused('stale'),
    );
    await assert.rejects(
      layer.merges.putSide(root, 'b.txt/x', newContent, { contentFile: content }),
      refused('stale'),
    );
    await mkdir(join(root, 'empty'));
    await layer.merges.putSide(root, 'empty', newContent, { contentFile: content });
    assert.equal(await readFile(join(root, 'empty'), 'utf8'), 'new content');
    assert.equal(await readFile(join(root, 'dir', 'c.txt'), 'utf8'), 'c\n');
  });

  it('sweeps only what a killed write left beside its path', async () => {
    const { root, layer } = await checkout();
    const left = '.tributary-0123456789abcdef.tmp';
    const others = ['.tributary-notes.tmp', `${left}.mine`];
    for (const name of [left, ...others]) await writeFile(join(root, 'dir', name), 'x');
    await writeFile(join(root, left), 'x');
    await layer.merges.sweep(root, ['dir/c.txt', 'missing/file', '../outside']);
    assert.deepEqual((await readdir(join(root, 'dir'))).sort(), [...others, 'c.txt'].sort());
    await access(join(root, left));
  });

  it('removes what it removed already without complaint, and only folders it emptied', async () => {
    const { root, content, layer } = await checkout();
    await mkdir(join(root, 'x', 'kept-empty'), { recursive: true });
    await layer.merges.putSide(root, 'x/y/z', newContent, { contentFile: content });
    await layer.merges.putSide(root, 'x/y/z', { kind: 'absent' }, { contentFile: content });
    await layer.merges.putSide(root, 'x/y/z', { kind: 'absent' }, { contentFile: content });
    assert.deepEqual(await readdir(join(root, 'x')), ['kept-empty']);
  });
});
