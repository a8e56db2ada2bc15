import * as vscode from 'vscode';
import { openFindings } from '../../model/task';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { findingOf } from './targets';

/** Sets a Finding aside, with a reason that is kept. */
export const dismissFinding: Command = {
  id: 'tributary.finding.dismiss',
  async run(context, argument) {
    const target = await findingOf(context, argument);
    if (target === undefined) return;
    const finding = openFindings(target.task).find(({ id }) => id === target.findingId);
    if (finding === undefined) {
      await context.dialogs.say('info', vscode.l10n.t('That finding is not open any more.'));
      return;
    }
    const reply = await context.dialogs.ask({
      title: vscode.l10n.t('Dismiss "{0}"', shown(finding.title, 60)),
      prompt: vscode.l10n.t('Why does it not count? The reason is kept with the Task.'),
      problemOf: (text) => (text.trim() === '' ? vscode.l10n.t('Give a reason.') : undefined),
    });
    if (reply.kind === 'given')
      await target.board.core.tasks.dismiss(target.task.id, finding.id, reply.value.trim());
  },
};
