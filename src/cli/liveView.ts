import { type ContentBlock, textOf } from '../model/messages';
import { clip, plainLine, plainText } from '../model/plainText';
import type { LiveEvent, TranscriptEntry } from '../model/transcript';
import type { Output } from './host';
import type { Paint } from './paint';
import { durationText } from './texts';
import { toolSummary } from './toolSummary';

type EntryOf<T extends TranscriptEntry['type']> = Extract<TranscriptEntry, { type: T }>;

/** So many lines of a command's output are shown as it runs; the transcript has them all. */
const shownOutputLines = 12;

interface ShownOutput {
  pending: string;
  lines: number;
}

/** What goes on in a Run, as rows on a terminal or in a log file: only ever appended to. */
export class LiveView {
  private readonly output: Output;
  private readonly paint: Paint;
  /** The kind of streamed text whose line is not ended yet. */
  private streaming: 'text' | 'thinking' | undefined;
  private endsWithNewline = true;
  private hasStreamedText = false;
  private readonly outputs = new Map<string, ShownOutput>();

  constructor(output: Output, paint: Paint) {
    this.output = output;
    this.paint = paint;
  }

  /** A whole line; a streamed one is ended first. `text` must be safe already. */
  row(text: string): void {
    this.endStream();
    this.output.write(`${text}\n`);
  }

  stream(event: LiveEvent): void {
    if (event.type === 'tool.output') this.toolOutput(event.toolUseId, event.text);
    else this.delta(event.type === 'text.delta' ? 'text' : 'thinking', event.text);
  }

  entry(entry: TranscriptEntry): void {
    if (entry.type === 'message.started') this.hasStreamedText = false;
    else if (entry.type === 'message') this.message(entry);
    else if (entry.type === 'tool.ended') this.toolEnded(entry);
    else {
      const text = this.rowOf(entry);
      if (text !== undefined) this.row(text);
    }
  }

  /** Ends a streamed line, if one is open. */
  endStream(): void {
    if (this.streaming !== undefined && !this.endsWithNewline) this.output.write('\n');
    this.streaming = undefined;
    this.endsWithNewline = true;
  }

  private rowOf(entry: TranscriptEntry): string | undefined {
    const { yellow, cyan, dim } = this.paint;
    const width = this.width();
    switch (entry.type) {
      case 'message.cut':
        return yellow(`  (cut off: ${plainLine(entry.reason)})`);
      case 'tool.started':
        return `${cyan('→')} ${toolSummary(entry.name, entry.input, width - 2)}`;
      case 'retry': {
        const why = `${plainLine(entry.code)}, ${plainLine(entry.message)}`;
        return yellow(clip(`↻ retry ${entry.attempt} in ${durationText(entry.waitMs)}: ${why}`, width));
      }
      case 'answer':
        return yellow(`  ${entry.allowed ? 'allowed' : 'not allowed'} by ${plainLine(entry.by)}`);
      case 'note':
        // An alarm is told by its event, which comes also where no transcript is open.
        return entry.code === 'alarm' ? undefined : yellow(`! ${plainLine(entry.text)}`);
      case 'user':
        return entry.origin === 'instruction'
          ? undefined
          : dim(clip(`« ${plainLine(textOf(entry.content))}`, width));
      default:
        return undefined;
    }
  }

  private delta(kind: 'text' | 'thinking', raw: string): void {
    if (kind === 'text') this.hasStreamedText = true;
    if (this.streaming !== kind) {
      this.endStream();
      if (kind === 'thinking') this.output.write(this.paint.dim('(thinking) '));
      this.streaming = kind;
      this.endsWithNewline = false;
    }
    const text = plainText(raw);
    if (text === '') return;
    this.output.write(kind === 'thinking' ? this.paint.dim(text) : text);
    this.endsWithNewline = text.endsWith('\n');
  }

  private message(entry: EntryOf<'message'>): void {
    const text = plainText(textOf(entry.content));
    // Shown already, piece by piece, unless the model's answer did not come as a stream.
    if (this.hasStreamedText || text.trim() === '') this.endStream();
    else this.row(text);
    if (entry.stopReason === 'refusal') this.row(this.paint.yellow('  (the model refused)'));
  }

  private toolOutput(toolUseId: string, text: string): void {
    const shown = this.outputs.get(toolUseId) ?? { pending: '', lines: 0 };
    this.outputs.set(toolUseId, shown);
    const lines = `${shown.pending}${text}`.split('\n');
    shown.pending = (lines.pop() ?? '').slice(-2_000);
    for (const line of lines) this.outputLine(shown, line);
  }

  private outputLine(shown: ShownOutput, line: string): void {
    if (line.trim() === '') return;
    shown.lines += 1;
    if (shown.lines <= shownOutputLines)
      this.row(this.paint.dim(clip(`  │ ${plainText(line)}`, this.width())));
    else if (shown.lines === shownOutputLines + 1) this.row(this.paint.dim('  │ …'));
  }

  private toolEnded(entry: EntryOf<'tool.ended'>): void {
    const shown = this.outputs.get(entry.toolUseId);
    if (shown !== undefined && shown.pending !== '') this.outputLine(shown, shown.pending);
    this.outputs.delete(entry.toolUseId);
    const parts: string[] = [];
    // Without an exit code the content says why: not allowed, stopped, timed out.
    if (typeof entry.exitCode === 'number') parts.push(`exit ${entry.exitCode}`);
    else if (entry.exitCode === null && shown !== undefined) parts.push('no exit code');
    if (entry.durationMs >= 1_000) parts.push(durationText(entry.durationMs));
    if (shown === undefined) parts.push(resultText(entry.content));
    const text = clip(`  ${parts.filter((part) => part !== '').join(', ') || 'done'}`, this.width());
    const isFailure = entry.isError && entry.isStopped !== true;
    this.row(isFailure ? this.paint.red(text) : this.paint.dim(text));
  }

  private width(): number {
    return Math.max(40, this.output.columns ?? 120);
  }
}

/** The first line of a result that says something, and how many more there are. */
function resultText(content: string | readonly ContentBlock[]): string {
  const text = typeof content === 'string' ? content : textOf(content);
  const lines = plainText(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^\[call \d+\]$/.test(line));
  const [first = '', ...rest] = lines;
  return rest.length === 0 ? first : `${first} (+${rest.length} lines)`;
}
