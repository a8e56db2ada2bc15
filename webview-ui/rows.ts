import * as z from 'zod';
import type { Answer } from '../src/model/answer';
import { textBlockSchema, textOf, toolUseBlockSchema } from '../src/model/messages';
import type { TranscriptEntry } from '../src/model/transcript';
import type { PageEntry } from '../src/protocol/transcriptApi';

/** What happened to a tool call so far. `open`: it runs, or ran when everything was cut. */
export type ToolState = 'open' | 'done' | 'failed' | 'stopped';

export interface ToolRow {
  readonly kind: 'tool';
  readonly toolUseId: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: ToolState;
  readonly call?: number;
  readonly startedAt?: string;
  readonly endedIndex?: number;
  readonly result?: string;
  readonly exitCode?: number | null;
  readonly durationMs?: number;
  /** The full output is in a file. */
  readonly hasOutputFile: boolean;
  /** Entries of which only a part was sent. */
  readonly shortened: readonly number[];
}

type RowBody =
  | {
      readonly kind: 'user';
      readonly origin: 'instruction' | 'user' | 'host' | 'resumed';
      readonly texts: readonly string[];
    }
  | { readonly kind: 'thinking'; readonly text: string; readonly isHidden: boolean }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'answer'; readonly answer: Answer; readonly text: string }
  | ToolRow
  | {
      readonly kind: 'question';
      readonly questionId: string;
      readonly tool: string;
      readonly command: string;
      readonly answer?: { readonly isAllowed: boolean; readonly by: string };
    }
  | {
      readonly kind: 'retry';
      readonly attempt: number;
      readonly code: string;
      readonly message: string;
      readonly until: string;
      readonly isWaiting: boolean;
    }
  | { readonly kind: 'cut'; readonly text: string; readonly reason: string }
  | { readonly kind: 'state'; readonly state: string; readonly reason: string }
  | { readonly kind: 'note'; readonly code: string; readonly text: string };

/** One item of the list, made from one or more entries. `index`: the first of them. */
export type Row = RowBody & {
  readonly key: string;
  readonly index: number;
  readonly at: string;
  readonly isShortened: boolean;
};
export type RowOf<K extends Row['kind']> = Extract<Row, { kind: K }>;

const thinkingSchema = z.looseObject({ type: z.literal('thinking'), thinking: z.string() });

/** Turns entries into rows, entry by entry: what is appended later costs only itself. */
export class RowBuilder {
  private rows: Row[] = [];
  private readonly tools = new Map<string, number>();
  private readonly questions = new Map<string, number>();
  /** A `message.started` without its end so far. */
  private openMessage: { readonly index: number; readonly at: string } | undefined;
  private waitingRetry: number | undefined;
  private lastTexts: readonly number[] = [];
  private taken: readonly PageEntry[] = [];

  /** The rows of `entries`. Begins anew unless they begin with those of the last call. */
  build(entries: readonly PageEntry[]): readonly Row[] {
    const { taken } = this;
    const goesOn =
      taken.length <= entries.length &&
      taken[0] === entries[0] &&
      taken.at(-1) === entries[taken.length - 1] &&
      !this.hasChanged(entries);
    if (!goesOn) this.reset();
    // A new list each time something changes: who holds the old one sees that it is another.
    if (this.taken.length < entries.length) this.rows = [...this.rows];
    for (const one of entries.slice(this.taken.length)) this.take(one);
    this.taken = entries;
    return this.rows;
  }

  /** Where the text of the last message stands: the final answer, once the Run completed. */
  get finalTexts(): readonly number[] {
    return this.lastTexts;
  }

  /** Whether the last message of the entries is still being written, or was when everything was cut. */
  get hasOpenMessage(): boolean {
    return this.openMessage !== undefined;
  }

  get openMessageAt(): string | undefined {
    return this.openMessage?.at;
  }

  /** An entry in the middle was replaced by its whole self. */
  private hasChanged(entries: readonly PageEntry[]): boolean {
    return this.taken.some((one, position) => one.isShortened && one !== entries[position]);
  }

  private reset(): void {
    this.rows = [];
    this.tools.clear();
    this.questions.clear();
    this.openMessage = undefined;
    this.waitingRetry = undefined;
    this.lastTexts = [];
    this.taken = [];
  }

  private take(one: PageEntry): void {
    const { entry } = one;
    if (this.openMessage !== undefined && endsSilently(entry)) this.addCut(this.openMessage);
    this.endRetry(entry);
    switch (entry.type) {
      case 'message.started':
        this.openMessage = { index: one.index, at: entry.at };
        break;
      case 'message':
        this.openMessage = undefined;
        this.addMessage(one, entry);
        break;
      case 'message.cut':
        this.openMessage = undefined;
        // Where no answer had begun, none was cut off: the retry or the end that follows says why.
        if (entry.partialText.trim() !== '')
          this.add(one, { kind: 'cut', text: entry.partialText, reason: entry.reason });
        break;
      case 'user':
        this.add(one, { kind: 'user', origin: entry.origin, texts: textsOf(entry.content) });
        break;
      case 'tool.started':
        this.startTool(one, entry);
        break;
      case 'tool.ended':
        this.endTool(one, entry);
        break;
      case 'question': {
        const { questionId, tool, command } = entry;
        this.questions.set(questionId, this.add(one, { kind: 'question', questionId, tool, command }));
        break;
      }
      case 'answer':
        this.answer(one, entry);
        break;
      case 'retry': {
        const { attempt, code, message, waitMs } = entry;
        const until = new Date(Date.parse(entry.at) + waitMs);
        this.waitingRetry = this.add(one, {
          kind: 'retry',
          attempt,
          code,
          message,
          until: Number.isNaN(until.getTime()) ? entry.at : until.toISOString(),
          isWaiting: true,
        });
        break;
      }
      case 'state':
        this.add(one, { kind: 'state', state: entry.state, reason: entry.reason ?? '' });
        break;
      case 'note':
        this.add(one, { kind: 'note', code: entry.code, text: entry.text });
        break;
      case 'usage':
        break;
    }
  }

