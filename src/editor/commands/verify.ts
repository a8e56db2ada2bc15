import * as vscode from 'vscode';
import { canAccept } from '../taskStatus';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Starts a verification of what the Task changed. */
export const verify: Command = {
  id: 'tributary.task.verify',
  async run(context, argument) {
    const target = await targetOf(context, argument, vscode.l10n.t('Verify'), canAccept);
    if (target === undefined) return;
    const { task, settled } = await target.board.core.tasks.verify(target.task.id);
    void context.announcer.follow(task, settled);
  },
};
