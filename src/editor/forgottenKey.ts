import * as vscode from 'vscode';
import type { Dialogs } from './dialogs';
import type { Secrets } from './secrets';

/** Says once, where a model is missing, that the editor lost the key that was stored in it. */
export async function sayForgottenKey(secrets: Secrets, dialogs: Dialogs): Promise<void> {
  if (!(await secrets.isForgotten())) return;
  const set = vscode.l10n.t('Set API Key');
  const message = vscode.l10n.t(
    'This editor has no keychain and forgot the API key when it was restarted or reloaded. Set it again, or give the editor ANTHROPIC_API_KEY in its environment.',
  );
  if ((await dialogs.say('warning', message, set)) === set)
    await vscode.commands.executeCommand('tributary.key.set');
}
