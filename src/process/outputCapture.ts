import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';

/** An overflow file grows no further than this; its last line then says so. */
const maxOverflowBytes = 512 * 1024 * 1024;

/** Keeps the first and the last bytes of a stream, `maxBytes` in all; what lies between is dropped. */
export class HeadAndTail {
  private readonly headMax: number;
  private readonly tailMax: number;
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  private tail: Buffer[] = [];
  private tailBytes = 0;
  /** Bytes that are no longer kept. */
  dropped = 0;

  constructor(maxBytes: number) {
    this.headMax = Math.ceil(maxBytes / 2);
    this.tailMax = maxBytes - this.headMax;
    if (maxBytes === Number.POSITIVE_INFINITY) this.tailMax = 0;
  }

  push(chunk: Buffer): void {
    const room = this.headMax - this.headBytes;
    const first = room >= chunk.length ? chunk : chunk.subarray(0, Math.max(room, 0));
    if (first.length > 0) this.head.push(first);
    this.headBytes += first.length;
    const rest = chunk.subarray(first.length);
    if (rest.length === 0) return;
    this.tail.push(rest);
    this.tailBytes += rest.length;
    // Trimmed only at twice the size, so that a flood of small chunks costs no quadratic copying.
    if (this.tailBytes > this.tailMax * 2 || this.tail.length > 4_096) this.trimTail();
  }

  bytes(): Buffer {
    this.trimTail();
    return Buffer.concat([...this.head, ...this.tail]);
  }

  /** As text; the middle that was dropped is named, and no character is cut in two. */
  text(): string {
    this.trimTail();
    const head = Buffer.concat(this.head);
    const tail = Buffer.concat(this.tail);
    if (this.dropped === 0) return Buffer.concat([head, tail]).toString('utf8');
    const whole = head.subarray(0, wholeUtf8Length(head)).toString('utf8');
    const note = `\n[... ${this.dropped} bytes left out ...]\n`;
    return `${whole}${note}${tail.subarray(utf8Start(tail)).toString('utf8')}`;
  }

  private trimTail(): void {
    const excess = this.tailBytes - this.tailMax;
    const isBroken = this.tail.length > 1;
    if (excess <= 0 && !isBroken) return;
    // Copied, so that the large chunks it was cut from can be freed.
    const joined = Buffer.concat(this.tail);
    this.tail = [excess > 0 ? Buffer.from(joined.subarray(excess)) : joined];
    this.tailBytes = this.tail[0]?.length ?? 0;
    this.dropped += Math.max(excess, 0);
  }
}

/** Holds back the bytes of an unfinished character until the next chunk of the same stream completes it. */
export class Utf8Joiner {
  private rest: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer {
    const joined = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    const length = wholeUtf8Length(joined);
    this.rest = Buffer.from(joined.subarray(length));
    return joined.subarray(0, length);
  }

  end(): Buffer {
    const rest = this.rest;
    this.rest = Buffer.alloc(0);
    return rest;
  }
}

/** Length of `bytes` without an unfinished UTF-8 character at its end. */
function wholeUtf8Length(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Index of the first byte that does not continue a character. */
function utf8Start(bytes: Buffer): number {
  let index = 0;
  while (index < Math.min(4, bytes.length) && ((bytes[index] ?? 0) & 0xc0) === 0x80) index++;
  return index;
}

/** The file that takes the whole output once the cap is passed. A failing disk costs the file, not the run. */
export class OverflowFile {
  private readonly path: string;
  private stream: WriteStream | undefined;
  private written = 0;
  private hasFailed = false;

  constructor(path: string) {
    this.path = path;
  }

  /** Opens it with what was kept so far, which is everything. */
  async open(first: Buffer): Promise<void> {
    try {
      await mkdir(dirname(this.path), { recursive: true });
    } catch {
      this.hasFailed = true;
      return;
    }
    this.stream = createWriteStream(this.path, { mode: 0o600 });
    this.stream.on('error', () => {
      this.hasFailed = true;
    });
    await this.write(first);
  }

  /** Resolves when more may be written: the writer waits, so that a slow disk does not fill the memory. */
  async write(chunk: Buffer): Promise<void> {
    const { stream } = this;
    if (!stream || this.hasFailed || this.written > maxOverflowBytes) return;
    this.written += chunk.length;
    const note = this.written > maxOverflowBytes ? '\n[the rest was not kept: too large]\n' : '';
    const isReady = stream.write(note ? Buffer.concat([chunk, Buffer.from(note)]) : chunk);
    if (isReady) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        for (const name of ['drain', 'error', 'close']) stream.off(name, done);
        resolve();
      };
      for (const name of ['drain', 'error', 'close']) stream.on(name, done);
    });
  }

  /** The path, or `undefined` when the file could not be written whole. */
  async close(): Promise<string | undefined> {
    const { stream } = this;
    if (stream && !this.hasFailed) {
      await new Promise<void>((resolve) => {
        stream.once('close', () => resolve());
        stream.end();
      });
    }
    return this.hasFailed || !stream ? undefined : this.path;
  }
}

