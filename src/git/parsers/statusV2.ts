import { decodePath, splitBytes } from './pathBytes';

/** How the files of a checkout differ from its index, as far as the index lets git look. */
export interface Differences {
  /** Tracked files that stand there and differ. */
  readonly modified: readonly string[];
  /** Tracked files that do not stand there any more. */
  readonly deleted: readonly string[];
  /** Files that are neither tracked nor ignored; a repository ends with a slash. */
  readonly untracked: readonly string[];
  /** Whether files are in conflict; these are in none of the lists. */
  readonly isUnmerged: boolean;
}

/** Parses `status --porcelain=v2 -z --no-renames`; how the index differs from HEAD is left out. */
export function parseStatus(output: Uint8Array): Differences {
  const modified: string[] = [];
  const deleted: string[] = [];
  const untracked: string[] = [];
  let isUnmerged = false;
  for (const record of splitBytes(output)) {
    const kind = String.fromCharCode(record[0] ?? 0);
    const worktree = String.fromCharCode(record[3] ?? 0);
    if (kind === '?') untracked.push(decodePath(record.subarray(2)));
    else if (kind === 'u') isUnmerged = true;
    else if (kind === '1' && worktree === 'D') deleted.push(pathOf(record));
    else if (kind === '1' && worktree !== '.') modified.push(pathOf(record));
  }
  return { modified, deleted, untracked, isUnmerged };
}

/** What follows the eight fields of an ordinary record, each of which ends with a blank. */
function pathOf(record: Uint8Array): string {
  let start = 0;
  for (let field = 0; field < 8; field += 1) start = record.indexOf(0x20, start) + 1;
  return decodePath(record.subarray(start));
}
