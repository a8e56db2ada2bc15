import { TributaryError } from '../base/errors';
import type { Hunks } from '../git/hunks';
import type { FileHunks, Hunk, Mark } from '../model/hunks';
import {
  decisionOnHunk,
  decisionOnPath,
  type MarkChange,
  type MarkTargets,
  withMark,
  withoutMark,
} from '../model/marks';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import type { LandingParts } from './landingParts';
import type { MarkedFile, MarkedHunk } from './taskApi';
import type { TaskRecords } from './taskRecords';

export interface ReviewsDeps {
  readonly hunks: Hunks;
  readonly parts: LandingParts;
  readonly records: TaskRecords;
}

/** What the user has looked at and decided of a Task's change, hunk by hunk. */
export class Reviews {
  private readonly deps: ReviewsDeps;

  constructor(deps: ReviewsDeps) {
    this.deps = deps;
  }

  /** The hunks of base..tree with what was said of each. `since: 'review'` leaves out what was reviewed as it is. */
  async files(task: Task, tree: string, since: 'base' | 'review'): Promise<readonly MarkedFile[]> {
    const base = baseOf(task);
    const [files, landed, reviewed] = await Promise.all([
      this.deps.hunks.list(base, tree),
      this.landedFiles(task, base),
      this.reviewedFiles(task, base),
    ]);
    const marked = files.map((file) => markedFile(file, task.marks, { landed, reviewed }));
    if (since === 'base') return marked;
    return marked
      .filter((file) => !file.isReviewed)
      .map((file) => ({ ...file, hunks: file.hunks.filter((hunk) => !hunk.isReviewed) }));
  }

  /** Throws `unknownId` for a file or hunk that the change has not. */
  async mark(task: Task, tree: string, targets: MarkTargets, mark: MarkChange | undefined): Promise<Task> {
    const { records } = this.deps;
    const at = records.now();
    if (mark === 'notReviewed' || mark === 'undecided') return this.unmark(task, tree, targets, mark);
    const files = await this.deps.hunks.list(baseOf(task), tree);
    refuseUnknown(files, targets);
    return records.change(
      task.id,
      (current) => {
        // A Snapshot is kept; what stands in the Worktree beyond it was not reviewed for good.
        const reviewedTree = current.snapshot?.tree;
        const ofTree = reviewedTree === undefined ? {} : { tree: reviewedTree };
        return { ...current, marks: withMark(current.marks, files, targets, { mark, at, ...ofTree }) };
      },
      { type: 'task.changed', state: task.state },
    );
  }

  private async unmark(
    task: Task,
    tree: string,
    targets: MarkTargets,
    change: 'notReviewed' | 'undecided',
  ): Promise<Task> {
    const files = await this.files(task, tree, 'base');
    refuseUnknown(files, targets);
    const { records } = this.deps;
    const at = records.now();
    return records.change(
      task.id,
      (current) => ({ ...current, marks: withoutMark(current.marks, files, targets, { change, at }) }),
      { type: 'task.changed', state: task.state },
    );
  }

  private async landedFiles(task: Task, base: string): Promise<readonly FileHunks[]> {
    const landed = await this.deps.parts.landed(task);
    return landed === undefined ? [] : this.deps.hunks.list(base, landed);
  }

  /** Each file that was reviewed as a whole, as it was then. */
  private async reviewedFiles(task: Task, base: string): Promise<ReadonlyMap<string, FileHunks>> {
    const reviews = task.marks.filter(({ kind, mark }) => kind === 'path' && mark === 'reviewed');
    const trees = [...new Set(reviews.flatMap(({ tree }) => (tree === undefined ? [] : [tree])))];
    const found = new Map<string, FileHunks>();
    for (const tree of trees) {
      const files = new Map((await this.deps.hunks.list(base, tree)).map((file) => [file.path, file]));
      for (const { of } of reviews.filter((review) => review.tree === tree)) {
        const file = files.get(of);
        if (file !== undefined) found.set(of, file);
      }
    }
    return found;
  }
}

interface Known {
  readonly landed: readonly FileHunks[];
  readonly reviewed: ReadonlyMap<string, FileHunks>;
}

function markedFile(file: FileHunks, marks: readonly Mark[], known: Known): MarkedFile {
  const landed = known.landed.find((one) => one.path === file.path);
  const reviewed = known.reviewed.get(file.path);
  const hunks = file.hunks.map((hunk) => markedHunk(hunk, marks, { landed, reviewed }));
  const isAsReviewed = reviewed !== undefined && isSame(file, reviewed);
  const decision = decisionOnPath(marks, file.path);
  return {
    ...file,
    hunks,
    ...(decision === undefined ? {} : { decision }),
    isReviewed: isAsReviewed || (hunks.length > 0 && hunks.every((hunk) => hunk.isReviewed)),
    isLanded: landed !== undefined && isSame(file, landed),
  };
}

function markedHunk(
  hunk: Hunk,
  marks: readonly Mark[],
  { landed, reviewed }: { landed: FileHunks | undefined; reviewed: FileHunks | undefined },
): MarkedHunk {
  const isOwn = marks.some(({ kind, of, mark }) => kind === 'hunk' && of === hunk.id && mark === 'reviewed');
  const decision = decisionOnHunk(marks, hunk);
  return {
    ...hunk,
    ...(decision === undefined ? {} : { decision }),
    isReviewed: isOwn || hasHunk(reviewed, hunk),
    isLanded: hasHunk(landed, hunk),
  };
}

function hasHunk(file: FileHunks | undefined, { id }: Hunk): boolean {
  return file?.hunks.some((one) => one.id === id) ?? false;
}

function isSame(one: FileHunks, other: FileHunks): boolean {
  return one.newMode === other.newMode && one.newBlob === other.newBlob && one.oldPath === other.oldPath;
}

function refuseUnknown(
  files: readonly { readonly path: string; readonly hunks: readonly Pick<Hunk, 'id'>[] }[],
  { paths = [], hunks = [] }: MarkTargets,
): void {
  const ids = new Set(files.flatMap((file) => file.hunks.map((hunk) => hunk.id)));
  const path = paths.find((one) => !files.some((file) => file.path === one));
  const hunk = hunks.find((one) => !ids.has(one));
  if (path !== undefined) throw unknown(`the Task changes no file ${JSON.stringify(path)}`, path);
  if (hunk !== undefined) throw unknown(`the Task has no hunk ${hunk}, or has it no more`, hunk);
}

function unknown(message: string, text: string): TributaryError {
  return new TributaryError('unknownId', message, { details: { text } });
}
