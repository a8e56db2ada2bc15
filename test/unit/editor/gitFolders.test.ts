import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findRepository, hasBoard } from '../../../src/editor/gitFolders';

const run = promisify(execFile);

describe('a repository found by reading alone', () => {
  let folder: string;
  let repository: string;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'tributary-folders-')));
    repository = join(folder, 'a repo');
    await mkdir(join(repository, 'deep', 'er'), { recursive: true });
    const git = (...args: string[]) => run('git', args, { cwd: repository });
    await git('init', '-q');
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@localhost'];
    await git(...author, 'commit', '-q', '--allow-empty', '-m', 'x');
    await git('worktree', 'add', '-q', join(folder, 'linked'));
  });

  after(() => rm(folder, { recursive: true, force: true }));

  it('is the same from its top, a subfolder and a link to it', async () => {
    const expected = { root: repository, commonDir: join(repository, '.git') };
    assert.deepEqual(await findRepository(repository), expected);
    assert.deepEqual(await findRepository(join(repository, 'deep', 'er')), expected);
    await symlink(repository, join(folder, 'link'));
    assert.deepEqual(await findRepository(join(folder, 'link')), expected);
  });

  it('is the main one’s, seen from a linked worktree', async () => {
    assert.deepEqual(await findRepository(join(folder, 'linked')), {
      root: join(folder, 'linked'),
      commonDir: join(repository, '.git'),
    });
  });

  it('is none where there is none, or where only something called .git lies', async () => {
    assert.equal(await findRepository(join(folder, 'not there')), undefined);
    const fake = join(folder, 'fake');
    await mkdir(join(fake, '.git'), { recursive: true });
    assert.equal(await findRepository(fake), undefined);
    const broken = join(folder, 'broken');
    await mkdir(broken);
    await writeFile(join(broken, '.git'), 'gitdir: ../nowhere\n');
    assert.equal(await findRepository(broken), undefined);
  });

  it('has a board once somebody made one', async () => {
    assert.ok(!(await hasBoard(join(repository, '.git'))));
    await mkdir(join(repository, '.git', 'tributary', 'tasks'), { recursive: true });
    assert.ok(await hasBoard(join(repository, '.git')));
  });
});
