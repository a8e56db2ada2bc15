import { TributaryError } from '../../base/errors';
import type { ChangeSet, FileChange } from '../../model/changes';
import { decodePath, splitBytes } from './pathBytes';

/** Mode of a side that is not there. */
export const absentMode = '000000';
/** Mode of a submodule: its commit stands where a blob would. */
export const gitlinkMode = '160000';

/** One record of `diff-tree --raw -z`. Without rename detection `oldPath` is never set. */
export interface RawChange {
  readonly path: string;
  readonly oldPath?: string;
  readonly letter: string;
  readonly oldMode: string;
  readonly newMode: string;
  readonly oldBlob: string;
  readonly newBlob: string;
}

export interface LineCounts {
  readonly added: number;
  readonly removed: number;
  readonly isBinary: boolean;
}

const treeDiff: readonly string[] = ['diff-tree', '-r', '-z', '--no-renames'];

/** What `parseRawDiff` reads of two trees or commits: every rename is a deletion and an addition. */
export function rawDiffOf(from: string, to: string): readonly string[] {
  return [...treeDiff, '--raw', '--no-abbrev', '--end-of-options', from, to, '--'];
}

/** The same as names only, each ended by a NUL. */
export function nameDiffOf(from: string, to: string): readonly string[] {
  return [...treeDiff, '--name-only', '--end-of-options', from, to, '--'];
}

/** The records of `diff-tree -r -z --raw`; a `--numstat` part after them is left alone. */
export function parseRawDiff(output: Uint8Array): RawChange[] {
  return readRaw(new Reader(splitBytes(output)));
}

/** `diff-tree -r -z --raw --numstat`: all raw records, then a count for each in the same order. */
export function parseChanges(output: Uint8Array): FileChange[] {
  const reader = new Reader(splitBytes(output));
  const raw = readRaw(reader);
  const files: FileChange[] = [];
  for (const change of raw) {
    const counts = readCounts(reader);
    const { letter, oldPath, ...rest } = change;
    files.push({
      ...rest,
      ...(oldPath === undefined ? {} : { oldPath }),
      status: statusOf(letter),
      ...counts,
    });
  }
  return files;
}

/** Takes NUL-terminated parts one by one; running out of them is a failure, not an empty name. */
class Reader {
  private readonly parts: readonly Uint8Array[];
  private at = 0;

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts;
  }

  peek(): Uint8Array | undefined {
    return this.parts[this.at];
  }

  next(): Uint8Array {
    const part = this.parts[this.at];
    if (part === undefined) throw unreadable('it ended too early');
    this.at += 1;
    return part;
  }
}

const colon = 0x3a;

/** Raw records up to the first part that is none. */
function readRaw(reader: Reader): RawChange[] {
  const changes: RawChange[] = [];
  while (reader.peek()?.[0] === colon) {
    const header = Buffer.from(reader.next()).toString('latin1');
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/.exec(header);
    if (match === null) throw unreadable(header);
    const [, oldMode = '', newMode = '', oldBlob = '', newBlob = '', letter = ''] = match;
    const sides = { letter, oldMode, newMode, oldBlob, newBlob };
    const first = decodePath(reader.next());
    const isPair = letter === 'R' || letter === 'C';
    changes.push(
      isPair ? { ...sides, oldPath: first, path: decodePath(reader.next()) } : { ...sides, path: first },
    );
  }
  return changes;
}

/** One record of `--numstat -z`: counts and name in one part, or counts and then both names of a rename. */
function readCounts(reader: Reader): LineCounts {
  const line = Buffer.from(reader.next()).toString('latin1');
  const match = /^(\d+|-)\t(\d+|-)\t/.exec(line);
  if (match === null) throw unreadable(line);
  // Nothing after the tab: a rename, whose two names follow.
  if (match[0].length === line.length) {
    reader.next();
    reader.next();
  }
  const isBinary = match[1] === '-';
  return { isBinary, added: isBinary ? 0 : Number(match[1]), removed: isBinary ? 0 : Number(match[2]) };
}

function statusOf(letter: string): ChangeSet['files'][number]['status'] {
  switch (letter) {
    case 'A':
      return 'added';
    case 'M':
      return 'modified';
    case 'D':
      return 'deleted';
    case 'R':
      return 'renamed';
    case 'T':
      return 'typeChanged';
    default:
      throw unreadable(`status ${letter}`);
  }
}

function unreadable(what: string): TributaryError {
  return new TributaryError('gitFailed', `git diff-tree answered something unknown: ${what}`);
}
