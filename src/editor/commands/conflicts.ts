import { join } from 'node:path';
import * as vscode from 'vscode';
import { areLeft, reasonOf, saidBeyond } from '../../model/conflictReason';
import type { Conflict } from '../../model/landing';
import { plainLine } from '../../model/plainText';
import { visibleName } from '../plainWords';
import { currentUri, stands } from '../review/review';
import { shown } from '../taskWords';
import type { CommandContext } from './commandContext';
import type { Target } from './targets';

const shownPaths = 20;

/** Conflicts by file, with the ways to resolve them. */
export async function sayConflicts(
  context: CommandContext,
  target: Target,
  conflicts: readonly Conflict[],
): Promise<void> {
  const agent = vscode.l10n.t('Let an Agent Resolve');
  const byHand = vscode.l10n.t('Resolve in the Worktree');
  const keep = vscode.l10n.t('Keep the Task’s Side');
  const show = vscode.l10n.t('Show Conflicts');
  // Of staged edits a merge into the Worktree would know nothing.
  const ways = conflicts.every(({ kind }) => kind === 'staged') ? [] : [agent, byHand];
  const isKept = conflicts.some(({ kind }) => kind === 'kept');
  const lines = conflicts.map(({ path, kind }) => `${visibleName(path)} (${kindText(kind)})`);
  const chosen = await context.dialogs.decide(
    questionOf(target, conflicts),
    lines.slice(0, shownPaths).join('\n'),
    ...ways,
    ...(isKept ? [keep] : []),
    show,
  );
  const taskId = target.task.id;
  if (chosen === agent) await vscode.commands.executeCommand('tributary.task.resolve', { taskId });
  else if (chosen === byHand && areLeft(conflicts))
    await vscode.commands.executeCommand('tributary.task.openUnresolved', { taskId });
  else if (chosen === byHand || chosen === keep)
    await vscode.commands.executeCommand('tributary.task.mergeIn', { taskId });
  else if (chosen === show) await chooseConflict(context, target, conflicts);
}

function questionOf({ task }: Target, conflicts: readonly Conflict[]): string {
  const name = shown(task.packet.objective, 60);
  return areLeft(conflicts)
    ? vscode.l10n.t('In the worktree of "{0}" conflicts are not resolved yet. Nothing was written.', name)
    : vscode.l10n.t('"{0}" conflicts with your checkout. Nothing was written.', name);
}

/** Why a file conflicts, in words. */
export function kindText(kind: string): string {
  switch (reasonOf(kind)) {
    case 'markers':
      return vscode.l10n.t('conflict markers');
    case 'kept':
      return vscode.l10n.t('the Task’s side stands');
    case 'sameLines':
      return vscode.l10n.t('both sides changed the same lines');
    case 'changedAndDeleted':
      return vscode.l10n.t('one side changed it, the other deleted it');
    case 'bothAdded':
      return vscode.l10n.t('both sides added it');
    case 'binary':
      return vscode.l10n.t('both sides changed it, and it is no text');
    case 'fileAndFolder':
      return vscode.l10n.t('a file on one side, a folder on the other');
    case 'fileAndLink':
      return vscode.l10n.t('a file on one side, a link on the other');
    case 'submodule':
      return vscode.l10n.t('both sides moved the submodule');
    case 'untracked':
      return vscode.l10n.t('an untracked file of yours is in the way');
    case 'staged':
      return vscode.l10n.t('what you staged conflicts with it');
    case 'renamed':
      return vscode.l10n.t('renamed on one side or both');
    case undefined:
      return plainLine(kind);
  }
}

/** Picking one shows both sides. */
export async function chooseConflict(
  { dialogs }: CommandContext,
  target: Target,
  conflicts: readonly Conflict[],
): Promise<void> {
  const reply = await dialogs.pick({
    title: vscode.l10n.t('Conflicts'),
    placeHolder: vscode.l10n.t('Choose a file to see both sides'),
    items: conflicts.map((conflict) => {
      const detail = plainLine(saidBeyond(conflict));
      return {
        label: visibleName(conflict.path),
        description: kindText(conflict.kind),
        ...(detail === '' ? {} : { detail }),
        path: conflict.path,
      };
    }),
  });
  if (reply.kind === 'given') await openBothSides(target, reply.value.path);
}

async function openBothSides({ task }: Target, path: string): Promise<void> {
  const checkout = vscode.Uri.file(join(task.packet.repository.root, ...path.split('/')));
  const theirs = currentUri(task, path, await stands(task));
  const title = vscode.l10n.t('{0}: your checkout and the Task', visibleName(path));
  await vscode.commands.executeCommand('vscode.diff', checkout, theirs, title);
}
