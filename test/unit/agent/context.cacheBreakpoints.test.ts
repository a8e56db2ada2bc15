import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { withCacheBreakpoints } from '../../../src/agent/context/cacheBreakpoints';
import type { ContentBlock, Message } from '../../../src/model/messages';

const text = (said: string): ContentBlock => ({ type: 'text', text: said });
const system = [text('common'), text('role')];
const isMarked = (block: ContentBlock | undefined): boolean => block?.['cache_control'] !== undefined;

describe('withCacheBreakpoints', () => {
  it('marks the end of the system prompt, the shared docs, and the ends of the last two user messages', () => {
    const messages: Message[] = [
      { role: 'user', content: [text('docs'), text('task')] },
      { role: 'assistant', content: [text('a1')] },
      { role: 'user', content: [text('r1'), text('r2')] },
      { role: 'assistant', content: [text('a2')] },
      { role: 'user', content: [text('r3')] },
    ];
    const marked = withCacheBreakpoints({ system, messages });
    const places = [...marked.system, ...marked.messages.flatMap(({ content }) => content)]
      .filter(isMarked)
      .map((block) => block['text']);
    assert.deepEqual(places, ['role', 'docs', 'r2', 'r3']);
    assert.deepEqual(isMarked(messages[4]?.content[0]), false, 'what is stored stays without');
  });

  it('marks neither blank text nor thinking nor blocks it does not know', () => {
    const content = [text('last good'), text(' '), { type: 'thinking', thinking: 't' }, { type: 'new' }];
    const marked = withCacheBreakpoints({
      system: [],
      messages: [{ role: 'user', content: [text('x'), ...content] }],
    });
    assert.deepEqual(marked.messages[0]?.content.map(isMarked), [true, true, false, false, false]);
  });

  it('never marks more than four blocks, and changes nothing else', () => {
    const block = fc.constantFrom(
      text('a'),
      text(''),
      { type: 'thinking', thinking: 't', signature: 's' },
      { type: 'tool_result', tool_use_id: 'x', content: 'y' },
    );
    const message = fc.record({
      role: fc.constantFrom('user' as const, 'assistant' as const),
      content: fc.array(block, { maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(block), fc.array(message), (anySystem, messages) => {
        const marked = withCacheBreakpoints({ system: anySystem, messages });
        const all = [...marked.system, ...marked.messages.flatMap(({ content }) => content)];
        assert.ok(all.filter(isMarked).length <= 4);
        const unmarked = JSON.parse(
          JSON.stringify(marked, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
        );
        assert.deepEqual(unmarked, JSON.parse(JSON.stringify({ system: anySystem, messages })));
      }),
    );
  });
});
