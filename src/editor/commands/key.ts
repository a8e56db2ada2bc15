import * as vscode from 'vscode';
import type { Command, CommandContext } from './commandContext';

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
      problemOf,
    });
    if (reply.kind !== 'given') return;
    await context.secrets.setKey(reply.value);
    if (context.provider() === 'demo') await offerRealModel(context);
    else void context.dialogs.say('info', vscode.l10n.t('The API key is stored.'));
  },
};

function problemOf(text: string): string | undefined {
  if (text.trim() === '') return vscode.l10n.t('Paste a key.');
  // A key goes into a header; with anything else in it no request would leave.
  return /^[\x21-\x7e]+$/.test(text.trim())
    ? undefined
    : vscode.l10n.t('A key has no blanks and only plain characters; paste it again.');
}

/** A key does nothing while the demo is chosen. */
async function offerRealModel({ dialogs }: CommandContext): Promise<void> {
  const use = vscode.l10n.t('Use the Real Model');
  const message = vscode.l10n.t('The API key is stored, but the scripted demo is still chosen as the model.');
  if ((await dialogs.say('info', message, use)) !== use) return;
  const own = vscode.workspace.getConfiguration('tributary');
  const inspected = own.inspect('model.provider');
  // Where it was chosen, there it is changed.
  const target =
    inspected?.workspaceFolderValue !== undefined || inspected?.workspaceValue !== undefined
      ? vscode.ConfigurationTarget.Workspace
      : vscode.ConfigurationTarget.Global;
  await own.update('model.provider', 'anthropic', target);
}

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
