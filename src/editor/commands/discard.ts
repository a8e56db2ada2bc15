import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import { isAtRest } from '../taskStatus';
import { shown } from '../taskWords';
import { saveAll, type Unsaved, unsavedIn, unsavedText } from '../unsaved';
import type { Command, CommandContext } from './commandContext';
import { targetOf } from './targets';

/** Ends a Task without its change, after asking once; it can be restored. */
export const discard: Command = {
  id: 'tributary.task.discard',
  async run(context, argument) {
    const title = vscode.l10n.t('Discard');
    const target = await targetOf(
      context,
      argument,
      title,
      (task) => task.state === 'open' && isAtRest(task),
    );
    if (target === undefined) return;
    const { task } = target;
    const name = shown(task.packet.objective, 60);
    const unsaved = task.worktreePath === undefined ? [] : await unsavedIn([{ folder: task.worktreePath }]);
    const chosen = await context.dialogs.decide(
      vscode.l10n.t('Discard "{0}"?', name),
      [
        vscode.l10n.t('Its worktree goes. A snapshot is kept, so that it can be restored.'),
        ...goneText(unsaved),
      ].join('\n\n'),
      title,
    );
    if (chosen !== title) return;
    if (!(await saveAll(unsaved, context.dialogs))) return;
    await target.board.core.tasks.discard(task.id);
    const restore = vscode.l10n.t('Restore');
    void context.dialogs.say('info', vscode.l10n.t('Discarded "{0}".', name), restore).then((again) => {
      if (again === restore) void restoreDiscarded(context, task);
    });
  },
};

function goneText(unsaved: readonly Unsaved[]): string[] {
  if (unsaved.length === 0) return [];
  const saved = vscode.l10n.t(
    'These have unsaved edits; they are saved first, so that the snapshot has them:',
  );
  return [`${saved}\n${unsavedText(unsaved)}`];
}

/** From the notification, which stands on while the Task may have been restored elsewhere: it says so then. */
async function restoreDiscarded({ boards, dialogs }: CommandContext, { id, packet }: Task): Promise<void> {
  if (boards.find(id)?.task.state === 'discarded') {
    await vscode.commands.executeCommand('tributary.task.restore', { taskId: id });
    return;
  }
  await dialogs.say('info', vscode.l10n.t('"{0}" was restored already.', shown(packet.objective, 60)));
}
