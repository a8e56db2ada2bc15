import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseBatchedBlobs } from '../../../src/git/parsers/batch';
import { parseChanges, parseRawDiff } from '../../../src/git/parsers/diffTree';
import { parseSpecialEntries, parseStagedEntries } from '../../../src/git/parsers/lsFiles';
import { parseMergeTree } from '../../../src/git/parsers/mergeTree';
import { decodePath, encodePath, fileAt, joinPaths, splitPaths } from '../../../src/git/parsers/pathBytes';
import {
  isAtLeast,
  parseGitVersion,
  parseRevParse,
  revParseSeparator,
} from '../../../src/git/parsers/revParse';
import { parseStatus } from '../../../src/git/parsers/statusV2';
import { parseWorktreeList } from '../../../src/git/parsers/worktreeList';
import { whyUnsafe } from '../../../src/git/safePath';

const one = '1'.repeat(40);
const two = '2'.repeat(40);
const none = '0'.repeat(40);

function output(...parts: string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part}\0`).join(''));
}

describe('paths as bytes', () => {
  it('come back as the same bytes, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        assert.deepEqual(encodePath(decodePath(bytes)), Buffer.from(bytes));
      }),
    );
  });

  it('come back as the same text, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        assert.equal(decodePath(encodePath(text)), text);
      }),
    );
  });

  it('keep a byte order mark, a replacement character and half characters', () => {
    for (const bytes of [
      [0xef, 0xbb, 0xbf, 0x61],
      [0xef, 0xbf, 0xbd],
      [0xe2, 0x82],
      [0xed, 0xa0, 0x80],
      [0xff],
    ]) {
      assert.deepEqual([...encodePath(decodePath(Buffer.from(bytes)))], bytes);
    }
  });

  it('are split at NUL and nowhere else', () => {
    const paths = ['a', 'new\nline', ' blank ', 'tab\t', decodePath(Buffer.from([0x61, 0xff]))];
    assert.deepEqual(splitPaths(joinPaths(paths)), paths);
    assert.deepEqual(splitPaths(Buffer.alloc(0)), []);
  });

  it('reach the file system as bytes only where a string would not do', () => {
    assert.equal(fileAt('/root', 'ünï'), '/root/ünï');
    assert.deepEqual(fileAt('/r', decodePath(Buffer.from([0xff]))), Buffer.from([0x2f, 0x72, 0x2f, 0xff]));
  });
});

describe('the parser of diff-tree', () => {
  it('reads additions, deletions, renames and type changes with their counts', () => {
    const text = output(
      `:000000 100644 ${none} ${one} A`,
      'new\nfile',
      `:100644 000000 ${one} ${none} D`,
      ':odd',
      `:100644 100755 ${one} ${two} R087`,
      'old',
      'renamed',
      `:100644 120000 ${one} ${two} T`,
      'type',
      '1\t0\tnew\nfile',
      '0\t5\t:odd',
      '2\t3\t',
      'old',
      'renamed',
      '-\t-\ttype',
    );
    const files = parseChanges(text);
    assert.deepEqual(
      files.map(({ path, oldPath, status, added, removed, isBinary }) => [
        path,
        oldPath,
        status,
        added,
        removed,
        isBinary,
      ]),
      [
        ['new\nfile', undefined, 'added', 1, 0, false],
        [':odd', undefined, 'deleted', 0, 5, false],
        ['renamed', 'old', 'renamed', 2, 3, false],
        ['type', undefined, 'typeChanged', 0, 0, true],
      ],
    );
    assert.equal(parseRawDiff(text).length, 4);
  });

  it('reads nothing from nothing and throws on what it does not know', () => {
    assert.deepEqual(parseChanges(Buffer.alloc(0)), []);
    assert.throws(() => parseChanges(output(':nonsense', 'path')));
    assert.throws(() => parseChanges(output(`:100644 100644 ${one} ${two} M`)));
    assert.throws(() => parseChanges(output(`:100644 100644 ${one} ${two} M`, 'path')));
    assert.throws(() => parseChanges(output(`:100644 100644 ${one} ${two} X`, 'path', '1\t1\tpath')));
  });
});

describe('the parser of ls-files', () => {
  it('picks hidden entries and gitlinks out of ordinary ones', () => {
    const text = output(
      `H 100644 ${one} 0\tordinary`,
      `h 100644 ${one} 0\tassumed`,
      `S 100644 ${one} 0\tskipped`,
      `s 100644 ${one} 0\tboth`,
      `H 160000 ${one} 0\tsub module`,
      `M 100644 ${one} 1\tunmerged`,
    );
    const flags = parseSpecialEntries(text).map((entry) => [
      entry.path,
      entry.isAssumedUnchanged,
      entry.isSkipWorktree,
      entry.isGitlink,
    ]);
    assert.deepEqual(flags, [
      ['assumed', true, false, false],
      ['skipped', false, true, false],
      ['both', true, true, false],
      ['sub module', false, false, true],
    ]);
  });

  it('finds wanted entries, merged ones only', () => {
    const text = output(`100644 ${one} 0\ta\tb`, `100644 ${one} 1\tunmerged`, `100755 ${two} 0\tother`);
    const found = parseStagedEntries(text, new Set(['a\tb', 'unmerged']));
    assert.deepEqual([...found], [['a\tb', { mode: '100644', blob: one }]]);
  });
});

describe('the parser of status', () => {
  it('tells what stands differently, is gone, is new or is in conflict, whatever the paths hold', () => {
    const ordinary = (states: string, path: string): string =>
      `1 ${states} N... 100644 100644 100644 ${one} ${one} ${path}\0`;
    const output = [
      ordinary('M.', 'only staged'),
      ordinary('.M', 'edited here\nand there'),
      ordinary('.D', ' gone'),
      ordinary('MT', 'a link now'),
      ordinary('.A', 'intended'),
      '? new file\0? nested/\0! ignored\0',
    ].join('');
    assert.deepEqual(parseStatus(Buffer.from(output)), {
      modified: ['edited here\nand there', 'a link now', 'intended'],
      deleted: [' gone'],
      untracked: ['new file', 'nested/'],
      isUnmerged: false,
    });
    const conflict = `u UU N... 100644 100644 100644 100644 ${one} ${one} ${one} both\0`;
    assert.equal(parseStatus(Buffer.from(conflict)).isUnmerged, true);
  });

  it('reads where HEAD is, unless another reading is possible', () => {
    const head = (commit: string, branch: string): unknown =>
      parseStatus(
        output(
          `# branch.oid ${commit}`,
          `# branch.head ${branch}`,
          '# branch.upstream o/x',
          '# branch.ab +? -?',
        ),
      ).head;
    assert.deepEqual(head(one, 'a/b c'), { commit: one, ref: 'refs/heads/a/b c' });
    assert.equal(head('(initial)', 'main'), undefined);
    assert.equal(head(one, '(detached)'), undefined);
    assert.equal(head(one, 'refs/tributary/x'), undefined);
  });
});

