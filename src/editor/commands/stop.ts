import * as vscode from 'vscode';
import { isLive } from '../../tasks/runMachine';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Stops a Run, or all of a Task's, wherever they live. What was done is kept. */
export const stop: Command = {
  id: 'tributary.task.stop',
  async run(context, argument) {
    const target = await targetOf(context, argument, vscode.l10n.t('Stop'), (task) => task.runs.some(isLive));
    if (target === undefined) return;
    const { task, runId } = target;
    const outcome = await target.board.core.tasks.stop({
      taskId: task.id,
      ...(runId === undefined ? {} : { runId }),
    });
    if (outcome.stillRunning.length === 0) return;
    const force = vscode.l10n.t('Force');
    const message = vscode.l10n.t('"{0}" has not stopped yet.', shown(task.packet.objective, 60));
    if ((await context.dialogs.say('warning', message, force)) === force)
      await target.board.core.tasks.stop({ taskId: task.id }, { force: true });
  },
};
