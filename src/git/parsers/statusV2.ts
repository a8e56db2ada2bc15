import { gitlinkMode } from './diffTree';
import { decodePath, splitBytes } from './pathBytes';

/** Where HEAD stands: a commit, a branch, both, or (orphaned) a branch without commit. */
export interface Head {
  readonly commit?: string;
  /** Full name; absent when detached. */
  readonly ref?: string;
}

/** How the files of a checkout differ from its index, as far as the index lets git look. */
export interface Differences {
  /** Tracked files that stand there and differ. */
  readonly modified: readonly string[];
  /** Tracked files that do not stand there any more, be it that a repository has their place. */
  readonly deleted: readonly string[];
  /** Files that are neither tracked nor ignored; a repository ends with a slash. */
  readonly untracked: readonly string[];
  /** Whether files are in conflict; these are in none of the lists. */
  readonly isUnmerged: boolean;
  /** Absent where this output cannot tell for sure: detached, without a commit, or on no branch of `refs/heads`. */
  readonly head?: Head;
}

/** Parses `status --porcelain=v2 -z --no-renames`, with or without `--branch`; how the index differs from HEAD is left out. */
export function parseStatus(output: Uint8Array): Differences {
  const modified: string[] = [];
  const deleted: string[] = [];
  const untracked: string[] = [];
  const headers = new Map<string, string>();
  let isUnmerged = false;
  for (const record of splitBytes(output)) {
    const kind = String.fromCharCode(record[0] ?? 0);
    const worktree = String.fromCharCode(record[3] ?? 0);
    if (kind === '?') untracked.push(decodePath(record.subarray(2)));
    else if (kind === '#') keepHeader(headers, decodePath(record));
    else if (kind === 'u') isUnmerged = true;
    else if (kind === '1' && worktree === 'D') deleted.push(pathOf(record));
    else if (kind === '1' && isNowRepository(record)) {
      deleted.push(pathOf(record));
      untracked.push(`${pathOf(record)}/`);
    } else if (kind === '1' && worktree !== '.') modified.push(pathOf(record));
  }
  const head = headOf(headers);
  return { modified, deleted, untracked, isUnmerged, ...(head === undefined ? {} : { head }) };
}

/** `# branch.oid <commit>`, say. */
function keepHeader(headers: Map<string, string>, record: string): void {
  const [, name, value] = /^# (\S+) (.*)$/s.exec(record) ?? [];
  if (name !== undefined && value !== undefined) headers.set(name, value);
}

function headOf(headers: ReadonlyMap<string, string>): Head | undefined {
  const commit = headers.get('branch.oid') ?? '';
  const branch = headers.get('branch.head') ?? '';
  // git writes other refs in full, and "(detached)", which could be the name of a branch as well.
  if (!/^[0-9a-f]{40,}$/.test(commit) || branch === '' || /^refs\/|^\(/.test(branch)) return undefined;
  return { commit, ref: `refs/heads/${branch}` };
}

/** Whether a repository stands where a file or link was: git would record a pointer to it. */
function isNowRepository(record: Uint8Array): boolean {
  const [, , , , indexMode, worktreeMode] = Buffer.from(record.subarray(0, 64)).toString('latin1').split(' ');
  return worktreeMode === gitlinkMode && indexMode !== gitlinkMode;
}

/** What follows the eight fields of an ordinary record, each of which ends with a blank. */
function pathOf(record: Uint8Array): string {
  let start = 0;
  for (let field = 0; field < 8; field += 1) start = record.indexOf(0x20, start) + 1;
  return decodePath(record.subarray(start));
}
