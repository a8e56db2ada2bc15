import type { LanguageModel, ModelMessage, ModelRequest } from '../../src/agent/languageModel';
import { MessageAssembly } from '../../src/agent/messageAssembly';
import { meaningOfType, modelFailure } from '../../src/agent/modelFailure';
import { cancelled } from '../../src/base/async';
import { type ErrorCode, TributaryError } from '../../src/base/errors';
import type { LiveEvent } from '../../src/model/transcript';
import { type Reply, sendable, streamOf } from '../wire/support/sse';
import { alteredThinking, type JsonObject, problemOf } from '../wire/support/strictRules';

/** A request that fails before anything is streamed. */
export interface ScriptedFailure {
  readonly fail: ErrorCode;
  readonly isRetryable?: boolean;
  readonly retryAfterMs?: number;
}

export type ScriptedReply = Reply | ScriptedFailure;
export type ModelScript = (request: ModelRequest, index: number) => ScriptedReply | Promise<ScriptedReply>;

/**
 * A LanguageModel that answers from a list (the last item stays) or a function. As strict as the API: a
 * request that the API would refuse fails with `badRequest`, and stands in `refusals`.
 */
export class ScriptedModel implements LanguageModel {
  readonly requests: ModelRequest[] = [];
  readonly refusals: string[] = [];
  private readonly paused = new Set<string>();
  private readonly extraBlockTypes = new Set<string>();
  private script: ModelScript;

  constructor(script: readonly ScriptedReply[] | ModelScript) {
    this.script = typeof script === 'function' ? script : listed(script);
  }

  answerWith(replies: readonly ScriptedReply[]): void {
    const start = this.requests.length;
    const next = listed(replies);
    this.script = (request, index) => next(request, index - start);
  }

  async stream(
    request: ModelRequest,
    onLive: (event: LiveEvent) => void,
    signal: AbortSignal,
  ): Promise<ModelMessage> {
    if (signal.aborted) throw cancelled();
    const index = this.requests.push(request) - 1;
    const body = bodyOf(request);
    const rules = { version: '2026-10-21', paused: this.paused, extraBlockTypes: this.extraBlockTypes };
    const problem = problemOf(body, rules) ?? alteredThinking(body);
    if (problem !== undefined) {
      this.refusals.push(problem);
      throw failure('badRequest', problem);
    }
    const reply = await this.script(request, index);
    if (signal.aborted) throw cancelled();
    if ('fail' in reply) throw failure(reply.fail, reply.fail, reply);
    return this.play(body, reply, onLive, signal);
  }

  private async play(
    body: JsonObject,
    reply: Reply,
    onLive: (event: LiveEvent) => void,
    signal: AbortSignal,
  ): Promise<ModelMessage> {
    const { events, content, extraBlockTypes } = streamOf(body, reply, this.requests.length);
    for (const type of extraBlockTypes) this.extraBlockTypes.add(type);
    if (reply.stopReason === 'pause_turn') this.paused.add(JSON.stringify(sendable(content)));
    const assembly = new MessageAssembly(onLive);
    for (const [at, { event, data }] of events.entries()) {
      const { fault } = reply;
      if (fault !== undefined && (at === fault.before || event === fault.before)) break;
      assembly.take(JSON.parse(data));
      // Between two events, like on a real stream, other things happen.
      await Promise.resolve();
      if (signal.aborted) throw cancelled();
    }
    const { fault } = reply;
    if (fault === undefined) return assembly.finish();
    if (fault.kind === 'silence' || fault.kind === 'pings') await aborted(signal);
    const { partialText, usage } = assembly;
    const details = { partialText, ...(usage === undefined ? {} : { usage }) };
    const meaning =
      fault.kind === 'error'
        ? meaningOfType(fault.errorType ?? 'overloaded_error')
        : { code: 'cutStream' as const, isRetryable: true };
    throw modelFailure(meaning, fault.message ?? meaning.code, details, (text) => text);
  }
}

function listed(replies: readonly ScriptedReply[]): ModelScript {
  return (_request, index) => {
    const reply = replies[Math.min(index, replies.length - 1)];
    if (reply === undefined) throw new Error('an empty script');
    return reply;
  };
}

function bodyOf(request: ModelRequest): JsonObject {
  const { params } = request;
  const body = {
    model: params.model,
    max_tokens: params.maxTokens,
    system: request.system,
    tools: request.tools,
    messages: request.messages,
    stream: true,
    ...(params.thinking === undefined ? {} : { thinking: params.thinking }),
    ...(params.effort === undefined ? {} : { output_config: { effort: params.effort } }),
  };
  const copy: JsonObject = JSON.parse(JSON.stringify(body));
  return copy;
}

function failure(code: ErrorCode, message: string, more: Partial<ScriptedFailure> = {}): TributaryError {
  return new TributaryError(code, message, {
    details: {
      partialText: '',
      isRetryable: more.isRetryable ?? false,
      ...(more.retryAfterMs === undefined ? {} : { retryAfterMs: more.retryAfterMs }),
    },
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(cancelled());
    signal.addEventListener('abort', () => reject(cancelled()), { once: true });
  });
}
