import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseFindings } from '../../../src/verify/findings';
import { locate, parsePlace, resolvePath } from '../../../src/verify/references';

const runs = process.env['TRIBUTARY_LONG'] ? 10_000 : 300;
const files = new Set([
  'src/x.ts',
  'src/y.ts',
  'src/my file.ts',
  'file.ts',
  'lib/index.ts',
  'test/index.ts',
  'lib/only.ts',
  'a/inner.ts',
  'inner.ts',
  'b/other.ts',
  'moved.ts',
  'app/(group)/[id]/page.tsx',
  'private/key.ts',
  'Makefile',
  'src/größe.ts',
  'docs/100%.md',
]);
const tree = { files, root: '/work tree/task' };
const windowsTree = { files, root: 'C:\\trees\\Task' };

const places: readonly [title: string, line: string, at: string | undefined][] = [
  ['path:line', 'error: src/x.ts:3 wrong', 'src/x.ts:3'],
  ['path:line:column', 'error: src/x.ts:3:7 wrong', 'src/x.ts:3:7'],
  ['a range', 'error: src/x.ts:10-20 wrong', 'src/x.ts:10-20'],
  ['a range with an en dash', 'error: src/x.ts:10–20 wrong', 'src/x.ts:10-20'],
  ['a range with columns', 'error: src/x.ts:10:2-20:3 wrong', 'src/x.ts:10:2-20:3'],
  ['a column range', 'error: src/x.ts:10:2-8 wrong', 'src/x.ts:10:2-10:8'],
  ['a range written backwards', 'error: src/x.ts:20-10 wrong', 'src/x.ts:20'],
  ['#L', 'error: src/x.ts#L10 wrong', 'src/x.ts:10'],
  ['#L to L', 'error: src/x.ts#L10-L20 wrong', 'src/x.ts:10-20'],
  ['#L to a bare number', 'error: src/x.ts#L10-20 wrong', 'src/x.ts:10-20'],
  ['#L with columns', 'error: src/x.ts#L10C2-L20C3 wrong', 'src/x.ts:10:2-20:3'],
  ['brackets', 'error: src/x.ts(10,5): wrong', 'src/x.ts:10:5'],
  ['brackets with a space', 'error: src/x.ts(10, 5): wrong', 'src/x.ts:10:5'],
  ['brackets with a line alone', 'error: src/x.ts(10) wrong', 'src/x.ts:10'],
  ['line in words', 'error: src/x.ts line 10 is wrong', 'src/x.ts:10'],
  ['lines in words', 'error: src/x.ts, lines 10 to 12', 'src/x.ts:10-12'],
  ['a line number in brackets', 'error: `src/x.ts` (line 4): wrong', 'src/x.ts:4'],
  ['a path in prose brackets', 'error: overflow (src/x.ts:3).', 'src/x.ts:3'],
  ['backticks', 'error: `src/x.ts:3` wrong', 'src/x.ts:3'],
  ['bold', 'error: **src/x.ts:3** wrong', 'src/x.ts:3'],
  ['double quotes', 'error: "src/x.ts:3", wrong', 'src/x.ts:3'],
  ['a full stop after it', 'error: see src/x.ts:3.', 'src/x.ts:3'],
  ['./ before it', 'error: ./src/x.ts:3 wrong', 'src/x.ts:3'],
  ['a path with steps', 'error: lib/../src/x.ts:3 wrong', 'src/x.ts:3'],
  ['a/ of a diff', 'error: a/src/x.ts:3 wrong', 'src/x.ts:3'],
  ['b/ of a diff', 'error: b/src/x.ts:3 wrong', 'src/x.ts:3'],
  ['a/ that is a real folder', 'error: a/inner.ts:3 wrong', 'a/inner.ts:3'],
  ['b/ of a file missing in a real folder b', 'error: b/moved.ts:3 wrong', undefined],
  ['backslashes', 'error: src\\x.ts:3 wrong', 'src/x.ts:3'],
  ['backslashes and a dot', 'error: .\\src\\x.ts:3 wrong', 'src/x.ts:3'],
  ['a Markdown link', 'error: [here](src/x.ts#L3) wrong', 'src/x.ts:3'],
  ['a link with the line in its text', 'error: [x.ts:7](src/x.ts) wrong', 'src/x.ts:7'],
  ['a link with colons', 'error: [`x`](src/x.ts:3:2) wrong', 'src/x.ts:3:2'],
  ['a link in angle brackets', 'error: [x](<src/my file.ts:3>) wrong', 'src/my file.ts:3'],
  ['a link with escapes', 'error: [x](src/my%20file.ts#L3) wrong', 'src/my file.ts:3'],
  ['a link whose text names another file', 'error: [src/y.ts:3](src/x.ts#L3) wrong', undefined],
  ['a web link', 'error: [x](https://example.com/src/x.ts#L3) wrong', undefined],
  ['a path below the Worktree', "error: '/work tree/task/src/x.ts:3' wrong", 'src/x.ts:3'],
  ['a path below the Worktree, bare', 'error: /work tree/task/src/x.ts:3 wrong', 'src/x.ts:3'],
  ['a file URL', 'error: [x](file:///work%20tree/task/src/x.ts#L3) wrong', 'src/x.ts:3'],
  ['a path below a look-alike root', 'error: `/work tree/task2/src/x.ts:3` wrong', undefined],
  ['an absolute path elsewhere', 'error: /src/x.ts:3 wrong', undefined],
  ['a path above the root', 'error: ../src/x.ts:3 wrong', undefined],
  ['a bare name that one file has', 'error: only.ts:3 wrong', 'lib/only.ts:3'],
  ['a bare name that two files have', 'error: index.ts:3 wrong', undefined],
  ['a bare name at the root too', 'error: inner.ts:3 wrong', 'inner.ts:3'],
  ['the end of a longer path', 'error: ub/x.ts:3 wrong', undefined],
  ['a path with another case', 'error: SRC/X.ts:3 wrong', undefined],
  ['a phantom', 'error: src/none.ts:3 wrong', undefined],
  ['a path with a space, quoted', 'error: `src/my file.ts:3` wrong', 'src/my file.ts:3'],
  ['a path with a space, bare', 'error: src/my file.ts:3 wrong', 'src/my file.ts:3'],
  ['a phantom with a space that ends like a real one', 'error: `src/new file.ts:3` wrong', undefined],
  ['brackets in the path', 'error: app/(group)/[id]/page.tsx:3 wrong', 'app/(group)/[id]/page.tsx:3'],
  ['an underscore that belongs to a phantom', 'error: _private/key.ts:3 wrong', undefined],
  ['a file without extension', 'error: Makefile:3 wrong', 'Makefile:3'],
  ['a per cent sign', 'error: docs/100%.md:3 wrong', 'docs/100%.md:3'],
  ['letters beyond ASCII', 'error: src/größe.ts:3 wrong', 'src/größe.ts:3'],
  ['full-width punctuation around it', 'error: （src/x.ts:3）。', 'src/x.ts:3'],
  ['line 0', 'error: src/x.ts:0 wrong', 'src/x.ts:1'],
  ['a line number beyond all files', 'error: src/x.ts:99999999999999999999 wrong', 'src/x.ts:1'],
  ['a real place after a phantom', 'error: src/none.ts:3 breaks src/x.ts:4', 'src/x.ts:4'],
  ['a path without a line', 'error: `src/x.ts` has no test', 'src/x.ts:1'],
];

