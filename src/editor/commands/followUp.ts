import * as vscode from 'vscode';
import type { Task } from '../../model/task';
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
      prompt: promptFor(target.task),
      problemOf: (text) => (text.trim() === '' ? vscode.l10n.t('Write a message.') : undefined),
    });
    if (reply.kind !== 'given') return;
    const { task, settled } = await target.board.core.tasks.followUp(target.task.id, reply.value.trim());
    void context.announcer.follow(task, settled);
    if (task.id !== target.task.id)
      await vscode.commands.executeCommand('tributary.task.openTranscript', { taskId: task.id });
  },
};

function promptFor(task: Task): string {
  if (task.state === 'accepted' || task.state === 'discarded')
    return vscode.l10n.t('That Task is over: this begins a new one from HEAD.');
  return task.runs.some(isLive)
    ? vscode.l10n.t('The agent gets it at its next step.')
    : vscode.l10n.t('The agent goes on in the same conversation.');
}
