import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { clip, plainLine, plainText, visibleText } from '../../../src/model/plainText';

describe('plain text for a terminal', () => {
  for (const [title, text, expected] of [
    ['colours', 'a\u001b[31mred\u001b[0m', 'ared'],
    ['cursor movements', 'a\u001b[2A\u001b[Kb', 'ab'],
    ['a title, ended by BEL', 'a\u001b]0;owned\u0007b', 'ab'],
    ['a link, ended by ST', 'a\u001b]8;;http://x\u001b\\b', 'ab'],
    ['the clipboard', '\u001b]52;c;ZXZpbA==\u0007x', 'x'],
    ['a device string', '\u001bPq#0\u001b\\x', 'x'],
    ['C1 forms of the same', '\u009b31mx\u009d0;t\u009c', 'x0;t'],
    ['a sequence split by another', '\u001b\u001b[0m[31mx', '[31mx'],
    ['carriage returns that overwrite', 'harmless\rrm -rf', 'harmlessrm -rf'],
    ['backspaces', 'a\b\bb', 'ab'],
    ['bidirectional overrides', 'a\u202eb\u2066c', 'abc'],
    ['zero-width and tag characters', 'a\u200bb\u{e0041}c\ufeff', 'abc'],
    ['line separators', 'a\u2028b', 'ab'],
  ] as const)
    it(`drops ${title}`, () => assert.equal(plainText(text), expected));

  it('keeps tabs, newlines, accents, joined emoji and right-to-left letters', () => {
    const text = 'a\tb\nñ é 👩‍💻 שלום عربى नी';
    assert.equal(plainText(text), text);
  });

  it('never lets a character through that a terminal obeys', () => {
    const nasty = fc.string({ unit: fc.constantFrom(...'\u001b\u009b\u009d]0;[31m\u0007\\Pa\r\n\b\u202e') });
    fc.assert(
      fc.property(fc.oneof(nasty, fc.string({ unit: 'binary' })), (text) => {
        for (const character of plainText(text)) {
          const code = character.codePointAt(0) ?? 0;
          const isControl = code < 0x20 || (code > 0x7e && code < 0xa0);
          assert.ok(!isControl || code === 9 || code === 10);
          assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(character));
        }
      }),
    );
  });

  it('is as safe when the text comes in pieces', () => {
    const text = 'a\u001b[31mb\u001b]0;t\u0007c';
    for (let cut = 0; cut <= text.length; cut += 1) {
      const shown = plainText(text.slice(0, cut)) + plainText(text.slice(cut));
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.doesNotMatch(shown, /[\u0000-\u0008\u000e-\u001f]/);
    }
  });

  it('puts a line on one line', () => assert.equal(plainLine('  a\n\tb\r\n c '), 'a b c'));

  it('shows what it hides where a person decides', () => {
    assert.equal(visibleText('rm\u202e x\u001b[2K\r\u{e0041}'), 'rm\\u202e x\\x1b[2K\\x0d\\u{e0041}');
    assert.equal(visibleText('npm test\n\tx'), 'npm test\n\tx');
  });

  it('clips by characters, not by halves of them', () => {
    assert.equal(clip('abc', 3), 'abc');
    assert.equal(clip('👩👩👩', 2), '👩…');
  });
});
