import assert from 'node:assert/strict';
import {
  commandTooltip,
  visibleName,
  wholeInNotice,
  withoutIcons,
  withoutLinks,
} from '../../../src/editor/plainWords';

/** What the editor takes for a link in a notification. */
const link = /\[([^\]]+)\]\(((?:https?:\/\/|command:|file:)[^)\s]+)(?: (["'])(.+?)(\3))?\)/i;
/** What it takes for an icon in a quick pick. */
const drawnIcon = /(^|[^\\])\$\([A-Za-z0-9-]+(?:~[A-Za-z]+)?\)/;

describe('texts of others, in the editor’s own widgets', () => {
  it('make no link in a notification, and look the same', () => {
    const texts = ['[Allow](command:workbench.action.quit)', 'a [b](https://x.example) [c](file:///etc "t")'];
    for (const text of texts) {
      assert.match(text, link);
      assert.doesNotMatch(withoutLinks(text), link);
      assert.equal(withoutLinks(text).replaceAll('\u2060', ''), text);
    }
  });

  it('draw no icon in a quick pick', () => {
    for (const text of ['$(trash)', 'a $(sync~spin) b', '$($(zap))']) {
      assert.match(text, drawnIcon);
      assert.doesNotMatch(withoutIcons(text), drawnIcon);
    }
  });

  it('are a whole command in a notification, every character of it seen, or are not there', () => {
    assert.equal(wholeInNotice('npm test'), 'npm test');
    assert.equal(wholeInNotice('ls\n\n  rm -rf x\u202e'), 'ls ⏎ rm -rf x\\u202e');
    assert.equal(wholeInNotice(`true ${'#'.repeat(1_000)}; rm -rf x`), undefined);
    // What is seen of a character is longer than the character.
    assert.equal(wholeInNotice('\u202e'.repeat(300)), undefined);
  });

  it('are names in which everything is seen', () => {
    assert.equal(visibleName('src/two\nlines\u202e.js'), 'src/two\\nlines\\u202e.js');
    assert.equal(visibleName('src/ordinary ümlaut.js'), 'src/ordinary ümlaut.js');
  });

  it('fit into a tooltip with everything that hides or reorders seen', () => {
    assert.equal(commandTooltip('ls\u202e'), 'ls\\u202e');
    assert.ok(commandTooltip('x'.repeat(1_000_000)).length <= 3_000);
  });
});
