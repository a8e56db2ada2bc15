import { type FileHandle, open } from 'node:fs/promises';
import { fileError } from '../base/atomicFile';
import { parseJsonl } from '../base/jsonl';
import type { TranscriptCursor, TranscriptPart } from '../model/transcript';
import { isMissing } from './disk';
import type { Migrations } from './migrations';
import { parseTranscript, readEntries } from './transcriptFile';

const partBytes = 1024 * 1024;
const newline = 0x0a;

/** The whole lines behind `from`; `undefined` when the file is absent or has no header that can be used. */
export async function readTranscriptPart(
  path: string,
  from: TranscriptCursor,
  migrations: Migrations,
): Promise<TranscriptPart | undefined> {
  const read = await readLines(path, from.offset);
  if (read === undefined) return undefined;
  const { bytes, isEnd } = read;
  const lines = parseJsonl(bytes);
  const { torn } = lines;
  const next: TranscriptCursor = {
    offset: from.offset + (torn?.offset ?? bytes.length),
    lines: from.lines + lines.lineCount - (torn === undefined ? 0 : 1),
  };
  const rest = { next, isEnd, isTorn: torn !== undefined };
  if (from.offset > 0) {
    // Half a line is no fault while somebody may still be writing it.
    const { torn: _, ...whole } = lines;
    const { entries, problems } = readEntries(whole, { linesBefore: from.lines, skip: 0 });
    return { entries, problems, ...rest };
  }
  const file = parseTranscript(torn === undefined ? bytes : bytes.subarray(0, torn.offset), migrations);
  return file.kind === 'ok' ? { ...file.transcript, ...rest } : undefined;
}

/** Bytes up to the end of a line, or all there are. A line that is longer than a part is read whole. */
async function readLines(
  path: string,
  offset: number,
): Promise<{ readonly bytes: Buffer; readonly isEnd: boolean } | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    let bytes = Buffer.alloc(0);
    for (;;) {
      const more = Buffer.alloc(partBytes);
      const { bytesRead } = await file.read(more, 0, partBytes, offset + bytes.length);
      bytes = Buffer.concat([bytes, more.subarray(0, bytesRead)]);
      if (bytesRead < partBytes) return { bytes, isEnd: true };
      const last = bytes.lastIndexOf(newline);
      if (last >= 0) return { bytes: bytes.subarray(0, last + 1), isEnd: false };
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw fileError('read', path, error);
  } finally {
    await file?.close();
  }
}
