import * as z from 'zod';
import { readWhole, remember, staleReason, writeWhole } from './fileState';
import { changed, failure } from './outcome';
import { resolveInside } from './paths';
import { outOfScopeReason } from './scope';
import { decodeText, encodeText, newTextFormat, type TextFormat } from './textFile';
import type { Tool } from './tool';

const input = z.object({ file_path: z.string(), content: z.string() });
type Input = z.infer<typeof input>;

export const writeTool: Tool<Input> = {
  name: 'Write',
  description: 'Creates a file, or replaces one that was read before. Prefer Edit for changes.',
  input,
  isCommand: false,
  async run({ file_path, content }, _call, context) {
    if (!context.canWrite) return failure('This agent does not write files.');
    const path = await resolveInside(file_path, context, 'write');
    if (path.kind === 'refused') return failure(path.message);
    const scopeReason = outOfScopeReason(path.shown, context.scope);
    if (scopeReason) return failure(`${path.shown} was not written: ${scopeReason}`);
    let mode: number | undefined;
    let format: TextFormat = newTextFormat;
    if (path.exists) {
      const old = await readWhole(path.absolute);
      if (old.kind === 'refused') return failure(`${path.shown} was not written: ${old.message}.`);
      const stale = staleReason(context.readState, path.absolute, old.bytes);
      if (stale) return failure(`${path.shown} was not written: ${stale}`);
      mode = old.mode;
      format = decodeText(old.bytes)?.format ?? newTextFormat;
    }
    const bytes = encodeText(withLineEnds(content, format), format);
    if (!bytes) return failure(`${path.shown} is Latin-1 and cannot hold some of these characters.`);
    const written = await writeWhole(path.absolute, bytes, mode);
    if (written.kind === 'refused') return failure(`${path.shown} was not written: ${written.message}.`);
    remember(context.readState, path.absolute, bytes, written.mtimeMs);
    const lines = content.split('\n').length - (content.endsWith('\n') ? 1 : 0);
    return changed(`${path.exists ? 'Replaced' : 'Created'} ${path.shown} (${lines} lines).`);
  },
};

/** Read shows no CR, so a model that writes LF into a CRLF file did not mean to change its line ends. */
function withLineEnds(content: string, format: TextFormat): string {
  const text = format.hasBom ? content.replace(/^\ufeff/, '') : content;
  return format.lineEnd === '\r\n' && !text.includes('\r\n') ? text.replaceAll('\n', '\r\n') : text;
}
