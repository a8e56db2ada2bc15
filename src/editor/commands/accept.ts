import * as vscode from 'vscode';
import { canAccept } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { land } from './landing';
import { targetOf } from './targets';

/** Shows what would be written, and writes all that is not rejected when the user says so. */
export const accept: Command = {
  id: 'tributary.task.accept',
  async run(context, argument) {
    const button = vscode.l10n.t('Accept');
    const target = await targetOf(context, argument, button, canAccept);
    if (target === undefined) return;
    const question = vscode.l10n.t('Accept "{0}"?', shown(target.task.packet.objective, 60));
    await land(context, target, { wish: {}, question, button });
  },
};
