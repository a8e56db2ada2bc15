import { createHash, randomUUID } from 'node:crypto';
import { chmod, type FileHandle, mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { openForReading, readableReason } from './paths';
import type { FileReadState } from './tool';

/** Larger files are for Grep and Bash; they would not fit into a conversation either. */
export const maxFileBytes = 20 * 1024 * 1024;

export type FileContent =
  | { readonly kind: 'read'; readonly bytes: Buffer; readonly mode: number; readonly mtimeMs: number }
  | { readonly kind: 'refused'; readonly message: string };

/** The whole content of a plain file, given by its real path. */
export async function readWhole(absolute: string): Promise<FileContent> {
  const opened = await openForReading(absolute);
  if (opened.kind === 'refused') return opened;
  const { handle } = opened;
  try {
    const stats = await handle.stat();
    if (stats.size > maxFileBytes) {
      const message = `${stats.size} bytes are too many to read whole; use Grep, or head and tail through Bash`;
      return { kind: 'refused', message };
    }
    const bytes = await handle.readFile();
    return { kind: 'read', bytes, mode: stats.mode & 0o7777, mtimeMs: stats.mtimeMs };
  } catch (error) {
    return { kind: 'refused', message: readableReason(error) };
  } finally {
    await handle.close();
  }
}

/** Notes what the Run now knows of the file. */
export function remember(state: FileReadState, absolute: string, bytes: Buffer, mtimeMs: number): void {
  state.seen.set(absolute, { mtimeMs, size: bytes.length, sha256: sha256Of(bytes) });
}

/** Why the file may not be overwritten yet; `undefined` when the Run knows exactly this content. */
export function staleReason(state: FileReadState, absolute: string, bytes: Buffer): string | undefined {
  const seen = state.seen.get(absolute);
  if (!seen) return 'it exists and was not read yet. Read it first.';
  // By content, not by time: a touch or a checkout of the same bytes harms nothing.
  if (seen.sha256 === sha256Of(bytes)) return undefined;
  return 'it has changed since it was read. Read it again.';
}

/**
 * Writes the file whole or not at all: a new file beside it is renamed over it. `mode` is that of the file
 * it replaces. Answers the reason when it cannot; then nothing has changed.
 */
export async function writeWhole(
  absolute: string,
  bytes: Buffer,
  mode: number | undefined,
): Promise<{ kind: 'written'; mtimeMs: number } | { kind: 'refused'; message: string }> {
  const folder = dirname(absolute);
  const temporary = join(folder, `.tributary-${randomUUID()}.tmp`);
  let handle: FileHandle | undefined;
  try {
    await mkdir(folder, { recursive: true });
    handle = await open(temporary, 'wx');
    // Had a folder on the way become a link since the path was resolved, this file would show it.
    if ((await realpath(temporary)) !== temporary) throw new Error('the path was changed meanwhile');
    await handle.writeFile(bytes);
    await handle.sync();
    await handle.close();
    handle = undefined;
    if (mode !== undefined) await chmod(temporary, mode);
    await rename(temporary, absolute);
    return { kind: 'written', mtimeMs: (await stat(absolute)).mtimeMs };
  } catch (error) {
    await handle?.close();
    await rm(temporary, { force: true });
    return { kind: 'refused', message: readableReason(error) };
  }
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
