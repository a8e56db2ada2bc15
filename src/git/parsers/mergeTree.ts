import { TributaryError } from '../../base/errors';
import type { Conflict } from '../../model/landing';
import { decodePath, splitBytes } from './pathBytes';

export interface MergedTree {
  readonly tree: string;
  readonly conflicts: readonly Conflict[];
}

/**
 * `merge-tree --write-tree -z --messages`: the tree, the conflicted entries, an empty part, then messages as
 * count, paths, type, text. `names` words the two sides' commits, which git can only name by their hashes.
 */
export function parseMergeTree(output: Uint8Array, names: ReadonlyMap<string, string>): MergedTree {
  const parts = splitBytes(output).map(decodePath);
  const tree = parts[0];
  if (tree === undefined || !/^[0-9a-f]{40,64}$/.test(tree)) {
    throw new TributaryError('gitFailed', 'git merge-tree answered something unknown');
  }
  const end = parts.indexOf('', 1);
  const entries = parts
    .slice(1, end < 0 ? parts.length : end)
    .map((part) => part.slice(part.indexOf('\t') + 1));
  const found = end < 0 ? [] : readMessages(parts.slice(end + 1), names);
  const covered = new Set(found.map((conflict) => conflict.path));
  const silent = [...new Set(entries.map((path) => worded(path, names)))].filter(
    (path) => !covered.has(path),
  );
  return { tree, conflicts: [...found, ...silent.map((path) => plainConflict(path))] };
}

/** The conflicts among the messages, one per path; what git merged by itself is no news. */
function readMessages(parts: readonly string[], names: ReadonlyMap<string, string>): Conflict[] {
  const conflicts = new Map<string, Conflict>();
  for (let at = 0; at < parts.length; ) {
    const count = Number(parts[at]);
    const paths = parts.slice(at + 1, at + 1 + count);
    const type = parts[at + 1 + count] ?? '';
    const text = (parts[at + 2 + count] ?? '').replace(/\n$/, '');
    at += 3 + count;
    if (!type.startsWith('CONFLICT')) continue;
    for (const path of new Set(paths.map((one) => worded(one, names)))) {
      const conflict = { path, kind: kindOf(type, text), message: wordedText(text, names) };
      // A binary file is reported twice; that it is binary says more than that its content differs.
      if (conflicts.get(path)?.kind !== 'binary') conflicts.set(path, conflict);
    }
  }
  return [...conflicts.values()];
}

/** The text knows more than the type, which calls add/add `contents`. */
function kindOf(type: string, text: string): string {
  const inText = /^CONFLICT \(([^)]*)\)/.exec(text)?.[1];
  return inText ?? /^CONFLICT \(([^)]*)\)/.exec(type)?.[1] ?? 'content';
}

/** `path~<hash>`, where git would put a file that is in the way, as the path it is about. */
function worded(path: string, names: ReadonlyMap<string, string>): string {
  for (const hash of names.keys()) {
    const at = path.indexOf(`~${hash}`);
    if (at > 0) return path.slice(0, at);
  }
  return path;
}

function wordedText(text: string, names: ReadonlyMap<string, string>): string {
  let worded = text;
  for (const [hash, name] of names) worded = worded.replaceAll(hash, name);
  return worded;
}

function plainConflict(path: string): Conflict {
  return { path, kind: 'content', message: `CONFLICT (content): Merge conflict in ${path}` };
}
