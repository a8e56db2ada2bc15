import assert from 'node:assert/strict';
import { chown, lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TributaryError } from '../../src/base/errors';
import { type Core, composeCore } from '../../src/composeCore';
import { settingsSchema } from '../../src/model/settings';
import type { Task } from '../../src/model/task';
import { cleanUp, fingerprint, gitAt, makeFolder, makeRepo, type TempRepo } from '../git/support/tempRepo';
import { type Reply, type StrictServer, startStrictServer } from './support/strictServer';

/** What was opened, and the top level of the checkout around it. */
interface Place {
  readonly directory: string;
  readonly checkout: string;
  readonly env?: Readonly<Record<string, string>>;
}

const files = { 'a.txt': 'one\n', 'sub/deep/b.txt': 'two\n', 'other/c.txt': 'three\n' };

async function cloned(...args: string[]): Promise<string> {
  const origin = await makeRepo({ files });
  await origin.commitAll('second');
  const checkout = join(origin.folder, 'clone');
  await gitAt(origin.folder, 'clone', '--quiet', ...args, `file://${origin.root}`, checkout);
  return checkout;
}

const plain = async (name: string): Promise<Place> => {
  const { root } = await makeRepo({ files, name });
  return { directory: root, checkout: root };
};

/** What is the user's: all but the branches of Tasks. */
async function userSide(checkout: string): Promise<Record<string, string>> {
  const whole = await fingerprint(checkout);
  const refs = (whole['refs'] ?? '').split('\n').filter((line) => !line.startsWith('refs/heads/tributary/'));
  return { ...whole, refs: refs.join('\n') };
}

/** By name: makes a repository as some user has it. */
const places: Readonly<Record<string, () => Promise<Place>>> = {
  'a subfolder opened as workspace': async () => {
    const { root } = await makeRepo({ files });
    return { directory: join(root, 'sub', 'deep'), checkout: root };
  },
  'a linked worktree': async () => {
    const repo = await makeRepo({ files });
    const linked = join(repo.folder, 'linked');
    await repo.git('worktree', 'add', '--quiet', '-b', 'side', linked);
    return { directory: linked, checkout: linked };
  },
  'a bare repository with worktrees': async () => {
    const repo = await makeRepo({ files });
    const bare = join(repo.folder, 'project', '.bare');
    await gitAt(repo.folder, 'clone', '--quiet', '--bare', repo.root, bare);
    const checkout = join(repo.folder, 'project', 'main');
    await gitAt(bare, 'worktree', 'add', '--quiet', checkout, 'main');
    return { directory: checkout, checkout };
  },
  'a submodule': async () => {
    const inner = await makeRepo({ files });
    const outer = await makeRepo({ files: { 'README.md': 'outer\n' } });
    await outer.git('submodule', 'add', '--quiet', inner.root, 'libs/inner');
    await outer.commitAll('with a submodule');
    const checkout = join(outer.root, 'libs', 'inner');
    return { directory: checkout, checkout };
  },
  'a repository with a submodule': async () => {
    const inner = await makeRepo({ files });
    const outer = await makeRepo({ files });
    await outer.git('submodule', 'add', '--quiet', inner.root, 'libs/inner');
    await outer.commitAll('with a submodule');
    return { directory: outer.root, checkout: outer.root };
  },
  'a sparse clone': async () => {
    const checkout = await cloned('--sparse');
    await gitAt(checkout, 'sparse-checkout', 'set', 'sub');
    return { directory: checkout, checkout };
  },
  'a shallow clone': async () => {
    const checkout = await cloned('--depth=1');
    return { directory: checkout, checkout };
  },
  'a partial clone': async () => {
    const checkout = await cloned('--filter=blob:none');
    return { directory: checkout, checkout };
  },
  'a detached HEAD': async () => {
    const { root, git } = await makeRepo({ files });
    await git('checkout', '--quiet', '--detach');
    return { directory: root, checkout: root };
  },
  'a path with spaces and Unicode': () => plain('my répo 数据 🌊'),
  'a path with quotes': () => plain(`it's a "repo" $(x) \`y\``),
  'a path with a newline': () => plain('two\nlines'),
  'GIT_DIR, GIT_INDEX_FILE and GIT_WORK_TREE set in the environment': async () => {
    const stranger = await makeRepo({ files: { 'stranger.txt': 'not mine\n' } });
    const { root } = await makeRepo({ files });
    const gitDir = join(stranger.root, '.git');
    const env = { GIT_DIR: gitDir, GIT_INDEX_FILE: join(gitDir, 'index'), GIT_WORK_TREE: stranger.root };
    return { directory: root, checkout: root, env };
  },
};

