import { createHash } from 'node:crypto';
import { lstat, readdir, readFile, readlink } from 'node:fs/promises';

/** What stands below a folder: a line a file, link or folder, by its path (bytes as Latin-1). */
export type Listing = ReadonlyMap<string, string>;

export interface Witness {
  /** Kind, all bits of the mode and content of everything; files of git directories too. */
  readonly bytes: Listing;
  /** When each file outside git directories was written, and whether it is the same file. */
  readonly stamps: Listing;
}

/** What a witness does not look at: what is ours by right. */
export interface OursByRight {
  /** Below the folder that is witnessed: the Task's Worktree. */
  readonly worktree: string;
  /** Its administration directory; empty where git does not know it. */
  readonly admin: string;
}

interface Walk {
  readonly bytes: Map<string, string>;
  readonly stamps: Map<string, string>;
  readonly isOurs: (path: string) => boolean;
}

/**
 * Everything below `folder`: checkouts with ignored and untracked files, indexes with their flags, HEAD, refs, stash,
 * configuration, hooks, administration of every worktree. Left out: objects, and what is ours.
 */
export async function witness(folder: string, ours?: OursByRight): Promise<Witness> {
  const { worktree, admin } = ours ?? { worktree: '', admin: '' };
  const isOurs = (path: string): boolean => path === worktree || path === admin;
  const walk: Walk = { bytes: new Map(), stamps: new Map(), isOurs };
  await walkFolder(walk, { folder, path: '', isInGit: false });
  // The folder that holds it, with an ignore file where a repository is around it.
  const root = worktree.slice(0, worktree.lastIndexOf('/'));
  for (const path of [`${root}/`, `${root}/.gitignore`]) {
    walk.bytes.delete(path);
    walk.stamps.delete(path);
  }
  return walk;
}

/** Everything of a Worktree but its own `.git`; repositories inside with all they hold. */
export async function worktreeListing(root: string): Promise<Listing> {
  const walk: Walk = { bytes: new Map(), stamps: new Map(), isOurs: (path) => path === '.git' };
  await walkFolder(walk, { folder: root, path: '', isInGit: false, isWhole: true });
  return walk.bytes;
}

/** The paths at which two listings differ. */
export function differing(before: Listing, after: Listing): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

/** How two listings differ, for a message of a failed test. */
export function differences(before: Listing, after: Listing): string[] {
  return differing(before, after).map(
    (path) => `${JSON.stringify(path)}: ${shown(before.get(path))} -> ${shown(after.get(path))}`,
  );
}

function shown(line: string | undefined): string {
  return line === undefined ? '(nothing)' : JSON.stringify(line.slice(0, 200));
}

interface Place {
  readonly folder: string;
  readonly path: string;
  readonly isInGit: boolean;
  /** Also objects and refs of ours. */
  readonly isWhole?: boolean;
}

async function walkFolder(walk: Walk, place: Place): Promise<void> {
  const { folder, path, isInGit, isWhole } = place;
  const at = Buffer.from(path === '' ? folder : `${folder}/`);
  const here = path === '' ? at : Buffer.concat([at, Buffer.from(path, 'latin1')]);
  const entries = await readdir(here, { encoding: 'buffer' });
  const names = entries.map((name) => name.toString('latin1')).sort();
  const isGit = names.includes('HEAD') && names.includes('objects') && names.includes('refs');
  const inGit = isInGit || isGit;
  for (const name of names) {
    const inner = path === '' ? name : `${path}/${name}`;
    if (walk.isOurs(inner)) continue;
    if (isWhole !== true && inGit && isOursInGit(inner, isGit)) continue;
    await walkEntry(walk, { ...place, path: inner, isInGit: inGit });
  }
}

async function walkEntry(walk: Walk, place: Place): Promise<void> {
  const { folder, path, isInGit } = place;
  const file = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(path, 'latin1')]);
  const stats = await lstat(file, { bigint: true });
  const mode = (Number(stats.mode) & 0o7777).toString(8);
  if (stats.isDirectory()) {
    // git makes and removes folders of its own as it likes.
    if (!isInGit) walk.bytes.set(`${path}/`, `folder ${mode}`);
    return walkFolder(walk, place);
  }
  if (stats.isSymbolicLink()) walk.bytes.set(path, `link ${await readlink(file, 'latin1')}`);
  else if (stats.isFile()) walk.bytes.set(path, `file ${mode} ${shortened(await readFile(file))}`);
  else walk.bytes.set(path, `special ${mode}`);
  if (!isInGit) walk.stamps.set(path, `${stats.mtimeNs} ${stats.ino}`);
}

function shortened(content: Buffer): string {
  if (content.length < 4_000) return content.toString('latin1');
  return `${content.length} bytes, ${createHash('sha256').update(content).digest('hex')}`;
}

function isOursInGit(path: string, isTop: boolean): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isTop && (name === 'objects' || name === 'tributary')) return true;
  return /\/refs\/(tributary|heads\/tributary(\/.*|-.*))$/.test(path);
}
