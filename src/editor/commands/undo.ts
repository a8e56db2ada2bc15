import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import { isAtRest } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Takes an accepted change back out of the checkout, byte for byte. */
export const undo: Command = {
  id: 'tributary.task.undo',
  async run(context, argument) {
    const title = vscode.l10n.t('Undo');
    const target = await targetOf(
      context,
      argument,
      title,
      (task) => task.state === 'accepted' && isAtRest(task),
    );
    if (target === undefined) return;
    const outcome = await target.board.core.tasks.undo(target.task.id);
    const name = shown(target.task.packet.objective, 60);
    if (outcome.kind === 'undone') {
      const message = vscode.l10n.t('Undone "{0}": your files are as before; the Task is open again.', name);
      void context.dialogs.say('info', message);
      return;
    }
    const paths = outcome.paths.map(plainLine).join(', ');
    await context.dialogs.say(
      'warning',
      vscode.l10n.t(
        'Not undone: edited since "{0}" was accepted: {1}. Put these edits aside, then undo again.',
        name,
        paths,
      ),
    );
  },
};