/** Takes in both streams of a command: what is kept of each, what is kept of both, live text, overflow. */
export class OutputCapture {
  readonly stdout: HeadAndTail;
  readonly stderr: HeadAndTail;
  private readonly both: HeadAndTail;
  private readonly maxBytes: number;
  private readonly onText: ((text: string) => void) | undefined;
  private readonly overflowPath: string | undefined;
  private overflow: OverflowFile | undefined;
  private total = 0;
  private pending = 0;
  private writes: Promise<void> = Promise.resolve();
  private readonly flushes: (() => void)[] = [];

  constructor(options: {
    maxBytes: number;
    overflowPath: string | undefined;
    onText: ((text: string) => void) | undefined;
  }) {
    this.maxBytes = options.maxBytes;
    this.overflowPath = options.overflowPath;
    this.onText = options.onText;
    this.stdout = new HeadAndTail(options.maxBytes);
    this.stderr = new HeadAndTail(options.maxBytes);
    this.both = new HeadAndTail(options.maxBytes);
  }

  attach(stdout: Readable | null, stderr: Readable | null): void {
    const streams = [stdout, stderr];
    this.take(stdout, this.stdout, streams);
    this.take(stderr, this.stderr, streams);
  }

  get isTruncated(): boolean {
    return this.total > this.maxBytes;
  }

  text(): string {
    return this.both.text();
  }

  /** Flushes held-back bytes and closes the overflow file; answers its path if it holds everything. */
  async close(): Promise<string | undefined> {
    for (const flush of this.flushes.splice(0)) flush();
    await this.writes;
    return this.overflow?.close();
  }

  private take(stream: Readable | null, kept: HeadAndTail, streams: readonly (Readable | null)[]): void {
    if (!stream) return;
    const joiner = new Utf8Joiner();
    stream.on('data', (chunk: Buffer) => {
      kept.push(chunk);
      this.add(joiner.push(chunk), streams);
    });
    this.flushes.push(() => this.add(joiner.end(), []));
  }

  private add(chunk: Buffer, streams: readonly (Readable | null)[]): void {
    if (chunk.length === 0) return;
    // Before the cap is passed nothing has been dropped, so what is kept is the whole beginning.
    const isOver = this.total + chunk.length > this.maxBytes;
    if (isOver && this.overflowPath !== undefined) {
      this.spill(chunk, streams, this.overflowPath);
    }
    this.total += chunk.length;
    this.both.push(chunk);
    this.onText?.(chunk.toString('utf8'));
  }

  private spill(chunk: Buffer, streams: readonly (Readable | null)[], path: string): void {
    const first = this.overflow === undefined ? this.both.bytes() : undefined;
    const file = this.overflow ?? new OverflowFile(path);
    this.overflow = file;
    this.pending++;
    for (const stream of streams) stream?.pause();
    this.writes = this.writes.then(async () => {
      if (first) await file.open(first);
      await file.write(chunk);
      if (--this.pending === 0) for (const stream of streams) stream?.resume();
    });
  }
}
