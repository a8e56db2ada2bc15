import assert from 'node:assert/strict';
import { chmod, mkdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandingPath } from '../../src/model/landing';
import { openStore } from '../../src/store/openStore';
import { Landing, wholeOf } from '../../src/tasks/landing';
import { plainAim, plainModes } from '../fakes/landingAims';
import { makeTask } from '../fakes/records';
import { openLayer } from './support/layer';
import { cleanUp, fingerprint, listing, makeRepo, repoAt, type TempRepo } from './support/tempRepo';

const files = { 'real/x': 'x', 'dir/a': 'a', 'dir/deep/b': 'b', link: { link: 'real' }, 'secret.env': 's' };

interface Change {
  readonly title: string;
  readonly edit: (wt: TempRepo) => Promise<unknown>;
}

const changes: readonly Change[] = [
  {
    title: 'a link that became a folder',
    edit: async (wt) => {
      await rm(join(wt.root, 'link'));
      await wt.write('link/new', '1\n');
      await wt.write('link/deep/er', '2\n');
    },
  },
  {
    title: 'a folder that became a link to another',
    edit: async (wt) => {
      await rm(join(wt.root, 'dir'), { recursive: true });
      await symlink('real', join(wt.root, 'dir'));
    },
  },
  {
    title: 'a folder that became a link to a folder with the same names',
    edit: async (wt) => {
      await wt.write('real/a', 'other');
      await rm(join(wt.root, 'dir'), { recursive: true });
      await symlink('real', join(wt.root, 'dir'));
    },
  },
  {
    title: 'a folder and a link that changed places',
    edit: async (wt) => {
      await rm(join(wt.root, 'dir'), { recursive: true });
      await rm(join(wt.root, 'link'));
      await symlink('real', join(wt.root, 'dir'));
      await mkdir(join(wt.root, 'link'));
      await wt.write('link/a', 'a');
    },
  },
  {
    title: 'a file that became a folder, and a folder that became a file',
    edit: async (wt) => {
      await rm(join(wt.root, 'secret.env'));
      await wt.write('secret.env/x', 'x');
      await rm(join(wt.root, 'dir'), { recursive: true });
      await wt.write('dir', 'a file now');
    },
  },
  { title: 'a file nobody else may read that goes', edit: (wt) => rm(join(wt.root, 'secret.env')) },
  { title: 'a file nobody else may read that changes', edit: (wt) => wt.write('secret.env', 'changed') },
];

describe('a Landing', () => {
  after(cleanUp);

  for (const { title, edit } of changes) {
    it(`brings and takes back, byte for byte and bit for bit, ${title}`, async () => {
      const repo = await makeRepo({ files });
      await chmod(join(repo.root, 'secret.env'), 0o600);
      const { repository, worktrees, snapshots, merges } = await openLayer(repo.root);
      const { commit } = await repository.head();
      const path = join(repo.folder, 'w', 'x');
      await worktrees.create({ path, branch: 'refs/heads/tributary/x', commit, lockReason: 'r' });
      await edit(repoAt(repo.folder, path));
      const theirs = await snapshots.treeOf(path);
      const store = await openStore({ commonDir: join(repo.root, '.git') });
      try {
        const landing = new Landing({
          merges,
          modes: plainModes(merges),
          store,
          now: () => '2026-01-01T00:00:00.000Z',
        });
        const task = makeTask();
        const packet = {
          ...task.packet,
          repository: { root: repo.root, head: commit, base: { ref: 'HEAD', commit } },
        };
        const before = await fingerprint(repo.root);
        const outcome = await landing.land(
          { ...task, packet },
          wholeOf({ ...task, packet }, theirs),
          plainAim,
          {
            steps: { journalled: async () => undefined, dropped: async () => undefined },
          },
        );
        assert.ok(outcome.kind === 'landed', JSON.stringify(outcome));
        assert.equal(plain(await listing(repo.root)), plain(await listing(path)));
        assert.deepEqual(await landing.finish(outcome.id), { state: 'landed', left: [] });
        assert.equal((await landing.undo(outcome.id)).kind, 'undone');
        assert.deepEqual(await fingerprint(repo.root), before);
      } finally {
        await store.owners.dispose();
      }
    });
  }

  it('leaves the rights of a file it changes, and takes no bits from the copies it makes', async () => {
    const repo = await makeRepo({ files });
    await chmod(join(repo.root, 'secret.env'), 0o600);
    const { merges } = await openLayer(repo.root);
    await repo.git('checkout', '-q', '--detach');
    await repo.write('secret.env', 'changed');
    await repo.commitAll();
    const merged = (await repo.git('rev-parse', 'HEAD^{tree}')).trim();
    await repo.git('checkout', '-q', 'main');
    await chmod(join(repo.root, 'secret.env'), 0o600);
    const directory = join(repo.folder, 'journal');
    const paths: LandingPath[] = [
      { path: 'secret.env', before: { mode: '100644', blob: '' }, after: { mode: '100644', blob: '' } },
    ];
    const [staged] = await merges.stage({ checkout: repo.root, merged, paths, directory });
    assert.ok(staged?.before.kind === 'file' && staged.after.kind === 'file');
    assert.equal(staged.before.mode, 0o600);
    assert.equal(staged.after.mode, undefined);
    await merges.putSide(repo.root, 'secret.env', staged.after, {
      contentFile: join(directory, 'after', '0'),
    });
    assert.equal(await repo.read('secret.env'), 'changed');
    assert.equal((await stat(join(repo.root, 'secret.env'))).mode & 0o777, 0o600);
  });
});

/** A listing with the bits that git does not know left out. */
function plain(text: string): string {
  return text.replaceAll(' 600 ', ' 644 ');
}
