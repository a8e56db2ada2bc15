import * as vscode from 'vscode';
import { isAtRest } from '../taskStatus';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Opens a discarded or closed Task again, its Worktree as it was. */
export const restore: Command = {
  id: 'tributary.task.restore',
  async run(context, argument) {
    const title = vscode.l10n.t('Restore');
    const target = await targetOf(
      context,
      argument,
      title,
      (task) =>
        (task.state === 'discarded' || task.state === 'closed') &&
        task.expiredAt === undefined &&
        isAtRest(task),
    );
    // The row says the rest: it is open again.
    await target?.board.core.tasks.restore(target.task.id);
  },
};
