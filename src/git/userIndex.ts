import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TributaryError } from '../base/errors';
import type { Conflict, LandingPath } from '../model/landing';
import { type Checkout, unlessMissing } from './checkouts';
import { type IndexEntry, setEntries } from './indexInfo';
import { mergeTrees } from './mergePreview';
import { zeroName } from './objectNames';
import { absentMode, parseRawDiff, rawDiffOf } from './parsers/diffTree';
import { parseStagedEntries, parseUnmergedPaths } from './parsers/lsFiles';
import type { Git } from './plumbing';
import { type TemporaryIndex, withTemporaryIndex } from './temporaryIndex';
import { replaceIndex } from './userIndexFile';

export interface IndexPlan {
  /** Entries that change; all others stay as they are. */
  readonly changes: readonly LandingPath[];
  readonly conflicts: readonly Conflict[];
}

/**
 * What becomes of the user's index when HEAD goes from `head` to `tree`: entries as in HEAD become the new ones,
 * staged edits are merged with them or are a conflict. Nothing is written.
 */
export async function planIndex(
  git: Git,
  checkout: Checkout,
  { head, tree }: { head: string; tree: string },
): Promise<IndexPlan> {
  return withTemporaryIndex({ git, checkout }, async (index) => {
    const unmerged = await unmergedPaths(index);
    if (unmerged.length > 0) return { changes: [], conflicts: unmerged.map(unmergedConflict) };
    const staged = await index.writeTree();
    const merged = await mergeTrees(git, checkout, {
      base: head,
      ours: staged,
      theirs: tree,
      signal: undefined,
    });
    if (merged.conflicts.length > 0) return { changes: [], conflicts: merged.conflicts.map(stagedConflict) };
    const output = await index.run({ args: rawDiffOf(staged, merged.tree) });
    const changes = parseRawDiff(output.stdout).map(({ path, oldMode, oldBlob, newMode, newBlob }) => ({
      path,
      before: entryOf(oldMode, oldBlob),
      after: entryOf(newMode, newBlob),
    }));
    return { changes, conflicts: [] };
  });
}

export interface IndexWrite {
  readonly changes: readonly LandingPath[];
  readonly to: 'before' | 'after';
  /** Entries on neither side are left as they are, the others are brought all the same. */
  readonly leavesOthers?: boolean;
  /** A file beside which nothing else writes: the new index on its way. */
  readonly next: string;
  /** The whole index as it once was: put back byte for byte where only `changes` differ from it. */
  readonly exact?: string;
}

const tries = 10;

/**
 * Brings entries of the user's index to one side, each looked at first. Answers the paths that are on neither side:
 * then nothing was written.
 */
export async function writeIndex(
  git: Git,
  checkout: Checkout,
  write: IndexWrite,
): Promise<readonly string[]> {
  const real = join(checkout.gitDir, 'index');
  for (let look = 1; ; look += 1) {
    const seen = await readFile(real).catch(unlessMissing);
    const made = await withTemporaryIndex({ git, checkout }, (index) => makeNext(index, write));
    if (made.strange.length > 0) return made.strange;
    if (!made.isNew || (await replaceIndex(checkout, { next: write.next, seen }))) return [];
    if (look === tries)
      throw new TributaryError('stale', 'the index keeps changing', { details: { path: real } });
  }
}

/** Writes the new index to `next`, from a private copy of the present one. */
async function makeNext(
  index: TemporaryIndex,
  { changes, to, next, exact, leavesOthers = false }: IndexWrite,
): Promise<{ strange: readonly string[]; isNew: boolean }> {
  const now = await entriesAt(index, changes);
  const isAt = (change: LandingPath, side: 'before' | 'after'): boolean =>
    textOf(change[side]) === (now.get(change.path) ?? 'absent');
  const strange = changes.filter((change) => !isAt(change, 'before') && !isAt(change, 'after'));
  const due = changes.filter((change) => !isAt(change, to) && !strange.includes(change));
  if (strange.length > 0 && !leavesOthers)
    return { strange: strange.map((change) => change.path), isNew: false };
  if (due.length === 0) return { strange: [], isNew: false };
  await index.run(setEntries(due.map((change) => entryAt(change, to))));
  // The files stand by now: without their stamps git would take them for edited until the next `git status`.
  if (to === 'after') await index.run({ args: ['update-index', '-q', '--refresh'], okCodes: [0, 1] });
  const isExact = exact !== undefined && (await isAlike(index, exact));
  await copyFile(isExact ? exact : index.file, next);
  return { strange: [], isNew: true };
}

/** Whether two indexes hold the same entries with the same flags. */
async function isAlike(index: TemporaryIndex, other: string): Promise<boolean> {
  const args = ['ls-files', '--stage', '-v', '-z'];
  const [here, there] = [
    await index.run({ args }),
    await index.run({ args, env: { GIT_INDEX_FILE: other } }),
  ];
  return here.stdout.equals(there.stdout);
}

async function entriesAt(
  index: TemporaryIndex,
  changes: readonly LandingPath[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = new Set(changes.map((change) => change.path));
  const listed = await index.run({ args: ['ls-files', '--stage', '-z'] });
  const entries = parseStagedEntries(listed.stdout, wanted);
  return new Map([...entries].map(([path, entry]) => [path, textOf(entry)]));
}

async function unmergedPaths(index: TemporaryIndex): Promise<readonly string[]> {
  return parseUnmergedPaths((await index.run({ args: ['ls-files', '--unmerged', '-z'] })).stdout);
}

function textOf(entry: LandingPath['before']): string {
  return entry === 'absent' ? entry : `${entry.mode} ${entry.blob}`;
}

function entryAt(change: LandingPath, to: 'before' | 'after'): IndexEntry {
  const { path, [to]: entry } = change;
  if (entry !== 'absent') return { path, ...entry };
  const other = change[to === 'before' ? 'after' : 'before'];
  return { path, mode: absentMode, blob: zeroName(other === 'absent' ? '' : other.blob) };
}

function entryOf(mode: string, blob: string): LandingPath['before'] {
  return mode === absentMode ? 'absent' : { mode, blob };
}

function unmergedConflict(path: string): Conflict {
  return { path, kind: 'unmerged', message: `${path} is in conflict in your index already` };
}

function stagedConflict({ path, message }: Conflict): Conflict {
  return { path, kind: 'staged', message: `what you staged there conflicts with the change: ${message}` };
}
