import assert from 'node:assert/strict';
import { mkdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { isGitAdminName, isInside, openForReading, resolveInside } from '../../../../src/agent/tools/paths';
import { makeToolFixture, type ToolFixture } from '../../../fakes/toolContext';

describe('paths that a model names', () => {
  let fixture: ToolFixture;
  let root: string;
  before(async () => {
    fixture = await makeToolFixture();
    root = fixture.root;
    await mkdir(join(root, 'src', 'deep'), { recursive: true });
    await mkdir(join(root, '.git'));
    await writeFile(join(root, 'src', 'a.ts'), 'a');
    await mkdir(join(fixture.main, 'src'), { recursive: true });
    await writeFile(join(fixture.main, 'src', 'a.ts'), 'main');
    await writeFile(join(fixture.folder, 'secret'), 'secret');
    await mkdir(`${root}-sibling`);
    await writeFile(join(`${root}-sibling`, 'x'), 'x');
    await writeFile(join(fixture.context.outDirectory, 'toolu_1.txt'), 'output');
    await symlink(join(fixture.folder, 'secret'), join(root, 'toSecret'));
    await symlink(fixture.folder, join(root, 'toFolder'));
    await symlink('src/a.ts', join(root, 'toInside'));
    await symlink(join(fixture.folder, 'nothing'), join(root, 'dangling'));
    await symlink('loopB', join(root, 'loopA'));
    await symlink('loopA', join(root, 'loopB'));
    await symlink('.git', join(root, 'toGit'));
  });
  after(() => fixture.dispose());

  const resolve = (path: string, purpose: 'read' | 'write' = 'read') =>
    resolveInside(path, fixture.context, purpose);
  const refused = async (path: string, about: RegExp, purpose: 'read' | 'write' = 'read'): Promise<void> => {
    const answer = await resolve(path, purpose);
    assert.equal(answer.kind, 'refused', path);
    if (answer.kind === 'refused') assert.match(answer.message, about);
  };

  it('takes absolute and relative paths, through links that stay inside', async () => {
    const expected = { kind: 'inside', absolute: join(root, 'src/a.ts'), shown: 'src/a.ts', exists: true };
    for (const path of ['src/a.ts', './src/deep/../a.ts', join(root, 'src/a.ts'), 'toInside']) {
      assert.deepEqual(await resolve(path), expected);
    }
    assert.deepEqual(await resolve('new/folder/..x'), {
      kind: 'inside',
      absolute: join(root, 'new/folder/..x'),
      shown: 'new/folder/..x',
      exists: false,
    });
  });

  it('refuses what is outside, by name or by link, also for files that do not exist yet', async () => {
    await refused('../secret', /outside the Worktree/);
    await refused(`${root}-sibling/x`, /outside the Worktree/);
    await refused('/etc/passwd', /outside the Worktree/);
    await refused('toSecret', /leads to .*secret/);
    await refused('toFolder/secret', /leads to/);
    await refused('toFolder/new.txt', /leads to/, 'write');
    await refused('..', /outside/);
  });

  it("refuses the user's checkout with the reason and the path to use instead", async () => {
    await refused(join(fixture.main, 'src', 'a.ts'), /user's checkout.*own Worktree.*use src\/a\.ts/);
  });

  it('refuses links to nothing and links in a circle', async () => {
    await refused('dangling', /leads to nothing/, 'write');
    await refused('dangling/x', /leads to nothing/, 'write');
    await refused('loopA', /circle/);
  });

  it('refuses bad names with a clear reason', async () => {
    await refused('', /empty/);
    await refused('a\0b', /NUL/);
    await refused('x'.repeat(5_000), /too long/);
    await refused(`src/${'x'.repeat(300)}`, /too long/);
    await refused('src/a.ts/below', /a file, not a folder/);
  });

  it('reads the folder of full outputs and nothing else outside, and never writes there', async () => {
    const path = join(fixture.context.outDirectory, 'toolu_1.txt');
    assert.equal((await resolve(path)).kind, 'inside');
    await refused(path, /outside/, 'write');
    await refused(join(fixture.context.outDirectory, '..', 'other.jsonl'), /outside/);
  });

  it('does not let an agent in place read the records of Runs', async () => {
    const rules = { root: fixture.main, commonDir: join(fixture.main, '.git'), outDirectory: '/none' };
    const answer = await resolveInside('.git/tributary/tasks/x/task.json', rules, 'read');
    assert.equal(answer.kind, 'refused');
  });

  it("does not write git's own files under any name that a file system takes for .git", async () => {
    for (const path of [
      '.git',
      '.git/config',
      '.GIT/config',
      '.Git/hooks/x',
      'src/.git/config',
      '.git /config',
      '.git./config',
      '.git. . /config',
      '.git::$INDEX_ALLOCATION/config',
      'git~1/config',
      'GIT~2/config',
      '.g\u200cit/config',
      '\ufeff.git/config',
      '.gi\u202et/config',
      '.git\\config',
      'src\\.git\\config',
      'toGit/config',
    ]) {
      await refused(path, /git's own files/, 'write');
    }
    for (const path of ['.gitignore', '.github/x', 'git/x', '.gitmodules', 'src/git~x', 'x.git/y']) {
      assert.equal((await resolve(path, 'write')).kind, 'inside', path);
    }
    assert.ok(isGitAdminName('.git') && !isGitAdminName('.gitattributes'));
  });

  it('does not open a link that took the place of the file, nor what is no file', async () => {
    assert.deepEqual(await openForReading(join(root, 'toSecret')), {
      kind: 'refused',
      message: 'a symbolic link stands there',
    });
    assert.deepEqual(await openForReading(join(root, 'src')), {
      kind: 'refused',
      message: 'not a plain file',
    });
    // A folder on the way is a link: the file opens, but it is not the path that was looked at.
    assert.equal((await openForReading(join(root, 'toFolder', 'secret'))).kind, 'refused');
    const opened = await openForReading(join(root, 'src', 'a.ts'));
    assert.equal(opened.kind, 'opened');
    if (opened.kind === 'opened') await opened.handle.close();
  });

  it('never resolves to a place outside, whatever parts a path is made of', async () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'src',
      'deep',
      'a.ts',
      'toFolder',
      'toSecret',
      'toInside',
      'dangling',
      'loopA',
      'main',
      'secret',
      'new',
      '.git',
      'one',
      'main.worktrees',
    );
    const start = fc.constantFrom('', '/', './', `${root}/`, `${root}/../`, `${fixture.folder}/`);
    await fc.assert(
      fc.asyncProperty(start, fc.array(part, { maxLength: 8 }), async (first, parts) => {
        for (const purpose of ['read', 'write'] as const) {
          const answer = await resolve(first + parts.join('/'), purpose);
          if (answer.kind === 'refused') continue;
          assert.ok(isInside(answer.absolute, root), answer.absolute);
          if (!answer.exists) continue;
          assert.equal(await realpath(answer.absolute), answer.absolute);
          const text = await readFile(answer.absolute, 'utf8').catch(() => '');
          assert.ok(text === '' || text === 'a', text);
        }
      }),
      { seed: 3, numRuns: process.env['TRIBUTARY_LONG'] ? 20_000 : 500 },
    );
  });
});
