import * as z from 'zod';
import { readWhole, remember, staleReason, writeWhole } from './fileState';
import { nearMiss } from './nearMiss';
import { changed, failure } from './outcome';
import { resolveInside } from './paths';
import { outOfScopeReason } from './scope';
import { decodeText, encodeText } from './textFile';
import type { Tool } from './tool';

const input = z.object({
  file_path: z.string(),
  old_string: z.string().describe('exact text, without line numbers'),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});
type Input = z.infer<typeof input>;

export const editTool: Tool<Input> = {
  name: 'Edit',
  description: 'Replaces old_string, which must occur exactly once unless replace_all. Read the file first.',
  input,
  isCommand: false,
  async run(wish, _call, context) {
    if (!context.canWrite) return failure('This agent does not write files.');
    const path = await resolveInside(wish.file_path, context, 'write');
    if (path.kind === 'refused') return failure(path.message);
    const notEdited = (reason: string) => failure(`${path.shown} was not edited: ${reason}`);
    const scopeReason = outOfScopeReason(path.shown, context.scope);
    if (scopeReason) return notEdited(scopeReason);
    if (!path.exists) return notEdited('no such file. Write creates one.');
    const old = await readWhole(path.absolute);
    if (old.kind === 'refused') return notEdited(`${old.message}.`);
    const stale = staleReason(context.readState, path.absolute, old.bytes);
    if (stale) return notEdited(stale);
    const file = decodeText(old.bytes);
    if (!file) return notEdited('it is binary.');
    const edited = replace(file.text, wish);
    if (edited.kind === 'refused') return notEdited(edited.message);
    const bytes = encodeText(edited.text, file.format);
    if (!bytes) return notEdited('it is Latin-1 and cannot hold some of the new characters.');
    const written = await writeWhole(path.absolute, bytes, old.mode);
    if (written.kind === 'refused') return notEdited(`${written.message}.`);
    remember(context.readState, path.absolute, bytes, written.mtimeMs);
    return changed(
      `Edited ${path.shown}: ${edited.lines.length === 1 ? 'line' : 'lines'} ${listed(edited.lines)}.`,
    );
  },
};

type Replaced = { kind: 'edited'; text: string; lines: number[] } | { kind: 'refused'; message: string };

/** Replaces in text; an `old_string` with LF also matches CRLF, and what is put in then has CRLF as well. */
function replace(text: string, wish: Input): Replaced {
  const refused = (message: string): Replaced => ({ kind: 'refused', message });
  if (wish.old_string === '') return refused('old_string is empty. Write replaces whole files.');
  if (wish.old_string === wish.new_string) return refused('old_string and new_string are the same.');
  const windows = (part: string): string => part.replace(/\r?\n/g, '\r\n');
  const isPlain = text.includes(wish.old_string);
  const old = isPlain ? wish.old_string : windows(wish.old_string);
  const pieces = text.split(old);
  if (pieces.length === 1)
    return refused(`old_string was not found. ${nearMiss(text, wish.old_string)}`.trim());
  const lines = linesOf(pieces, old);
  if (pieces.length > 2 && !wish.replace_all) {
    return refused(
      `old_string occurs ${pieces.length - 1} times (lines ${listed(lines)}). Add lines around it, or set replace_all.`,
    );
  }
  // Of a file that is CRLF throughout, new lines are too, also when old_string is within one line.
  const isWindows = !isPlain || (text.includes('\r\n') && !/(^|[^\r])\n/.test(text));
  return { kind: 'edited', text: pieces.join(isWindows ? windows(wish.new_string) : wish.new_string), lines };
}

/** The line, in the old text, of each place between the pieces. */
function linesOf(pieces: readonly string[], old: string): number[] {
  const breaksIn = (part: string): number => part.split('\n').length - 1;
  const lines: number[] = [];
  let line = 1;
  for (const piece of pieces.slice(0, -1)) {
    line += breaksIn(piece);
    lines.push(line);
    line += breaksIn(old);
  }
  return lines;
}

function listed(lines: readonly number[]): string {
  return lines.length > 10 ? `${lines.slice(0, 10).join(', ')}, ...` : lines.join(', ');
}
