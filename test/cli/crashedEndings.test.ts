import assert from 'node:assert/strict';
import { type FSWatcher, watch } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleanUp, listing } from '../git/support/tempRepo';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { endClis } from './support/cli';
import {
  assertWorktreesAgree,
  type CrashSite,
  makeCrashSite,
  processesOf,
  recordOf,
  runArguments,
  slug,
  userSide,
} from './support/crashSite';
import { byRole, call, finalAnswer, passingVerifier } from './support/job';

/** Changes, adds and deletes many files, and leaves one that git ignores. */
const spread = `
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
mkdirSync('many/new', { recursive: true });
for (let index = 0; index < 60; index += 1) {
  writeFileSync('many/old' + index + '.txt', 'changed ' + index + '\\r\\n'.repeat(index % 3));
  writeFileSync('many/new/added' + index + '.txt', 'added ' + index);
}
for (let index = 60; index < 80; index += 1) rmSync('many/old' + index + '.txt');
mkdirSync('ignored');
writeFileSync('ignored/only-copy.txt', 'nowhere else');
`;

type Ending = 'accept' | 'undo' | 'discard' | 'restore';

/** The endings in turn, so that each leads to the state the next one needs. */
const circle: readonly Ending[] = ['accept', 'undo', 'discard', 'restore'];

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
/** At how many-th change on disk the process is killed: in what it prepares, in the writing, in the clearing up. */
const killedAt = isLong
  ? [
      ...Array.from({ length: 12 }, (_, index) => 1 + index),
      ...Array.from({ length: 30 }, (_, index) => 20 + index * 20),
    ]
  : [3, 40, 300];

describe('kill -9 in the middle of', () => {
  let server: StrictServer;
  let site: CrashSite;
  let before: Record<string, string>;
  let landed: string;
  let patch: string;

  beforeEach(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    site = await makeCrashSite(server);
    await prepare(site);
    before = await userSide(site.repo);
    server.script(
      byRole(
        [call('Bash', { command: 'node spread.mjs' }), { content: [{ type: 'text', text: finalAnswer }] }],
        passingVerifier,
      ),
    );
    const run = await site.cli(...runArguments);
    assert.equal(run.exitCode, 0, run.stderr);
    patch = (await site.cli('diff', slug)).stdout.toString('latin1');
    assert.equal((await site.cli('accept', slug)).exitCode, 0);
    landed = await listing(site.repo.root);
    assert.notEqual(landed, before['files']);
    assert.equal((await site.cli('undo', slug)).exitCode, 0);
    assert.deepEqual(await userSide(site.repo), before);
  });
  afterEach(async () => {
    for (const { pid } of await processesOf(site)) process.kill(pid, 'SIGKILL');
    await endClis();
    await server.close();
    await cleanUp();
  });

  it('accept, undo, discard and restore: the next command finishes it or takes it back, and no byte is lost', async function () {
    // Dozens of processes one after another.
    this.timeout(isLong ? 3_600_000 : 300_000);
    for (const count of killedAt) {
      for (const ending of circle) {
        await bringTo(site, ending);
        const { state } = await recordOf(site.repo);
        await killAtChange(site, ending, count);
        const where = `${ending} killed at change ${count}`;
        const list = await site.cli('list', '--json');
        assert.equal(list.exitCode, 0, `${where}: ${list.stderr}`);
        assert.deepEqual(list.data['problems'], [], where);
        const task = await recordOf(site.repo);
        assert.equal(task.pending, undefined, where);
        assert.ok([state, stateAfter[ending]].includes(task.state), `${where}: ${task.state}`);
        await assertWhole(task.state, where);
      }
    }
  });

  /** The checkout is as the Task's state says, the user's side untouched, the work all there. */
  async function assertWhole(state: string, where: string): Promise<void> {
    const { files, status, ...rest } = await userSide(site.repo);
    const { files: filesBefore, status: statusBefore, ...restBefore } = before;
    assert.deepEqual(rest, restBefore);
    assert.equal(files, state === 'accepted' ? landed : filesBefore, `${where}: ${state}`);
    if (state !== 'accepted') assert.equal(status, statusBefore);
    await assertWorktreesAgree(site.repo);
    if (state === 'open') {
      assert.equal((await site.cli('diff', slug)).stdout.toString('latin1'), patch);
      assert.equal(await readFile(join(site.worktree, 'ignored/only-copy.txt'), 'utf8'), 'nowhere else');
    } else {
      await assert.rejects(readdir(site.worktree));
    }
  }
});

const stateAfter = { accept: 'accepted', undo: 'open', discard: 'discarded', restore: 'open' } as const;

async function prepare({ repo }: CrashSite): Promise<void> {
  for (let index = 0; index < 80; index += 1)
    await repo.write(
      `many/old${index}.txt`,
      index % 7 === 0 ? Buffer.from([index, 0, 255]) : `old ${index}\n`,
    );
  await repo.write('spread.mjs', spread);
  await repo.write('.gitignore', 'ignored/\n');
  await repo.git('add', 'many', 'spread.mjs', '.gitignore');
  await repo.git('commit', '--quiet', '--message', 'many', '--', 'many', 'spread.mjs', '.gitignore');
  // Something of the user's own in the folder that is written to.
  await repo.write('many/mine.txt', 'mine\n');
}

/** Brings the Task to a state that the ending needs. */
async function bringTo(site: CrashSite, ending: Ending): Promise<void> {
  const needed = { accept: 'open', undo: 'accepted', discard: 'open', restore: 'discarded' }[ending];
  const steps: Record<string, Record<string, Ending | undefined>> = {
    open: { accepted: 'accept', discarded: 'discard' },
    accepted: { open: 'undo', discarded: 'undo' },
    discarded: { open: 'restore', accepted: 'restore' },
  };
  for (let step = 0; step < 3; step += 1) {
    const { state } = await recordOf(site.repo);
    const verb = steps[state]?.[needed];
    if (state === needed || verb === undefined) return;
    const end = await site.cli(verb, slug);
    assert.equal(end.exitCode, 0, end.stderr);
  }
}

/** Runs the ending and kills it at the `count`-th change of what it writes, unless it has ended by then. */
async function killAtChange(site: CrashSite, ending: Ending, count: number): Promise<void> {
  const board = join(site.repo.root, '.git', 'tributary');
  const folders = [
    site.repo.root,
    join(site.repo.root, 'many'),
    `${site.repo.root}.worktrees`,
    join(board, 'worktrees'),
    join(board, 'journal'),
    join(board, 'tasks', (await recordOf(site.repo)).id),
  ];
  const watchers: FSWatcher[] = [];
  let seen = 0;
  const run = site.start([ending, slug]);
  for (const folder of folders) {
    const watcher = watch(folder, () => {
      seen += 1;
      if (seen === count) run.kill('SIGKILL');
    });
    watcher.on('error', () => undefined);
    watchers.push(watcher);
  }
  await run.ended;
  for (const watcher of watchers) watcher.close();
}
