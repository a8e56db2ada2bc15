import type { CancelReason } from '../base/async';
import type { ContentBlock, Message, ModelParams } from '../model/messages';
import type { LiveEvent, NewEntry } from '../model/transcript';
import type { Usage } from '../model/usage';
import type { LanguageModel } from './languageModel';
import type { ToolSet } from './tools/tool';

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

export interface LoopDeps {
  readonly model: LanguageModel;
  readonly tools: ToolSet;
  /** Resolves when the entry is on disk. */
  readonly append: (entry: NewEntry) => Promise<void>;
  readonly onLive: (event: LiveEvent) => void;
  /** After the results of a Turn, when one of its tools may have changed files. */
  readonly afterTurn: (turn: number) => Promise<void>;
  /** User messages that arrived since the last call; they go out at this tool boundary. */
  readonly takeMessages: () => Promise<readonly string[]>;
  /** What to ask, once, when a final answer lacks its form; `undefined`: nothing to mend. */
  readonly mend?: (text: string) => string | undefined;
  /** 0..1, for the jitter of retries. */
  readonly random: () => number;
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly now: () => Date;
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

export type AgentLoop = (deps: LoopDeps, input: LoopInput, signal: AbortSignal) => Promise<LoopOutcome>;
