import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import type { MergeInOutcome } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { currentUri, stands } from '../review/review';
import { canAccept } from '../taskStatus';
import { shown } from '../taskWords';
import { askToSave, unsavedIn } from '../unsaved';
import type { Command, CommandContext } from './commandContext';
import { kindText } from './conflicts';
import { type Target, targetOf } from './targets';

/** Merges what the checkout holds into the Task's Worktree, and opens there what is to be resolved. */
export const mergeIn: Command = {
  id: 'tributary.task.mergeIn',
  async run(context, argument) {
    const title = vscode.l10n.t('Merge Checkout into Worktree');
    const target = await targetOf(context, argument, title, canAccept);
    if (target === undefined || !(await savedForMerge(context, target))) return;
    const outcome = await target.board.core.tasks.mergeIn(target.task.id);
    if (outcome.conflicts.length === 0) return sayClean(context, outcome);
    await openConflicts(context, outcome.task, outcome.conflicts);
  },
};

/** Opens what an earlier merge left to be resolved. */
export const openUnresolved: Command = {
  id: 'tributary.task.openUnresolved',
  async run(context, argument) {
    const title = vscode.l10n.t('Open Unresolved Files');
    const target = await targetOf(
      context,
      argument,
      title,
      (task) => canAccept(task) && task.unresolved.length > 0,
    );
    if (target === undefined) return;
    const left = await context.unresolved.look(target.task.id);
    if (left.length > 0) return openConflicts(context, target.task, left);
    await context.dialogs.say(
      'info',
      vscode.l10n.t('All conflicts there are resolved; the Task can be accepted.'),
    );
  },
};

/** Whether no editor holds unsaved text of what is merged, or it was saved. */
export async function savedForMerge({ dialogs }: CommandContext, { task }: Target): Promise<boolean> {
  const { worktreePath, packet } = task;
  const places = [packet.repository.root, ...(worktreePath === undefined ? [] : [worktreePath])];
  const unsaved = await unsavedIn(places.map((folder) => ({ folder })));
  const question = vscode.l10n.t('Files that would be merged have unsaved edits. Save them first?');
  return unsaved.length === 0 || askToSave(unsaved, question, dialogs);
}

async function sayClean({ dialogs }: CommandContext, { kind, task, paths }: MergeInOutcome): Promise<void> {
  const name = shown(task.packet.objective, 60);
  const message =
    kind === 'upToDate'
      ? vscode.l10n.t('Nothing of "{0}" conflicts with your checkout any more.', name)
      : vscode.l10n.t(
          'Your checkout was merged into the worktree of "{0}" without a conflict; files changed there: {1}.',
          name,
          paths.length,
        );
  sayWithAccept(dialogs, task, message);
}

/** The files with markers, where the editor's own lenses take a side or both; one of several is chosen. */
async function openConflicts(
  { dialogs }: CommandContext,
  task: Task,
  conflicts: MergeInOutcome['conflicts'],
): Promise<void> {
  const isStanding = await stands(task);
  for (const { path, kind } of conflicts) {
    if (kind !== 'markers') continue;
    await vscode.commands.executeCommand('vscode.open', currentUri(task, path, isStanding), {
      preview: false,
    });
  }
  const lines = conflicts.map(({ path, kind }) => `${visibleName(path)} (${kindText(kind)})`);
  const hasKept = conflicts.some(({ kind }) => kind === 'kept');
  const hint = hasKept
    ? vscode.l10n.t(
        'Where the Task’s side stands, edit the file, or merge the checkout in once more to keep it so. Then accept again.',
      )
    : vscode.l10n.t('Resolve the markers, save, then accept again.');
  sayWithAccept(dialogs, task, vscode.l10n.t('To resolve in the worktree: {0}. {1}', lines.join(', '), hint));
}

/** With what comes next as a button, which also makes the editor show the whole message. */
function sayWithAccept(dialogs: CommandContext['dialogs'], task: Task, message: string): void {
  const accept = vscode.l10n.t('Accept');
  // Not awaited: a notification may stand for long.
  void dialogs.say('info', message, accept).then((chosen) => {
    if (chosen === accept) void vscode.commands.executeCommand('tributary.task.accept', { taskId: task.id });
  });
}
