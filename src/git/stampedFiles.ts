import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { lstat, readFile, stat } from 'node:fs/promises';
import { unlessMissing } from './checkouts';

interface Known<T> {
  readonly stamp: string;
  /** Old enough, when it was read, that a later write is sure to change the stamp. */
  readonly isSettled: boolean;
  readonly value: T;
}

/** Clocks of file systems move in steps; a file written twice within one keeps its stamp. */
const settledAfterMs = 50n;

/** Tells whether a file, links followed, is still the one that it was; empty where there is none. */
export async function stampOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true }).catch(unlessMissing);
  return found === undefined ? '' : wholeStamp(found);
}

/** The same of a file or link itself; `undefined` where it is gone, or so young that a later write might not show. */
export async function settledStampOf(path: string | Buffer): Promise<string | undefined> {
  const stats = await lstat(path, { bigint: true }).catch(unlessMissing);
  if (stats === undefined || !isSettled(stats)) return undefined;
  return wholeStamp(stats);
}

function isSettled(stats: BigIntStats): boolean {
  return BigInt(Date.now()) - stats.ctimeMs > settledAfterMs;
}

/** What tells whether a file was written or changed since, as far as the disk knows. */
export function wholeStamp(stats: BigIntStats): string {
  return [stats.ino, stats.mode, stats.size, stats.mtimeNs, stats.ctimeNs].join(' ');
}

/** What files say, read again only when their stamp is another one. */
export class StampedFiles<T> {
  private readonly read: (path: string, stats: BigIntStats) => Promise<T>;
  private readonly known = new Map<string, Known<T>>();

  constructor(read: (path: string, stats: BigIntStats) => Promise<T>) {
    this.read = read;
  }

  /** `undefined` for what is not there, or is a folder. */
  async at(path: string): Promise<T | undefined> {
    const stats = await lstat(path, { bigint: true }).catch(unlessMissing);
    if (stats === undefined || stats.isDirectory()) {
      this.known.delete(path);
      return undefined;
    }
    const stamp = wholeStamp(stats);
    const known = this.known.get(path);
    if (known?.stamp === stamp && known.isSettled) return known.value;
    const settled = isSettled(stats);
    const value = await this.read(path, stats).catch(unlessMissing);
    if (value === undefined) this.known.delete(path);
    else this.known.set(path, { stamp, isSettled: settled, value });
    return value;
  }
}

/** The content of a small file, links followed, as text; bytes that are no text stay apart from each other. */
export function stampedText(): StampedFiles<string> {
  return new StampedFiles((path) => readFile(path, 'latin1'));
}

/** Mode and hash of a file's content; of a link, of what it leads to. */
export function stampedHash(): StampedFiles<string> {
  return new StampedFiles(async (path, { mode }) => {
    const hash = createHash('sha256').update(await readFile(path));
    return `${mode.toString(8)} ${hash.digest('hex')}`;
  });
}
