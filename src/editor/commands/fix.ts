import * as vscode from 'vscode';
import { canAccept, judgedOf } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Sends every open Finding of a Task to an agent; then it is verified again. */
export const fix: Command = {
  id: 'tributary.task.fix',
  async run(context, argument) {
    const title = vscode.l10n.t('Fix Findings');
    const target = await targetOf(
      context,
      argument,
      title,
      (task) => canAccept(task) && (judgedOf(task)?.findings ?? 0) > 0,
    );
    if (target === undefined) return;
    const begun = await target.board.core.tasks.fix(target.task.id);
    if (begun.kind === 'started') void context.announcer.follow(begun.task, begun.settled);
    else {
      const name = shown(target.task.packet.objective, 60);
      await context.dialogs.say('info', vscode.l10n.t('There is no open finding on "{0}".', name));
    }
  },
};
