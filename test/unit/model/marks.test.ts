import assert from 'node:assert/strict';
import type { Mark } from '../../../src/model/hunks';
import { decisionOnHunk, withoutMark } from '../../../src/model/marks';

const at = '2026-01-01T00:00:00.000Z';
const files = [
  {
    path: 'a',
    hunks: [
      { id: 'one', isReviewed: true },
      { id: 'two', isReviewed: true },
    ],
  },
];

describe('taking one kind of mark off', () => {
  it('leaves the decision on what was reviewed, and the review on what was rejected', () => {
    const marks: Mark[] = [
      { kind: 'hunk', of: 'one', mark: 'reviewed', at },
      { kind: 'hunk', of: 'one', mark: 'reject', at },
    ];
    const targets = { hunks: ['one'] };
    assert.deepEqual(withoutMark(marks, files, targets, { change: 'notReviewed', at }), [marks[1]]);
    assert.deepEqual(withoutMark(marks, files, targets, { change: 'undecided', at }), [marks[0]]);
  });

  it('of a hunk whose file was reviewed leaves the other hunks reviewed', () => {
    const marks: Mark[] = [{ kind: 'path', of: 'a', mark: 'reviewed', tree: 't', at }];
    assert.deepEqual(withoutMark(marks, files, { hunks: ['one'] }, { change: 'notReviewed', at }), [
      { kind: 'hunk', of: 'two', mark: 'reviewed', at },
    ]);
  });

  it('of a hunk whose file was rejected takes this hunk in and leaves the rest rejected', () => {
    const marks: Mark[] = [{ kind: 'path', of: 'a', mark: 'reject', at }];
    const left = withoutMark(marks, files, { hunks: ['one'] }, { change: 'undecided', at });
    assert.equal(decisionOnHunk(left, { id: 'one', path: 'a' }), 'accept');
    assert.equal(decisionOnHunk(left, { id: 'two', path: 'a' }), 'reject');
  });

  it('of a file takes it off its hunks too, of everything where nothing is named', () => {
    const marks: Mark[] = [
      { kind: 'path', of: 'a', mark: 'reject', at },
      { kind: 'hunk', of: 'two', mark: 'reject', at },
      { kind: 'hunk', of: 'two', mark: 'reviewed', at },
    ];
    const left = [marks[2]];
    assert.deepEqual(withoutMark(marks, files, { paths: ['a'] }, { change: 'undecided', at }), left);
    assert.deepEqual(withoutMark(marks, files, {}, { change: 'undecided', at }), left);
  });
});
