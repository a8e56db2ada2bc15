import type { Decision, FileHunks, Mark, ReviewMark } from './hunks';
import type { LandingSelection } from './landing';

/** What a mark is put on: files, hunks, or, with neither, all of the change. */
export interface MarkTargets {
  readonly paths?: readonly string[];
  readonly hunks?: readonly string[];
}

/** A mark to set, or one kind of mark to take off and leave the others. */
export type MarkChange = ReviewMark | 'notReviewed' | 'undecided';

/** What was decided about a hunk: by itself, else with its file. */
export function decisionOnHunk(
  marks: readonly Mark[],
  hunk: { readonly id: string; readonly path: string },
): Decision | undefined {
  return decisionAt(marks, 'hunk', hunk.id) ?? decisionOnPath(marks, hunk.path);
}

export function decisionOnPath(marks: readonly Mark[], path: string): Decision | undefined {
  return decisionAt(marks, 'path', path);
}

function decisionAt(marks: readonly Mark[], kind: Mark['kind'], of: string): Decision | undefined {
  const mark = marks.find((one) => one.kind === kind && one.of === of && one.mark !== 'reviewed')?.mark;
  return mark === 'reviewed' ? undefined : mark;
}

/** What nobody rejected, and what somebody did. A file of which a hunk is rejected is taken by its other hunks. */
export function withoutRejected(
  files: readonly FileHunks[],
  marks: readonly Mark[],
): { readonly taken: Required<LandingSelection>; readonly leftOut: LandingSelection } {
  const taken = { paths: [] as string[], hunks: [] as string[], modes: [] as string[] };
  const leftOut = { paths: [] as string[], hunks: [] as string[] };
  for (const file of files) {
    const isFileRejected = decisionOnPath(marks, file.path) === 'reject';
    const rejected = file.hunks.filter((hunk) => decisionOnHunk(marks, hunk) === 'reject');
    const hasHunks = file.hunks.length > 0;
    if (isFileRejected && rejected.length === file.hunks.length) leftOut.paths.push(file.path);
    else if (!isFileRejected && rejected.length === 0) taken.paths.push(file.path);
    else if (hasHunks) {
      leftOut.hunks.push(...rejected.map((hunk) => hunk.id));
      taken.hunks.push(...file.hunks.filter((hunk) => !rejected.includes(hunk)).map((hunk) => hunk.id));
      if (!isFileRejected) taken.modes.push(file.path);
    }
  }
  return { taken, leftOut };
}

/**
 * The marks with one more, or with those of the targets taken off. What is said of a file holds for its hunks too,
 * whatever was said of them before; a review and a decision stand beside each other.
 */
export function withMark(
  marks: readonly Mark[],
  files: readonly FileHunks[],
  targets: MarkTargets,
  set: { readonly mark: ReviewMark | undefined; readonly at: string; readonly tree?: string },
): Mark[] {
  const isAll = targets.paths === undefined && targets.hunks === undefined;
  const paths = isAll ? files.map((file) => file.path) : (targets.paths ?? []);
  const hunks = targets.hunks ?? [];
  const inFiles = files.filter((file) => paths.includes(file.path)).flatMap((file) => file.hunks);
  const covered = new Set([...hunks, ...inFiles.map((hunk) => hunk.id)]);
  const kept = marks.filter(({ kind, of, mark }) => {
    const isTarget = kind === 'path' ? paths.includes(of) : covered.has(of);
    return !isTarget || (set.mark !== undefined && (mark === 'reviewed') !== (set.mark === 'reviewed'));
  });
  const { mark, at, tree } = set;
  if (mark === undefined) return kept;
  const ofTree = mark === 'reviewed' && tree !== undefined ? { tree } : {};
  return [
    ...kept,
    ...paths.map((of) => ({ kind: 'path' as const, of, mark, at, ...ofTree })),
    ...hunks.map((of) => ({ kind: 'hunk' as const, of, mark, at })),
  ];
}

/** A file as the user sees it marked. */
export interface SeenFile {
  readonly path: string;
  readonly hunks: readonly { readonly id: string; readonly isReviewed: boolean }[];
}

/**
 * The marks with reviews, or decisions, taken off the targets and nothing else. What was said of a file holds on for
 * its other hunks: a review is then said of each of them, and a hunk taken out of a rejected file is one to accept.
 */
export function withoutMark(
  marks: readonly Mark[],
  files: readonly SeenFile[],
  targets: MarkTargets,
  { change, at }: { readonly change: 'notReviewed' | 'undecided'; readonly at: string },
): Mark[] {
  const isAll = targets.paths === undefined && targets.hunks === undefined;
  const paths = isAll ? files.map((file) => file.path) : (targets.paths ?? []);
  const single = files.filter(
    (file) => !paths.includes(file.path) && file.hunks.some(({ id }) => targets.hunks?.includes(id)),
  );
  const hunks = new Set([
    ...(targets.hunks ?? []),
    ...files.filter((file) => paths.includes(file.path)).flatMap((file) => file.hunks.map(({ id }) => id)),
  ]);
  const isReview = change === 'notReviewed';
  const hasReview = (path: string): boolean =>
    marks.some(({ kind, of, mark }) => kind === 'path' && of === path && mark === 'reviewed');
  const split = isReview ? single.map((file) => file.path).filter(hasReview) : [];
  const kept = marks.filter(({ kind, of, mark }) => {
    const isTarget = kind === 'path' ? paths.includes(of) || split.includes(of) : hunks.has(of);
    return !isTarget || (mark === 'reviewed') !== isReview;
  });
  const others = single.flatMap((file) => {
    const isRejected = decisionOnPath(marks, file.path) === 'reject';
    const isSplit = split.includes(file.path);
    return file.hunks.filter(({ id, isReviewed }) =>
      isReview ? isSplit && isReviewed && !hunks.has(id) : isRejected && hunks.has(id),
    );
  });
  const isKept = (of: string, mark: ReviewMark): boolean =>
    kept.some((one) => one.kind === 'hunk' && one.of === of && one.mark === mark);
  const mark = isReview ? 'reviewed' : 'accept';
  const fresh = others.filter(({ id }) => !isKept(id, mark));
  return [...kept, ...fresh.map(({ id }) => ({ kind: 'hunk' as const, of: id, mark, at }) satisfies Mark)];
}
