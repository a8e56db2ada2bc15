import * as vscode from 'vscode';
import type { Command } from './commandContext';
import { findingOf } from './targets';

/** Sends one Finding to an agent; then the change is verified again. */
export const fixFinding: Command = {
  id: 'tributary.finding.fix',
  async run(context, argument) {
    const target = await findingOf(context, argument);
    if (target === undefined) return;
    const begun = await target.board.core.tasks.fix(target.task.id, [target.findingId]);
    if (begun.kind === 'started') void context.announcer.follow(begun.task, begun.settled);
    else await context.dialogs.say('info', vscode.l10n.t('That finding is not open any more.'));
  },
};
