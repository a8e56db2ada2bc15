import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import { taskFileOf } from '../review/taskFileSystem';
import { isInside } from '../review/taskFiles';
import { inOrder } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command, CommandContext } from './commandContext';

/** Shows the Task that a file belongs to: one in whose Worktree it stands, or that changed it. */
export const revealOfFile: Command = {
  id: 'tributary.task.revealOfFile',
  async run(context, argument) {
    const uri = argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
    if (uri === undefined) {
      await context.dialogs.say('info', vscode.l10n.t('Open a file first.'));
      return;
    }
    const tasks = await tasksOf(context, uri);
    const task = tasks.length > 1 ? await chosen(context, tasks) : tasks[0];
    if (task !== undefined)
      await context.view.reveal(context.tree.nodeOf(task.id), { select: true, focus: true, expand: true });
    else if (tasks.length === 0)
      await context.dialogs.say('info', vscode.l10n.t('No Task has changed this file.'));
  },
};

async function tasksOf(context: CommandContext, uri: vscode.Uri): Promise<readonly Task[]> {
  const all = context.boards.all.flatMap((board) => board.tasks);
  const id = taskFileOf(uri)?.taskId;
  if (id !== undefined) return all.filter((task) => task.id === id);
  const owner = all.find((task) => isInside(uri.fsPath, task.worktreePath));
  if (owner !== undefined) return [owner];
  const open = inOrder(all).filter((task) => isInside(uri.fsPath, task.packet.repository.root));
  const touched: Task[] = [];
  for (const task of open) if (await hasChanged(context, task, uri.fsPath)) touched.push(task);
  return touched;
}

async function hasChanged(context: CommandContext, task: Task, file: string): Promise<boolean> {
  if (task.snapshot === undefined) return false;
  const known = context.files.of(task);
  const files = known ?? (await context.boards.find(task.id)?.board.core.tasks.changes(task.id)) ?? [];
  return files.some(({ path }) => join(task.packet.repository.root, ...path.split('/')) === file);
}

async function chosen(context: CommandContext, tasks: readonly Task[]): Promise<Task | undefined> {
  const reply = await context.dialogs.pick({
    title: vscode.l10n.t('Reveal Task of File'),
    placeHolder: vscode.l10n.t('Several Tasks changed this file'),
    items: tasks.map((task) => ({ label: shown(task.packet.objective), description: task.state, task })),
  });
  return reply.kind === 'given' ? reply.value.task : undefined;
}
