import * as vscode from 'vscode';
import { isLive } from '../../tasks/runMachine';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** A message to the Task's agent. While a Run lives it goes out at its next step, else it begins one. */
export const followUp: Command = {
  id: 'tributary.task.followUp',
  async run(context, argument) {
    const title = vscode.l10n.t('Send Follow-up');
    const target = await targetOf(context, argument, title, (task) => task.runs.length > 0);
    if (target === undefined) return;
    const reply = await context.dialogs.ask({
      title: vscode.l10n.t('Follow-up to "{0}"', shown(target.task.packet.objective, 60)),
      prompt: target.task.runs.some(isLive)
        ? vscode.l10n.t('The agent gets it at its next step.')
        : vscode.l10n.t('The agent goes on in the same conversation.'),
      problemOf: (text) => (text.trim() === '' ? vscode.l10n.t('Write a message.') : undefined),
    });
    if (reply.kind !== 'given') return;
    const { task, settled } = await target.board.core.tasks.followUp(target.task.id, reply.value.trim());
    void context.announcer.follow(task, settled);
  },
};
