// Turns a scripted reply into the events the Messages API would stream.
import { type JsonObject, signatureFor } from './strictRules';

export type ReplyBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string }
  /** `rawInput`: sent instead of the input's JSON, so it may be broken. */
  | {
      readonly type: 'tool_use';
      readonly name: string;
      readonly input: unknown;
      readonly id?: string;
      readonly rawInput?: string;
    }
  /** Any other block, sent whole in its start event, with an unknown delta after it. */
  | { readonly type: 'other'; readonly block: JsonObject };

export interface FaultPoint {
  /** `drop`: reset; `end`: closed without `message_stop`; `error`: in-band; `silence`, `pings`: nothing more comes. */
  readonly kind: 'drop' | 'end' | 'error' | 'silence' | 'pings';
  /** The number of events sent before it, or the name of the first event that is not sent any more. */
  readonly before: number | string;
  readonly errorType?: string;
  readonly message?: string;
  readonly everyMs?: number;
}

export interface Reply {
  readonly content: readonly ReplyBlock[];
  /** Default `tool_use` where a tool is called, else `end_turn`. */
  readonly stopReason?: string;
  readonly usage?: Readonly<Record<string, number>>;
  readonly fault?: FaultPoint;
  /** Characters per text or JSON delta; default 20. */
  readonly deltaChars?: number;
  /** Bytes per write, so that borders fall inside characters and events. */
  readonly chunkBytes?: number;
  /** Wait after each event. */
  readonly delayMs?: number;
  /** One long silence, before the first event of that name. */
  readonly pause?: { readonly before: string; readonly ms: number };
  /** Adds events and delta types that no client knows. */
  readonly withUnknowns?: boolean;
}

export interface SseEvent {
  readonly event: string;
  readonly data: string;
}

export interface EventStream {
  readonly events: readonly SseEvent[];
  /** The content as a client should have put it together. */
  readonly content: readonly JsonObject[];
  readonly extraBlockTypes: readonly string[];
}

/** The events of `reply` as an answer to `body`; `serial` makes tool ids unique. */
export function streamOf(body: JsonObject, reply: Reply, serial: number): EventStream {
  const builder = new StreamBuilder(body, reply, serial);
  return builder.build();
}

class StreamBuilder {
  private readonly body: JsonObject;
  private readonly reply: Reply;
  private readonly serial: number;
  private readonly events: SseEvent[] = [];
  private readonly content: JsonObject[] = [];
  private readonly extraBlockTypes: string[] = [];

  constructor(body: JsonObject, reply: Reply, serial: number) {
    this.body = body;
    this.reply = reply;
    this.serial = serial;
  }

  build(): EventStream {
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: 1,
      ...this.reply.usage,
    };
    const calls = this.reply.content.some((block) => block.type === 'tool_use');
    this.push('message_start', {
      message: {
        id: `msg_test_${this.serial}`,
        type: 'message',
        role: 'assistant',
        model: this.body['model'],
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: 1 },
      },
    });
    this.push('ping', {});
    for (const [index, block] of this.reply.content.entries()) this.block(index, block);
    if (this.reply.withUnknowns) this.push('something_new', { note: 'no client knows this' });
    this.push('message_delta', {
      delta: { stop_reason: this.reply.stopReason ?? (calls ? 'tool_use' : 'end_turn'), stop_sequence: null },
      usage: { output_tokens: usage.output_tokens, ...this.reply.usage },
    });
    this.push('message_stop', {});
    return { events: this.events, content: this.content, extraBlockTypes: this.extraBlockTypes };
  }

  private block(index: number, block: ReplyBlock): void {
    switch (block.type) {
      case 'text':
        this.start(index, { type: 'text', text: '' });
        this.deltas(index, 'text_delta', 'text', block.text);
        this.content.push({ type: 'text', text: block.text });
        break;
      case 'thinking':
        this.thinking(index, block.thinking);
        break;
      case 'tool_use':
        this.toolUse(index, block);
        break;
      case 'other':
        this.start(index, block.block);
        this.push('content_block_delta', { index, delta: { type: 'unheard_delta', value: 1 } });
        this.content.push(block.block);
        this.extraBlockTypes.push(String(block.block['type']));
    }
    this.push('content_block_stop', { index });
  }

  private thinking(index: number, thinking: string): void {
    this.start(index, { type: 'thinking', thinking: '', signature: '' });
    this.deltas(index, 'thinking_delta', 'thinking', thinking);
    const messages = Array.isArray(this.body['messages']) ? this.body['messages'].length : 0;
    // Blank text cannot be sent back, so it does not count as something that stood before.
    const before = sendable(this.content);
    const signature = signatureFor(this.body, messages, before, thinking);
    this.push('content_block_delta', { index, delta: { type: 'signature_delta', signature } });
    this.content.push({ type: 'thinking', thinking, signature });
  }

  private toolUse(index: number, block: Extract<ReplyBlock, { type: 'tool_use' }>): void {
    const id = block.id ?? `toolu_test_${this.serial}_${index}`;
    const head = { type: 'tool_use', id, name: block.name };
    this.start(index, { ...head, input: {}, caller: { type: 'direct' } });
    this.push('content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: '' } });
    const json = block.rawInput ?? JSON.stringify(block.input);
    if (json !== '{}') this.deltas(index, 'input_json_delta', 'partial_json', json);
    this.content.push({ ...head, input: block.input, caller: { type: 'direct' } });
  }

  private start(index: number, block: JsonObject): void {
    this.push('content_block_start', { index, content_block: block });
  }

  private deltas(index: number, type: string, field: string, text: string): void {
    const size = this.reply.deltaChars ?? 20;
    for (let at = 0; at < text.length; at += size) {
      this.push('content_block_delta', { index, delta: { type, [field]: text.slice(at, at + size) } });
      if (this.reply.withUnknowns && at === 0) {
        this.push('content_block_delta', { index, delta: { type: 'brand_new_delta', [field]: 'ignore me' } });
      }
    }
  }

  private push(event: string, fields: JsonObject): void {
    this.events.push({ event, data: JSON.stringify({ type: event, ...fields }) });
  }
}

/** What of an answer may come back: everything but blank text. */
export function sendable(content: readonly JsonObject[]): readonly JsonObject[] {
  return content.filter((block) => block['type'] !== 'text' || String(block['text']).trim() !== '');
}
