import { SerialQueue } from '../../base/async';
import { TributaryError } from '../../base/errors';
import {
  afterWaiting,
  noWaits,
  startOfTranscript,
  type TranscriptCursor,
  type TranscriptEntry,
  type TranscriptPart,
  type Waits,
} from '../../model/transcript';
import { addUsage, noUsage, type Usage } from '../../model/usage';

/** Reads what stands behind `from`. Throws `unknownId` before the transcript was begun. */
export type ReadPart = (from: TranscriptCursor) => Promise<TranscriptPart>;

/** The transcript of one Run as far as it was read. The file is the truth: whoever wrote it, it is read the same. */
export class RunFeed {
  readonly entries: TranscriptEntry[] = [];
  readonly problems: string[] = [];
  private readonly readPart: ReadPart;
  private readonly queue = new SerialQueue();
  private cursor: TranscriptCursor = startOfTranscript;
  private endsTorn = false;
  private sum: Usage = noUsage;
  private openIndex: number | undefined;
  private waited: Waits = noWaits;

  constructor(readPart: ReadPart) {
    this.readPart = readPart;
  }

  /** Entries read; they are only ever appended, so the count is a revision. */
  get revision(): number {
    return this.entries.length;
  }

  get usage(): Usage {
    return this.sum;
  }

  /** How long the user was waited for, and since when the Run waits now. */
  get waits(): Waits {
    return this.waited;
  }

  get isTorn(): boolean {
    return this.endsTorn;
  }

  /** The `message.started` that has no end yet. */
  get openMessage(): { readonly index: number; readonly id: string } | undefined {
    const entry = this.openIndex === undefined ? undefined : this.entries[this.openIndex];
    return this.openIndex === undefined || entry === undefined
      ? undefined
      : { index: this.openIndex, id: entry.id };
  }

  /** Reads to the end of the file. One that is not there yet is no failure. */
  async catchUp(): Promise<void> {
    await this.queue.run(async () => {
      for (;;) {
        const part = await this.next();
        if (part === undefined) return;
        for (const entry of part.entries) this.take(entry);
        this.problems.push(...part.problems);
        this.cursor = part.next;
        this.endsTorn = part.isTorn;
        if (part.isEnd) return;
      }
    });
  }

  private async next(): Promise<TranscriptPart | undefined> {
    try {
      return await this.readPart(this.cursor);
    } catch (error) {
      if (error instanceof TributaryError && error.code === 'unknownId') return undefined;
      throw error;
    }
  }

  private take(entry: TranscriptEntry): void {
    this.entries.push(entry);
    this.waited = afterWaiting(this.waited, entry);
    if (entry.type === 'usage') this.sum = addUsage(this.sum, entry.usage);
    else if (entry.type === 'message.started') this.openIndex = this.entries.length - 1;
    else if (entry.type === 'message' || entry.type === 'message.cut') this.openIndex = undefined;
  }
}
