import { type CancelReason, cancelReasonOf } from '../base/async';
import { toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import {
  type ContentBlock,
  type Message,
  type ModelParams,
  type ToolUseBlock,
  textOf,
  toolUsesOf,
} from '../model/messages';
import type { LiveEvent, NewEntry } from '../model/transcript';
import { addUsage, noUsage, type Usage } from '../model/usage';
import { isBlankText, notRunText } from './context/toolResults';
import type { LanguageModel, ModelMessage } from './languageModel';
import { ModelTurn } from './modelTurn';
import type { ToolSet } from './tools/tool';
import { ToolTurn } from './toolTurn';

export interface LoopInput {
  readonly system: readonly ContentBlock[];
  readonly params: ModelParams;
  /** Already in the transcript, or rebuilt from one: a valid conversation whose last message is the user's. */
  readonly messages: readonly Message[];
  readonly maxTurns: number;
  readonly silenceMs: number;
  /** The number of the first `[call N]`; default 1, higher where a conversation goes on. */
  readonly firstCall?: number;
}

/** What the user says while the conversation goes on; `id` stands with its entry in the transcript. */
export interface UserMessage {
  readonly id: string;
  readonly text: string;
}

export interface LoopDeps {
  readonly model: LanguageModel;
  readonly tools: ToolSet;
  /** Resolves when the entry is on disk. */
  readonly append: (entry: NewEntry) => Promise<void>;
  readonly onLive: (event: LiveEvent) => void;
  /** After the results of a Turn, when one of its tools may have changed files. */
  readonly afterTurn: (turn: number) => Promise<void>;
  /** User messages that arrived since the last call; they go out at this tool boundary. */
  readonly takeMessages: () => Promise<readonly UserMessage[]>;
  /** What to ask, once, when a final answer lacks its form; `undefined`: nothing to mend. */
  readonly mend?: (text: string) => string | undefined;
  /** 0..1, for the jitter of retries. */
  readonly random: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => Date;
  readonly logger?: Logger;
}

/** How a conversation ended. None but `completed` is a success. */
export type LoopOutcome =
  | { readonly kind: 'completed'; readonly text: string; readonly usage: Usage; readonly turns: number }
  | {
      readonly kind: 'failed';
      /** An ErrorCode of the model, or `limit`, `maxTokens`, `refusal`, `contextFull`, `emptyAnswer`, `unknownStop`. */
      readonly reason: string;
      readonly message: string;
      readonly usage: Usage;
      readonly turns: number;
    }
  | {
      readonly kind: 'cancelled';
      readonly reason: CancelReason;
      readonly usage: Usage;
      readonly turns: number;
    };

/** Never throws for what a model, a tool or a user does. Throws TributaryError when `append` or `afterTurn` fails. */
export type AgentLoop = (deps: LoopDeps, input: LoopInput, signal: AbortSignal) => Promise<LoopOutcome>;

export const agentLoop: AgentLoop = async (deps, input, signal) => {
  try {
    return await new Conversation(deps, input, signal).run();
  } catch (error) {
    throw toTributaryError(error);
  }
};

/** What a Turn leads to: an end, or the next request. */
type Next = LoopOutcome | undefined;

const maxPauses = 5;

/** One conversation with a model: request, answer, tools, results, until an end. */
class Conversation {
  private readonly deps: LoopDeps;
  private readonly input: LoopInput;
  private readonly signal: AbortSignal;
  private readonly tools: ToolTurn;
  private readonly messages: Message[];
  private usage: Usage = noUsage;
  private turn = 0;
  private pauses = 0;
  private isMended = false;
  /** An answer that lacked only its form: it stands when mending it fails. */
  private unmended: string | undefined;

  constructor(deps: LoopDeps, input: LoopInput, signal: AbortSignal) {
    this.deps = deps;
    this.input = input;
    this.signal = signal;
    this.messages = [...input.messages];
    this.tools = new ToolTurn(deps, input.firstCall ?? 1, signal);
  }

  async run(): Promise<LoopOutcome> {
    for (;;) {
      if (this.signal.aborted) return this.cancelled();
      if (this.turn >= this.input.maxTurns) {
        return this.failed('limit', `the limit of ${this.input.maxTurns} turns is reached`);
      }
      this.turn += 1;
      const next = await this.oneTurn();
      if (next !== undefined) return next;
    }
  }

  private async oneTurn(): Promise<Next> {
    const result = await new ModelTurn(this.deps, this.turn, this.signal).ask({
      ...this.input,
      tools: this.deps.tools.specs,
      messages: [...this.messages],
    });
    this.usage = addUsage(this.usage, result.usage);
    switch (result.kind) {
      case 'answer':
        return this.follow(result.answer);
      case 'failed':
        return this.failed(result.code, result.message);
      case 'cancelled':
        return this.cancelled();
    }
  }

  /** Does what the answer's stop reason asks for. */
  private async follow({ content, stopReason }: ModelMessage): Promise<Next> {
    const uses = toolUsesOf(content);
    if (content.length > 0) this.messages.push({ role: 'assistant', content: [...content] });
    if (stopReason !== 'pause_turn') this.pauses = 0;
    switch (stopReason) {
      case 'end_turn':
      case 'stop_sequence':
        return uses.length > 0 ? this.useTools(uses) : this.endOfTurn(textOf(content));
      case 'tool_use':
        if (uses.length > 0) return this.useTools(uses);
        return this.failed('unknownStop', 'the model announced a tool call and made none');
      case 'pause_turn':
        return uses.length > 0 ? this.useTools(uses) : this.pause();
      default:
        return this.brokenOff(uses, stopReason);
    }
  }

  private async useTools(uses: readonly ToolUseBlock[]): Promise<Next> {
    this.unmended = undefined;
    const { results, mayHaveChanged } = await this.tools.run(uses, this.turn);
    if (mayHaveChanged) await this.deps.afterTurn(this.turn);
    if (this.signal.aborted) return this.cancelled();
    const said = await this.takeMessages();
    this.messages.push({ role: 'user', content: [...results, ...said] });
    return undefined;
  }

  /** A paused answer goes back as it is; the model goes on from there. */
  private pause(): Next {
    this.pauses += 1;
    if (this.pauses <= maxPauses) return undefined;
    return this.failed('limit', `the model paused more than ${maxPauses} times in a row`);
  }

  /** Tools of an answer that did not end as it should are never run, but every call gets its result. */
  private async brokenOff(uses: readonly ToolUseBlock[], stopReason: string): Promise<Next> {
    await this.tools.close(uses, this.turn, `${notRunText}: the answer ended with ${stopReason}`);
    switch (stopReason) {
      case 'max_tokens':
        return this.failed('maxTokens', 'the answer was cut at its token limit');
      case 'refusal':
        return this.failed('refusal', 'the model refused to answer');
      case 'model_context_window_exceeded':
        return this.failed('contextFull', 'the conversation no longer fits the model');
      default:
        return this.failed('unknownStop', `the model stopped for an unknown reason: ${stopReason}`);
    }
  }

  /** The model is done; a waiting user message or a missing form goes back to it. */
  private async endOfTurn(text: string): Promise<Next> {
    const said = await this.takeMessages();
    if (said.length > 0) {
      this.unmended = undefined;
      this.say(said);
      return undefined;
    }
    if (text.trim() === '') {
      return this.failed('emptyAnswer', 'the model ended its turn without an answer');
    }
    const request = this.isMended ? undefined : this.deps.mend?.(text);
    this.isMended = true;
    if (request === undefined || this.turn >= this.input.maxTurns) return this.completed(text);
    this.unmended = text;
    const content = [{ type: 'text', text: request }];
    await this.deps.append({ type: 'user', content, origin: 'host' });
    this.say(content);
    return undefined;
  }

  /** Adds to the user's side; after an answer without content that is still the last message. */
  private say(content: readonly ContentBlock[]): void {
    const last = this.messages.at(-1);
    if (last?.role === 'user') {
      this.messages.splice(-1, 1, { role: 'user', content: [...last.content, ...content] });
    } else {
      this.messages.push({ role: 'user', content: [...content] });
    }
  }

  private async takeMessages(): Promise<ContentBlock[]> {
    const blocks: ContentBlock[] = [];
    for (const { id, text } of await this.deps.takeMessages()) {
      const block = { type: 'text', text };
      if (isBlankText(block)) continue;
      await this.deps.append({ type: 'user', content: [block], origin: 'user', messageId: id });
      blocks.push(block);
    }
    return blocks;
  }

  private completed(text: string): LoopOutcome {
    return { kind: 'completed', text, usage: this.usage, turns: this.turn };
  }

  private failed(reason: string, message: string): LoopOutcome {
    if (this.unmended !== undefined) return this.completed(this.unmended);
    return { kind: 'failed', reason, message, usage: this.usage, turns: this.turn };
  }

  private cancelled(): LoopOutcome {
    return { kind: 'cancelled', reason: cancelReasonOf(this.signal), usage: this.usage, turns: this.turn };
  }
}
