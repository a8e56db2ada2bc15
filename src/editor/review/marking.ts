import type { LandingSelection } from '../../model/landing';
import type { MarkChange, MarkTargets } from '../../model/marks';
import type { MarkedFile } from '../../tasks/taskApi';
import type { WindowBoards } from '../boards';
import type { ReviewNode } from './reviewTree';

/** A file or hunk of a Task's change, as rows and cursors name it. */
export type Part = Pick<ReviewNode, 'taskId' | 'path' | 'hunkId'>;

/** Says something of a file or hunk in the Task's record. */
export async function markPart(boards: WindowBoards, part: Part, change: MarkChange): Promise<void> {
  const tasks = boards.find(part.taskId)?.board.core.tasks;
  if (tasks === undefined) return;
  const { files } =
    change === 'reviewed' && part.hunkId === undefined ? await tasks.hunks(part.taskId) : { files: [] };
  await tasks.mark(part.taskId, targetsOf(part, files), change);
}

/** A file that is reviewed is so hunk by hunk too: what stays as it is stays reviewed when the rest changes. */
function targetsOf({ path, hunkId }: Part, files: readonly MarkedFile[]): MarkTargets {
  if (hunkId !== undefined) return { hunks: [hunkId] };
  const hunks = files.find((file) => file.path === path)?.hunks ?? [];
  return { paths: [path], hunks: hunks.map(({ id }) => id) };
}

/** What lands of a file: all of it, or, where some of its hunks are rejected, the others. */
export function selectionOf(file: MarkedFile, hunkId?: string): LandingSelection {
  if (hunkId !== undefined) return { paths: [], hunks: [hunkId] };
  const taken = file.hunks.filter((hunk) => hunk.decision !== 'reject');
  if (file.hunks.length === 0 || taken.length === file.hunks.length) return { paths: [file.path], hunks: [] };
  return { paths: [], hunks: taken.map(({ id }) => id), modes: [file.path] };
}
