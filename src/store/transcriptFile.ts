import { type Jsonl, parseJsonl } from '../base/jsonl';
import {
  entrySchema,
  type Transcript,
  type TranscriptEntry,
  type TranscriptHeader,
  transcriptHeaderSchema,
} from '../model/transcript';
import { isObject, type Migrations, migrate } from './migrations';

/** A transcript file taken apart. `empty`: its header was never written whole. */
export type TranscriptFile =
  | {
      readonly kind: 'ok';
      readonly transcript: Transcript;
      readonly tail: Tail;
      readonly newerVersion?: number;
    }
  | { readonly kind: 'empty' }
  | { readonly kind: 'newer'; readonly version: number }
  | { readonly kind: 'corrupt'; readonly reason: string };

/** What a writer needs to go on where the file ends. */
export interface Tail {
  /** The highest N of the ids `eN`, and at least the number of whole lines, so that no id comes twice. */
  readonly lastNumber: number;
  /** The id of the last entry. */
  readonly lastId: string | null;
  /** Where a half last line begins, in bytes. */
  readonly tornAt?: number;
  readonly endsWithNewline: boolean;
}

let knownTypes: ReadonlySet<string> | undefined;
function isKnownType(type: string): boolean {
  knownTypes ??= new Set(entrySchema.unwrap().options.flatMap((option) => [...option.shape.type.values]));
  return knownTypes.has(type);
}

/** Parses a transcript; never throws. What is no entry is kept out and noted, the rest is given. */
export function parseTranscript(bytes: Uint8Array, migrations: Migrations): TranscriptFile {
  const lines = parseJsonl(bytes);
  const first = lines.records[0];
  if (first === undefined && lines.faults.length === 0) return { kind: 'empty' };
  if (first === undefined || lines.faults.some(({ line }) => line < first.line)) {
    return { kind: 'corrupt', reason: 'its first line is not JSON' };
  }
  const migrated = migrate(first.value, 'transcript', migrations);
  if (migrated.kind === 'corrupt') return { kind: 'corrupt', reason: `in its first line ${migrated.reason}` };
  const header: unknown = migrated.file;
  if (!isHeader(header)) {
    if (migrated.kind === 'newer') return { kind: 'newer', version: migrated.version };
    return { kind: 'corrupt', reason: 'its first line is no header' };
  }
  const { entries, problems, tail } = readEntries(lines, { linesBefore: 0, skip: 1 });
  if (migrated.kind === 'newer')
    problems.unshift(`version ${migrated.version} is of a newer Tributary: read only`);
  return {
    kind: 'ok',
    transcript: { header, entries, problems },
    tail,
    ...(migrated.kind === 'newer' ? { newerVersion: migrated.version } : {}),
  };
}

/** The entries of some lines, without the first `skip` records; `linesBefore` of the file come before them. */
export function readEntries(
  lines: Jsonl,
  { linesBefore, skip }: { readonly linesBefore: number; readonly skip: number },
): { entries: TranscriptEntry[]; problems: string[]; tail: Tail } {
  const entries: TranscriptEntry[] = [];
  const faults = lines.faults.map(({ line, reason }) => ({
    line,
    text: `line ${linesBefore + line} is left out: ${reason}`,
  }));
  let lastNumber = lines.lineCount - (lines.torn === undefined ? 1 : 2);
  let lastId: string | null = null;
  for (const { line, value } of lines.records.slice(skip)) {
    if (isEntry(value)) entries.push(value);
    else faults.push({ line, text: `line ${linesBefore + line} is left out: ${whyNoEntry(value)}` });
    const id = isObject(value) ? value['id'] : undefined;
    if (typeof id !== 'string') continue;
    lastId = id;
    if (/^e\d{1,15}$/.test(id)) lastNumber = Math.max(lastNumber, Number(id.slice(1)));
  }
  const { torn, endsWithNewline } = lines;
  if (torn !== undefined)
    faults.push({ line: torn.line, text: `line ${torn.line}, the last one, is cut off` });
  const problems = faults.sort((a, b) => a.line - b.line).map(({ text }) => text);
  const tail = {
    lastNumber,
    lastId,
    endsWithNewline,
    ...(torn === undefined ? {} : { tornAt: torn.offset }),
  };
  return { entries, problems, tail };
}

// These guards give the object as it was parsed: zod's own copy may order the keys of a block differently, and
// a resumed conversation must be the same to the byte.

/** Whether a value is an entry this build knows. */
export function isEntry(value: unknown): value is TranscriptEntry {
  return entrySchema.safeParse(value).success;
}

/** Whether a value is a header of the current version. */
export function isHeader(value: unknown): value is TranscriptHeader {
  return transcriptHeaderSchema.safeParse(value).success;
}

function whyNoEntry(value: unknown): string {
  const type = isObject(value) ? value['type'] : undefined;
  if (typeof type !== 'string') return 'it is no entry';
  if (!isKnownType(type)) return `entries of type "${type}" are not known here`;
  const issue = entrySchema.safeParse(value).error?.issues[0];
  return `"${issue?.path.join('.') ?? ''}" of its "${type}" is wrong`;
}
