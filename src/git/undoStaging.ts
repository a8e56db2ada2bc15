import { constants, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Conflict, type LandedSide, sameSide } from '../model/landing';
import { hashOf } from './checkoutFiles';
import type { Checkout } from './checkouts';
import { countsOfConflicts } from './conflictFiles';
import { copySide } from './mergeStaging';
import type { StagedUndo } from './merges';
import type { Git } from './plumbing';

type Sides = { readonly path: string; readonly before: LandedSide; readonly after: LandedSide };
type File = Extract<LandedSide, { kind: 'file' }>;

export interface UndoRequest {
  readonly paths: readonly Sides[];
  /** The Landing's folder in the journal. */
  readonly landed: string;
  /** Where the new sides go; without it they are only worked out. */
  readonly directory?: string;
}

/** See `Merges.stageUndo`. */
export async function stageUndo(git: Git, checkout: Checkout, request: UndoRequest): Promise<StagedUndo> {
  const { directory } = request;
  if (directory !== undefined) return stageIn(git, checkout, { ...request, directory });
  const temporary = await mkdtemp(join(tmpdir(), 'tributary-undo-'));
  try {
    return await stageIn(git, checkout, { ...request, directory: temporary });
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

async function stageIn(
  git: Git,
  checkout: Checkout,
  { paths, landed, directory }: Required<UndoRequest>,
): Promise<StagedUndo> {
  for (const side of ['before', 'after']) await mkdir(join(directory, side), { recursive: true });
  const staged: Sides[] = [];
  const merged: string[] = [];
  const conflicts: Conflict[] = [];
  for (const [at, one] of paths.entries()) {
    const { path } = one;
    const kept = join(directory, 'before', `${staged.length}`);
    const target = join(directory, 'after', `${staged.length}`);
    const now = await copySide(checkout.workTree, path, kept);
    if (sameSide(now, one.before)) continue;
    const from = { base: join(landed, 'after', `${at}`), before: join(landed, 'before', `${at}`) };
    if (sameSide(now, one.after)) {
      if (one.before.kind === 'file') await copyFile(from.before, target, constants.COPYFILE_FICLONE);
      staged.push({ path, before: now, after: one.before });
      continue;
    }
    const after = await mergeSides(git, { ...one, now }, { ...from, now: kept, target });
    if ('message' in after) conflicts.push(after);
    else {
      merged.push(path);
      staged.push({ path, before: now, after });
    }
  }
  return { paths: staged, merged, conflicts };
}

/** The side that takes the Landing out of what stands now, or why there is none. */
async function mergeSides(
  git: Git,
  { path, before, after, now }: Sides & { now: LandedSide },
  files: { now: string; base: string; before: string; target: string },
): Promise<LandedSide | Conflict> {
  if (now.kind !== 'file' || before.kind !== 'file' || after.kind !== 'file')
    return { path, ...whyNoMerge(path, { now, before, after }) };
  const args = ['merge-file', '-p', files.now, files.base, files.before];
  const output = await git({ cwd: join(files.target, '..'), args, okCodes: conflictCodes });
  if (output.exitCode !== 0) {
    const [kind, why] =
      output.exitCode > 127
        ? ['binary', 'it is no text that could be merged']
        : ['content', 'you edited the very lines that were accepted'];
    return { path, kind, message: `${path}: ${why}` };
  }
  await writeFile(files.target, output.stdout);
  const sha256 = await hashOf(files.target);
  return { kind: 'file', sha256, executable: mergedBit(now, after, before) };
}

/** And 255 for what is no text. */
const conflictCodes = [...countsOfConflicts, 255];

function mergedBit(now: File, after: File, before: File): boolean {
  return now.executable === after.executable ? before.executable : now.executable;
}

function whyNoMerge(
  path: string,
  { now, before, after }: { now: LandedSide; before: LandedSide; after: LandedSide },
): Omit<Conflict, 'path'> {
  if (now.kind === 'absent')
    return { kind: 'modify/delete', message: `${path} was deleted since it was accepted` };
  if (before.kind === 'absent' || after.kind === 'absent')
    return {
      kind: 'modify/delete',
      message: `${path} came or went when it was accepted, and was edited since`,
    };
  return { kind: 'type', message: `${path} is a link on one side and a file on another` };
}
