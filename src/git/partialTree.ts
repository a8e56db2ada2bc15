import type { LandingSelection } from '../model/landing';
import type { SourceFile, SourceHunk } from './hunks';
import type { IndexEntry } from './indexInfo';
import { parseBatchedBlobs } from './parsers/batch';
import { absentMode } from './parsers/diffTree';
import { type Git, lineOf } from './plumbing';
import type { RepositoryFacts } from './repository';
import { treeWithEntries } from './temporaryIndex';

interface PartialTree {
  /** The tree that the selection is written over. */
  readonly start: string;
  readonly wanted: readonly SourceFile[];
  /** What `start` changed of the base. */
  readonly standing: readonly SourceFile[];
  readonly selection: LandingSelection;
}

/** See `Hunks.treeOf`. */
export async function writePartialTree(
  git: Git,
  facts: RepositoryFacts,
  { start, wanted, standing, selection }: PartialTree,
): Promise<string> {
  const standingOf = new Map(standing.map((file) => [file.path, file]));
  const whole = wanted.filter((file) => isWhole(file, selection)).flatMap(wholeEntries);
  const parts = wanted.flatMap((file) => partOf(file, standingOf.get(file.path), selection));
  const entries = [...whole, ...(await writeParts(git, facts, parts))];
  const { root: workTree, gitDir, commonDir } = facts;
  const checkout = { workTree, gitDir, commonDir };
  // Removals first: a file may give way to a folder of its name.
  const isRemoval = (entry: IndexEntry): boolean => entry.mode === absentMode;
  const inOrder = [...entries.filter(isRemoval), ...entries.filter((entry) => !isRemoval(entry))];
  return treeWithEntries({ git, checkout }, start, inOrder);
}

function isWhole(file: SourceFile, { paths, modes = [], hunks }: LandingSelection): boolean {
  if (paths.includes(file.path)) return true;
  const isAllHunks = file.hunks.length > 0 && file.hunks.every((hunk) => hunks.includes(hunk.id));
  return isAllHunks && (modes.includes(file.path) || !changesMode(file));
}

function wholeEntries({ path, oldPath, newMode, newBlob }: SourceFile): IndexEntry[] {
  const entry = { path, mode: newMode, blob: newBlob };
  return oldPath === undefined ? [entry] : [{ path: oldPath, mode: absentMode, blob: newBlob }, entry];
}

function changesMode({ oldMode, newMode }: SourceFile): boolean {
  return oldMode !== absentMode && newMode !== absentMode && oldMode !== newMode;
}

interface Part {
  readonly file: SourceFile;
  readonly mode: string;
  readonly hunks: readonly SourceHunk[];
}

/** What becomes of a file of which a part is selected; nothing where none of it is. */
function partOf(file: SourceFile, standing: SourceFile | undefined, selection: LandingSelection): Part[] {
  if (isWhole(file, selection)) return [];
  const selected = file.hunks.filter((hunk) => selection.hunks.includes(hunk.id));
  const takesMode = changesMode(file) && (selection.modes?.includes(file.path) ?? false);
  // A file that is added or removed has one hunk, so it is whole or untouched.
  if (file.oldMode === absentMode || file.newMode === absentMode) return [];
  if (selected.length === 0 && !takesMode) return [];
  const before = standing?.newMode.startsWith('100') ? standing.newMode : file.oldMode;
  const kept = (standing?.hunks ?? []).filter((one) => !selected.some((other) => touches(one, other)));
  return [{ file, mode: takesMode ? file.newMode : before, hunks: [...kept, ...selected] }];
}

/** Whether two hunks of one base change the same lines, or one adds lines where the other's begin or end. */
function touches(one: SourceHunk, other: SourceHunk): boolean {
  const [a, b] = [rangeOf(one), rangeOf(other)];
  if (one.oldLines === 0 || other.oldLines === 0) return a.start <= b.end && b.start <= a.end;
  return a.start < b.end && b.start < a.end;
}

/** Lines of the base, counted from 0, the end not among them. */
function rangeOf({ oldStart, oldLines }: SourceHunk): { start: number; end: number } {
  const start = oldLines === 0 ? oldStart : oldStart - 1;
  return { start, end: start + oldLines };
}

async function writeParts(git: Git, facts: RepositoryFacts, parts: readonly Part[]): Promise<IndexEntry[]> {
  if (parts.length === 0) return [];
  const cwd = facts.root;
  const input = parts.map(({ file }) => `${file.oldBlob}\n`).join('');
  const output = await git({ cwd, args: ['cat-file', '--batch'], input });
  const bases = parseBatchedBlobs(output.stdout, parts.length);
  const entries: IndexEntry[] = [];
  for (const [at, { file, mode, hunks }] of parts.entries()) {
    const content = spliced(bases[at] ?? Buffer.alloc(0), hunks);
    // No filter: these are bytes of blobs.
    const written = await git({ cwd, args: ['hash-object', '-w', '--stdin'], input: content });
    entries.push({ path: file.path, mode, blob: lineOf(written) });
  }
  return entries;
}

/** The base's bytes with the lines of each hunk in the place of the old ones. */
function spliced(base: Buffer, hunks: readonly SourceHunk[]): Buffer {
  const starts = lineStarts(base);
  const offsetOf = (line: number): number => starts[line] ?? base.length;
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const hunk of [...hunks].sort((a, b) => rangeOf(a).start - rangeOf(b).start)) {
    const { start, end } = rangeOf(hunk);
    parts.push(base.subarray(at, offsetOf(start)), hunk.new);
    at = offsetOf(end);
  }
  return Buffer.concat([...parts, base.subarray(at)]);
}

function lineStarts(bytes: Buffer): number[] {
  const starts = [0];
  for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, end + 1)) starts.push(end + 1);
  return starts;
}
