import * as vscode from 'vscode';
import { visibleText } from '../../model/plainText';
import type { SetupPlan } from '../../model/setup';
import type { LiveBoard } from '../liveBoard';
import { setupSettings } from '../setupSettings';
import type { CommandContext } from './commandContext';

/**
 * How a new Task's worktree is made ready. Commands that the workspace's settings bring are run only after the user
 * saw them and agreed, once per repository and list. `undefined`: the user left.
 */
export async function agreedSetup(
  context: CommandContext,
  board: LiveBoard,
): Promise<Partial<SetupPlan> | undefined> {
  const folder = vscode.Uri.file(board.core.repository.root);
  const { plan, isFromWorkspace, problems } = setupSettings(folder);
  if (problems.length > 0)
    void context.dialogs.say(
      'warning',
      vscode.l10n.t('Settings of Tributary that cannot be used count as not set: {0}', problems.join('; ')),
    );
  const commands = [...(plan.commands ?? []), ...(plan.teardown ?? [])];
  if (commands.length === 0 || !isFromWorkspace) return plan;
  if (context.consent.isSetupAllowed(board.id, commands)) return plan;
  const [allow, without] = [vscode.l10n.t('Run Them'), vscode.l10n.t('Start Without')];
  const chosen = await context.dialogs.decide(
    vscode.l10n.t('Let the set-up commands of this workspace run in new worktrees of {0}?', board.label),
    vscode.l10n.t(
      'They come from the settings of the workspace and run with your rights:\n\n{0}\n\nYou are asked again when they change.',
      commands.map(visibleText).join('\n'),
    ),
    allow,
    without,
  );
  if (chosen === without) return { ...plan, commands: [], teardown: [] };
  if (chosen !== allow) return undefined;
  await context.consent.allowSetup(board.id, commands);
  return plan;
}
