import * as z from 'zod';
import { brokenInput, type ContentBlock } from '../model/messages';
import type { LiveEvent } from '../model/transcript';
import type { Usage } from '../model/usage';
import type { ModelMessage } from './languageModel';

// Events are parsed loosely: new kinds of events, blocks and deltas must not break a stream.
const eventSchema = z.looseObject({ type: z.string() });
const tokens = z.number().int().nonnegative().nullish();
const wireUsageSchema = z.looseObject({
  input_tokens: tokens,
  output_tokens: tokens,
  cache_creation_input_tokens: tokens,
  cache_read_input_tokens: tokens,
});
const messageStartSchema = z.looseObject({
  message: z.looseObject({ model: z.string(), usage: wireUsageSchema.nullish() }),
});
const blockStartSchema = z.looseObject({
  index: z.number().int(),
  content_block: z.looseObject({ type: z.string() }),
});
const blockDeltaSchema = z.looseObject({
  index: z.number().int(),
  delta: z.looseObject({
    type: z.string(),
    text: z.string().optional(),
    thinking: z.string().optional(),
    signature: z.string().optional(),
    partial_json: z.string().optional(),
    citation: z.unknown().optional(),
  }),
});
const blockStopSchema = z.looseObject({ index: z.number().int() });
const messageDeltaSchema = z.looseObject({
  delta: z.looseObject({ stop_reason: z.string().nullish() }),
  usage: wireUsageSchema.nullish(),
});

type BlockDelta = z.infer<typeof blockDeltaSchema>['delta'];

interface OpenBlock {
  block: ContentBlock;
  json: string;
  isClosed: boolean;
}

/** The stream broke the API's own rules, or ended before its end. The answer must not be used. */
export class BrokenStream extends Error {}

/** Stops after which a block may be unfinished: it is dropped, and nothing of the answer is executed. */
const cuttingStops: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal']);

/** Puts one streamed answer together. Blocks it does not know are carried as they came. */
export class MessageAssembly {
  private readonly blocks = new Map<number, OpenBlock>();
  private readonly onLive: (event: LiveEvent) => void;
  private model = '';
  private stopReason: string | undefined;
  private hasStarted = false;
  private isComplete = false;
  private tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

  constructor(onLive: (event: LiveEvent) => void) {
    this.onLive = onLive;
  }

  /** Takes the next event. Throws BrokenStream. */
  take(event: unknown): void {
    const type = eventSchema.safeParse(event).data?.type;
    switch (type) {
      case 'message_start': {
        const { message } = parsed(messageStartSchema, event);
        this.hasStarted = true;
        this.model = message.model;
        this.count(message.usage);
        return;
      }
      case 'content_block_start': {
        const { index, content_block: block } = parsed(blockStartSchema, event);
        this.blocks.set(index, { block: { ...block }, json: '', isClosed: false });
        return;
      }
      case 'content_block_delta': {
        const { index, delta } = parsed(blockDeltaSchema, event);
        this.delta(this.blockAt(index), delta);
        return;
      }
      case 'content_block_stop':
        this.blockAt(parsed(blockStopSchema, event).index).isClosed = true;
        return;
      case 'message_delta': {
        const { delta, usage } = parsed(messageDeltaSchema, event);
        this.stopReason = delta.stop_reason ?? this.stopReason;
        this.count(usage);
        return;
      }
      case 'message_stop':
        this.isComplete = true;
    }
  }

  /** The text so far: for a person to read, never to be taken for an answer. */
  get partialText(): string {
    return this.inOrder()
      .flatMap(({ block }) =>
        block.type === 'text' && typeof block['text'] === 'string' ? [block['text']] : [],
      )
      .join('\n\n');
  }

  /** What was counted, or `undefined` before the first event. */
  get usage(): Usage | undefined {
    return this.hasStarted ? { requests: 1, ...this.tokens } : undefined;
  }

  /** The whole answer. Throws BrokenStream when there is none. */
  finish(): ModelMessage {
    if (!this.hasStarted || !this.isComplete || this.stopReason === undefined) {
      throw new BrokenStream('the answer broke off before its end');
    }
    const isCut = cuttingStops.has(this.stopReason);
    const content = this.inOrder().flatMap((open) => {
      const block = finished(open, isCut);
      return block === undefined ? [] : [block];
    });
    return {
      content,
      stopReason: this.stopReason,
      model: this.model,
      usage: { requests: 1, ...this.tokens },
    };
  }

  private inOrder(): OpenBlock[] {
    return [...this.blocks].sort(([a], [b]) => a - b).map(([, open]) => open);
  }

  private blockAt(index: number): OpenBlock {
    const open = this.blocks.get(index);
    if (open === undefined) throw new BrokenStream(`block ${index} was never started`);
    return open;
  }

  private delta(open: OpenBlock, delta: BlockDelta): void {
    const { block } = open;
    switch (delta.type) {
      case 'text_delta':
        block['text'] = textAt(block, 'text') + (delta.text ?? '');
        this.onLive({ type: 'text.delta', text: delta.text ?? '' });
        return;
      case 'thinking_delta':
        block['thinking'] = textAt(block, 'thinking') + (delta.thinking ?? '');
        this.onLive({ type: 'thinking.delta', text: delta.thinking ?? '' });
        return;
      case 'signature_delta':
        block['signature'] = textAt(block, 'signature') + (delta.signature ?? '');
        return;
      case 'input_json_delta':
        open.json += delta.partial_json ?? '';
        return;
      case 'citations_delta':
        block['citations'] = [
          ...(Array.isArray(block['citations']) ? block['citations'] : []),
          delta.citation,
        ];
    }
  }

  /** Counts in events are cumulative: a later one replaces an earlier one, it does not add. */
  private count(usage: z.infer<typeof wireUsageSchema> | null | undefined): void {
    if (usage === null || usage === undefined) return;
    this.tokens = {
      input: usage.input_tokens ?? this.tokens.input,
      output: usage.output_tokens ?? this.tokens.output,
      cacheRead: usage.cache_read_input_tokens ?? this.tokens.cacheRead,
      cacheWrite: usage.cache_creation_input_tokens ?? this.tokens.cacheWrite,
    };
  }
}

/** A block as it may be kept and sent back, or `undefined` for one that may not. */
function finished(open: OpenBlock, isCut: boolean): ContentBlock | undefined {
  const { block, json } = open;
  if (!open.isClosed && !isCut) throw new BrokenStream('a block was never finished');
  switch (block.type) {
    case 'text':
      // The API refuses blank text when it comes back.
      return textAt(block, 'text').trim() === '' ? undefined : block;
    case 'thinking':
      // Without its signature it would be refused, too.
      return textAt(block, 'signature') === '' ? undefined : block;
    default:
      return json === '' ? block : withInput(block, json, isCut);
  }
}

function withInput(block: ContentBlock, json: string, isCut: boolean): ContentBlock | undefined {
  const input = inputIn(json);
  if (input !== undefined) return { ...block, input };
  if (isCut) return undefined;
  // The model's own mistake, in an answer that is whole: it is told so, as the result of the call.
  return { ...block, input: brokenInput(json) };
}

function inputIn(json: string): Record<string, unknown> | undefined {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(json)).data;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textAt(block: ContentBlock, key: string): string {
  const value = block[key];
  return typeof value === 'string' ? value : '';
}

function parsed<T>(schema: z.ZodType<T>, event: unknown): T {
  const result = schema.safeParse(event);
  if (!result.success) throw new BrokenStream(`an event of the stream has not the API's shape`);
  return result.data;
}
