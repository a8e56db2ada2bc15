import type { ContentBlock, Message, ModelParams, ToolSpec } from '../model/messages';
import type { LiveEvent } from '../model/transcript';
import type { Usage } from '../model/usage';

export interface ModelRequest {
  readonly system: readonly ContentBlock[];
  readonly tools: readonly ToolSpec[];
  readonly messages: readonly Message[];
  readonly params: ModelParams;
  /** Longest wait without any event but `ping`, in ms; until the first event at least 300,000. */
  readonly silenceMs: number;
}

/** A whole assistant message. `stopReason` in the API's words. */
export interface ModelMessage {
  readonly content: readonly ContentBlock[];
  readonly stopReason: string;
  readonly model: string;
  readonly usage: Usage;
}

/** What a failed request had: text that must never be taken for a whole message, and the server's wish. */
export interface ModelFailureDetails {
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly partialText: string;
  readonly isRetryable: boolean;
  readonly requestId?: string;
  /** Tokens that were counted before it broke: they are paid for. */
  readonly usage?: Usage;
}

/**
 * One streamed request, no retries. Throws TributaryError with ModelFailureDetails in `details`:
 * `wrongKey`, `forbidden`, `unknownModel`, `badRequest`, `requestTooLarge`, `rateLimited`, `overloaded`,
 * `serverError`, `unreachable`, `stalled`, `cutStream`, `notTheApi`; `cancelled` when the signal aborted.
 */
export interface LanguageModel {
  stream(
    request: ModelRequest,
    onLive: (event: LiveEvent) => void,
    signal: AbortSignal,
  ): Promise<ModelMessage>;
}
