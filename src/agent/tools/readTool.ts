import { stat } from 'node:fs/promises';
import * as z from 'zod';
import { readWhole, remember } from './fileState';
import { answer, failure } from './outcome';
import { resolveInside } from './paths';
import { decodeText, formatNote, type TextFile } from './textFile';
import type { Tool, ToolOutcome } from './tool';

const defaultLimit = 2_000;
const maxLineLength = 2_000;
const maxAnswerLength = 100_000;
/** What the Messages API takes of one image, before base64 makes a third more of it. */
const maxImageBytes = 3_750_000;

const input = z.object({
  file_path: z.string(),
  offset: z.number().int().positive().describe('first line, from 1').optional(),
  limit: z.number().int().positive().describe(`lines, default ${defaultLimit}`).optional(),
});
type Input = z.infer<typeof input>;

export const readTool: Tool<Input> = {
  name: 'Read',
  description: 'Reads a text file with line numbers ("N<tab>line"), or an image (png, jpg, gif, webp).',
  input,
  isCommand: false,
  async run({ file_path, offset, limit }, _call, context) {
    const path = await resolveInside(file_path, context, 'read');
    if (path.kind === 'refused') return failure(path.message);
    const stats = await stat(path.absolute).catch(() => undefined);
    if (!stats) return failure(`${file_path}: no such file. Glob finds files by name.`);
    if (stats.isDirectory()) return failure(`${file_path} is a folder. Use Glob, or ls through Bash.`);
    const content = await readWhole(path.absolute);
    if (content.kind === 'refused') return failure(`${file_path}: ${content.message}.`);
    const { bytes } = content;
    const imageType = imageTypeOf(bytes);
    if (imageType) return imageOutcome(file_path, bytes, imageType);
    const file = decodeText(bytes);
    if (!file) return failure(`${file_path} is binary (${bytes.length} bytes) and cannot be shown as text.`);
    remember(context.readState, path.absolute, bytes, content.mtimeMs);
    if (file.text === '') return answer(`(${file_path} is empty)`);
    return shownLines(file, { path: file_path, first: offset ?? 1, limit: limit ?? defaultLimit });
  },
};

function shownLines(file: TextFile, wish: { path: string; first: number; limit: number }): ToolOutcome {
  const lines = file.text.split('\n');
  // A last line end starts no line of its own.
  if (lines.at(-1) === '') lines.pop();
  if (wish.first > lines.length) {
    return failure(`${wish.path} has ${lines.length} lines; offset ${wish.first} is behind its end.`);
  }
  const shown: string[] = [];
  let length = 0;
  let shortened = 0;
  let index = wish.first - 1;
  for (; index < lines.length && shown.length < wish.limit && length < maxAnswerLength; index++) {
    const line = (lines[index] ?? '').replace(/\r$/, '');
    const isLong = line.length > maxLineLength;
    if (isLong) shortened++;
    shown.push(`${index + 1}\t${isLong ? `${line.slice(0, maxLineLength)}...` : line}`);
    length += Math.min(line.length, maxLineLength) + 8;
  }
  const notes = [
    formatNote(file.format),
    shortened > 0 ? `${shortened} lines shortened to ${maxLineLength} characters` : '',
    index < lines.length
      ? `lines ${wish.first}-${index} of ${lines.length}; go on with offset ${index + 1}`
      : '',
  ].filter((note) => note !== '');
  return answer([...shown, ...notes.map((note) => `(${note})`)].join('\n'));
}

function imageOutcome(path: string, bytes: Buffer, mediaType: string): ToolOutcome {
  if (bytes.length > maxImageBytes) {
    return failure(`${path} is an image of ${bytes.length} bytes; at most ${maxImageBytes} can be shown.`);
  }
  const source = { type: 'base64', media_type: mediaType, data: bytes.toString('base64') };
  return answer([{ type: 'image', source }]);
}

/** By its first bytes: what the name says may be wrong, and the API then refuses the whole request. */
function imageTypeOf(bytes: Buffer): string | undefined {
  const head = bytes.toString('latin1', 0, 12);
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  return head.startsWith('RIFF') && head.slice(8) === 'WEBP' ? 'image/webp' : undefined;
}
