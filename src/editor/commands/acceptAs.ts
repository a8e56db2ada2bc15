import * as vscode from 'vscode';
import type { LandingMode } from '../../model/landing';
import type { LandingWish } from '../../tasks/taskApi';
import { canAccept } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command, CommandContext } from './commandContext';
import { land } from './landing';
import { type Target, targetOf } from './targets';

/** Accepts in a way that is asked for: into the files, onto the branch, or by leaving the Task's branch. */
export const acceptAs: Command = {
  id: 'tributary.task.acceptAs',
  async run(context, argument) {
    const title = vscode.l10n.t('Accept As');
    const target = await targetOf(context, argument, title, canAccept);
    if (target === undefined) return;
    const wish = await askedWish(context, target);
    if (wish === undefined) return;
    const isKept = wish.mode === 'keepBranch';
    const name = shown(target.task.packet.objective, 60);
    await land(context, target, {
      wish,
      question: isKept
        ? vscode.l10n.t('Keep the branch of "{0}"?', name)
        : vscode.l10n.t('Accept "{0}"?', name),
      button: isKept ? vscode.l10n.t('Keep Branch') : vscode.l10n.t('Accept'),
    });
  },
};

/** Mode and message, back and forth. */
async function askedWish(context: CommandContext, target: Target): Promise<LandingWish | undefined> {
  for (;;) {
    const mode = await pickMode(context);
    if (mode === undefined) return undefined;
    if (mode === 'apply' || mode === 'keepBranch') return { mode };
    const reply = await context.dialogs.ask({
      title: vscode.l10n.t('Accept As: message'),
      prompt: vscode.l10n.t('The message of the commit'),
      value: target.task.packet.objective.split('\n')[0] ?? '',
      step: { number: 2, of: 2 },
      problemOf: (text) => (text.trim() === '' ? vscode.l10n.t('A commit needs a message.') : undefined),
    });
    if (reply.kind === 'given') return { mode, message: reply.value.trim() };
    if (reply.kind === 'left') return undefined;
  }
}

async function pickMode({ dialogs }: CommandContext): Promise<LandingMode | undefined> {
  const item = (
    mode: LandingMode,
    icon: string,
    label: string,
    detail: string,
  ): vscode.QuickPickItem & { readonly mode: LandingMode } => ({
    mode,
    label,
    detail,
    iconPath: new vscode.ThemeIcon(icon),
  });
  const reply = await dialogs.pick({
    title: vscode.l10n.t('Accept As'),
    placeHolder: vscode.l10n.t('How does it reach you?'),
    items: [
      item(
        'apply',
        'edit',
        vscode.l10n.t('Into My Files'),
        vscode.l10n.t('Merged into your working tree; index and branch stay as they are'),
      ),
      item(
        'commit',
        'git-commit',
        vscode.l10n.t('One Commit'),
        vscode.l10n.t('On the branch you have checked out, without your uncommitted edits'),
      ),
      item(
        'merge',
        'git-merge',
        vscode.l10n.t('Merge Commit'),
        vscode.l10n.t('The agent’s own commits are its second parent'),
      ),
      item(
        'rebase',
        'git-branch',
        vscode.l10n.t('Rebase'),
        vscode.l10n.t('The agent’s own commits on top of your branch, the rest as one more'),
      ),
      item(
        'keepBranch',
        'bookmark',
        vscode.l10n.t('Keep the Branch'),
        vscode.l10n.t('Writes nothing: the Task’s branch stays, with everything on it'),
      ),
    ],
    step: { number: 1, of: 2 },
  });
  return reply.kind === 'given' ? reply.value.mode : undefined;
}
