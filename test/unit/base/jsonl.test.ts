import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseJsonl, toJsonLine } from '../../../src/base/jsonl';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'utf8');

describe('JSON Lines', () => {
  it('gives each value with the number of its line', () => {
    const parsed = parseJsonl(bytes('{"a":1}\n\n{"b":2}\n'));
    assert.deepEqual(parsed.records, [
      { line: 1, value: { a: 1 } },
      { line: 3, value: { b: 2 } },
    ]);
    assert.deepEqual(parsed.faults, []);
    assert.equal(parsed.torn, undefined);
    assert.equal(parsed.endsWithNewline, true);
    assert.equal(parsed.lineCount, 3);
  });

  it('has nothing to say about an empty file', () => {
    assert.deepEqual(parseJsonl(bytes('')), { records: [], faults: [], endsWithNewline: true, lineCount: 0 });
  });

  it('finds a half last line and where it begins in bytes', () => {
    const parsed = parseJsonl(bytes('{"a":"é"}\n{"b":'));
    assert.deepEqual(parsed.torn, { offset: Buffer.byteLength('{"a":"é"}\n'), line: 2 });
    assert.equal(parsed.records.length, 1);
  });

  it('keeps a whole last object that only lacks its newline', () => {
    const parsed = parseJsonl(bytes('{"a":1}\n{"b":2}'));
    assert.equal(parsed.records.length, 2);
    assert.equal(parsed.torn, undefined);
    assert.equal(parsed.endsWithNewline, false);
  });

  it('takes an unfinished number for torn: more digits may have been meant', () => {
    assert.deepEqual(parseJsonl(bytes('{"a":1}\n12')).torn, { offset: 8, line: 2 });
  });

  it('keeps a tear in the middle of a character inside its line', () => {
    const whole = bytes('{"a":1}\n{"b":"漢"}\n');
    const parsed = parseJsonl(whole.subarray(0, whole.length - 4));
    assert.deepEqual(parsed.torn, { offset: 8, line: 2 });
    assert.deepEqual(parsed.records, [{ line: 1, value: { a: 1 } }]);
  });

  it('names a broken line in the middle and reads the rest', () => {
    const broken = Buffer.concat([bytes('{"a":1}\n{"x":\n'), Buffer.from([0xff, 0x0a]), bytes('{"b":2}\n')]);
    const parsed = parseJsonl(broken);
    assert.deepEqual(parsed.faults, [
      { line: 2, reason: 'not JSON' },
      { line: 3, reason: 'not UTF-8 text' },
    ]);
    assert.equal(parsed.records.length, 2);
  });

  it('reads past a byte order mark and carriage returns', () => {
    const parsed = parseJsonl(
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes('{"a":1}\r\n{"b":2}\r\n')]),
    );
    assert.deepEqual(
      parsed.records.map((record) => record.value),
      [{ a: 1 }, { b: 2 }],
    );
  });

  it('takes zero bytes that a power cut left for torn', () => {
    assert.deepEqual(parseJsonl(Buffer.concat([bytes('{"a":1}\n'), Buffer.alloc(9)])).torn, {
      offset: 8,
      line: 2,
    });
  });

  it('reads back what it wrote, cut at any byte, without inventing a value', () => {
    fc.assert(
      fc.property(fc.array(fc.dictionary(fc.string(), fc.jsonValue())), fc.nat(), (values, cut) => {
        const file = bytes(values.map(toJsonLine).join(''));
        const kept = file.subarray(0, file.length === 0 ? 0 : cut % (file.length + 1));
        const parsed = parseJsonl(kept);
        const expected = values
          .slice(0, parsed.records.length)
          .map((value) => JSON.parse(JSON.stringify(value)));
        assert.deepEqual(
          parsed.records.map((record) => record.value),
          expected,
        );
        const finished = kept.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
        assert.ok(parsed.records.length >= finished);
      }),
    );
  });
});