function text(location: ReturnType<typeof parseFindings>[number]['location']): string | undefined {
  if (location === undefined) return undefined;
  const { path, line, column, endLine, endColumn } = location;
  const start = `${path}:${line}${column === undefined ? '' : `:${column}`}`;
  if (endLine === undefined && endColumn === undefined) return start;
  return `${start}-${endLine ?? line}${endColumn === undefined ? '' : `:${endColumn}`}`;
}

describe('Findings in prose', () => {
  for (const [title, line, at] of places) {
    it(`${at === undefined ? 'has no place for' : 'places'} ${title}`, () => {
      const [finding, ...more] = parseFindings(line, tree);
      assert.equal(text(finding?.location), at);
      assert.equal(more.length, 0);
    });
  }

  for (const [written, severity, title] of [
    ['error: src/x.ts:3 it breaks', 'error', 'it breaks'],
    ['[warning] src/x.ts:3 it may break', 'warning', 'it may break'],
    ['- **High** — `src/x.ts:3`: it breaks', 'error', 'it breaks'],
    ['- **Low:** src/x.ts:3 — a name', 'info', 'a name'],
    ['1. P1: src/x.ts:3 lost update', 'error', 'lost update'],
    ['src/x.ts:3: error: it breaks', 'error', 'it breaks'],
    ['src/x.ts:3 [nit] a name', 'info', 'a name'],
    ['src/x.ts(3,4): warning TS1: unused', 'none', ''],
    ['src/x.ts:3 (medium) a leak', 'warning', 'a leak'],
    ['CRITICAL: the sum overflows (src/x.ts:3)', 'error', 'the sum overflows'],
  ] as const) {
    it(`reads the severity and title of "${written}"`, () => {
      const [finding] = parseFindings(written, tree);
      assert.deepEqual([finding?.severity ?? 'none', finding?.title ?? ''], [severity, title]);
    });
  }

  it('lists the items under a heading of findings, with warning where none is said', () => {
    const answer = [
      '## Findings',
      '- src/x.ts:3 drops the last item',
      '  because the loop ends early',
      '- The cache is never emptied',
      '',
      'RISKS:',
      '- src/y.ts:9 may be slow',
      '',
      'VERDICT: FAIL',
    ].join('\n');
    assert.deepEqual(parseFindings(answer, tree), [
      {
        location: { path: 'src/x.ts', line: 3 },
        severity: 'warning',
        title: 'drops the last item',
        detail: 'src/x.ts:3 drops the last item\n  because the loop ends early',
      },
      { severity: 'warning', title: 'The cache is never emptied', detail: 'The cache is never emptied' },
    ]);
  });

  for (const [title, answer] of [
    ['evidence', 'EVIDENCE:\n- src/x.ts:3 - error: handled here\n- error: src/x.ts:4 shown'],
    ['changes', 'CHANGES:\n- error: src/x.ts:3 message reworded'],
    ['an empty list', '## Findings\n- None.\n'],
    ['a denied list', '## Issues\n- No issues found\n'],
    ['a fence', '```\nerror: src/x.ts:3 wrong\n```'],
    ['a place without a severity', 'I read src/x.ts:3 and src/y.ts:4.'],
    ['a severity without a place', 'error: it did not start'],
    ['a word that only mentions a severity', 'There is no error in src/x.ts:3 at all.'],
    ['an address', 'error: nothing listens on localhost:3000'],
    ['a time', 'note: at 12:30 it stopped'],
  ] as const) {
    it(`finds nothing in ${title}`, () => assert.deepEqual(parseFindings(answer, tree), []));
  }

  it('lists a finding that is told twice once', () => {
    assert.equal(parseFindings('error: src/x.ts:3 wrong\n\nerror: src/x.ts:3 wrong', tree).length, 1);
  });

  it('understands drive paths in a Worktree on a drive, whatever their capitals', () => {
    assert.equal(resolvePath('C:\\trees\\Task\\src\\x.ts', windowsTree), 'src/x.ts');
    assert.equal(resolvePath('c:/Trees/task/src/x.ts', windowsTree), 'src/x.ts');
    assert.equal(resolvePath('file:///C:/trees/Task/src/x.ts', windowsTree), 'src/x.ts');
    assert.equal(resolvePath('D:\\trees\\Task\\src\\x.ts', windowsTree), undefined);
    assert.deepEqual(parsePlace('C:\\trees\\Task\\src\\x.ts:3:4'), {
      path: 'C:\\trees\\Task\\src\\x.ts',
      line: 3,
      column: 4,
    });
    const [finding] = parseFindings('error: C:\\trees\\Task\\src\\x.ts:3 wrong', windowsTree);
    assert.equal(text(finding?.location), 'src/x.ts:3');
  });

  it('puts nothing on a file that the text does not name', () => {
    const part = fc.constantFrom(
      'a',
      'b',
      'x.ts',
      'src',
      '..',
      '.',
      'lib',
      'my file.ts',
      'X.ts',
      '_x.ts',
      'src2',
    );
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    const real = fc.uniqueArray(
      path.filter((name) => !/(^|\/)\.{0,2}(\/|$)/.test(name)),
      { minLength: 1, maxLength: 6 },
    );
    fc.assert(
      fc.property(real, path, fc.integer({ min: 1, max: 99 }), (names, written, line) => {
        const location = locate({ path: written, line }, { files: new Set(names), root: '/r' });
        if (location === undefined) return;
        assert.ok(names.includes(location.path));
        const normal = new URL(`file:///${encodeURI(written)}`).pathname.slice(1);
        const own = decodeURI(normal).replace(/^\/+|\/+$/g, '');
        const isNamed = [own, own.replace(/^[ab]\//, '')].includes(location.path);
        const isBareName = !written.includes('/') && location.path.endsWith(`/${written}`);
        assert.ok(isNamed || isBareName, `${written} was put on ${location.path}`);
        if (names.includes(own)) assert.equal(location.path, own);
      }),
      { numRuns: runs },
    );
  });

  it('survives any text', () => {
    const hostile = fc.array(
      fc.oneof(
        fc.string(),
        fc.constantFrom('error: ', 'src/x.ts:3', '](', '[', '(3,', '`', '#L', '\n- ', '## Findings\n', '\0'),
      ),
    );
    fc.assert(
      fc.property(hostile, (pieces) => {
        for (const { location } of parseFindings(pieces.join(''), tree)) {
          if (location !== undefined) assert.ok(files.has(location.path) && location.line >= 1);
        }
      }),
      { numRuns: runs },
    );
  });

  it('reads a long hostile line in a moment', () => {
    const started = performance.now();
    for (const part of ['[', '](', '`', 'a ', 'error: ', 'x/', 'a.b:1 ', '(1,', '"', ':1']) {
      parseFindings(`error: ${part.repeat(20_000)}`, tree);
    }
    assert.ok(performance.now() - started < 3_000);
  });
});
