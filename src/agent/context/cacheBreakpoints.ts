import { type ContentBlock, type Message, textBlockSchema } from '../../model/messages';

const marker = { type: 'ephemeral' } as const;

/** Block types that may carry a breakpoint; thinking never may. */
const cacheable: ReadonlySet<string> = new Set(['text', 'image', 'document', 'tool_use', 'tool_result']);

export interface MarkedRequest {
  readonly system: readonly ContentBlock[];
  readonly messages: readonly Message[];
}

/**
 * The same request with at most four cache breakpoints; what is stored stays without. They stand on the
 * last system block (tools come before it and are covered), on the first block of the first message (the
 * project's docs, equal for all Tasks of a base), and on the ends of the last two user messages: the API
 * looks only 20 blocks back, and the earlier one is where the request before this one ended.
 */
export function withCacheBreakpoints(request: MarkedRequest): MarkedRequest {
  const users = request.messages.flatMap((message, index) => (message.role === 'user' ? [index] : []));
  const ends = new Set(users.slice(-2));
  const first = users[0];
  return {
    system: markLast(request.system),
    messages: request.messages.map((message, index) => {
      const isShared = index === first && message.content.length > 1;
      const content = isShared ? markAt(message.content, 0) : message.content;
      return ends.has(index) || isShared
        ? { role: message.role, content: [...(ends.has(index) ? markLast(content) : content)] }
        : message;
    }),
  };
}

function markLast(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  return markAt(blocks, blocks.findLastIndex(isCacheable));
}

function markAt(blocks: readonly ContentBlock[], at: number): readonly ContentBlock[] {
  return blocks.map((block, index) =>
    index === at && isCacheable(block) ? { ...block, cache_control: marker } : block,
  );
}

function isCacheable(block: ContentBlock): boolean {
  if (!cacheable.has(block.type)) return false;
  const text = textBlockSchema.safeParse(block);
  return !text.success || text.data.text.trim() !== '';
}
