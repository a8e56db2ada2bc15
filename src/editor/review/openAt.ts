import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import { visibleName } from '../plainWords';
import { shown } from '../taskWords';
import { rangeOf, type Stop } from './hunkPlaces';
import { isNameable, sidesOf, stands } from './review';

/** Opens the difference of one file at a hunk. A file with one side only is opened as it is. `false`: its name has no address. */
export async function openAt(task: Task, { file, hunk }: Stop): Promise<boolean> {
  if (!isNameable(file)) return false;
  const { left, right } = sidesOf(task, file, await stands(task));
  const options = { ...selectionOf(hunk, right === undefined ? 'base' : 'task'), preview: true };
  const title = `${visibleName(posix.basename(file.path))} (${shown(task.packet.objective, 30)})`;
  if (left !== undefined && right !== undefined)
    await vscode.commands.executeCommand('vscode.diff', left, right, title, options);
  else await vscode.commands.executeCommand('vscode.open', right ?? left, options, title);
  return true;
}

function selectionOf(
  hunk: Stop['hunk'],
  side: 'base' | 'task',
): Pick<vscode.TextDocumentShowOptions, 'selection'> {
  if (hunk === undefined) return {};
  const start = new vscode.Position(rangeOf(hunk, side).start - 1, 0);
  return { selection: new vscode.Range(start, start) };
}
