import assert from 'node:assert/strict';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from '../../src/git/checkouts';
import type { FileHunks } from '../../src/model/hunks';
import type { LandingSelection } from '../../src/model/landing';
import { openStore } from '../../src/store/openStore';
import { Landing } from '../../src/tasks/landing';
import { plainAim, plainModes } from '../fakes/landingAims';
import { makeTask } from '../fakes/records';
import { openLayer } from './support/layer';
import { mergedByGit, subsetByGit, treeOfFiles } from './support/oracle';
import { generator } from './support/random';
import { cleanUp, fingerprint, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
const seeds = Array.from({ length: isLong ? 240 : 6 }, (_, index) => index + 1);

type Random = (below: number) => number;

const names = ['a.txt', 'b.txt', 'dir/c.txt', 'dir/d e.txt', 'crlf.txt', 'new\nline', 'empty'];

/** Lines that repeat, so that differences have several readings. */
function randomLines(random: Random): string[] {
  return Array.from({ length: 4 + random(16) }, (_, at) => (random(3) === 0 ? 'same' : `line ${at}`));
}

function edited(lines: readonly string[], random: Random): string[] {
  const next = [...lines];
  for (let count = 1 + random(5); count > 0; count -= 1) {
    const at = [0, next.length, random(next.length + 1)][random(3)] ?? 0;
    const kind = random(3);
    if (kind === 0) next.splice(at, 0, `added ${random(4)}`);
    else if (kind === 1) next.splice(at, 1);
    else next.splice(at, 1, `changed ${random(4)}`, ...(random(3) === 0 ? ['same'] : []));
  }
  return next;
}

function textOf(lines: readonly string[], eol: string, random: Random): Buffer {
  const end = lines.length > 0 && random(4) > 0 ? eol : '';
  // Not all of it is UTF-8, and nobody may mind.
  return Buffer.from(`${lines.join(eol)}${end}`.replace('line 3', 'line \xff3'), 'latin1');
}

async function linesOf(repo: TempRepo, name: string): Promise<string[]> {
  const text = Buffer.from(await repo.gitBytes('show', `HEAD:${name}`)).toString('latin1');
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

async function editSome(at: TempRepo, repo: TempRepo, random: Random, chance: number): Promise<void> {
  for (const name of names) {
    if (random(100) >= chance || name === 'empty') continue;
    const eol = name === 'crlf.txt' ? '\r\n' : '\n';
    await at.write(name, textOf(edited(await linesOf(repo, name), random), eol, random));
  }
}

/** Changes that are no hunks. */
async function oddChange(at: TempRepo, random: Random): Promise<void> {
  const kinds: (() => Promise<unknown>)[] = [
    () => at.write('added.txt', textOf(randomLines(random), '\n', random)),
    () => rm(join(at.root, 'b.txt'), { force: true }),
    () => at.write('bin', Buffer.from([0, 1, random(3)])),
    () => at.git('update-index', '--chmod=+x', 'a.txt').then(() => at.git('checkout-index', '-f', 'empty')),
    () => at.write('dir/c.txt', { link: '../a.txt' }),
    // Moved once, there is nothing left to move.
    () => rename(join(at.root, 'dir/d e.txt'), join(at.root, 'moved.txt')).catch(unlessMissing),
    () => rm(join(at.root, 'empty'), { force: true }),
    () => at.write('sub/empty', ''),
  ];
  await kinds[random(kinds.length)]?.();
}

/** Some files whole, some of others' hunks. */
function randomSelection(files: readonly FileHunks[], random: Random): LandingSelection {
  const wholes = files.filter((file) => (file.hunks.length === 0 ? random(2) === 0 : random(5) === 0));
  const hunks = files
    .filter((file) => !wholes.includes(file))
    .flatMap((file) => file.hunks)
    .filter(() => random(2) === 0);
  return { paths: wholes.map((file) => file.path), hunks: hunks.map((hunk) => hunk.id) };
}

describe('hunk subsets', () => {
  after(cleanUp);

  for (const seed of seeds) {
    it(`landed into a dirty tree equal an oracle built with plain git; undo restores exactly (seed ${seed})`, async () => {
      const random = generator(seed);
      const repo = await makeRepo();
      for (const name of names)
        await repo.write(
          name,
          name === 'empty' ? '' : textOf(randomLines(random), name === 'crlf.txt' ? '\r\n' : '\n', random),
        );
      const base = await repo.commitAll('base');
      const task = join(repo.folder, 'task');
      await repo.git('worktree', 'add', '-q', '--detach', task);
      const worktree = repoAt(repo.folder, task);
      await editSome(worktree, repo, random, 70);
      for (let count = random(4); count > 0; count -= 1) await oddChange(worktree, random);
      await editSome(repo, repo, random, 30);
      const { merges, snapshots, hunks } = await openLayer(repo.root);
      const tree = await snapshots.treeOf(task);
      const files = await hunks.list(base, tree);
      const all = { paths: files.map((file) => file.path), hunks: [] };
      assert.equal(
        await hunks.treeOf({ base, theirs: tree, selection: all }),
        tree,
        'all of it is the whole',
      );

      const selection = randomSelection(files, random);
      const theirs = await hunks.treeOf({ base, theirs: tree, selection });
      assert.equal(theirs, await subsetByGit(repo, { base, tree, files, selection }), 'the subset');

      const expected = await mergedByGit(repo, { base, ours: await treeOfFiles(repo), theirs });
      const before = await fingerprint(repo.root);
      const store = await openStore({ commonDir: join(repo.root, '.git') });
      try {
        const landing = new Landing({
          merges,
          modes: plainModes(merges),
          store,
          now: () => '2026-01-01T00:00:00.000Z',
        });
        const made = makeTask();
        const repository = { root: repo.root, head: base, base: { ref: 'HEAD', commit: base } };
        const steps = { journalled: async () => undefined, dropped: async () => undefined };
        const taskHere = { ...made, packet: { ...made.packet, repository } };
        const outcome = await landing.land(taskHere, { base, theirs, tree }, plainAim, { steps });
        assert.equal(outcome.kind, expected === undefined ? 'conflict' : 'landed');
        if (outcome.kind !== 'landed') return assert.deepEqual(await fingerprint(repo.root), before);
        assert.equal(await treeOfFiles(repo), expected, 'what stands in the checkout');
        assert.equal((await landing.undo(outcome.id)).kind, 'undone');
        assert.deepEqual(await fingerprint(repo.root), before);
      } finally {
        await store.owners.dispose();
      }
    });
  }
});
