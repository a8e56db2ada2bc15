import { absentMode } from './parsers/diffTree';
import { encodePath } from './parsers/pathBytes';

/** What an index is to hold at a path; with `absentMode` nothing. */
export interface IndexEntry {
  readonly path: string;
  readonly mode: string;
  readonly blob: string;
}

/** The git that takes `entries`, one after another, into an index; each replaces whatever stands in its way. */
export function setEntries(entries: readonly IndexEntry[]): {
  readonly args: readonly string[];
  readonly input: Buffer;
} {
  const lines = entries.map(
    ({ path, mode, blob }) => `${mode === absentMode ? '0' : mode} ${blob}\t${path}\0`,
  );
  return { args: ['update-index', '-z', '--index-info'], input: encodePath(lines.join('')) };
}
