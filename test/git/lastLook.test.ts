import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { locateCheckout } from '../../src/git/checkouts';
import { makeGit } from '../../src/git/plumbing';
import type { Snapshots } from '../../src/git/snapshots';
import { treeOfCheckout } from '../../src/git/workTreeState';
import { runCommand } from '../../src/process/runCommand';
import { openLayer, spiedRun } from './support/layer';
import { cleanUp, gitAt, makeRepo } from './support/tempRepo';

const seeds = process.env['TRIBUTARY_LONG'] ? 40 : 3;
const stepsPerSeed = 12;

const files = {
  'a.txt': 'a\n',
  'dir/b.txt': 'b\n',
  'dir/c.txt': 'c\n',
  'kept.log': 'tracked, although ignored\n',
  '.gitignore': '*.log\n',
};

/** A linked worktree, its path. */
async function linked(): Promise<string> {
  const repo = await makeRepo();
  for (const [path, content] of Object.entries(files)) await repo.write(path, content);
  await repo.commitAll();
  const path = join(repo.folder, 'linked');
  await repo.git('worktree', 'add', '-q', path);
  return path;
}

/** What an agent or a user may do between two looks. */
const steps: Readonly<Record<string, (path: string, random: (count: number) => number) => Promise<unknown>>> =
  {
    nothing: async () => undefined,
    edit: (path, random) =>
      put(path, pick(['a.txt', 'dir/b.txt', 'new.txt', 'deep/er/n'], random), `${random(3)}\n`),
    delete: (path, random) => rm(join(path, pick(['a.txt', 'dir', 'kept.log', 'new.txt'], random)), again),
    ignored: (path, random) => put(path, pick(['x.log', 'kept.log'], random), `${random(3)}\n`),
    mode: (path, random) =>
      chmod(join(path, 'a.txt'), random(2) === 0 ? 0o755 : 0o644).catch(() => undefined),
    ignoreMore: (path, random) => put(path, '.gitignore', pick(['*.log\n', '*.log\nnew.txt\n', ''], random)),
    exclude: (path, random) => put(path, '../repo/.git/info/exclude', pick(['', 'deep\n'], random)),
    stage: (path) => gitAt(path, 'add', '--all').catch(() => undefined),
    stageIgnored: (path, random) =>
      gitAt(path, 'add', '--force', '--', pick(['x.log', 'kept.log'], random)).catch(() => undefined),
    unstage: (path) => gitAt(path, 'reset', '-q'),
    commit: (path) => gitAt(path, 'commit', '-q', '--allow-empty', '-m', 'step'),
    forget: (path) => gitAt(path, 'rm', '-qf', '--cached', '--ignore-unmatch', 'a.txt', 'kept.log'),
    hide: (path) => gitAt(path, 'update-index', '--assume-unchanged', 'a.txt').catch(() => undefined),
    link: async (path) => {
      await rm(join(path, 'dir'), again);
      await mkdir(join(path, '..', 'elsewhere'), { recursive: true });
      await put(path, '../elsewhere/b.txt', 'b\n');
      await symlink('../elsewhere', join(path, 'dir'));
    },
    folder: async (path) => {
      await rm(join(path, 'a.txt'), again);
      await put(path, 'a.txt/inside', 'now a folder');
    },
    swap: async (path) => {
      await rm(join(path, 'a.txt'), again);
      await symlink('dir/b.txt', join(path, 'a.txt'));
    },
    many: async (path, random) => {
      for (let number = 0; number < 70; number += 1) await put(path, `many/${number}`, `${random(9)}\n`);
    },
    move: (path) => rename(join(path, 'dir'), join(path, 'moved')).catch(() => undefined),
    repositoryForFile: async (path, random) => {
      await rm(join(path, 'a.txt'), again);
      await gitAt(path, 'init', '-q', 'a.txt');
      await put(path, 'a.txt/file', 'inside');
      if (random(2) === 0) return;
      await gitAt(join(path, 'a.txt'), 'add', '.');
      await gitAt(join(path, 'a.txt'), 'commit', '-q', '--allow-empty', '-m', 'own');
    },
    repository: async (path) => {
      await gitAt(path, 'init', '-q', 'nested');
      await put(path, 'nested/file', 'inside');
    },
  };

