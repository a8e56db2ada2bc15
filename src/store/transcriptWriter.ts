import type { Clock } from '../base/async';
import { fileError, type OpenFile } from '../base/atomicFile';
import { TributaryError } from '../base/errors';
import { toJsonLine } from '../base/jsonl';
import type { NewEntry, TranscriptEntry } from '../model/transcript';
import type { TranscriptWriter } from './store';
import { isEntry, type Tail } from './transcriptFile';

/** A call that waits for its line to be written. */
interface Pending {
  readonly entry: TranscriptEntry;
  readonly resolve: (entry: TranscriptEntry) => void;
  readonly reject: (error: unknown) => void;
}

/** An entry with its final id, and its line. */
interface Numbered {
  readonly pending: Pending;
  readonly entry: TranscriptEntry;
  readonly bytes: Buffer;
}

/** Appends to one open file. What waits while a write is under way goes out together with the next. */
export class FileTranscriptWriter implements TranscriptWriter {
  private readonly file: OpenFile;
  private readonly path: string;
  private readonly clock: Clock;
  private readonly waiting: Pending[] = [];
  private lastNumber: number;
  private lastId: string | null;
  private needsNewline: boolean;
  private writing: Promise<void> | undefined;
  private closing: Promise<void> | undefined;

  constructor(file: OpenFile, path: string, clock: Clock, tail: Tail) {
    this.file = file;
    this.path = path;
    this.clock = clock;
    this.lastNumber = tail.lastNumber;
    this.lastId = tail.lastId;
    this.needsNewline = !tail.endsWithNewline;
  }

  /** Throws `wrongState` after `close`, `internal` for an entry that is not valid, `diskFull`, `readOnly`. */
  async append(entry: NewEntry): Promise<TranscriptEntry> {
    if (this.closing !== undefined) throw new TributaryError('wrongState', `${this.path} is closed`);
    // Through JSON at once: what is given back is what a reader will see, whatever the caller changes later.
    const whole: unknown = JSON.parse(
      JSON.stringify({ id: 'e0', parentId: null, at: this.clock.now().toISOString(), ...entry }),
    );
    if (!isEntry(whole)) {
      throw new TributaryError('internal', `an entry "${entry.type}" for ${this.path} is not valid`);
    }
    return await new Promise((resolve, reject) => {
      this.waiting.push({ entry: whole, resolve, reject });
      this.writing ??= this.drain();
    });
  }

  /** Waits for what is under way and flushes to the disk. */
  close(): Promise<void> {
    this.closing ??= this.finish();
    return this.closing;
  }

  private async finish(): Promise<void> {
    await this.writing;
    try {
      try {
        await this.file.sync();
      } finally {
        await this.file.close();
      }
    } catch (error) {
      throw fileError('close', this.path, error);
    }
  }

  private async drain(): Promise<void> {
    // Lets calls of the same moment come into one batch.
    await Promise.resolve();
    while (this.waiting.length > 0) await this.writeBatch(this.waiting.splice(0));
    this.writing = undefined;
  }

  private async writeBatch(batch: readonly Pending[]): Promise<void> {
    const lines = this.number(batch);
    const prefix = Buffer.from(this.needsNewline ? '\n' : '');
    const bytes = Buffer.concat([prefix, ...lines.map((line) => line.bytes)]);
    let written = 0;
    let failure: unknown;
    try {
      while (written < bytes.length) {
        written += (await this.file.write(bytes, written, bytes.length - written)).bytesWritten;
      }
    } catch (error) {
      failure = fileError('append to', this.path, error);
    }
    this.settle(lines, written, prefix.length, failure);
  }

  /** Whole lines are written, also when a later one failed; a half one is closed by a newline before the next. */
  private settle(lines: readonly Numbered[], written: number, start: number, failure: unknown): void {
    let end = start;
    for (const { pending, entry, bytes } of lines) {
      const begin = end;
      end += bytes.length;
      if (end <= written) {
        this.lastId = entry.id;
        this.needsNewline = false;
        pending.resolve(entry);
      } else {
        if (begin < written) this.needsNewline = true;
        pending.reject(failure);
      }
    }
  }

  /** Ids are given when the line goes out, so that an entry the disk refused leaves no child without a parent. */
  private number(batch: readonly Pending[]): Numbered[] {
    let parentId = this.lastId;
    return batch.map((pending) => {
      this.lastNumber += 1;
      const entry: TranscriptEntry = { ...pending.entry, id: `e${this.lastNumber}`, parentId };
      parentId = entry.id;
      return { pending, entry, bytes: Buffer.from(toJsonLine(entry), 'utf8') };
    });
  }
}
