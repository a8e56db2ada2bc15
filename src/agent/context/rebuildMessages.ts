import {
  type ContentBlock,
  type Message,
  type ToolUseBlock,
  toolResultBlockSchema,
  toolUsesOf,
} from '../../model/messages';
import type { Transcript, TranscriptEntry } from '../../model/transcript';
import { interruptedText, isBlankText, notRunText, toolResult } from './toolResults';

/** Stands where the transcript lost a message, so that the rest stays a conversation. */
export const missingMessageText = '(a message is missing here)';

/**
 * The messages a transcript stands for: the same bytes as were sent, and a valid conversation wherever it
 * was cut. Cut and refused answers are left out. A call without a result gets one that says so; it is never
 * run again. A transcript that goes on from another Run may begin with the assistant.
 */
export function rebuildMessages(transcript: Transcript): Message[] {
  const rebuild = new Rebuild(transcript.header.resumes !== undefined);
  for (const entry of transcript.entries) rebuild.take(entry);
  return rebuild.finish();
}

class Rebuild {
  private readonly messages: Message[] = [];
  private readonly goesOn: boolean;
  /** Calls of the last assistant message, in order. */
  private open: ToolUseBlock[] = [];
  private started = new Set<string>();
  private results = new Map<string, ContentBlock>();
  /** What the user says after the results. */
  private said: ContentBlock[] = [];
  private wasPaused = false;

  constructor(goesOn: boolean) {
    this.goesOn = goesOn;
  }

  take(entry: TranscriptEntry): void {
    switch (entry.type) {
      case 'message':
        if (isSendable(entry)) this.assistant(entry.content, entry.stopReason);
        return;
      case 'user':
        for (const block of entry.content) this.userBlock(block);
        return;
      case 'tool.started':
        this.started.add(entry.toolUseId);
        return;
      case 'tool.ended':
        this.result(toolResult(entry.toolUseId, entry.content, entry.isError));
        return;
      default:
    }
  }

  finish(): Message[] {
    this.flushUser();
    return this.messages;
  }

  private assistant(content: readonly ContentBlock[], stopReason: string): void {
    this.flushUser();
    const last = this.messages.at(-1);
    const isFirst = last === undefined && !this.goesOn;
    const isDouble = last?.role === 'assistant' && !this.wasPaused;
    if (isFirst || isDouble) {
      this.messages.push({ role: 'user', content: [{ type: 'text', text: missingMessageText }] });
    }
    this.messages.push({ role: 'assistant', content: [...content] });
    this.open = toolUsesOf(content);
    this.wasPaused = stopReason === 'pause_turn';
  }

  /** A resumed Run may hold the results that closed the old one's calls. */
  private userBlock(block: ContentBlock): void {
    const result = toolResultBlockSchema.safeParse(block);
    if (result.success) this.result(block);
    else if (!isBlankText(block)) this.said.push(block);
  }

  private result(block: ContentBlock): void {
    const id = block['tool_use_id'];
    if (typeof id !== 'string' || this.results.has(id)) return;
    if (this.open.some((use) => use.id === id)) this.results.set(id, block);
  }

  private flushUser(): void {
    const results = this.open.map((use) => this.results.get(use.id) ?? this.missingResult(use.id));
    const content = [...results, ...this.said];
    if (content.length > 0) this.messages.push({ role: 'user', content });
    this.open = [];
    this.started = new Set();
    this.results = new Map();
    this.said = [];
  }

  private missingResult(id: string): ContentBlock {
    return toolResult(id, this.started.has(id) ? interruptedText : notRunText, true);
  }
}

/** The API refuses an empty message, and a refused answer would be refused again. */
function isSendable(entry: Extract<TranscriptEntry, { type: 'message' }>): boolean {
  return entry.content.length > 0 && entry.stopReason !== 'refusal';
}