const again = { recursive: true, force: true };

async function put(root: string, path: string, content: string): Promise<void> {
  const file = join(root, path);
  // What stands in the way of a folder gives way, so that every step can follow every other.
  if (dirname(path) !== '.')
    await mkdir(dirname(file), { recursive: true }).catch(() => clearWay(root, path));
  await writeFile(file, content).catch(async () => {
    await rm(file, again);
    await writeFile(file, content);
  });
}

async function clearWay(root: string, path: string): Promise<void> {
  await rm(join(root, path.split('/')[0] ?? ''), again);
  await mkdir(dirname(join(root, path)), { recursive: true });
}

/** A linked worktree, and what git is asked for it. */
async function spied(): Promise<{ path: string; commands: string[]; snapshots: Snapshots }> {
  const path = await linked();
  const commands: string[] = [];
  const run = spiedRun((subcommand) => commands.push(subcommand));
  return { path, commands, snapshots: (await openLayer(path, run)).snapshots };
}

/** What a look from the start finds; it keeps nothing. */
async function freshLook(path: string): Promise<string> {
  const facts = (await openLayer(path)).facts;
  const git = makeGit({ runCommand, env: process.env });
  return treeOfCheckout(git, await locateCheckout(facts, path));
}

function pick<T>(choices: readonly T[], random: (count: number) => number): T {
  const choice = choices[random(choices.length)];
  if (choice === undefined) throw new Error('nothing to choose from');
  return choice;
}

/** Numbers below `count`, the same for the same seed. */
function randomFrom(seed: number): (count: number) => number {
  let state = seed * 2_654_435_761;
  return (count) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return (state >>> 4) % count;
  };
}

