import { createHash } from 'node:crypto';
import { decodePath, encodePath } from './pathBytes';

/** What a folder holds under one name: a file, a link, a folder, or a pointer to a repository. */
export interface TreeEntry {
  /** As git writes it into a tree, without leading zeros. */
  readonly mode: string;
  readonly object: string;
}

export type TreeEntries = Map<string, TreeEntry>;

export const folderMode = '40000';

/** The entries of a tree object; its names may be in any bytes. Format: gitformat-pack, "tree". */
export function parseTree(content: Buffer, objectBytes: number): TreeEntries {
  const entries: TreeEntries = new Map();
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const nul = content.indexOf(0, space);
    if (space < 0 || nul < 0) throw new Error('a tree object is cut off');
    const end = nul + 1 + objectBytes;
    entries.set(decodePath(content.subarray(space + 1, nul)), {
      mode: content.toString('latin1', at, space),
      object: content.toString('hex', nul + 1, end),
    });
    at = end;
  }
  return entries;
}

/** The name of the tree object with these entries. */
export function nameOfTree(entries: TreeEntries): string {
  const parts = sorted(entries).flatMap(({ name, mode, object }) => [
    Buffer.from(`${mode} `, 'latin1'),
    name,
    Buffer.from([0]),
    Buffer.from(object, 'hex'),
  ]);
  const content = Buffer.concat(parts);
  const [first] = entries.values();
  const hash = createHash(first?.object.length === 64 ? 'sha256' : 'sha1');
  return hash.update(`tree ${content.length}\0`).update(content).digest('hex');
}

/** The entries as `mktree -z` reads them. */
export function treeInput(entries: TreeEntries): Buffer {
  const lines = sorted(entries).flatMap(({ name, mode, object }) => [
    Buffer.from(`${mode} ${typeOf(mode)} ${object}\t`, 'latin1'),
    name,
    Buffer.from([0]),
  ]);
  return Buffer.concat(lines);
}

function typeOf(mode: string): string {
  if (mode === folderMode) return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}

/** As git sorts them: by bytes, a folder as if its name ended with a slash. */
function sorted(entries: TreeEntries): Array<TreeEntry & { readonly name: Buffer }> {
  return [...entries]
    .map(([name, entry]) => ({ ...entry, name: encodePath(name) }))
    .sort((a, b) => Buffer.compare(sortKey(a), sortKey(b)));
}

function sortKey({ name, mode }: { readonly name: Buffer; readonly mode: string }): Buffer {
  return mode === folderMode ? Buffer.concat([name, Buffer.from('/')]) : name;
}
