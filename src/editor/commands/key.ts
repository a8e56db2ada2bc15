import * as vscode from 'vscode';
import type { Command } from './commandContext';

/** Stores the model's key in the editor's secret storage. */
export const setKey: Command = {
  id: 'tributary.key.set',
  async run(context) {
    const reply = await context.dialogs.ask({
      title: vscode.l10n.t('API key'),
      prompt: vscode.l10n.t(
        'Kept in the secret storage of this editor; never in a file of yours, a log or a transcript.',
      ),
      placeHolder: 'sk-ant-…',
      isPassword: true,
      problemOf: (text) => (text.trim() === '' ? vscode.l10n.t('Paste a key.') : undefined),
    });
    if (reply.kind !== 'given') return;
    await context.secrets.setKey(reply.value);
    void context.dialogs.say('info', vscode.l10n.t('The API key is stored.'));
  },
};

/** Removes the stored key; one in the environment is used again. */
export const clearKey: Command = {
  id: 'tributary.key.clear',
  async run(context) {
    await context.secrets.clearKey();
    const left = await context.secrets.credentials();
    const message =
      left === undefined
        ? vscode.l10n.t('The API key is removed.')
        : vscode.l10n.t('The API key is removed. The one in the environment is used now.');
    void context.dialogs.say('info', message);
  },
};
