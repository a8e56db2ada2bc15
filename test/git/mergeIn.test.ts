import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { PreparedMerge } from '../../src/git/mergeIn';
import type { MergePreview } from '../../src/git/merges';
import { type Layer, openLayer } from './support/layer';
import { cleanUp, fingerprint, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const files = {
  'a.txt': '1\n2\n3\n4\n5\n',
  'b.txt': 'b\n',
  'gone.txt': 'soon gone\n',
  'bin.dat': Buffer.from([0, 1, 2]),
  'crlf.txt': 'one\r\ntwo\r\nthree\r\n',
  '.gitignore': '*.log\n',
};

type Change = (repo: TempRepo) => Promise<unknown>;

interface Scene {
  readonly repo: TempRepo;
  readonly layer: Layer;
  readonly worktree: TempRepo;
  base: string;
  merges: number;
}

/** A repository and a Task's Worktree on a branch of its own, changed by `theirs`. */
async function scene(theirs: Change): Promise<Scene> {
  const repo = await makeRepo({ files });
  const path = join(repo.folder, 'task');
  await repo.git('worktree', 'add', '-q', '-b', 'tributary/task', path);
  const worktree = repoAt(repo.folder, path);
  await theirs(worktree);
  const layer = await openLayer(repo.root);
  return { repo, layer, worktree, base: (await layer.repository.head()).commit, merges: 0 };
}

/** Merges the checkout in as a Task does it, and checks that the checkout is as it was. */
async function mergeIn(at: Scene): Promise<PreparedMerge> {
  const { repo, layer, worktree, base } = at;
  const worktreePath = worktree.root;
  const before = refsApart(await fingerprint(repo.root));
  const theirs = await layer.snapshots.treeOf(worktreePath);
  const merge = await layer.mergeIns.prepare({ checkout: repo.root, worktreePath, base, theirs });
  at.merges += 1;
  const { head, ours: tree, result } = merge;
  const named = { taskId: 'task_1', number: at.merges, worktreePath, base, head, tree };
  at.base = await layer.mergeIns.keepBase(named);
  await layer.snapshots.restoreFiles(worktreePath, {
    tree: result,
    recorded: await layer.snapshots.treeOf(worktreePath),
    asideDirectory: `${worktreePath}-aside`,
  });
  const branch = 'refs/heads/tributary/task';
  await layer.mergeIns.moveHead({ worktreePath, branch, commit: at.base, tree: result });
  assert.deepEqual(refsApart(await fingerprint(repo.root)), before, 'the checkout is as it was');
  assert.equal(await layer.snapshots.treeOf(worktreePath), result, 'the Worktree holds the merge');
  return merge;
}

/** The Task's own branch moves; nothing else does. */
function refsApart(print: Record<string, string>): Record<string, string> {
  const refs = (print['refs'] ?? '').split('\n').filter((line) => !line.includes('refs/heads/tributary/'));
  return { ...print, refs: refs.join('\n') };
}

/** What would land now, counted from the merged base. */
async function preview({ repo, layer, worktree, base }: Scene): Promise<MergePreview> {
  const theirs = await layer.snapshots.treeOf(worktree.root);
  return layer.merges.preview({ checkout: repo.root, base, theirs });
}

async function changed({ layer, worktree, base }: Scene): Promise<string[]> {
  const set = await layer.changes.changeSet(base, await layer.snapshots.treeOf(worktree.root));
  return set.files.map(({ path, status }) => `${status} ${path}`);
}

const marked = (ours: string, base: string, theirs: string): string =>
  `<<<<<<< your checkout\n${ours}||||||| before both\n${base}=======\n${theirs}>>>>>>> the Task\n`;

describe('the checkout merged into a Task’s Worktree', () => {
  afterEach(cleanUp);

  it('writes what merges cleanly, commits and dirty edits alike, and leaves only the Task’s own change', async () => {
    const at = await scene((task) => task.write('a.txt', '1\n2\n3\n4\nfive\n'));
    await at.repo.write('b.txt', 'b of a commit\n');
    await at.repo.commitAll();
    await at.repo.write('a.txt', 'one\n2\n3\n4\n5\n');
    const { conflicts, paths } = await mergeIn(at);
    assert.deepEqual([conflicts, paths], [[], ['a.txt', 'b.txt']]);
    assert.equal(await at.worktree.read('a.txt'), 'one\n2\n3\n4\nfive\n');
    assert.equal(await at.worktree.read('b.txt'), 'b of a commit\n');
    assert.deepEqual(await changed(at), ['modified a.txt']);
    assert.equal((await at.worktree.git('status', '--porcelain')).trim(), 'M  a.txt');
    assert.deepEqual((await preview(at)).conflicts, []);
  });

  it('keeps what was staged in the Worktree and edited or deleted since: its index is made anew', async () => {
    const at = await scene(async (worktree) => {
      await worktree.write('a.txt', 'staged only\n');
      await worktree.write('gone.txt', 'staged only, and new\n');
      await worktree.git('add', '-A');
      await worktree.write('a.txt', 'edited again\n');
      await worktree.remove('gone.txt');
    });
    const staged = await at.worktree.git('rev-parse', ':a.txt', ':gone.txt');
    await at.repo.write('b.txt', 'of the user\n');
    await mergeIn(at);
    const held = await at.repo.git('rev-list', '--objects', '--glob=refs/tributary/left');
    for (const blob of staged.trim().split('\n')) assert.ok(held.includes(blob), blob);
  });

  it('is on the user’s own commit where nothing is uncommitted and the agent committed nothing', async () => {
    const at = await scene((task) => task.write('new.txt', 'new\n'));
    await at.repo.write('b.txt', 'later\n');
    const head = await at.repo.commitAll();
    await mergeIn(at);
    assert.equal(at.base, head);
    assert.equal((await at.worktree.git('symbolic-ref', 'HEAD')).trim(), 'refs/heads/tributary/task');
    assert.equal((await at.repo.git('rev-parse', 'refs/tributary/task_1/base-1')).trim(), head);
  });

  it('puts markers that name both sides, and what was before them, into a text that both changed', async () => {
    const at = await scene((task) => task.write('a.txt', '1\n2\ntask\n4\n5\n'));
    await at.repo.write('a.txt', '1\n2\nuser\n4\n5\n');
    const { conflicts } = await mergeIn(at);
    assert.deepEqual(
      conflicts.map(({ path, kind }) => [path, kind]),
      [['a.txt', 'markers']],
    );
    assert.equal(await at.worktree.read('a.txt'), `1\n2\n${marked('user\n', '3\n', 'task\n')}4\n5\n`);
    await at.worktree.write('a.txt', '1\n2\nuser and task\n4\n5\n');
    const { conflicts: left, paths } = await preview(at);
    assert.deepEqual([left, paths.map(({ path }) => path)], [[], ['a.txt']]);
  });

  it('keeps the line endings of a file with CRLF, in the markers too', async () => {
    const at = await scene((task) => task.write('crlf.txt', 'one\r\ntask\r\nthree\r\n'));
    await at.repo.write('crlf.txt', 'one\r\nuser\r\nthree\r\n');
    await mergeIn(at);
    const text = await at.worktree.read('crlf.txt');
    assert.ok(text.includes('<<<<<<< your checkout\r\nuser\r\n'), text);
    assert.equal(text.replaceAll('\r\n', '').includes('\n'), false);
  });

  it('marks a file that both added, the user’s not even tracked', async () => {
    const at = await scene((task) => task.write('new.txt', 'of the task\n'));
    await at.repo.write('new.txt', 'of the user\n');
    const { conflicts } = await mergeIn(at);
    assert.equal(conflicts[0]?.kind, 'markers');
    assert.equal(await at.worktree.read('new.txt'), marked('of the user\n', '', 'of the task\n'));
    await at.worktree.write('new.txt', 'of both\n');
    assert.deepEqual((await preview(at)).conflicts, []);
  });

  it('takes no untracked file of the user along that the Task does not touch', async () => {
    const at = await scene((task) => task.write('a.txt', 'task\n'));
    await at.repo.write('notes.txt', 'mine\n');
    await mergeIn(at);
    assert.deepEqual(await changed(at), ['modified a.txt']);
    await assert.rejects(at.worktree.read('notes.txt'));
  });

  for (const [title, theirs, ours, path] of [
    [
      'a file that the Task deleted and the user changed',
      (task: TempRepo) => task.remove('gone.txt'),
      (user: TempRepo) => user.write('gone.txt', 'still here\n'),
      'gone.txt',
    ],
    [
      'a file that the user deleted and the Task changed',
      (task: TempRepo) => task.write('gone.txt', 'still here\n'),
      (user: TempRepo) => user.remove('gone.txt'),
      'gone.txt',
    ],
    [
      'a binary file',
      (task: TempRepo) => task.write('bin.dat', Buffer.from([0, 1, 3])),
      (user: TempRepo) => user.write('bin.dat', Buffer.from([0, 1, 4])),
      'bin.dat',
    ],
  ] as const)
    it(`keeps the Task’s side of ${title}, and lists it`, async () => {
      const at = await scene(theirs);
      const before = await at.layer.snapshots.treeOf(at.worktree.root);
      await ours(at.repo);
      const { conflicts, result } = await mergeIn(at);
      assert.deepEqual(
        conflicts.map((one) => [one.path, one.kind]),
        [[path, 'kept']],
      );
      const [was, is] = await Promise.all(
        [before, result].map((tree) => at.layer.repository.readFile(tree, path)),
      );
      assert.deepEqual(is, was);
    });

  it('follows a file that one side renamed', async () => {
    const at = await scene((task) => task.write('a.txt', '1\n2\n3\n4\nfive\n'));
    await at.repo.git('mv', 'a.txt', 'moved.txt');
    const { conflicts } = await mergeIn(at);
    assert.deepEqual(conflicts, []);
    assert.equal(await at.worktree.read('moved.txt'), '1\n2\n3\n4\nfive\n');
    await assert.rejects(at.worktree.read('a.txt'));
    assert.deepEqual(await changed(at), ['modified moved.txt']);
  });

  it('keeps both names of a file that both renamed', async () => {
    const at = await scene((task) => task.git('mv', 'a.txt', 'task.txt'));
    await at.repo.git('mv', 'a.txt', 'user.txt');
    const { conflicts } = await mergeIn(at);
    assert.deepEqual(conflicts.map(({ path }) => path).toSorted(), ['task.txt', 'user.txt']);
    assert.equal(await at.worktree.read('task.txt'), files['a.txt']);
    assert.equal(await at.worktree.read('user.txt'), files['a.txt']);
  });

  it('keeps the Task’s file where the user has a folder, and its folder where the user has a file', async () => {
    const at = await scene(async (task) => {
      await task.write('spot', 'file of the task\n');
      await task.write('place/inner.txt', 'folder of the task\n');
    });
    await at.repo.write('spot/inner.txt', 'folder of the user\n');
    await at.repo.write('place', 'file of the user\n');
    await at.repo.commitAll();
    const { conflicts } = await mergeIn(at);
    assert.deepEqual(conflicts.map(({ path }) => path).toSorted(), ['place', 'spot']);
    assert.equal(await at.worktree.read('spot'), 'file of the task\n');
    assert.equal(await at.worktree.read('place/inner.txt'), 'folder of the task\n');
    const status = await at.worktree.git('status', '--porcelain');
    assert.doesNotMatch(status, /~/);
  });

  it('a second time merges only what came since, and the conflict that was resolved stays resolved', async () => {
    const at = await scene((task) => task.write('a.txt', '1\n2\ntask\n4\n5\n'));
    await at.repo.write('a.txt', '1\n2\nuser\n4\n5\n');
    await mergeIn(at);
    await at.worktree.write('a.txt', '1\n2\nuser and task\n4\n5\n');
    await at.repo.write('b.txt', 'later\n');
    const { conflicts, paths } = await mergeIn(at);
    assert.deepEqual([conflicts, paths], [[], ['b.txt']]);
    assert.equal(await at.worktree.read('a.txt'), '1\n2\nuser and task\n4\n5\n');
    assert.deepEqual(await changed(at), ['modified a.txt']);
    assert.equal((await at.repo.git('for-each-ref', 'refs/tributary/task_1/base-2')).length > 0, true);
  });

  it('keeps the agent’s own commits reachable, and an ignored file tracked that the agent tracks', async () => {
    const at = await scene(async (task) => {
      await task.write('own.log', 'wanted\n');
      await task.git('add', '-f', 'own.log');
      await task.git('rm', '-q', '--cached', 'b.txt');
      await task.write('.gitignore', '*.log\nb.txt\n');
      await task.git('commit', '-qam', 'own');
    });
    const own = (await at.worktree.git('rev-parse', 'HEAD')).trim();
    await at.repo.write('a.txt', 'user\n');
    await mergeIn(at);
    assert.deepEqual((await changed(at)).toSorted(), [
      'added own.log',
      'deleted b.txt',
      'modified .gitignore',
    ]);
    await at.worktree.git('merge-base', '--is-ancestor', own, 'HEAD');
  });

  for (const [title, ignored, path] of [
    ['file', 'out.log', 'out.log'],
    ['folder', 'out.log/kept.log', 'out.log'],
    ['file above it', 'out.log', 'out.log/inner.txt'],
  ] as const)
    it(`refuses to write over an ignored ${title} in the Worktree, and nothing is changed`, async () => {
      const at = await scene((task) => task.write(ignored, 'of the agent\n'));
      await at.repo.write(path, 'of the user\n');
      await at.repo.git('add', '-f', path);
      await assert.rejects(
        mergeIn(at),
        /out\.log in the worktree, which git ignores there|out\.log\/kept\.log/,
      );
      assert.equal(await at.worktree.read(ignored), 'of the agent\n');
    });

  it('detaches a HEAD that is on another branch, and moves no branch that is not the Task’s', async () => {
    const at = await scene(async (task) => {
      await task.git('checkout', '-q', '-b', 'elsewhere');
      await task.write('a.txt', 'task\n');
    });
    const before = (await at.repo.git('rev-parse', 'elsewhere')).trim();
    await at.repo.write('b.txt', 'later\n');
    await mergeIn(at);
    assert.equal((await at.repo.git('rev-parse', 'elsewhere')).trim(), before);
    assert.equal((await at.worktree.git('rev-parse', 'HEAD')).trim(), at.base);
  });

  it('leaves HEAD and index alone while a merge of the agent is under way', async () => {
    const at = await scene(async (task) => {
      await task.git('checkout', '-q', '-b', 'side');
      await task.write('a.txt', 'side\n');
      await task.git('commit', '-qam', 'side');
      await task.git('checkout', '-q', 'tributary/task');
      await task.write('a.txt', 'task\n');
      await task.git('commit', '-qam', 'task');
      await task.git('merge', '-q', 'side').catch(() => undefined);
      await task.write('a.txt', 'merged\n');
    });
    const before = (await at.worktree.git('rev-parse', 'HEAD')).trim();
    await at.repo.write('b.txt', 'later\n');
    await mergeIn(at);
    assert.equal((await at.worktree.git('rev-parse', 'HEAD')).trim(), before);
    assert.equal((await at.worktree.git('ls-files', '-u')).length > 0, true);
    assert.equal(await at.worktree.read('b.txt'), 'later\n');
  });
});
