import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import { stands } from '../review/review';
import type { Command, CommandContext } from './commandContext';
import { targetOf } from './targets';

const hasWorktree = (task: Task): boolean => task.state === 'open' && task.worktreePath !== undefined;

/** Opens a Task's Worktree in a window of its own. */
export const openWorktree: Command = {
  id: 'tributary.task.openWorktree',
  async run(context, argument) {
    const folder = await folderOf(context, argument, vscode.l10n.t('Open Worktree in New Window'));
    if (folder !== undefined)
      await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: true });
  },
};

/** Opens a terminal in a Task's Worktree. */
export const openTerminal: Command = {
  id: 'tributary.task.openTerminal',
  async run(context, argument) {
    const folder = await folderOf(context, argument, vscode.l10n.t('Open Worktree in Terminal'));
    if (folder !== undefined) vscode.window.createTerminal({ cwd: folder }).show();
  },
};

async function folderOf(
  context: CommandContext,
  argument: unknown,
  title: string,
): Promise<vscode.Uri | undefined> {
  const target = await targetOf(context, argument, title, hasWorktree);
  if (target === undefined) return undefined;
  const { worktreePath } = target.task;
  if (worktreePath !== undefined && (await stands(target.task))) {
    // First: whatever looks for idle worktrees must not take one that is being opened.
    await target.board.core.tasks.housekeeping.noteOpened(target.task.id);
    return vscode.Uri.file(worktreePath);
  }
  await context.dialogs.say('info', vscode.l10n.t('This Task has no worktree now.'));
  return undefined;
}
