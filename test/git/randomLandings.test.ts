import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openLayer } from './support/layer';
import { generator } from './support/random';
import { cleanUp, type FileSpec, fingerprint, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const isLong = process.env['TRIBUTARY_LONG'] !== undefined;
const seeds = Array.from({ length: isLong ? 150 : 4 }, (_, index) => index + 1);

const names = ['a', 'b', 'c', 'd/e', 'd/f', 'g/h/i', 'new\nline', ' blank', 'x.log'];

function randomContent(random: (below: number) => number): FileSpec {
  const lines = Array.from({ length: 12 }, (_, line) => `line ${line}${random(6) === 0 ? random(3) : ''}`);
  const text = lines.join(random(5) === 0 ? '\r\n' : '\n');
  const kinds: FileSpec[] = [
    text,
    `${text}\n`,
    '',
    { executable: text },
    { link: 'a' },
    Buffer.from([0, random(3)]),
  ];
  return kinds[random(9)] ?? text;
}

async function randomChange(repo: TempRepo, random: (below: number) => number): Promise<void> {
  const name = names[random(names.length)] ?? 'a';
  await rm(join(repo.root, name), { recursive: true, force: true });
  if (random(4) > 0) await repo.write(name, randomContent(random));
}

async function disturb(repo: TempRepo, random: (below: number) => number): Promise<void> {
  for (let count = random(5); count > 0; count -= 1) await randomChange(repo, random);
  if (random(2) === 0) await repo.git('add', '--all');
  for (let count = random(3); count > 0; count -= 1) await randomChange(repo, random);
}

describe('random landings', () => {
  after(cleanUp);

  for (const seed of seeds) {
    it(`change only their paths, end at the merged tree and are undone exactly (seed ${seed})`, async () => {
      const random = generator(seed);
      const repo = await makeRepo({ files: { '.gitignore': '*.log\n' } });
      for (const name of names.slice(0, 7)) await repo.write(name, randomContent(random));
      const base = await repo.commitAll('base');
      const task = join(repo.folder, 'task');
      await repo.git('worktree', 'add', '-q', '--detach', task);
      await disturb(repoAt(repo.folder, task), random);
      await disturb(repo, random);
      const { merges, snapshots, changes } = await openLayer(repo.root);
      const theirs = await snapshots.treeOf(task);
      const before = await fingerprint(repo.root);
      const preview = await merges.preview({ checkout: repo.root, base, theirs });
      assert.deepEqual(await fingerprint(repo.root), before);
      if (preview.conflicts.length > 0) return;
      const directory = join(repo.folder, 'journal');
      const { merged, paths } = preview;
      assert.deepEqual(await merges.stalePaths(repo.root, paths), []);
      const staged = await merges.stage({ checkout: repo.root, merged, paths, directory });
      const put = async (to: 'before' | 'after'): Promise<void> => {
        for (const isRemoval of [true, false]) {
          for (const [index, one] of staged.entries()) {
            if ((one[to].kind === 'absent') !== isRemoval) continue;
            await merges.putSide(repo.root, one.path, one[to], {
              contentFile: join(directory, to, `${index}`),
            });
          }
        }
      };
      await put('after');
      const landed = await merges.preview({ checkout: repo.root, base, theirs });
      assert.equal(landed.ours, merged, 'what stands is what was previewed');
      const touched = new Set(paths.map(({ path }) => path));
      const differing = await changes.changeSet(preview.ours, landed.ours);
      for (const { path, oldPath } of differing.files)
        assert.ok(touched.has(path) && touched.has(oldPath ?? path));
      await put('before');
      assert.deepEqual(await fingerprint(repo.root), before);
    });
  }
});
