import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { FileChange } from '../../model/changes';
import type { Task } from '../../model/task';
import { shown } from '../taskWords';
import { baseScheme, isShownAsItIs, snapshotScheme, taskFileUri } from './taskFileSystem';

/** `[label, left, right]` of one file, as `vscode.changes` takes it. */
type Resource = [vscode.Uri, vscode.Uri | undefined, vscode.Uri | undefined];

/** Opens what a Task changed as one multi-file difference: its base on the left, its Worktree on the right. */
export async function openReview(task: Task, files: readonly FileChange[]): Promise<void> {
  const isStanding = await stands(task);
  const resources = files.filter(isNameable).map((file) => resourceOf(task, file, isStanding));
  await vscode.commands.executeCommand('vscode.changes', reviewTitle(task), resources);
}

export function reviewTitle(task: Task): string {
  return vscode.l10n.t('Review: {0}', shown(task.packet.objective));
}

/** A name with bytes that are no text has no address in an editor. */
export function isNameable({ path, oldPath = '' }: FileChange): boolean {
  return !/\p{Surrogate}/u.test(path) && !/\p{Surrogate}/u.test(oldPath);
}

/** Whether the Task's Worktree can be read now. */
export async function stands(task: Task): Promise<boolean> {
  if (task.worktreePath === undefined || task.state !== 'open') return false;
  return (await stat(task.worktreePath).catch(() => undefined))?.isDirectory() === true;
}

/**
 * The file as the Task has it: the Worktree's own, so that edits, problems and comments are on it. One whose name
 * the editor would show as another one comes from the Snapshot, where its address can say what is in the name.
 */
export function currentUri(task: Task, path: string, isStanding: boolean): vscode.Uri {
  return isStanding && task.worktreePath !== undefined && isShownAsItIs(path)
    ? vscode.Uri.file(join(task.worktreePath, ...path.split('/')))
    : taskFileUri(snapshotScheme, task, path);
}

/** What is compared of a file; a side that it has not is absent. */
export function sidesOf(
  task: Task,
  { path, oldPath = path, status }: FileChange,
  isStanding: boolean,
): { readonly left?: vscode.Uri; readonly right?: vscode.Uri } {
  return {
    ...(status === 'added' ? {} : { left: taskFileUri(baseScheme, task, oldPath) }),
    ...(status === 'deleted' ? {} : { right: currentUri(task, path, isStanding) }),
  };
}

function resourceOf(task: Task, file: FileChange, isStanding: boolean): Resource {
  const { left, right } = sidesOf(task, file, isStanding);
  return [currentUri(task, file.path, isStanding), left, right];
}