  private add({ index, entry, isShortened }: PageEntry, body: RowBody, part = ''): number {
    this.rows.push({ ...body, key: `${entry.id}${part}`, index, at: entry.at, isShortened });
    return this.rows.length - 1;
  }

  private change(position: number | undefined, update: (row: Row) => Row): boolean {
    const row = position === undefined ? undefined : this.rows[position];
    if (position === undefined || row === undefined) return false;
    this.rows[position] = update(row);
    return true;
  }

  private addCut({ index, at }: { readonly index: number; readonly at: string }): void {
    this.rows.push({
      kind: 'cut',
      text: '',
      reason: 'killed',
      key: `cut${index}`,
      index,
      at,
      isShortened: false,
    });
    this.openMessage = undefined;
  }

  private endRetry(entry: TranscriptEntry): void {
    if (this.waitingRetry === undefined || entry.type === 'usage') return;
    this.change(this.waitingRetry, (row) => (row.kind === 'retry' ? { ...row, isWaiting: false } : row));
    this.waitingRetry = undefined;
  }

  private addMessage(one: PageEntry, entry: Extract<TranscriptEntry, { type: 'message' }>): void {
    const texts: number[] = [];
    entry.content.forEach((block, number) => {
      const part = `.${number}`;
      const text = textBlockSchema.safeParse(block);
      const thinking = thinkingSchema.safeParse(block);
      const use = toolUseBlockSchema.safeParse(block);
      if (text.success) {
        if (text.data.text.trim() !== '')
          texts.push(this.add(one, { kind: 'text', text: text.data.text }, part));
      } else if (thinking.success) {
        if (thinking.data.thinking.trim() !== '')
          this.add(one, { kind: 'thinking', text: thinking.data.thinking, isHidden: false }, part);
      } else if (block.type === 'redacted_thinking') {
        this.add(one, { kind: 'thinking', text: '', isHidden: true }, part);
      } else if (use.success) {
        const { id, name, input } = use.data;
        this.tools.set(id, this.add(one, newTool(one, { toolUseId: id, name, input }), part));
      }
    });
    this.lastTexts = texts;
    if (entry.stopReason === 'refusal')
      this.add(one, { kind: 'note', code: 'refusal', text: 'The model refused to answer.' }, '.refusal');
  }

  private startTool(one: PageEntry, entry: Extract<TranscriptEntry, { type: 'tool.started' }>): void {
    const { toolUseId, name, input, call } = entry;
    const begun = { startedAt: entry.at, ...(call === undefined ? {} : { call }) };
    const position = this.tools.get(toolUseId);
    const known = position === undefined ? undefined : this.rows[position];
    // Models choose ids; one that comes again is another call.
    if (known?.kind === 'tool' && known.startedAt === undefined && known.state === 'open') {
      this.change(position, () => ({ ...known, ...begun }));
    } else {
      this.tools.set(toolUseId, this.add(one, { ...newTool(one, { toolUseId, name, input }), ...begun }));
    }
  }

  private endTool(one: PageEntry, entry: Extract<TranscriptEntry, { type: 'tool.ended' }>): void {
    const { toolUseId, name, content, isError, durationMs, exitCode, outputPath } = entry;
    const position = this.tools.get(toolUseId);
    const known = position === undefined ? undefined : this.rows[position];
    const base: ToolRow =
      known?.kind === 'tool' && known.state === 'open'
        ? known
        : newTool(one, { toolUseId, name, input: undefined });
    const ended: ToolRow = {
      ...base,
      state: entry.isStopped === true ? 'stopped' : isError ? 'failed' : 'done',
      endedIndex: one.index,
      result: typeof content === 'string' ? content : textOf(content),
      durationMs,
      hasOutputFile: outputPath !== undefined,
      shortened: one.isShortened ? [...base.shortened, one.index] : base.shortened,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(entry.call === undefined ? {} : { call: entry.call }),
    };
    if (base === known) this.change(position, (row) => ({ ...row, ...ended }));
    else this.tools.set(toolUseId, this.add(one, ended));
  }

  private answer(one: PageEntry, entry: Extract<TranscriptEntry, { type: 'answer' }>): void {
    const answer = { isAllowed: entry.allowed, by: entry.by };
    const isKnown = this.change(this.questions.get(entry.questionId), (row) =>
      row.kind === 'question' ? { ...row, answer } : row,
    );
    if (!isKnown)
      this.add(one, { kind: 'question', questionId: entry.questionId, tool: '', command: '', answer });
  }
}

/** An entry that can only follow a message that never ended. */
function endsSilently({ type }: TranscriptEntry): boolean {
  return type === 'message.started' || type === 'user' || type === 'state' || type === 'tool.started';
}

function newTool(
  one: PageEntry,
  { toolUseId, name, input }: { toolUseId: string; name: string; input: unknown },
): ToolRow {
  const shortened = one.isShortened ? [one.index] : [];
  return { kind: 'tool', toolUseId, name, input, state: 'open', hasOutputFile: false, shortened };
}

function textsOf(content: readonly { readonly type: string }[]): string[] {
  return content.flatMap((block) => {
    const text = textBlockSchema.safeParse(block);
    return text.success && text.data.text.trim() !== '' ? [text.data.text] : [];
  });
}
