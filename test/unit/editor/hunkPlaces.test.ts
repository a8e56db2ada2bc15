import assert from 'node:assert/strict';
import { hunkAt, stopBeside } from '../../../src/editor/review/hunkPlaces';
import type { MarkedFile, MarkedHunk } from '../../../src/tasks/taskApi';

function hunk(
  id: string,
  [oldStart, oldLines, newStart, newLines]: [number, number, number, number],
): MarkedHunk {
  const path = 'a';
  return {
    ...{ id, path, oldStart, oldLines, newStart, newLines },
    ...{ firstLine: '+x', isReviewed: false, isLanded: false },
  };
}

function file(path: string, hunks: readonly MarkedHunk[]): MarkedFile {
  return {
    ...{ path, hunks, status: 'modified', oldMode: '100644', newMode: '100644', oldBlob: 'o', newBlob: 'n' },
    ...{ isBinary: false, added: 1, removed: 1, isReviewed: false, isLanded: false },
  };
}

const edited = hunk('edited', [3, 2, 3, 3]);
const removed = hunk('removed', [9, 2, 9, 0]);
const a = file('a', [edited, removed]);
const picture = file('b.png', []);
const c = file('c', [hunk('only', [0, 0, 1, 4])]);

describe('places of hunks', () => {
  it('finds the hunk at the cursor on either side', () => {
    const at = (side: 'base' | 'task', line: number): string | undefined => hunkAt(a, { side, line })?.id;
    assert.equal(at('task', 2), undefined);
    for (const line of [3, 4, 5]) assert.equal(at('task', line), 'edited');
    assert.equal(at('base', 4), 'edited');
    assert.equal(at('base', 5), undefined);
    assert.equal(at('base', 10), 'removed');
  });

  it('finds removed lines between the two lines where they are missing', () => {
    assert.equal(hunkAt(a, { side: 'task', line: 9 })?.id, 'removed');
    assert.equal(hunkAt(a, { side: 'task', line: 10 })?.id, 'removed');
    assert.equal(hunkAt(a, { side: 'task', line: 11 }), undefined);
  });

  it('goes from hunk to hunk across files, stops at a file without hunks, and goes around', () => {
    const files = [a, picture, c];
    const go = (path: string, line: number, step: 1 | -1): string | undefined => {
      const stop = stopBeside(files, { path, side: 'task', line }, step);
      return stop?.hunk?.id ?? stop?.file.path;
    };
    assert.equal(go('a', 1, 1), 'edited');
    assert.equal(go('a', 3, 1), 'removed');
    assert.equal(go('a', 9, 1), 'b.png');
    assert.equal(go('b.png', 1, 1), 'only');
    assert.equal(go('c', 2, 1), 'edited');
    assert.equal(go('a', 3, -1), 'only');
    assert.equal(go('c', 1, -1), 'b.png');
    assert.equal(go('b.png', 1, -1), 'removed');
    assert.equal(stopBeside(files, undefined, -1)?.hunk?.id, 'only');
    assert.equal(stopBeside([], undefined, 1), undefined);
  });
});
