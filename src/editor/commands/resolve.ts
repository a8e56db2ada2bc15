import * as vscode from 'vscode';
import { canAccept } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { savedForMerge } from './mergeIn';
import { targetOf } from './targets';

/** Merges what the checkout holds into the Task's Worktree and has its agent resolve what conflicts there. */
export const resolve: Command = {
  id: 'tributary.task.resolve',
  async run(context, argument) {
    const title = vscode.l10n.t('Resolve Conflicts with an Agent');
    const target = await targetOf(context, argument, title, canAccept);
    if (target === undefined || !(await savedForMerge(context, target))) return;
    const outcome = await target.board.core.tasks.resolve(target.task.id);
    if (outcome.kind === 'started') {
      void context.announcer.follow(outcome.task, outcome.settled);
      return;
    }
    const name = shown(target.task.packet.objective, 60);
    await context.dialogs.say(
      'info',
      vscode.l10n.t('Nothing of "{0}" conflicts with your checkout, so no agent was started.', name),
    );
  },
};
