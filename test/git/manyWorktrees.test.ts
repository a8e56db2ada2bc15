import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TributaryError } from '../../src/base/errors';
import { makeGit } from '../../src/git/plumbing';
import { runCommand } from '../../src/process/runCommand';
import { ChildProcesses } from '../store/childProcesses';
import { cleanUp, fingerprint, makeRepo, type TempRepo } from './support/tempRepo';

const rounds = process.env['TRIBUTARY_LONG'] === undefined ? 1 : 100;

describe('many at work in one repository', () => {
  let makers: ChildProcesses;
  let repo: TempRepo;

  before(async () => {
    makers = await ChildProcesses.of('worktreeMaker');
    const files = Array.from({ length: 200 }, (_, at) => [`dir${at % 10}/file${at}`, `${at}\n`] as const);
    repo = await makeRepo({ files: Object.fromEntries(files) });
  });
  after(async () => {
    await makers.remove();
    await cleanUp();
  });

  for (let round = 1; round <= rounds; round += 1) {
    it(`twenty Worktrees made at once by two processes all stand (${round})`, async () => {
      const commit = (await repo.git('rev-parse', 'HEAD')).trim();
      const tree = (await repo.git('rev-parse', 'HEAD^{tree}')).trim();
      const before = await fingerprint(repo.root);
      const children = ['a', 'b'].map((prefix) =>
        makers.start({ root: repo.root, prefix: `${prefix}${round}-`, count: 10, commit }),
      );
      for (const child of children)
        assert.deepEqual(await child.ended, { code: 0, signal: null, errors: '' });
      const said = children.flatMap(({ lines }) => lines);
      assert.deepEqual(
        said.filter((line) => !line.endsWith(tree)),
        [],
      );
      assert.equal(said.length, 20);
      const listed = await repo.git('worktree', 'list', '--porcelain');
      assert.equal(listed.match(/^branch refs\/heads\/tributary\//gm)?.length, 20);
      assert.equal(listed.match(/^locked /gm)?.length, 20);
      const branches = (await repo.git('for-each-ref', '--format=%(refname)', 'refs/heads/tributary')).trim();
      await removeAll(branches.split('\n'));
      assert.deepEqual(await fingerprint(repo.root), before);
    });
  }

  const removeAll = async (branches: readonly string[]): Promise<void> => {
    await rm(`${repo.root}.worktrees`, { recursive: true });
    for (const id of await readdir(join(repo.root, '.git', 'worktrees')))
      await rm(join(repo.root, '.git', 'worktrees', id, 'locked'));
    await repo.git('worktree', 'prune');
    await repo.git('branch', '--quiet', '-D', ...branches.map((name) => name.replace('refs/heads/', '')));
  };

  const lockFiles = [
    { name: 'index.lock', args: ['add', 'new'] },
    { name: 'config.lock', args: ['config', 'test.key', 'value'] },
    { name: 'refs/heads/made.lock', args: ['update-ref', 'refs/heads/made', 'HEAD'] },
    { name: 'packed-refs.lock', args: ['update-ref', '-d', 'refs/heads/gone'] },
  ];
  for (const { name, args } of lockFiles) {
    it(`${name} of another git is waited for, longer each time`, async () => {
      await repo.write('new', 'x');
      await repo.git('branch', '--force', 'gone');
      await repo.git('pack-refs', '--all');
      const path = join(repo.root, '.git', name);
      await writeFile(path, '');
      const waits: number[] = [];
      const git = makeGit({
        runCommand,
        env: process.env,
        wait: async (ms) => {
          if (waits.push(ms) === 6) await rm(path);
        },
      });
      await git({ cwd: repo.root, args });
      assert.equal(waits.length, 6);
      assert.ok((waits[5] ?? 0) > (waits[0] ?? 0) * 5, waits.join(' '));
    });

    it(`${name} that stays is a failure that names it`, async () => {
      await repo.write('new', 'x');
      await repo.git('branch', '--force', 'gone');
      await repo.git('pack-refs', '--all');
      const path = join(repo.root, '.git', name);
      await writeFile(path, '');
      let waited = 0;
      const wait = async (ms: number): Promise<void> => {
        waited += ms;
      };
      try {
        await assert.rejects(
          makeGit({ runCommand, env: process.env, wait })({ cwd: repo.root, args }),
          (error) => {
            assert.ok(error instanceof TributaryError);
            assert.equal(error.code, 'gitLocked');
            assert.equal(error.details['lockFile'], path);
            assert.ok(error.message.includes(path), error.message);
            return true;
          },
        );
      } finally {
        await rm(path);
      }
      assert.ok(waited > 5_000, `${waited} ms`);
    });
  }
});