describe('the parser of worktree list', () => {
  it('reads bare, detached, locked (with newlines) and prunable records', () => {
    const text = Buffer.from(
      `worktree /bare\0bare\0\0worktree /a\nb\0HEAD ${one}\0branch refs/heads/x\0locked why\nindeed\0\0` +
        `worktree /c\0HEAD ${two}\0detached\0locked\0prunable gone\0\0`,
    );
    assert.deepEqual(parseWorktreeList(text), [
      { path: '/bare', isBare: true },
      { path: '/a\nb', isBare: false, head: one, branch: 'refs/heads/x', lockReason: 'why\nindeed' },
      { path: '/c', isBare: false, head: two, lockReason: '', prunableReason: 'gone' },
    ]);
  });
});

describe('the parser of merge-tree', () => {
  const names = new Map([
    [one, 'your files'],
    [two, 'the Task'],
  ]);
  const tree = 'a'.repeat(40);

  it('reads a clean merge, with and without messages', () => {
    assert.deepEqual(parseMergeTree(output(tree), names), { tree, conflicts: [] });
    assert.deepEqual(parseMergeTree(output(tree, ''), names), { tree, conflicts: [] });
    const merged = output(tree, '', '1', 'f', 'Auto-merging', 'Auto-merging f\n');
    assert.deepEqual(parseMergeTree(merged, names), { tree, conflicts: [] });
  });

  it('reads a conflict per file with its kind, and puts names for hashes', () => {
    const text = output(
      tree,
      `100644 ${one} 2\tf`,
      `100644 ${two} 3\td~${two}`,
      `100644 ${two} 3\tsilent`,
      '',
      '1',
      'f',
      'CONFLICT (contents)',
      'CONFLICT (add/add): Merge conflict in f\n',
      '2',
      `d~${two}`,
      'd',
      'CONFLICT (file/directory)',
      `CONFLICT (file/directory): directory in the way of d from ${two}; moving it to d~${two} instead.\n`,
      '1',
      'bin',
      'CONFLICT (binary)',
      'warning: Cannot merge binary files: bin\n',
      '1',
      'bin',
      'CONFLICT (contents)',
      'CONFLICT (content): Merge conflict in bin\n',
    );
    const { conflicts } = parseMergeTree(text, names);
    assert.deepEqual(
      conflicts.map(({ path, kind }) => [path, kind]),
      [
        ['f', 'add/add'],
        ['d', 'file/directory'],
        ['bin', 'binary'],
        ['silent', 'content'],
      ],
    );
    assert.match(conflicts[1]?.message ?? '', /from the Task; moving it to d~the Task/);
  });

  it('throws on what is no tree', () => {
    assert.throws(() => parseMergeTree(Buffer.from('fatal: no'), names));
  });
});

