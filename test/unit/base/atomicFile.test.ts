import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createFileAtomic,
  type FileOps,
  type OpenFile,
  systemFileOps,
  writeFileAtomic,
} from '../../../src/base/atomicFile';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as injected`), { code });
}

/** A disk that takes `room` bytes of each file and then is full. */
function fullDisk(room: number): FileOps {
  return {
    ...systemFileOps,
    open: async (path, flags, mode) => {
      const file = await systemFileOps.open(path, flags, mode);
      const narrow: OpenFile = {
        write: async (data, offset = 0, length = data.length) => {
          if (offset >= room) throw systemError('ENOSPC');
          return await file.write(data, offset, Math.min(length, room - offset));
        },
        sync: () => file.sync(),
        close: () => file.close(),
      };
      return narrow;
    },
  };
}

describe('An atomic write', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tributary atomic é '));
    path = join(folder, 'state.json');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('puts the new content in place and leaves no other file', async () => {
    await writeFileAtomic(path, 'one');
    await writeFileAtomic(path, 'zwei ü');
    assert.equal(await readFile(path, 'utf8'), 'zwei ü');
    assert.deepEqual(await readdir(folder), ['state.json']);
  });

  it('keeps bytes as they are', async () => {
    const bytes = Uint8Array.from([0, 255, 13, 10, 10]);
    await writeFileAtomic(path, bytes, { flush: 'folder' });
    assert.deepEqual(new Uint8Array(await readFile(path)), bytes);
  });

  it('gives the file the mode asked for', async () => {
    await writeFileAtomic(path, 'x', { mode: 0o600 });
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  it('leaves the old file whole and no temp file when the disk is full', async () => {
    await writeFile(path, 'old');
    await assert.rejects(writeFileAtomic(path, 'new content', { ops: fullDisk(3) }), {
      code: 'diskFull',
      message: /state\.json/,
    });
    assert.equal(await readFile(path, 'utf8'), 'old');
    assert.deepEqual(await readdir(folder), ['state.json']);
  });

  it('leaves the old file whole and no temp file when the flush fails', async () => {
    await writeFile(path, 'old');
    const ops: FileOps = {
      ...systemFileOps,
      open: async (name, flags, mode) => {
        const file = await systemFileOps.open(name, flags, mode);
        return {
          write: (data, offset, length) => file.write(data, offset, length),
          sync: () => Promise.reject(systemError('EDQUOT')),
          close: () => file.close(),
        };
      },
    };
    await assert.rejects(writeFileAtomic(path, 'new', { ops }), { code: 'diskFull' });
    assert.equal(await readFile(path, 'utf8'), 'old');
    assert.deepEqual(await readdir(folder), ['state.json']);
  });

  it('flushes the content before the name shows', async () => {
    const steps: string[] = [];
    const ops: FileOps = {
      ...systemFileOps,
      open: async (name, flags, mode) => {
        const file = await systemFileOps.open(name, flags, mode);
        return {
          write: (data, offset, length) => file.write(data, offset, length),
          sync: async () => {
            steps.push(name === folder ? 'sync folder' : 'sync file');
            await file.sync();
          },
          close: () => file.close(),
        };
      },
      rename: async (from, to) => {
        steps.push('rename');
        await systemFileOps.rename(from, to);
      },
    };
    await writeFileAtomic(path, 'x', { ops, flush: 'folder' });
    assert.deepEqual(steps, ['sync file', 'rename', 'sync folder']);
  });

  it('removes the temp file when the rename fails', async () => {
    const ops: FileOps = { ...systemFileOps, rename: () => Promise.reject(systemError('EROFS')) };
    await assert.rejects(writeFileAtomic(path, 'x', { ops }), { code: 'readOnly' });
    assert.deepEqual(await readdir(folder), []);
  });

  it('tries a rename again that a reader made fail', async () => {
    let refusals = 2;
    const ops: FileOps = {
      ...systemFileOps,
      rename: async (from, to) => {
        refusals -= 1;
        if (refusals >= 0) throw systemError('EBUSY');
        await systemFileOps.rename(from, to);
      },
    };
    await writeFileAtomic(path, 'x', { ops, renameRetriesMs: [1, 1] });
    assert.equal(await readFile(path, 'utf8'), 'x');
  });

  it('names the file when its folder is missing', async () => {
    await assert.rejects(writeFileAtomic(join(folder, 'no', 'file'), 'x'), {
      code: 'internal',
      message: /no.file/,
    });
  });
});

describe('An exclusive atomic creation', () => {
  let folder = '';
  let path = '';
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tributary-create-'));
    path = join(folder, 'lock');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const withoutLinks: FileOps = { ...systemFileOps, link: () => Promise.reject(systemError('EPERM')) };

  for (const [name, ops] of [
    ['with hard links', systemFileOps],
    ['without hard links', withoutLinks],
  ] as const) {
    it(`lets exactly one of many creators win, ${name}`, async () => {
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, index) => createFileAtomic(path, `creator ${index}`, { ops })),
      );
      assert.equal(won.filter(Boolean).length, 1);
      assert.equal(await readFile(path, 'utf8'), `creator ${won.indexOf(true)}`);
      assert.deepEqual(await readdir(folder), ['lock']);
    });
  }

  it('leaves nothing behind when the disk is full', async () => {
    await assert.rejects(createFileAtomic(path, 'content', { ops: fullDisk(2) }), { code: 'diskFull' });
    assert.deepEqual(await readdir(folder), []);
  });

  it('leaves an existing file alone', async () => {
    await writeFile(path, 'first');
    assert.equal(await createFileAtomic(path, 'second', { flush: 'none' }), false);
    assert.equal(await readFile(path, 'utf8'), 'first');
  });
});
