import assert from 'node:assert/strict';
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { TributaryError } from '../../src/base/errors';
import type { Core } from '../../src/composeCore';
import type { Task } from '../../src/model/task';
import { cleanUp, fingerprint, listing, makeRepo, repoAt, type TempRepo } from '../git/support/tempRepo';
import { age, TestCores } from './support/board';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
const verbs = ['list', 'discard', 'accept', 'restoreTo', 'sweep', 'mend'] as const;

describe('records that lie about where a Worktree is', () => {
  let cores: TestCores;

  beforeEach(async () => {
    cores = await TestCores.start();
  });
  afterEach(async () => {
    await cores.close();
    await cleanUp();
  });

  /** All that is the user's: the checkout, a worktree of theirs, what lies around, and their refs. */
  async function theirs(repo: TempRepo): Promise<unknown> {
    const lines = (await listing(repo.folder)).split('\n').filter((line) => !/^repo\.worktrees\//.test(line));
    const { refs = '', ...own } = await fingerprint(repo.root);
    const mine = refs.split('\n').filter((line) => !line.startsWith('refs/heads/tributary/'));
    return { lines, own, mine, other: await repoAt(repo.folder, join(repo.folder, 'mine')).git('status') };
  }

  async function perform(core: Core, task: Task, verb: (typeof verbs)[number]): Promise<void> {
    const { tasks } = core;
    if (verb === 'list') await tasks.list();
    else if (verb === 'discard') await tasks.discard(task.id);
    else if (verb === 'accept') await tasks.accept(task.id);
    else if (verb === 'restoreTo') await tasks.restoreTo(task.id, { snapshot: 1 });
    else if (verb === 'sweep') await tasks.housekeeping.sweep();
    else await tasks.housekeeping.examine({ mend: true });
  }

  it('let nothing outside our root and refs be removed or written, whatever is done', async () => {
    const repo = await makeRepo({ files: { 'a.txt': 'a\n', 'src/b.txt': 'b\n' } });
    await repo.write('untracked.txt', 'mine');
    await mkdir(join(repo.folder, 'empty'));
    await writeFile(join(repo.folder, 'beside.txt'), 'beside');
    await repo.git('worktree', 'add', '-q', '-b', 'mine', join(repo.folder, 'mine'));
    await symlink(repo.root, join(repo.folder, 'link'));
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'a.txt': 'a\n' });
    const board = join(core.repository.commonDir, 'tributary');
    const files = [
      join(board, 'tasks', task.id, 'task.json'),
      join(board, 'worktrees', 'index.json'),
    ] as const;
    await age(core, task, 40);
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    const before = await theirs(repo);
    const { folder, root } = repo;
    const place = fc.constantFrom(
      ...['/', folder, root, `${root}/`, `${root}/.git`, `${root}/src`, `${folder}/mine`, `${folder}/empty`],
      ...[
        `${folder}/beside.txt`,
        `${folder}/link`,
        `${folder}/repo.worktrees`,
        `${folder}/repo.worktrees/..`,
      ],
      ...[
        `${folder}/repo.worktrees/../mine`,
        `${folder}/new\nline`,
        'relative',
        '',
        '..',
        `${folder}/link/src`,
      ],
    );
    const branch = fc.constantFrom(
      ...['refs/heads/tributary/write', 'refs/heads/main', 'refs/heads/mine', 'HEAD', '', '--force'],
    );
    const state = fc.constantFrom('ready', 'busy', 'creating', 'removing', 'removed', 'missing', 'failed');
    const change = (text: string, path: string, named: string, to: string): string =>
      text
        .replaceAll(JSON.stringify(task.worktreePath), JSON.stringify(path))
        .replaceAll(JSON.stringify(task.branch), JSON.stringify(named))
        .replace(/"state": "(ready|removed)"/, `"state": "${to}"`);
    await fc.assert(
      fc.asyncProperty(
        place,
        branch,
        state,
        fc.constantFrom('both', 'task', 'index'),
        fc.constantFrom(...verbs),
        async (path, named, to, lies, verb) => {
          for (const [at, file] of files.entries()) {
            const text = texts[at] ?? '';
            const isHostile = lies === 'both' || (lies === 'task') === (at === 0);
            await writeFile(file, isHostile ? change(text, path, named, to) : text);
          }
          await perform(core, task, verb).catch((error: unknown) => {
            assert.ok(error instanceof TributaryError, `${verb} at ${path}: ${String(error)}`);
          });
          assert.deepEqual(await theirs(repo), before, `${verb} at ${path} on ${named}`);
        },
      ),
      { numRuns: isLong ? 400 : 20, seed: 11 },
    );
  });

  it('a root that became a link to the checkout’s folder is refused, and all behind it stays', async () => {
    const repo = await makeRepo({ files: { 'a.txt': 'a\n' } });
    const core = await cores.open(repo.root);
    const task = await cores.task(core, 'Write', { 'one.txt': '1' });
    await mkdir(join(repo.folder, 'victims', 'write'), { recursive: true });
    await writeFile(join(repo.folder, 'victims', 'write', 'work'), 'of the user');
    await rename(`${repo.root}.worktrees`, `${repo.root}.moved`);
    await symlink(join(repo.folder, 'victims'), `${repo.root}.worktrees`);
    const before = await listing(repo.folder);
    await assert.rejects(core.tasks.discard(task.id), { code: 'worktreeFailed' });
    await core.tasks.housekeeping.sweep();
    await core.tasks.housekeeping.examine({ mend: true });
    assert.equal(await listing(repo.folder), before);
  });
});
