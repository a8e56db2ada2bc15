import assert from 'node:assert/strict';
import fc from 'fast-check';
import { mapLines } from '../../../src/editor/findings/lineMap';

const text = (...lines: string[]): string => lines.join('\n');

describe('lines mapped between two versions of a file', () => {
  it('stay where nothing changed', () => {
    assert.deepEqual(mapLines('a\nb\nc', 'a\nb\nc', { line: 2 }), { line: 2, endLine: 2, isSame: true });
  });

  it('move with lines that come or go before them', () => {
    assert.deepEqual(mapLines(text('a', 'b', 'c'), text('x', 'y', 'a', 'b', 'c'), { line: 2 }), {
      line: 4,
      endLine: 4,
      isSame: true,
    });
    assert.deepEqual(mapLines(text('x', 'a', 'b'), text('a', 'b'), { line: 3 }), {
      line: 2,
      endLine: 2,
      isSame: true,
    });
  });

  it('are not the same when one of them was changed or removed, and still have a place', () => {
    assert.deepEqual(mapLines(text('a', 'b', 'c'), text('a', 'B', 'c'), { line: 2 }), {
      line: 2,
      endLine: 2,
      isSame: false,
    });
    assert.deepEqual(mapLines(text('a', 'b', 'c'), text('a', 'c'), { line: 2 }), {
      line: 2,
      endLine: 2,
      isSame: false,
    });
    assert.equal(
      mapLines(text('a', 'b', 'c'), text('a', 'b', 'x', 'c'), { line: 2, endLine: 3 }).isSame,
      false,
    );
  });

  it('do not mind line ends', () => {
    assert.deepEqual(mapLines('a\r\nb\r\n', 'a\nb\n', { line: 2 }), { line: 2, endLine: 2, isSame: true });
  });

  it('that never were come to the nearest that is there', () => {
    assert.deepEqual(mapLines('a\nb', 'a\nb', { line: 99, endLine: 120 }), {
      line: 2,
      endLine: 2,
      isSame: true,
    });
    assert.equal(mapLines('', '', { line: 5 }).line, 1);
  });

  it('are where their own text is, whatever was added elsewhere', () => {
    const lines = fc.uniqueArray(
      fc.string({ minLength: 1, maxLength: 4 }).map((one) => one.replace(/\s/g, '_')),
      {
        minLength: 1,
        maxLength: 12,
      },
    );
    fc.assert(
      fc.property(lines, fc.nat(11), fc.array(fc.nat(11), { maxLength: 6 }), (old, pick, places) => {
        const index = pick % old.length;
        const next = [...old];
        for (const [number, place] of places.entries())
          next.splice(place % (next.length + 1), 0, `added ${number}`);
        const mapped = mapLines(old.join('\n'), next.join('\n'), { line: index + 1 });
        assert.ok(mapped.isSame);
        assert.equal(next[mapped.line - 1], old[index]);
      }),
      { numRuns: process.env['TRIBUTARY_LONG'] ? 5_000 : 200, seed: 7 },
    );
  });
});
