import assert from 'node:assert/strict';
import { cutOffText } from '../../../src/model/cutOff';

describe('an accept or undo that ended around edited files', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const paths = ['a.txt', 'b.txt'];

  it('names the way that takes it back and keeps the edits', () => {
    const text = cutOffText('fix-it', { at, verb: 'undo', stands: true, paths });
    assert.match(text, /^undo of fix-it was cut off.*: a\.txt, b\.txt\. All others stand as accepted/);
    assert.match(text, /tributary undo fix-it --merge$/);
  });

  it('names no merge where it was accepted by commits, which are taken back without one', () => {
    const text = cutOffText('fix-it', { at, verb: 'undo', stands: true, isCommitted: true, paths });
    assert.match(text, /put the edits aside \(git stash\), then: tributary undo fix-it$/);
  });

  it('names the way on where it does not stand', () => {
    assert.match(
      cutOffText('fix-it', { at, verb: 'accept', stands: false, paths }),
      /tributary accept fix-it$/,
    );
    assert.match(cutOffText('fix-it', { at, verb: 'undo', stands: false, paths }), /it is undone\.$/);
  });
});
