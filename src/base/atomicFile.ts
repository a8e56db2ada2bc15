import { randomBytes } from 'node:crypto';
import { link, open, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errnoOf, TributaryError, toTributaryError } from './errors';

/** The part of Node's FileHandle that writers here need. */
export interface OpenFile {
  write(data: Uint8Array, offset?: number, length?: number): Promise<{ bytesWritten: number }>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** The file system calls of a write; a test hands in ones that fail. */
export interface FileOps {
  open(path: string, flags: string, mode?: number): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  link(existing: string, path: string): Promise<void>;
  unlink(path: string): Promise<void>;
}

export const systemFileOps: FileOps = {
  open: (path, flags, mode) => open(path, flags, mode),
  rename,
  link,
  unlink,
};

export interface AtomicWriteOptions {
  /** Permission bits of a new file, cut by the umask. Default 0o666. */
  readonly mode?: number;
  /** `none`: not flushed. `file` (default): the content is on the disk before its name shows. `folder`: the name too. */
  readonly flush?: 'none' | 'file' | 'folder';
  readonly ops?: FileOps;
  /** Milliseconds between tries of a refused rename: Windows refuses while a reader has the file open. */
  readonly renameRetriesMs?: readonly number[];
}

const linkRefusals: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'];
const renameRefusals: readonly string[] = ['EPERM', 'EACCES', 'EBUSY'];
const defaultRetriesMs = process.platform === 'win32' ? [10, 20, 40, 80, 160] : [];

/**
 * Replaces `path` by `data` or leaves it as it was: temp file beside it, flush, rename. Throws `diskFull`,
 * `readOnly` or `internal`; no temp file stays behind.
 */
export async function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<void> {
  const ops = options.ops ?? systemFileOps;
  try {
    const temp = await writeTemp(path, data, options);
    try {
      await renameWithRetries(ops, temp, path, options.renameRetriesMs ?? defaultRetriesMs);
    } catch (error) {
      await removeQuietly(ops, temp);
      throw error;
    }
    if (options.flush === 'folder') await flushFolder(ops, dirname(path));
  } catch (error) {
    throw fileError('write', path, error);
  }
}

/**
 * Creates `path` with its whole content in one step; `false` when it exists already, which is then left alone.
 * Where the file system has no hard links the name shows before the content. Throws like `writeFileAtomic`.
 */
export async function createFileAtomic(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions = {},
): Promise<boolean> {
  const ops = options.ops ?? systemFileOps;
  try {
    const temp = await writeTemp(path, data, options);
    try {
      await ops.link(temp, path);
    } catch (error) {
      const errno = errnoOf(error) ?? '';
      if (errno === 'EEXIST') return false;
      if (!linkRefusals.includes(errno)) throw error;
      return await createInPlace(path, data, options);
    } finally {
      await removeQuietly(ops, temp);
    }
    if (options.flush === 'folder') await flushFolder(ops, dirname(path));
    return true;
  } catch (error) {
    throw fileError('create', path, error);
  }
}

/** `error` as a TributaryError that names the file; one that is already typed stays as it is. */
export function fileError(verb: string, path: string, error: unknown): TributaryError {
  if (error instanceof TributaryError) return error;
  const { code, message } = toTributaryError(error);
  return new TributaryError(code, `cannot ${verb} ${path}: ${message}`, { cause: error, details: { path } });
}

/** Writes all of `data` to an open file; a short write goes on where it ended. */
export async function writeFully(file: OpenFile, data: Uint8Array): Promise<void> {
  let offset = 0;
  while (offset < data.length) {
    const { bytesWritten } = await file.write(data, offset, data.length - offset);
    offset += bytesWritten;
  }
}

async function writeTemp(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions,
): Promise<string> {
  const temp = `${path}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  await writeNew(temp, data, options);
  return temp;
}

async function createInPlace(
  path: string,
  data: string | Uint8Array,
  options: AtomicWriteOptions,
): Promise<boolean> {
  try {
    await writeNew(path, data, options);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Creates a file exclusively and fills it; on failure it is gone again. */
async function writeNew(path: string, data: string | Uint8Array, options: AtomicWriteOptions): Promise<void> {
  const ops = options.ops ?? systemFileOps;
  const file = await ops.open(path, 'wx', options.mode ?? 0o666);
  try {
    try {
      await writeFully(file, typeof data === 'string' ? Buffer.from(data, 'utf8') : data);
      if (options.flush !== 'none') await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    await removeQuietly(ops, path);
    throw error;
  }
}

async function renameWithRetries(
  ops: FileOps,
  from: string,
  to: string,
  waitsMs: readonly number[],
): Promise<void> {
  for (const waitMs of waitsMs) {
    try {
      return await ops.rename(from, to);
    } catch (error) {
      if (!renameRefusals.includes(errnoOf(error) ?? '')) throw error;
      await pause(waitMs);
    }
  }
  await ops.rename(from, to);
}

/** A folder that cannot be opened or flushed (Windows, some network disks) is no reason to fail a write that is done. */
async function flushFolder(ops: FileOps, folder: string): Promise<void> {
  const handle = await ops.open(folder, 'r').catch(() => undefined);
  if (handle === undefined) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}

/** The error that brought us here is the one to tell; a leftover temp file harms nobody. */
async function removeQuietly(ops: FileOps, path: string): Promise<void> {
  await ops.unlink(path).catch(() => undefined);
}
