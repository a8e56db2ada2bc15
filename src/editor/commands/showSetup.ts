import * as vscode from 'vscode';
import { hasSetup, setupUri, showEnd } from '../setupOutput';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Shows what the set-up commands of a Task's Worktree printed, from its end. */
export const showSetup: Command = {
  id: 'tributary.task.showSetup',
  async run(context, argument) {
    const title = vscode.l10n.t('Show Set-up Output');
    const target = await targetOf(context, argument, title, hasSetup);
    if (target === undefined) return;
    const document = await vscode.workspace.openTextDocument(setupUri(target.task));
    showEnd(await vscode.window.showTextDocument(document));
  },
};
