import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Conflict } from '../model/landing';
import { markerLabels, type Unresolved } from '../model/movedBase';
import { type Checkout, inCheckout } from './checkouts';
import type { IndexEntry } from './indexInfo';
import { zeroName } from './objectNames';
import { parseBatchedBlobs } from './parsers/batch';
import type { ConflictStages, StageEntry } from './parsers/conflictStages';
import { absentMode } from './parsers/diffTree';
import { type Git, lineOf } from './plumbing';
import { treeWithEntries } from './temporaryIndex';

interface Merged {
  readonly tree: string;
  readonly conflicts: readonly Conflict[];
  readonly stages: readonly ConflictStages[];
}

interface Settled {
  readonly entry: StageEntry | undefined;
  readonly unresolved: Unresolved;
}

/**
 * The merged tree with one entry for each path in conflict: a text with conflict markers, or, where no text can hold
 * both sides, the Task's version. Writes objects only.
 */
export async function settleConflicts(
  git: Git,
  checkout: Checkout,
  merged: Merged,
): Promise<{ tree: string; unresolved: readonly Unresolved[] }> {
  const { stages, conflicts } = merged;
  if (stages.length === 0) return { tree: merged.tree, unresolved: [] };
  const entries: IndexEntry[] = [];
  const unresolved: Unresolved[] = [];
  for (const one of stages) {
    const conflict = conflicts.find(({ path }) => path === one.path);
    const settled = (await withMarkers(git, checkout, one, conflict)) ?? theirsOf(one, conflict);
    const blob = zeroName(merged.tree);
    entries.push(...one.places.map((path) => ({ path, mode: absentMode, blob })));
    if (settled.entry !== undefined) entries.push({ ...settled.entry, path: one.path });
    if (hasTwoSides(one)) unresolved.push(settled.unresolved);
  }
  const tree = await treeWithEntries({ git, checkout }, merged.tree, entries);
  return { tree, unresolved };
}

/** The base version alone at a path says only that both sides moved the file away. */
function hasTwoSides({ ours, theirs }: ConflictStages): boolean {
  return ours !== undefined || theirs !== undefined;
}

/** The Task's version; what only the user added stands too, where nothing of the Task's is at its place. */
function theirsOf(
  { path, places, base, ours, theirs }: ConflictStages,
  conflict: Conflict | undefined,
): Settled {
  const isFree = base === undefined && places.includes(path);
  const entry = theirs ?? (isFree ? ours : undefined);
  const message = conflict?.message ?? `both sides changed ${path}`;
  return { entry, unresolved: { path, kind: 'kept', message } };
}

/** Both sides in one text; `undefined` where they are no two texts, or git finds nothing to mark in them. */
async function withMarkers(
  git: Git,
  checkout: Checkout,
  { path, base, ours, theirs }: ConflictStages,
  conflict: Conflict | undefined,
): Promise<Settled | undefined> {
  if (!isFile(ours) || !isFile(theirs) || (base !== undefined && !isFile(base))) return undefined;
  if (conflict?.kind === 'binary') return undefined;
  const names = [ours.blob, ...(base === undefined ? [] : [base.blob]), theirs.blob];
  const texts = await blobs(git, checkout, names);
  if (texts.some((text) => text === undefined || isNoText(text))) return undefined;
  const [mine, before, others] = base === undefined ? [texts[0], undefined, texts[1]] : texts;
  const marked = await mergeFile(git, checkout, [mine, before, others]);
  if (marked === undefined) return undefined;
  const args = ['hash-object', '-w', '--no-filters', '--stdin'];
  const blob = lineOf(await git({ ...inCheckout(checkout), args, input: marked }));
  const mode = theirs.mode === base?.mode ? ours.mode : theirs.mode;
  const message = conflict?.message ?? `both sides changed ${path}`;
  return { entry: { mode, blob }, unresolved: { path, kind: 'markers', message } };
}

/** `git merge-file`, whose labels may be words; `undefined`: nothing in it conflicts. */
async function mergeFile(
  git: Git,
  checkout: Checkout,
  texts: readonly (Buffer | undefined)[],
): Promise<Buffer | undefined> {
  const directory = await mkdtemp(join(tmpdir(), 'tributary-merge-'));
  try {
    const files = texts.map((_text, index) => join(directory, String(index)));
    for (const [index, file] of files.entries()) await writeFile(file, texts[index] ?? '');
    const labels = [markerLabels.ours, markerLabels.base, markerLabels.theirs];
    const output = await git({
      ...inCheckout(checkout),
      args: ['merge-file', '-p', '-q', '--diff3', ...labels.flatMap((label) => ['-L', label]), ...files],
      okCodes: countsOfConflicts,
    });
    return output.exitCode === 0 ? undefined : output.stdout;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What `git merge-file` ends with: how many conflicts there are, at most 127. */
export const countsOfConflicts: readonly number[] = Array.from({ length: 128 }, (_, index) => index);

async function blobs(
  git: Git,
  checkout: Checkout,
  names: readonly string[],
): Promise<readonly (Buffer | undefined)[]> {
  const input = names.map((name) => `${name}\n`).join('');
  const output = await git({ ...inCheckout(checkout), args: ['cat-file', '--batch'], input });
  return parseBatchedBlobs(output.stdout, names.length);
}

function isFile(entry: StageEntry | undefined): entry is StageEntry {
  return entry?.mode === '100644' || entry?.mode === '100755';
}

/** As git tells: a NUL near the start. A pointer to a large file is text to git and to nobody else. */
function isNoText(content: Buffer): boolean {
  const isPointer = content.subarray(0, pointer.length).toString('latin1') === pointer;
  return isPointer || content.subarray(0, 8_000).includes(0);
}

const pointer = 'version https://git-lfs.github.com/spec/';
