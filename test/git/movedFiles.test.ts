import assert from 'node:assert/strict';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsideFolder, moveBack } from '../../src/git/movedFiles';

/** A file system of its own on Linux. */
const otherDisk = '/dev/shm';

describe('moving files to another file system and back', () => {
  const made: string[] = [];
  const folderIn = async (place: string): Promise<string> => {
    const folder = await mkdtemp(join(place, 'tributary-moved-'));
    made.push(folder);
    return folder;
  };
  before(async function () {
    const devices = await Promise.all(
      [tmpdir(), otherDisk].map((place) => lstat(place).catch(() => undefined)),
    );
    if (devices[1] === undefined || devices[0]?.dev === devices[1].dev) this.skip();
  });
  after(async () => {
    for (const folder of made) await rm(folder, { recursive: true });
  });

  it('keeps every file, link and folder, whatever they are called', async () => {
    const root = await folderIn(tmpdir());
    const aside = await folderIn(otherDisk);
    await mkdir(join(root, 'folder', 'deep'), { recursive: true });
    const names = ['x', 'x.tributary-part', 'folder/deep/y'];
    for (const name of names) await writeFile(join(root, name), name);
    await symlink('nowhere', join(root, 'link'));
    const folder = new AsideFolder(aside);
    for (const path of ['x.tributary-part', 'x', 'folder', 'link']) await folder.take(root, path);
    assert.deepEqual(await readdir(root), []);
    await writeFile(join(aside, '.tributary-0123456789abcdef.tmp'), 'what a killed copy left');
    await moveBack(aside, root);
    for (const name of names) assert.equal(await readFile(join(root, name), 'utf8'), name);
    assert.ok((await lstat(join(root, 'link'))).isSymbolicLink());
    assert.deepEqual((await readdir(root)).sort(), ['folder', 'link', 'x', 'x.tributary-part']);
  });
});
