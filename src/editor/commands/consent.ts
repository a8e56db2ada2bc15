import * as vscode from 'vscode';
import type { Command } from './commandContext';
import { boardOf } from './targets';

/** The title of the command that takes the consent back, as the palette has it. */
function revokeTitle(): string {
  return vscode.l10n.t('Ask Before Commands in This Repository');
}

/** Agents may run commands in worktrees of this repository without asking. */
export const allowCommands: Command = {
  id: 'tributary.consent.allowCommands',
  async run(context, argument) {
    const title = vscode.l10n.t('Allow Commands in This Repository');
    const board = await boardOf(context, title, argument);
    if (board === undefined) return;
    const allow = vscode.l10n.t('Allow');
    const chosen = await context.dialogs.decide(
      vscode.l10n.t('Let agents run commands in worktrees of {0} without asking?', board.label),
      vscode.l10n.t(
        'They run with your rights, in the worktree of their Task. What reaches out of it is refused where it is seen, but a script can still do anything you can. You can take this back at any time by the command "{0}".',
        revokeTitle(),
      ),
      allow,
    );
    if (chosen !== allow) return;
    await context.consent.set(board.id, true);
    // Those that wait already are meant as well.
    for (const { id, taskId } of context.inbox.pending)
      if (context.boards.find(taskId)?.board.id === board.id) context.inbox.answer(id, true);
  },
};

/** Commands ask again. */
export const revokeCommands: Command = {
  id: 'tributary.consent.revoke',
  async run(context, argument) {
    const board = await boardOf(context, revokeTitle(), argument);
    if (board === undefined) return;
    await context.consent.set(board.id, false);
    void context.dialogs.say(
      'info',
      vscode.l10n.t('Agents ask before they run a command in {0}.', board.label),
    );
  },
};