describe('small answers of git', () => {
  it('are parsed: version, rev-parse with separators, one blob', () => {
    assert.equal(parseGitVersion('git version 2.39.5 (Apple Git-154)'), '2.39.5');
    assert.equal(parseGitVersion('git version 2.45.1.windows.1'), '2.45.1');
    assert.equal(parseGitVersion('hub 1.0'), undefined);
    const text = `true\n${revParseSeparator}\n/a\nb\n${revParseSeparator}\n/c\n`;
    assert.deepEqual(parseRevParse(Buffer.from(text)), ['true', '/a\nb', '/c']);
    const blob = `${one} blob 4\n\n \r\n\n`;
    const tree = `${one} tree 4\nabcd\n`;
    assert.deepEqual(parseBatchedBlobs(Buffer.from(blob), 1), [Buffer.from('\n \r\n')]);
    const several = Buffer.from(`HEAD:x missing\n${blob}${tree}${one} blob 0\n\n${blob}`);
    assert.deepEqual(parseBatchedBlobs(several, 5), [
      undefined,
      Buffer.from('\n \r\n'),
      undefined,
      Buffer.alloc(0),
      Buffer.from('\n \r\n'),
    ]);
    assert.deepEqual(parseBatchedBlobs(Buffer.alloc(0), 2), [undefined, undefined]);
  });

  it('are compared as numbers, not as text', () => {
    assert.ok(isAtLeast('2.38', '2.38'));
    assert.ok(isAtLeast('2.100.0', '2.38'));
    assert.ok(isAtLeast('3.0', '2.38'));
    assert.ok(!isAtLeast('2.37.9', '2.38'));
    assert.ok(!isAtLeast('1.99', '2.38'));
  });
});

describe('paths a checkout may be written at', () => {
  it('are never refused for ordinary names', () => {
    const name = fc
      .stringMatching(/^[a-zA-Z0-9_-][a-zA-Z0-9._ -]*[a-zA-Z0-9_-]$/)
      .filter((text) => !/^git~/i.test(text));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
        assert.equal(whyUnsafe(names.join('/')), undefined);
      }),
    );
  });

  it('are refused wherever a part is a git directory or climbs', () => {
    const part = fc.constantFrom(
      '..',
      '.',
      '.git',
      '.GiT',
      '.git.',
      '.git ',
      'GIT~1',
      '.git:x',
      '.g\u200dit',
      '',
    );
    fc.assert(
      fc.property(
        fc.constantFrom('', 'a/', 'a/b/'),
        part,
        fc.constantFrom('', '/x'),
        (before, bad, after) => {
          assert.notEqual(whyUnsafe(`${before}${bad}${after}`), undefined);
        },
      ),
    );
  });
});