describe('looking at a Worktree again', () => {
  after(cleanUp);

  for (let seed = 1; seed <= seeds; seed += 1) {
    it(`finds what a first look finds, whatever was done in between (seed ${seed})`, async () => {
      const random = randomFrom(seed);
      const path = await linked();
      const remembering = await openLayer(path);
      const done: string[] = [];
      for (let step = 0; step < stepsPerSeed; step += 1) {
        const name = pick(Object.keys(steps), random);
        done.push(name);
        await steps[name]?.(path, random);
        const tree = await remembering.snapshots.treeOf(path);
        const fresh = await freshLook(path);
        assert.equal(tree, fresh, done.join(', '));
        // Nothing was done since: this look is the short one, wherever there is one.
        assert.equal(await remembering.snapshots.treeOf(path), fresh, `again: ${done.join(', ')}`);
      }
    });
  }

  it('costs one git while nothing changes', async () => {
    const { path, commands, snapshots } = await spied();
    await put(path, 'new.txt', 'new');
    const tree = await snapshots.treeOf(path);
    commands.length = 0;
    assert.equal(await snapshots.treeOf(path), tree);
    assert.deepEqual(commands, ['status']);
  });

  it('costs as much, however many files there are, where few were edited or added', async () => {
    const { path, commands, snapshots } = await spied();
    await snapshots.treeOf(path);
    await put(path, 'new.txt', 'new');
    await put(path, 'dir/b.txt', 'edited');
    commands.length = 0;
    const tree = await snapshots.treeOf(path);
    assert.deepEqual(commands, ['status', 'cat-file', 'update-index', 'ls-files', 'mktree']);
    assert.equal(tree, await freshLook(path));
    // Once they are old enough that a later edit is sure to show, they are not read again.
    while (commands.at(-1) !== 'status') {
      commands.length = 0;
      assert.equal(await snapshots.treeOf(path), tree);
    }
    assert.deepEqual(commands, ['status']);
    await put(path, 'dir/b.txt', 'once more');
    assert.equal(await snapshots.treeOf(path), await freshLook(path));
  });

  it('notices that git has thrown away what it remembers, and keeps every file', async () => {
    for (const isEdited of [false, true]) {
      const { path, snapshots } = await spied();
      // So that the trees of its folders are no commit's.
      for (const name of ['new.txt', 'dir/new.txt', 'deep/er/new.txt']) await put(path, name, 'new');
      await snapshots.treeOf(path);
      await put(path, 'a.txt', 'edited');
      await snapshots.treeOf(path);
      await gitAt(path, 'reflog', 'expire', '--expire=now', '--all');
      await gitAt(path, 'gc', '-q', '--prune=now');
      if (isEdited) await put(path, 'dir/b.txt', 'edited after it');
      const tree = await snapshots.treeOf(path);
      await gitAt(path, 'rev-list', '--objects', tree);
      assert.equal(tree, await freshLook(path));
      assert.match(
        (await gitAt(path, 'ls-tree', '-r', '--name-only', tree)).toString(),
        /deep\/er\/new\.txt/,
      );
    }
  });

  it('keeps what it found anew where many were', async () => {
    const { path, commands, snapshots } = await spied();
    await snapshots.treeOf(path);
    for (let number = 0; number < 100; number += 1) await put(path, `many/${number}`, `${number}`);
    commands.length = 0;
    const tree = await snapshots.treeOf(path);
    assert.deepEqual(commands, ['status', 'update-index', 'write-tree']);
    assert.equal(tree, await freshLook(path));
    commands.length = 0;
    assert.equal(await snapshots.treeOf(path), tree);
    assert.deepEqual(commands, ['status']);
  });

  it('records what was edited as git does, whatever is configured, and whatever the files are called', async () => {
    const repo = await makeRepo();
    const settings = {
      'core.autocrlf': 'input',
      'core.fileMode': 'false',
      'filter.rot.clean': 'tr a-z b-za',
    };
    for (const [key, value] of Object.entries(settings)) await repo.git('config', key, value);
    const odd = ['z', 'z.x', 'z/..x', ':(top)', '-r', 'a\nb', 'ü', '"q"', ' '].map((name) => `odd/${name}`);
    const plain = odd.filter((name) => name !== 'odd/z');
    await repo.write('.gitattributes', '*.rot filter=rot\ncrlf.txt -text\n');
    for (const name of [...plain, 'crlf.txt', 'x.rot', 'run', 'z/y', 'z-', 'z0'])
      await repo.write(name, 'a\r\n');
    await repo.git('add', '-A');
    await repo.git('update-index', '--chmod=+x', 'run');
    await repo.git('commit', '-q', '-m', 'first');
    const path = join(repo.folder, 'linked');
    await repo.git('worktree', 'add', '-q', path);
    const { snapshots } = await openLayer(path);
    await snapshots.treeOf(path);
    const all = [...plain, 'crlf.txt', 'x.rot', 'run', 'z/y', 'z-', 'z0', 'new/deep/er', 'new.rot'];
    for (const name of all) {
      await put(path, name, `edited ${name}\r\n`);
      assert.equal(await snapshots.treeOf(path), await freshLook(path), name);
    }
    await symlink('nowhere', join(path, 'link'));
    assert.equal(await snapshots.treeOf(path), await freshLook(path), 'a link');
    await writeFile(Buffer.from(`${path}/\xff\xfe`, 'latin1'), 'no UTF-8');
    assert.equal(await snapshots.treeOf(path), await freshLook(path), 'a name that is no UTF-8');
    for (const name of ['new/deep/er', 'link', 'odd/-r']) {
      await rm(join(path, name));
      assert.equal(await snapshots.treeOf(path), await freshLook(path), `${name} is gone`);
    }
  });

  it('does not trust what another process has kept there since', async () => {
    const path = await linked();
    const [one, other] = [await openLayer(path), await openLayer(path)];
    await one.snapshots.treeOf(path);
    await put(path, 'a.txt', 'edited\n');
    const now = await other.snapshots.treeOf(path);
    assert.equal(await one.snapshots.treeOf(path), now);
  });

  it('sees an edit of the same size in the same moment', async () => {
    const path = await linked();
    const { snapshots } = await openLayer(path);
    for (let round = 0; round < 5; round += 1) {
      await put(path, 'a.txt', `${round}\n`);
      const tree = await snapshots.treeOf(path);
      assert.equal((await gitAt(path, 'cat-file', 'blob', `${tree}:a.txt`)).toString(), `${round}\n`);
    }
  });

  it('is right for many looks at once, of two processes, and leaves only what it keeps', async () => {
    const path = await linked();
    const layers = [await openLayer(path), await openLayer(path)];
    for (let round = 0; round < 4; round += 1) {
      await put(path, 'a.txt', `round ${round}\n`);
      const looks = layers.flatMap(({ snapshots }) => [snapshots.treeOf(path), snapshots.treeOf(path)]);
      for (const tree of await Promise.all(looks))
        assert.equal((await gitAt(path, 'show', `${tree}:a.txt`)).toString(), `round ${round}\n`);
    }
    const gitDir = (await gitAt(path, 'rev-parse', '--git-dir')).toString().trim();
    const kept = (await readdir(gitDir)).filter((name) => name.startsWith('tributary-index'));
    assert.deepEqual(kept, ['tributary-index']);
  });

  it('looks from the start when what it kept is taken away in the very look', async () => {
    const path = await linked();
    const gitDir = (await gitAt(path, 'rev-parse', '--git-dir')).toString().trim();
    let isTaken = false;
    const layer = await openLayer(path, async (request) => {
      const result = await runCommand(request);
      const { command } = request;
      if (isTaken && command.kind === 'args' && command.args.includes('status'))
        await rm(join(gitDir, 'tributary-index'), again);
      return result;
    });
    await layer.snapshots.treeOf(path);
    await put(path, 'a.txt', 'edited\n');
    isTaken = true;
    const tree = await layer.snapshots.treeOf(path);
    assert.equal((await gitAt(path, 'show', `${tree}:dir/b.txt`)).toString(), 'b\n');
    assert.equal((await gitAt(path, 'show', `${tree}:a.txt`)).toString(), 'edited\n');
  });

  it('tells where HEAD stands at that moment', async () => {
    const path = await linked();
    const { snapshots } = await openLayer(path);
    const ask = async (...args: string[]): Promise<string> => (await gitAt(path, ...args)).toString().trim();
    const acts: readonly (readonly string[])[] = [
      ['status'],
      ['commit', '-q', '--allow-empty', '-m', 'more'],
      ['switch', '-q', '-c', 'side/branch'],
      ['update-ref', 'refs/heads/side/branch', 'HEAD^'],
      ['checkout', '-q', '--detach'],
      ['symbolic-ref', 'HEAD', 'refs/heads/new'],
    ];
    for (const [number, act] of acts.entries()) {
      await gitAt(path, ...act);
      for (const isEdited of [true, true, false]) {
        if (isEdited) await put(path, 'a.txt', `${number}, ${Math.random()}\n`);
        const request = { worktreePath: path, taskId: `t${number}`, message: 'm', base: 'refs/heads/main' };
        const commits = (await ask('for-each-ref', 'refs/tributary')).split('\n').length;
        const taken = await snapshots.take({ ...request, number: commits });
        const ref = await ask('symbolic-ref', '-q', 'HEAD').catch(() => undefined);
        const commit = await ask('rev-parse', '--verify', '-q', 'HEAD').catch(() => 'refs/heads/main');
        assert.deepEqual([taken.headRef, taken.headCommit], [ref, commit], act.join(' '));
      }
    }
  });

  it('leaves nothing in the main worktree', async () => {
    const repo = await makeRepo({ files });
    const { snapshots, facts } = await openLayer(repo.root);
    await snapshots.treeOf(repo.root);
    await snapshots.treeOf(repo.root);
    await assert.rejects(rm(join(facts.gitDir, 'tributary-index')), /ENOENT/);
  });
});
