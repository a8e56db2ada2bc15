import assert from 'node:assert/strict';
import { parsePatch } from '../../../src/git/parsers/patch';

const one = '1'.repeat(40);
const two = '2'.repeat(40);

function raw(letter: string, path: string, modes = '100644 100644'): string {
  return `:${modes} ${one} ${two} ${letter}\0${path}\0`;
}

function parsed(...parts: string[]): ReturnType<typeof parsePatch> {
  return parsePatch(Buffer.from(parts.join(''), 'latin1'));
}

const header = (path: string): string =>
  `diff --git a/${path} b/${path}\nindex 1..2 100644\n--- a/${path}\n+++ b/${path}\n`;

describe('the parser of patches without context', () => {
  it('gives each file its hunks with their bytes, whatever these are', () => {
    const files = parsed(
      raw('M', 'a'),
      raw('M', 'b'),
      '\0',
      header('a'),
      '@@ -1 +1,2 @@ heading\n-old \xff\n+new\r\n+--- not a header\n',
      '@@ -4,2 +5,0 @@\n-@@ -1 +1 @@\n-diff --git a/x b/x\n',
      header('b'),
      '@@ -0,0 +1 @@\n+only\n',
    );
    assert.deepEqual([...files.keys()], ['a', 'b']);
    const [first, second] = files.get('a') ?? [];
    assert.deepEqual(first?.old, Buffer.from('old \xff\n', 'latin1'));
    assert.deepEqual(first?.new.toString(), 'new\r\n--- not a header\n');
    assert.deepEqual(second?.old.toString(), '@@ -1 +1 @@\ndiff --git a/x b/x\n');
    assert.deepEqual([second.oldStart, second.oldLines, second.newStart, second.newLines], [4, 2, 5, 0]);
    assert.equal(files.get('b')?.[0]?.new.toString(), 'only\n');
  });

  it('knows a last line without a newline on either side', () => {
    const files = parsed(
      raw('M', 'a'),
      '\0',
      header('a'),
      '@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n',
      '@@ -9 +9 @@\n-c\n+c\n\\ No newline at end of file\n',
    );
    assert.deepEqual(
      files.get('a')?.map((hunk) => [hunk.old.toString(), hunk.new.toString()]),
      [
        ['b', 'b\n'],
        ['c\n', 'c'],
      ],
    );
  });

  it('gives none for modes, binaries and empty files, and takes a change of kind as one', () => {
    const files = parsed(
      raw('M', 'mode', '100644 100755'),
      raw('T', 'kind', '100644 120000'),
      raw('M', 'bin'),
      raw('M', 'last'),
      '\0',
      'diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n',
      'diff --git a/kind b/kind\ndeleted file mode 100644\n--- a/kind\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
      'diff --git a/kind b/kind\nnew file mode 120000\n--- /dev/null\n+++ b/kind\n@@ -0,0 +1 @@\n+to\n\\ No newline at end of file\n',
      'diff --git a/bin b/bin\nindex 1..2 100644\nBinary files a/bin and b/bin differ\n',
      header('last'),
      '@@ -1 +1 @@\n-x\n+y\n',
    );
    assert.deepEqual(
      [...files].map(([path, hunks]) => [path, hunks.length]),
      [
        ['mode', 0],
        ['kind', 2],
        ['bin', 0],
        ['last', 1],
      ],
    );
  });

  it('refuses what it does not understand instead of guessing', () => {
    const cut = [raw('M', 'a'), '\0', header('a'), '@@ -1,2 +1 @@\n-x\n'];
    assert.throws(() => parsed(...cut), { code: 'gitFailed' });
    assert.throws(() => parsed(raw('M', 'a'), raw('M', 'b'), '\0', header('a')), { code: 'gitFailed' });
    assert.deepEqual([...parsed('')], []);
  });
});
