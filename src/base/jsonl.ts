import { isUtf8 } from 'node:buffer';

/** A line that parsed. Lines count from 1, blank ones included. */
export interface JsonlRecord {
  readonly line: number;
  readonly value: unknown;
}

/** A finished line that is no JSON; it stays in the file. */
export interface JsonlFault {
  readonly line: number;
  readonly reason: string;
}

/** JSON Lines as found on disk. */
export interface Jsonl {
  readonly records: readonly JsonlRecord[];
  readonly faults: readonly JsonlFault[];
  /** What a killed writer left after the last newline, when it is not whole JSON: where it begins, in bytes, and its line. */
  readonly torn?: { readonly offset: number; readonly line: number };
  /** Whether the next line may be appended as it is; true for an empty file. */
  readonly endsWithNewline: boolean;
  /** Lines in the file, a torn one included. */
  readonly lineCount: number;
}

const newline = 0x0a;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Parses JSON Lines from bytes, so that a tear in the middle of a character stays in its own line. Never
 * throws. A last line without its newline counts when it is whole, else it is `torn`.
 */
export function parseJsonl(bytes: Uint8Array): Jsonl {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isTextThroughout = isUtf8(buffer);
  const records: JsonlRecord[] = [];
  const faults: JsonlFault[] = [];
  let torn: Jsonl['torn'];
  let line = 0;
  let start = buffer.subarray(0, 3).equals(byteOrderMark) ? 3 : 0;
  while (start < buffer.length) {
    const found = buffer.indexOf(newline, start);
    const end = found === -1 ? buffer.length : found;
    line += 1;
    const parsed = parseLine(buffer.subarray(start, end), isTextThroughout);
    if (found === -1 && isTorn(parsed)) torn = { offset: start, line };
    else if (parsed.kind === 'value') records.push({ line, value: parsed.value });
    else if (parsed.kind === 'fault') faults.push({ line, reason: parsed.reason });
    start = end + 1;
  }
  return {
    records,
    faults,
    ...(torn === undefined ? {} : { torn }),
    endsWithNewline: buffer.length === 0 || buffer[buffer.length - 1] === newline,
    lineCount: line,
  };
}

/** One value as a line with its newline. JSON escapes newlines, so the line never breaks inside. */
export function toJsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

type ParsedLine = { kind: 'value'; value: unknown } | { kind: 'blank' } | { kind: 'fault'; reason: string };

/** Only an object or array shows by its last character that nothing is missing: `12` may be half of `123`. */
function isTorn(parsed: ParsedLine): boolean {
  return parsed.kind === 'fault' || (parsed.kind === 'value' && typeof parsed.value !== 'object');
}

function parseLine(bytes: Buffer, isKnownText: boolean): ParsedLine {
  if (!isKnownText && !isUtf8(bytes)) return { kind: 'fault', reason: 'not UTF-8 text' };
  const text = bytes.toString('utf8');
  if (text.trim() === '') return { kind: 'blank' };
  try {
    return { kind: 'value', value: JSON.parse(text) };
  } catch {
    return { kind: 'fault', reason: 'not JSON' };
  }
}
