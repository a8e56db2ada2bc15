import { type ContentBlock, textBlockSchema, toolUseBlockSchema } from '../model/messages';
import type { DemoReply } from './demoModel';
import { demoModelName } from './playbook';

/** An event of the Messages API's stream; `type` is also the name of the server-sent event. */
export interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The rule of thumb by which the demo counts; it has no tokeniser. */
const charactersPerToken = 4;

export function estimatedTokens(characters: number): number {
  return Math.max(1, Math.ceil(characters / charactersPerToken));
}

export interface MessageFacts {
  readonly id: string;
  readonly inputTokens: number;
}

/** The whole message, as a request without streaming gets it. */
export function wholeMessage(reply: DemoReply, facts: MessageFacts): Record<string, unknown> {
  const outputTokens = estimatedTokens(JSON.stringify(reply.content).length);
  return {
    ...emptyMessage(facts),
    content: reply.content,
    stop_reason: reply.stopReason,
    usage: usage(facts.inputTokens, outputTokens),
  };
}

/** The same message in the order of the API's stream. Text comes in pieces of a few words. */
export function* streamEvents(reply: DemoReply, facts: MessageFacts): Generator<StreamEvent> {
  yield { type: 'message_start', message: emptyMessage(facts) };
  yield { type: 'ping' };
  for (const [index, block] of reply.content.entries()) {
    yield* blockEvents(block, index);
  }
  yield {
    type: 'message_delta',
    delta: { stop_reason: reply.stopReason, stop_sequence: null },
    usage: { output_tokens: estimatedTokens(JSON.stringify(reply.content).length) },
  };
  yield { type: 'message_stop' };
}

function* blockEvents(block: ContentBlock, index: number): Generator<StreamEvent> {
  const text = textBlockSchema.safeParse(block).data;
  const use = toolUseBlockSchema.safeParse(block).data;
  const opening = text ? { ...text, text: '' } : use ? { ...use, input: {} } : block;
  yield { type: 'content_block_start', index, content_block: opening };
  const deltas = text
    ? pieces(text.text).map((piece) => ({ type: 'text_delta', text: piece }))
    : pieces(JSON.stringify(use?.input ?? {})).map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      }));
  for (const delta of deltas) yield { type: 'content_block_delta', index, delta };
  yield { type: 'content_block_stop', index };
}

/** Pieces that cut no character in two. */
function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,18}(?:[\uDC00-\uDFFF])?/g) ?? [];
}

function emptyMessage({ id, inputTokens }: MessageFacts): Record<string, unknown> {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model: demoModelName,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usage(inputTokens, 1),
  };
}

/** The demo keeps no cache, and so claims none. */
function usage(input: number, output: number): Record<string, number> {
  return {
    input_tokens: input,
    output_tokens: output,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  };
}
