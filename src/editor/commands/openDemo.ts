import * as vscode from 'vscode';
import type { Command } from './commandContext';

/** Makes the sample repository and opens it in a window of its own, with the offline model. */
export const openDemo: Command = {
  id: 'tributary.demo.open',
  async run(context) {
    const making = vscode.l10n.t('Making the sample repository');
    const location = vscode.ProgressLocation.Notification;
    const folder = await vscode.window.withProgress({ location, title: making }, () => context.makeSample());
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder), {
      forceNewWindow: true,
    });
  },
};