const reply = (name: string, input: unknown): Reply => ({ content: [{ type: 'tool_use', name, input }] });
const steps: readonly Reply[] = [
  reply('Write', { file_path: 'made by agent.txt', content: 'made\n' }),
  reply('Bash', { command: 'printf "%s" "$(git branch --show-current)" > branch.txt && git status --short' }),
  {
    content: [
      {
        type: 'text',
        text: 'SUMMARY: Made.\n\nCHANGES:\n- made by agent.txt\n\nEVIDENCE:\n- a.txt:1: there\n\nRISKS:\nNone.\n\nBLOCKERS:\nNone.',
      },
    ],
  },
];

describe('every verb works from', () => {
  let server: StrictServer;
  let core: Core | undefined;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script((request) => {
      const { messages } = request.body;
      const said = Array.isArray(messages)
        ? messages.filter((message) => JSON.stringify(message).includes('"role":"assistant"')).length
        : 0;
      return steps[Math.min(said, steps.length - 1)] ?? assert.fail();
    });
  });
  afterEach(async () => {
    await core?.dispose();
    core = undefined;
    await server.close();
    await cleanUp();
  });

  const open = async ({ directory, env }: Pick<Place, 'directory' | 'env'>): Promise<Core> => {
    core = await composeCore({
      directory,
      settings: () => settingsSchema.parse({ model: { baseUrl: server.url }, verify: { when: 'never' } }),
      env: { ...process.env, ...env },
      credentials: async () => ({ kind: 'apiKey', value: 'test-key' }),
      permission: { ask: async () => ({ kind: 'allowed', by: 'test' }) },
      appVersion: '0.0.0-test',
    });
    return core;
  };
  const run = async (tasks: Core['tasks'], objective: string): Promise<Task> => {
    const packet = await tasks.prepare({ objective });
    const { task, runs } = await (await tasks.start({ packet })).settled;
    const status = runs[0]?.status;
    assert.equal(status?.state, 'completed', JSON.stringify(status));
    assert.deepEqual(task.alarms, []);
    return task;
  };

  for (const [name, make] of Object.entries(places)) {
    it(`${name}: start, run, accept, undo, discard, restore`, async () => {
      const place = await make();
      const { tasks } = await open(place);
      const before = await userSide(place.checkout);
      const task = await run(tasks, 'Make a file');
      assert.deepEqual(await userSide(place.checkout), before);
      assert.deepEqual(
        (await tasks.changes(task.id)).map(({ path }) => path),
        ['branch.txt', 'made by agent.txt'],
      );
      assert.equal((await tasks.accept(task.id)).kind, 'landed');
      const landed = join(place.checkout, 'branch.txt');
      assert.equal(await readFile(landed, 'utf8'), 'tributary/make-a-file');
      assert.equal((await tasks.undo(task.id)).kind, 'undone');
      assert.deepEqual(await userSide(place.checkout), before);
      await tasks.discard(task.id);
      const { worktreePath = '' } = task;
      await assert.rejects(lstat(worktreePath));
      await tasks.restore(task.id);
      assert.equal(await readFile(join(worktreePath, 'made by agent.txt'), 'utf8'), 'made\n');
      assert.deepEqual(await userSide(place.checkout), before);
    });
  }

  it('a repository of somebody else: refused with what to do, and nothing is written', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const repo: TempRepo = await makeRepo({ files });
    for (const path of [repo.root, join(repo.root, '.git')]) await chown(path, 65_534, 65_534);
    const opened = open({ directory: repo.root });
    await assert.rejects(opened, (error) => {
      assert.ok(error instanceof TributaryError);
      assert.equal(error.code, 'notARepository');
      assert.match(error.message, /belongs to another user.*safe\.directory/);
      return true;
    });
    assert.ok(!(await readdir(join(repo.root, '.git'))).includes('tributary'));
  });

  it('a folder that is no repository, a bare one, and one inside .git: refused, each in its own words', async () => {
    const folder = await makeFolder();
    const repo = await makeRepo({ files });
    const bare = join(repo.folder, 'bare.git');
    await gitAt(repo.folder, 'clone', '--quiet', '--bare', repo.root, bare);
    await mkdir(join(folder, 'x'));
    await writeFile(join(folder, 'x', 'y'), '');
    const rows: ReadonlyArray<readonly [string, RegExp]> = [
      [join(folder, 'x'), /is not in a git repository/],
      [bare, /is a bare repository: open one of its worktrees/],
      [join(repo.root, '.git', 'refs'), /is inside a git directory/],
      [join(folder, 'gone'), /there is no folder/],
    ];
    for (const [directory, words] of rows) await assert.rejects(open({ directory }), words);
  });
});
