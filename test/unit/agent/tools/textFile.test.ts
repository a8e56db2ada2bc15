import assert from 'node:assert/strict';
import fc from 'fast-check';
import { nearMiss } from '../../../../src/agent/tools/nearMiss';
import { outOfScopeReason } from '../../../../src/agent/tools/scope';
import { decodeText, encodeText, formatNote } from '../../../../src/agent/tools/textFile';

describe('text of files', () => {
  const roundTrip = (bytes: Buffer): Buffer | undefined => {
    const file = decodeText(bytes);
    return file && encodeText(file.text, file.format);
  };

  it('gives every byte back that it took for text', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (array) => {
        const bytes = Buffer.from(array);
        const file = decodeText(bytes);
        // A lone half of a UTF-16 pair is no text anybody can write back.
        if (file?.format.encoding.startsWith('utf16') && /\p{Surrogate}/u.test(file.text)) return;
        const back = roundTrip(bytes);
        if (back) assert.deepEqual(back, bytes);
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it('knows byte order marks, encodings and line ends', () => {
    const cases: [Buffer, string, string][] = [
      [Buffer.from('a\nb\n'), 'a\nb\n', ''],
      [Buffer.from('\ufeffa\r\n'), 'a\r\n', 'byte order mark, CRLF line ends'],
      [Buffer.from('a\r\nb\n'), 'a\r\nb\n', 'mixed line ends'],
      [Buffer.from('\ufeffä\n', 'utf16le'), 'ä\n', 'UTF-16 LE'],
      [Buffer.from('\ufeffä\n', 'utf16le').swap16(), 'ä\n', 'UTF-16 BE'],
      [Buffer.from([0x61, 0xe4, 0x0a]), 'aä\n', 'not UTF-8, read as Latin-1'],
    ];
    for (const [bytes, text, note] of cases) {
      const file = decodeText(bytes);
      assert.equal(file?.text, text);
      assert.equal(file && formatNote(file.format), note);
      assert.deepEqual(roundTrip(bytes), bytes);
    }
    assert.equal(decodeText(Buffer.from([1, 0, 2])), undefined);
  });

  it('says when an encoding has no such character', () => {
    assert.equal(encodeText('€', { encoding: 'latin1', hasBom: false, lineEnd: '\n' }), undefined);
  });
});

describe('an old_string that was not found', () => {
  const text = 'function a() {\n    return 1;\n}\nfunction b() {\n    return 2;\n}\n';

  it('is helped by what comes close', () => {
    assert.match(
      nearMiss(text, 'function a() {\n  return 1;\n}'),
      /^Lines 1-3 differ from it only in blanks/,
    );
    assert.match(nearMiss(text, '1\tfunction a() {\n2\t    return 1;'), /line numbers/);
    assert.match(nearMiss(text, 'function b() {\n    return 3;'), /Line 4 matches.*at line 5.*return 2;/);
    assert.match(nearMiss(text, 'nothing like it'), /Read the file again/);
  });
});

describe('the scope of a Task', () => {
  it('takes globs, folders and files', () => {
    const inside: [string, string[]][] = [
      ['src/a.ts', ['**']],
      ['.github/x', ['**']],
      ['src/a.ts', ['src/**']],
      ['src/a/b.ts', ['src']],
      ['src/a/b.ts', ['./src/']],
      ['src/a.ts', ['src/*.ts']],
      ['a.md', ['docs/**', '*.md']],
      ['a.md', ['*.{md,txt}']],
      ['src/two\nlines.ts', ['**']],
      ['src/two\nlines.ts', ['src/*.ts']],
    ];
    for (const [path, scope] of inside) assert.equal(outOfScopeReason(path, scope), undefined, path);
    const outside: [string, string[]][] = [
      ['lib/a.ts', ['src/**']],
      ['srcs/a.ts', ['src']],
      ['src/a/b.ts', ['src/*.ts']],
      ['a.ts', []],
      ['SRC/a.ts', ['src']],
    ];
    for (const [path, scope] of outside)
      assert.match(outOfScopeReason(path, scope) ?? '', /outside the scope/, path);
  });
});
