import { TributaryError } from '../../base/errors';
import { parseRawDiff, type RawChange } from './diffTree';

/** A hunk with its bytes, line ends as they are: a last line may have none. */
export interface PatchHunk {
  readonly oldStart: number;
  readonly oldLines: number;
  readonly newStart: number;
  readonly newLines: number;
  readonly old: Buffer;
  readonly new: Buffer;
}

/**
 * `diff-tree -z --raw -p -U0 --no-renames`: the hunks of every path, in order; none for binaries, modes and empty
 * files. A path whose kind changed has its removal and its addition in one.
 */
export function parsePatch(output: Buffer): ReadonlyMap<string, readonly PatchHunk[]> {
  const raw = parseRawDiff(output);
  const sections = readSections(output, endOfRaw(output, raw.length));
  const hunks = new Map<string, readonly PatchHunk[]>();
  const expected = raw.reduce((sum, change) => sum + sectionsOf(change), 0);
  if (expected !== sections.length) throw unreadable('other files than it names');
  let at = 0;
  for (const change of raw) {
    const taken = sections.slice(at, at + sectionsOf(change));
    at += taken.length;
    hunks.set(change.path, taken.flat());
  }
  if (at !== sections.length || [...hunks].length !== raw.length)
    throw unreadable('other files than it names');
  return hunks;
}

/** git writes a change of kind (a file that became a link) as a removal and an addition. */
function sectionsOf({ letter }: RawChange): number {
  return letter === 'T' ? 2 : 1;
}

const newline = 0x0a;
const nul = 0;

/** A raw record is a header and a path, each ended by NUL; one more NUL stands before the patch. */
function endOfRaw(output: Buffer, records: number): number {
  let at = 0;
  for (let ends = 0; ends < records * 2; ends += 1) at = output.indexOf(nul, at) + 1;
  return output[at] === nul ? at + 1 : at;
}

function readSections(output: Buffer, start: number): PatchHunk[][] {
  const sections: PatchHunk[][] = [];
  const reader = new LineReader(output, start);
  for (let line = reader.next(); line !== undefined; line = reader.next()) {
    if (startsWith(line, 'diff --git ')) sections.push([]);
    if (startsWith(line, '@@ ')) sections.at(-1)?.push(readHunk(line, reader));
  }
  return sections;
}

function readHunk(header: Buffer, reader: LineReader): PatchHunk {
  const text = header.toString('latin1');
  const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(text);
  if (match === null) throw unreadable(text);
  const [, oldStart, oldLines = '1', newStart, newLines = '1'] = match;
  return {
    oldStart: Number(oldStart),
    oldLines: Number(oldLines),
    newStart: Number(newStart),
    newLines: Number(newLines),
    old: readSide(reader, '-', Number(oldLines)),
    new: readSide(reader, '+', Number(newLines)),
  };
}

/** The lines of one side, without their signs; the last without its newline where git says that it has none. */
function readSide(reader: LineReader, sign: string, count: number): Buffer {
  const lines: Buffer[] = [];
  for (let read = 0; read < count; read += 1) {
    const line = reader.next();
    if (line === undefined || !startsWith(line, sign)) throw unreadable('a hunk shorter than it says');
    lines.push(line.subarray(1));
  }
  const side = Buffer.concat(lines);
  if (!reader.nextStartsWith('\\')) return side;
  reader.next();
  return side.subarray(0, -1);
}

/** Lines with their newline, one by one. */
class LineReader {
  private readonly bytes: Buffer;
  private at: number;

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  next(): Buffer | undefined {
    if (this.at >= this.bytes.length) return undefined;
    const end = this.bytes.indexOf(newline, this.at);
    const line = this.bytes.subarray(this.at, end === -1 ? this.bytes.length : end + 1);
    this.at += line.length;
    return line;
  }

  nextStartsWith(character: string): boolean {
    return this.bytes[this.at] === character.charCodeAt(0);
  }
}

function startsWith(line: Buffer, text: string): boolean {
  return line.subarray(0, text.length).toString('latin1') === text;
}

function unreadable(what: string): TributaryError {
  return new TributaryError('gitFailed', `git diff-tree answered something unknown: ${what}`);
}
