import { cancelReasonOf } from '../base/async';
import type { LiveEvent } from '../model/transcript';
import { addUsage, noUsage, type Usage } from '../model/usage';
import type { LoopDeps } from './agentLoop';
import type { ModelMessage, ModelRequest } from './languageModel';
import { type ModelFailure, modelFailureOf } from './modelFailure';
import { maxRetries, retryWaitMs } from './retry';

/** How a Turn's request ended; `usage` counts every attempt that was paid for. */
export type TurnResult =
  | { readonly kind: 'answer'; readonly answer: ModelMessage; readonly usage: Usage }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly usage: Usage }
  | { readonly kind: 'cancelled'; readonly usage: Usage };

type Attempt =
  | { readonly kind: 'answer'; readonly answer: ModelMessage }
  | { readonly kind: 'failure'; readonly failure: ModelFailure };

/** One whole answer of the model. What may pass is asked again; every attempt is in the transcript. */
export class ModelTurn {
  private readonly deps: Pick<LoopDeps, 'model' | 'append' | 'onLive' | 'random' | 'delay'>;
  private readonly turn: number;
  private readonly signal: AbortSignal;
  private usage: Usage = noUsage;

  constructor(deps: ModelTurn['deps'], turn: number, signal: AbortSignal) {
    this.deps = deps;
    this.turn = turn;
    this.signal = signal;
  }

  async ask(request: ModelRequest): Promise<TurnResult> {
    for (let attempt = 1; ; attempt += 1) {
      await this.deps.append({ type: 'message.started', turn: this.turn });
      const result = await this.attempt(request);
      if (result.kind === 'answer') {
        await this.keep(result.answer);
        return { ...result, usage: this.usage };
      }
      const { code, message, details } = result.failure;
      await this.keepCut(result.failure);
      if (this.signal.aborted) return { kind: 'cancelled', usage: this.usage };
      if (!details.isRetryable || attempt > maxRetries) {
        return { kind: 'failed', code, message, usage: this.usage };
      }
      const waitMs = retryWaitMs(attempt, details.retryAfterMs, this.deps.random());
      await this.deps.append({ type: 'retry', attempt, code, message, waitMs });
      if (!(await this.waited(waitMs))) return { kind: 'cancelled', usage: this.usage };
    }
  }

  private async attempt(request: ModelRequest): Promise<Attempt> {
    let seenText = '';
    const onLive = (event: LiveEvent): void => {
      if (event.type === 'text.delta') seenText += event.text;
      this.deps.onLive(event);
    };
    try {
      return { kind: 'answer', answer: await this.deps.model.stream(request, onLive, this.signal) };
    } catch (error) {
      const failure = modelFailureOf(error);
      // A cancelled request carries no details; what was seen of it is kept for the reader.
      const partialText = failure.details.partialText || seenText;
      return { kind: 'failure', failure: { ...failure, details: { ...failure.details, partialText } } };
    }
  }

  private async keep({ model, content, stopReason, usage }: ModelMessage): Promise<void> {
    const { turn } = this;
    await this.deps.append({ type: 'message', turn, model, content: [...content], stopReason });
    await this.count(usage);
  }

  private async keepCut({ code, details }: ModelFailure): Promise<void> {
    const reason = this.signal.aborted ? cancelReasonOf(this.signal) : code;
    const { partialText, usage } = details;
    await this.deps.append({ type: 'message.cut', turn: this.turn, partialText, reason });
    if (usage !== undefined) await this.count(usage);
  }

  private async count(usage: Usage): Promise<void> {
    this.usage = addUsage(this.usage, usage);
    await this.deps.append({ type: 'usage', turn: this.turn, usage });
  }

  private async waited(ms: number): Promise<boolean> {
    try {
      await this.deps.delay(ms, this.signal);
      return !this.signal.aborted;
    } catch (error) {
      if (this.signal.aborted) return false;
      throw error;
    }
  }
}
