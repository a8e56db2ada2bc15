import assert from 'node:assert/strict';
import { chmod, link, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolContext, ToolOutcome } from '../../../src/agent/tools/tool';
import { createToolSet } from '../../../src/agent/tools/toolSet';
import { runCommand } from '../../../src/process/runCommand';
import { makeToolFixture, type ToolFixture, toolCall } from '../../fakes/toolContext';

describe('Read, Write and Edit', () => {
  let fixture: ToolFixture;
  beforeEach(async () => {
    fixture = await makeToolFixture();
  });
  afterEach(() => fixture.dispose());

  const run = (name: string, input: unknown, more: Partial<ToolContext> = {}): Promise<ToolOutcome> =>
    createToolSet(['Read', 'Write', 'Edit'], { ...fixture.context, ...more }).run(
      { type: 'tool_use', id: 't', name, input },
      toolCall(),
    );
  const put = async (name: string, content: string | Buffer): Promise<void> => {
    await mkdir(join(fixture.root, name, '..'), { recursive: true });
    await writeFile(join(fixture.root, name), content);
  };
  const get = (name: string): Promise<Buffer> => readFile(join(fixture.root, name));
  const read = (file_path: string, more: object = {}): Promise<ToolOutcome> =>
    run('Read', { file_path, ...more });
  const refused = (outcome: ToolOutcome, about: RegExp): void => {
    assert.equal(outcome.isError, true, String(outcome.content));
    assert.match(String(outcome.content), about);
    assert.equal(outcome.mayHaveChanged, false);
  };

  describe('Read', () => {
    it('numbers lines from 1 and says nothing else of a plain file', async () => {
      await put('a.txt', 'one\n\ntwo\n');
      assert.equal((await read('a.txt')).content, '1\tone\n2\t\n3\ttwo');
      await put('b.txt', 'no end');
      assert.equal((await read('b.txt')).content, '1\tno end');
    });

    it('reads a part, and says how to go on', async () => {
      await put('a.txt', Array.from({ length: 3_000 }, (_, index) => `l${index + 1}`).join('\n'));
      const part = String((await read('a.txt', { offset: 10, limit: 2 })).content);
      assert.equal(part, '10\tl10\n11\tl11\n(lines 10-11 of 3000; go on with offset 12)');
      const whole = String((await read('a.txt')).content);
      assert.match(whole, /2000\tl2000\n\(lines 1-2000 of 3000; go on with offset 2001\)$/);
      refused(await read('a.txt', { offset: 4_000 }), /3000 lines; offset 4000 is behind its end/);
    });

    it('shortens long lines and says so', async () => {
      await put('a.txt', `${'x'.repeat(2_500)}\nshort`);
      const content = String((await read('a.txt')).content);
      assert.ok(content.startsWith(`1\t${'x'.repeat(2_000)}...\n2\tshort\n`));
      assert.match(content, /\(1 lines shortened to 2000 characters\)$/);
    });

    it('says that a file is empty, binary, a folder or missing', async () => {
      await put('empty', '');
      await put('binary', Buffer.from([1, 0, 2]));
      await mkdir(join(fixture.root, 'folder'));
      assert.equal((await read('empty')).content, '(empty is empty)');
      refused(await read('binary'), /binary \(3 bytes\)/);
      refused(await read('folder'), /folder.*Glob/);
      refused(await read('missing'), /no such file/);
    });

    it('names CRLF, a byte order mark and other encodings', async () => {
      await put('a.txt', '\ufeffone\r\ntwo\r\n');
      assert.equal((await read('a.txt')).content, '1\tone\n2\ttwo\n(byte order mark, CRLF line ends)');
      await put('b.txt', Buffer.from('\ufeffü\n', 'utf16le'));
      assert.equal((await read('b.txt')).content, '1\tü\n(UTF-16 LE)');
    });

    it('gives images as image blocks, by their bytes and not their names, up to a size', async () => {
      const png = Buffer.from(
        'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
        'base64',
      );
      await put('a.dat', png);
      assert.deepEqual((await read('a.dat')).content, [
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
      ]);
      await put('fake.png', 'text');
      assert.equal((await read('fake.png')).content, '1\ttext');
      await put('large.png', Buffer.concat([png, Buffer.alloc(4_000_000)]));
      refused(await read('large.png'), /at most 3750000/);
    });

    it('does not wait for a pipe', async () => {
      await runCommand({
        command: { kind: 'args', file: 'mkfifo', args: ['pipe'] },
        cwd: fixture.root,
        env: fixture.context.commandEnv,
      });
      refused(await read('pipe'), /not a plain file/);
    });

    it('opens the full output of a command', async () => {
      const path = join(fixture.context.outDirectory, 'toolu_1.txt');
      await writeFile(path, 'long\n');
      assert.equal((await read(path)).content, '1\tlong');
    });
  });

  describe('Write', () => {
    it('creates a file and the folders above it', async () => {
      const outcome = await run('Write', { file_path: 'a/b/c.txt', content: 'x\ny\n' });
      assert.deepEqual(outcome, {
        content: 'Created a/b/c.txt (2 lines).',
        isError: false,
        mayHaveChanged: true,
      });
      assert.equal(String(await get('a/b/c.txt')), 'x\ny\n');
      assert.deepEqual(await readdir(join(fixture.root, 'a/b')), ['c.txt']);
    });

    it('replaces only what the Run has read and what has not changed since', async () => {
      await put('a.txt', 'old');
      refused(await run('Write', { file_path: 'a.txt', content: 'new' }), /not read yet\. Read it first/);
      await read('a.txt');
      await put('a.txt', 'of the user');
      refused(await run('Write', { file_path: 'a.txt', content: 'new' }), /changed since it was read/);
      assert.equal(String(await get('a.txt')), 'of the user');
      await read('a.txt');
      await utimes(join(fixture.root, 'a.txt'), 1, 1);
      assert.equal((await run('Write', { file_path: 'a.txt', content: 'new' })).isError, false);
      // What it wrote itself it knows.
      assert.equal((await run('Write', { file_path: 'a.txt', content: 'newer' })).isError, false);
      assert.equal(String(await get('a.txt')), 'newer');
    });

    it('sees a change of the same size and time', async () => {
      await put('a.txt', 'aaaa');
      await utimes(join(fixture.root, 'a.txt'), 100, 100);
      await read('a.txt');
      await put('a.txt', 'bbbb');
      await utimes(join(fixture.root, 'a.txt'), 100, 100);
      refused(await run('Write', { file_path: 'a.txt', content: 'new' }), /changed since/);
    });

    it('refuses what is out of scope, and names the scope', async () => {
      const scope = ['src/**'];
      refused(
        await run('Write', { file_path: 'lib/a.ts', content: '' }, { scope }),
        /outside the scope.*src/,
      );
      assert.equal((await run('Write', { file_path: 'src/a.ts', content: '' }, { scope })).isError, false);
      await symlink('../lib', join(fixture.root, 'src', 'link'));
      await mkdir(join(fixture.root, 'lib'));
      refused(
        await run('Write', { file_path: 'src/link/a.ts', content: '' }, { scope }),
        /outside the scope/,
      );
    });

    it('keeps mode, encoding, byte order mark and line ends of what it replaces', async () => {
      await put('run.sh', '\ufeffone\r\ntwo\r\n');
      await chmod(join(fixture.root, 'run.sh'), 0o755);
      await read('run.sh');
      await run('Write', { file_path: 'run.sh', content: 'three\nfour\n' });
      assert.equal(String(await get('run.sh')), '\ufeffthree\r\nfour\r\n');
      assert.equal((await stat(join(fixture.root, 'run.sh'))).mode & 0o777, 0o755);
      await put('wide.txt', Buffer.from('\ufeffold', 'utf16le'));
      await read('wide.txt');
      await run('Write', { file_path: 'wide.txt', content: 'new' });
      assert.deepEqual(await get('wide.txt'), Buffer.from('\ufeffnew', 'utf16le'));
    });

    it('writes through a link inside, and does not touch what a hard link shares', async () => {
      await put('real.txt', 'old');
      await symlink('real.txt', join(fixture.root, 'link.txt'));
      const outside = join(fixture.folder, 'shared.txt');
      await link(join(fixture.root, 'real.txt'), outside);
      await read('link.txt');
      await run('Write', { file_path: 'link.txt', content: 'new' });
      assert.equal(String(await get('real.txt')), 'new');
      assert.equal(await readFile(outside, 'utf8'), 'old');
    });

    it("never writes outside, into git's files, over a folder, or for an agent that only reads", async () => {
      await mkdir(join(fixture.root, 'folder'));
      refused(await run('Write', { file_path: '../x', content: '' }), /outside/);
      refused(await run('Write', { file_path: join(fixture.main, 'x'), content: '' }), /user's checkout/);
      refused(await run('Write', { file_path: '.git', content: '' }), /git's own/);
      refused(await run('Write', { file_path: 'folder', content: '' }), /not a plain file/);
      refused(await run('Write', { file_path: 'x', content: '' }, { canWrite: false }), /does not write/);
      assert.deepEqual(await readdir(fixture.root), ['folder']);
    });
  });

  describe('Edit', () => {
    const edit = async (name: string, old_string: string, new_string: string, more: object = {}) => {
      await read(name);
      return run('Edit', { file_path: name, old_string, new_string, ...more });
    };

    it('replaces exact text and says where', async () => {
      await put('a.txt', 'one\ntwo\nthree\n');
      const outcome = await edit('a.txt', 'two\n', '$& $1 2\n');
      assert.equal(outcome.content, 'Edited a.txt: line 2.');
      assert.equal(outcome.mayHaveChanged, true);
      assert.equal(String(await get('a.txt')), 'one\n$& $1 2\nthree\n');
    });

    it('wants a unique place unless all are meant', async () => {
      await put('a.txt', 'x\ny\nx\n');
      refused(await edit('a.txt', 'x', 'z'), /occurs 2 times \(lines 1, 3\)/);
      const outcome = await edit('a.txt', 'x', 'z', { replace_all: true });
      assert.equal(outcome.content, 'Edited a.txt: lines 1, 3.');
      assert.equal(String(await get('a.txt')), 'z\ny\nz\n');
    });

    it('helps when the text was not found', async () => {
      await put('a.txt', 'if (a) {\n\treturn;\n}\n');
      refused(await edit('a.txt', 'if (a) {\n  return;\n}', 'x'), /Lines 1-3 differ from it only in blanks/);
      refused(await edit('a.txt', '', 'x'), /empty/);
      refused(await edit('a.txt', 'if', 'if'), /the same/);
    });

    it('keeps CRLF, byte order mark, mode and the missing last line end', async () => {
      await put('a.bat', '\ufeffone\r\ntwo\r\nthree');
      await chmod(join(fixture.root, 'a.bat'), 0o700);
      await edit('a.bat', 'one\ntwo', 'eins\nzwei\ndrei');
      assert.equal(String(await get('a.bat')), '\ufeffeins\r\nzwei\r\ndrei\r\nthree');
      await edit('a.bat', 'zwei', '2\n2b');
      assert.equal(String(await get('a.bat')), '\ufeffeins\r\n2\r\n2b\r\ndrei\r\nthree');
      assert.equal((await stat(join(fixture.root, 'a.bat'))).mode & 0o777, 0o700);
    });

    it('leaves the other bytes of a Latin-1 file alone', async () => {
      await put('a.txt', Buffer.from([0xe4, 0x0a, 0x61, 0x0a, 0xff]));
      await edit('a.txt', 'a\n', 'b\n');
      assert.deepEqual(await get('a.txt'), Buffer.from([0xe4, 0x0a, 0x62, 0x0a, 0xff]));
      refused(await edit('a.txt', 'b', '€'), /Latin-1/);
    });

    it('refuses a file unread, stale, missing, binary or out of scope', async () => {
      await put('a.txt', 'one');
      refused(await run('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'x' }), /not read yet/);
      await read('a.txt');
      await put('a.txt', 'one more');
      refused(await run('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'x' }), /changed since/);
      refused(await edit('missing', 'a', 'b'), /no such file/);
      refused(
        await run('Edit', { file_path: 'a.txt', old_string: 'o', new_string: 'x' }, { scope: ['src'] }),
        /outside the scope/,
      );
    });
  });
});
