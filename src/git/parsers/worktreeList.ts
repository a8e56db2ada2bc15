import { decodePath } from './pathBytes';

/** How git sees a worktree: one record of `git worktree list --porcelain -z`. */
export interface ListedWorktree {
  readonly path: string;
  readonly head?: string;
  /** Full ref name; absent when detached or bare. */
  readonly branch?: string;
  readonly isBare: boolean;
  readonly lockReason?: string;
  readonly prunableReason?: string;
}

/** The records of `git worktree list --porcelain -z`; the main worktree comes first. */
export function parseWorktreeList(output: Uint8Array): ListedWorktree[] {
  const records: ListedWorktree[] = [];
  // NUL ends a line, an empty line a record; a lock reason may hold newlines.
  for (const record of decodePath(output).split('\0\0')) {
    const attributes = new Map(
      record
        .split('\0')
        .filter((line) => line !== '')
        .map(splitAttribute),
    );
    const path = attributes.get('worktree');
    if (path === undefined) continue;
    records.push({
      path,
      isBare: attributes.has('bare'),
      ...named('head', attributes.get('HEAD')),
      ...named('branch', attributes.get('branch')),
      ...named('lockReason', attributes.get('locked')),
      ...named('prunableReason', attributes.get('prunable')),
    });
  }
  return records;
}

function splitAttribute(line: string): [string, string] {
  const at = line.indexOf(' ');
  return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
}

function named<K extends string>(key: K, value: string | undefined): { [P in K]?: string } {
  const object: { [P in K]?: string } = {};
  if (value !== undefined) object[key] = value;
  return object;
}
