import { lstat } from 'node:fs/promises';
import type { Conflict, LandingPath } from '../model/landing';
import { type Checkout, inCheckout, unlessMissing } from './checkouts';
import type { MergePreview } from './merges';
import { type ConflictStages, parseConflictStages } from './parsers/conflictStages';
import { absentMode, gitlinkMode, parseRawDiff, type RawChange, rawDiffOf } from './parsers/diffTree';
import { type MergedTree, parseMergeTree } from './parsers/mergeTree';
import { fileAt, splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { whyUnsafe } from './safePath';
import { commitTree } from './snapshots';
import { findForeign, recordStanding, type Standing } from './standing';
import type { TemporaryIndex } from './temporaryIndex';
import { recordTracked, withSteadyIndex } from './workTreeState';

/** Makes the same objects for the same trees, so that previews do not fill the object store. */
export const fixedDate = '2000-01-01T00:00:00Z';

export interface PreviewRequest {
  readonly base: string;
  readonly theirs: string;
  readonly signal: AbortSignal | undefined;
}

/** Trees, or commits for their trees. */
interface ThreeTrees extends PreviewRequest {
  readonly ours: string;
}

/** See `Merges.preview`. */
export async function previewMerge(
  git: Git,
  checkout: Checkout,
  request: PreviewRequest,
): Promise<MergePreview> {
  const diff = differ(git, checkout, request.signal);
  const touched = await diff(request.base, request.theirs);
  const unsafe = touched.filter((change) => whyUnsafe(change.path) !== undefined);
  if (unsafe.length > 0) return refusal(git, checkout, { request, unsafe });
  const { ours, standing } = await treeOfOurs(git, checkout, { touched, ...request });
  const { tree: merged, conflicts } = await mergeTrees(git, checkout, { ...request, ours });
  const changes = await diff(ours, merged);
  const inTheWay = [
    ...(await blockedConflicts(checkout, touched, standing)),
    ...(await unseenConflicts(checkout, changes, new Set(touched.map((change) => change.path)))),
    ...changes.filter(touchesGitlink).map((change) => conflictAt(change.path, 'submodule', gitlinkMessage)),
  ];
  const paths = changes.filter((change) => !touchesGitlink(change)).map(landingPath);
  return { ours, merged, paths, conflicts: withoutDoubles([...conflicts, ...inTheWay]) };
}

/**
 * The user's files as a tree: tracked ones everywhere, and whatever stands on the touched paths, or on those that
 * only the base tracks. Without the latter, untracked files that the base holds would look moved elsewhere.
 */
export async function treeOfOurs(
  git: Git,
  checkout: Checkout,
  { touched, base, signal }: Pick<PreviewRequest, 'base' | 'signal'> & { touched: readonly RawChange[] },
): Promise<{ ours: string; standing: Map<string, Standing> }> {
  return withSteadyIndex({ git, checkout, signal }, async (index) => {
    const special = await recordTracked(index);
    const paths = touched.filter((change) => !touchesGitlink(change)).map((change) => change.path);
    const standing = await recordStanding(index, paths, special);
    await recordStanding(index, await untrackedOf(index, base), special);
    return { ours: await index.writeTree(), standing };
  });
}

/** What `base` holds and the index does not. */
async function untrackedOf(index: TemporaryIndex, base: string): Promise<string[]> {
  const args = ['diff-index', '--cached', '-z', '--name-only', '--no-renames', '--diff-filter=D'];
  const output = await index.run({ args: [...args, '--ignore-submodules=all', `${base}^{tree}`, '--'] });
  return splitPaths(output.stdout);
}

/** Wraps the three trees in commits and merges them in the object store; merge drivers of the user count. */
export async function mergeTrees(
  git: Git,
  checkout: Checkout,
  { base, ours, theirs, signal }: ThreeTrees,
): Promise<MergedTree & { readonly stages: readonly ConflictStages[] }> {
  const place = inCheckout(checkout);
  const env = { ...place.env, GIT_AUTHOR_DATE: fixedDate, GIT_COMMITTER_DATE: fixedDate };
  const wrap = (tree: string, parents: string[], message: string): Promise<string> =>
    commitTree(git, { cwd: place.cwd, env, signal }, { tree, parents, message });
  // merge-tree takes commits and finds the base by itself: two children of the base have just that one.
  const root = await wrap(base, [], 'base');
  const [left, right] = await Promise.all([wrap(ours, [root], 'ours'), wrap(theirs, [root], 'theirs')]);
  const args = ['merge-tree', '--write-tree', '-z', '--messages', left, right];
  const output = await git({ cwd: place.cwd, env, args, okCodes: [0, 1], signal });
  const names = new Map([
    [left, 'your files'],
    [right, 'the Task'],
  ]);
  return {
    ...parseMergeTree(output.stdout, names),
    stages: parseConflictStages(output.stdout, [left, right]),
  };
}

/** Files of the user that no tree can hold beside what lands: only a look at the disk finds them. */
async function blockedConflicts(
  { workTree }: Checkout,
  touched: readonly RawChange[],
  standing: ReadonlyMap<string, Standing>,
): Promise<Conflict[]> {
  const removed = new Set(
    touched.filter((change) => change.newMode === absentMode).map((change) => change.path),
  );
  const conflicts: Conflict[] = [];
  for (const change of touched) {
    const found = standing.get(change.path);
    const conflict = found && (await blockedConflict(workTree, change, { found, removed }));
    if (conflict) conflicts.push(conflict);
  }
  return conflicts;
}

/** The conflict between what stands at one touched path and what would land there, if there is one. */
async function blockedConflict(
  workTree: string,
  { path, newMode }: RawChange,
  { found, removed }: { found: Standing; removed: ReadonlySet<string> },
): Promise<Conflict | undefined> {
  if (found.kind === 'submodule') {
    return conflictAt(path, 'submodule', `${path} lies inside the submodule ${found.at}`);
  }
  if (newMode === absentMode) return undefined;
  if (found.kind === 'special') {
    return conflictAt(path, 'file/directory', `something that is no file stands at or above ${path}`);
  }
  if (found.kind !== 'folder') return undefined;
  const foreign = await findForeign(workTree, path, removed);
  if (foreign === undefined) return undefined;
  return conflictAt(path, 'file/directory', `${foreign} is in the way of the file ${path}`);
}

/** A path the merge came up with by itself (a rename, a moved folder) where a file of the user stands. */
async function unseenConflicts(
  { workTree }: Checkout,
  changes: readonly RawChange[],
  touched: ReadonlySet<string>,
): Promise<Conflict[]> {
  const conflicts: Conflict[] = [];
  for (const { path, oldMode } of changes) {
    if (touched.has(path) || oldMode !== absentMode) continue;
    if ((await lstat(fileAt(workTree, path)).catch(unlessMissing)) === undefined) continue;
    conflicts.push(conflictAt(path, 'untracked', `a file git does not track is in the way of ${path}`));
  }
  return conflicts;
}

/** A tree that names places no checkout may write to is not merged at all. */
async function refusal(
  git: Git,
  checkout: Checkout,
  { request, unsafe }: { request: PreviewRequest; unsafe: readonly RawChange[] },
): Promise<MergePreview> {
  const { ours } = await treeOfOurs(git, checkout, { touched: [], ...request });
  const conflicts = unsafe.map(({ path }) =>
    conflictAt(path, 'path', `${path} is refused: ${whyUnsafe(path) ?? 'it is unsafe'}`),
  );
  return { ours, merged: ours, paths: [], conflicts };
}

/** Lists what differs between two trees or commits, every rename as a deletion and an addition. */
export function differ(
  git: Git,
  checkout: Checkout,
  signal: AbortSignal | undefined,
): (from: string, to: string) => Promise<RawChange[]> {
  return async (from, to) => {
    const args = rawDiffOf(`${from}^{tree}`, `${to}^{tree}`);
    return parseRawDiff((await git({ ...inCheckout(checkout), args, signal })).stdout);
  };
}

const gitlinkMessage = 'the commit of a submodule changed: it is no file, so it cannot land with the files';

function landingPath(change: RawChange): LandingPath {
  return {
    path: change.path,
    before: sideOf(change.oldMode, change.oldBlob),
    after: sideOf(change.newMode, change.newBlob),
  };
}

function sideOf(mode: string, blob: string): LandingPath['before'] {
  return mode === absentMode ? 'absent' : { mode, blob };
}

function touchesGitlink(change: RawChange): boolean {
  return change.oldMode === gitlinkMode || change.newMode === gitlinkMode;
}

function conflictAt(path: string, kind: string, message: string): Conflict {
  return { path, kind, message };
}

/** git and our look at the disk may find the same conflict: one is enough. */
function withoutDoubles(conflicts: readonly Conflict[]): Conflict[] {
  const byPlace = new Map(conflicts.map((conflict) => [`${conflict.kind}\0${conflict.path}`, conflict]));
  return [...byPlace.values()];
}
