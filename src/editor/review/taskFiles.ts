import { relative, sep } from 'node:path';
import type * as vscode from 'vscode';
import type { Task } from '../../model/task';
import type { Boards } from '../boards';
import type { Side } from './hunkPlaces';
import { baseScheme, taskFileOf } from './taskFileSystem';

/** A file of a Task that an editor shows: the Worktree's own, or one of the two sides that come from git. */
export interface TaskFile {
  readonly task: Task;
  /** With `/`, relative to the Worktree's root. */
  readonly path: string;
  readonly side: Side;
}

/** Which file of which Task an address names; `undefined` for any other file. */
export function taskFileAt(boards: Pick<Boards, 'all' | 'find'>, uri: vscode.Uri): TaskFile | undefined {
  const named = taskFileOf(uri);
  if (named !== undefined) {
    const task = boards.find(named.taskId)?.task;
    const side = uri.scheme === baseScheme ? 'base' : 'task';
    return task === undefined ? undefined : { task, path: named.path, side };
  }
  if (uri.scheme !== 'file') return undefined;
  const task = boards.all
    .flatMap((board) => board.tasks)
    .find(({ worktreePath }) => isInside(uri.fsPath, worktreePath));
  if (task?.worktreePath === undefined) return undefined;
  const path = relative(task.worktreePath, uri.fsPath).split(sep).join('/');
  return { task, path, side: 'task' };
}

export function isInside(file: string, folder: string | undefined): boolean {
  return folder !== undefined && file.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
