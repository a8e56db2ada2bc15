import assert from 'node:assert/strict';
import fc from 'fast-check';
import { slugOf } from '../../../src/model/slug';

describe('slugOf', () => {
  it('takes the first whole words of the objective, at most 40 characters', () => {
    assert.equal(
      slugOf('Fix the duration parser: 1h30m must be 5400 seconds'),
      'fix-the-duration-parser-1h30m-must-be',
    );
    assert.equal(slugOf(`${'x'.repeat(60)} y`), 'x'.repeat(40));
  });

  it('writes accented letters plainly and is empty where no letter remains', () => {
    assert.equal(slugOf('Größe prüfen'), 'gro-e-prufen');
    assert.equal(slugOf('修复解析器'), '');
  });

  it('never gives more than 40 characters of [a-z0-9-], nor a dash at an end, whatever comes in', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (objective) => {
        assert.match(slugOf(objective), /^(?:[a-z0-9]+(?:-[a-z0-9]+)*)?$/);
        assert.ok(slugOf(objective).length <= 40);
      }),
    );
  });
});
