import { constants, copyFile, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { LandedSide, LandingPath } from '../model/landing';
import { readSide } from './checkoutFiles';
import type { Checkout } from './checkouts';
import { fileAt, joinPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { withTemporaryIndex } from './temporaryIndex';

export interface StageRequest {
  readonly merged: string;
  readonly paths: readonly LandingPath[];
  readonly directory: string;
}

/** See `Merges.stage`. */
export async function stageLanding(
  git: Git,
  checkout: Checkout,
  request: StageRequest,
): Promise<Array<{ path: string; before: LandedSide; after: LandedSide }>> {
  const { paths, directory } = request;
  await mkdir(join(directory, 'before'), { recursive: true });
  await mkdir(join(directory, 'after'), { recursive: true });
  const written = await mkdtemp(join(directory, 'checkout-'));
  try {
    await writeMerged(git, checkout, { ...request, written });
    const staged = [];
    for (const [index, { path, after }] of paths.entries()) {
      const before = await copySide(checkout.workTree, path, join(directory, 'before', String(index)));
      staged.push({
        path,
        before,
        after:
          after === 'absent'
            ? absent
            : await moveSide(written, path, join(directory, 'after', String(index))),
      });
    }
    return staged;
  } finally {
    await rm(written, { recursive: true, force: true });
  }
}

const absent: LandedSide = { kind: 'absent' };

/** Lets git write the files as a checkout would: line endings and filters by their real paths. */
async function writeMerged(
  git: Git,
  checkout: Checkout,
  { merged, paths, written }: StageRequest & { written: string },
): Promise<void> {
  const files = paths.filter((one) => one.after !== 'absent').map((one) => one.path);
  if (files.length === 0) return;
  // Attributes come from the checkout's own files first. Where a landing changes them, an empty work tree lets
  // the merged ones count; otherwise git runs in the checkout, so that filters find their relative paths.
  const changesAttributes = paths.some((one) => /(^|\/)\.gitattributes$/.test(one.path));
  const place = changesAttributes ? { ...checkout, workTree: written } : checkout;
  const target = changesAttributes ? [] : [`--prefix=${written}/`];
  await withTemporaryIndex({ git, checkout: place, isEmpty: true }, async (index) => {
    // A landing may write paths that a sparse checkout leaves out.
    const config = ['core.sparseCheckout=false'];
    await index.run({ args: ['read-tree', merged], config });
    const args = ['checkout-index', '--force', '-z', '--stdin', ...target];
    await index.run({ args, config, input: joinPaths(files) });
  });
}

/** Copies what stands at `path`, and describes the copy. */
export async function copySide(root: string, path: string, copy: string): Promise<LandedSide> {
  const side = await readSide(root, path);
  if (side.kind !== 'file') return side;
  await copyFile(fileAt(root, path), copy, constants.COPYFILE_FICLONE);
  // Described from the copy: the file may have changed between the look and the copy.
  const { root: folder, name } = splitLast(copy);
  const copied = await readSide(folder, name);
  return copied.kind === 'file' ? { ...side, sha256: copied.sha256 } : copied;
}

/** Describes a file git wrote, and moves it to where the journal looks for it. */
async function moveSide(root: string, path: string, target: string): Promise<LandedSide> {
  const side = await readSide(root, path);
  if (side.kind !== 'file') return side;
  await rename(fileAt(root, path), target);
  // Without the bits of this temporary file: a file that is written over keeps its own.
  const { kind, sha256, executable } = side;
  return { kind, sha256, executable };
}

function splitLast(path: string): { root: string; name: string } {
  const at = path.lastIndexOf('/');
  return { root: path.slice(0, at), name: path.slice(at + 1) };
}
