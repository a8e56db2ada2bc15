import * as vscode from 'vscode';
import { canResume } from '../taskStatus';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Goes on with a Run that was interrupted, stopped or failed. */
export const resume: Command = {
  id: 'tributary.task.resume',
  async run(context, argument) {
    const target = await targetOf(context, argument, vscode.l10n.t('Resume'), canResume);
    if (target === undefined) return;
    const { task, settled } = await target.board.core.tasks.resume(target.task.id);
    void context.announcer.follow(task, settled);
  },
};
