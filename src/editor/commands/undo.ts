import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import type { UndoOutcome, UndoPlan } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { canUndo } from '../taskStatus';
import { shown } from '../taskWords';
import { askToSave, unsavedIn } from '../unsaved';
import type { Command, CommandContext } from './commandContext';
import { chooseConflict, kindText } from './conflicts';
import { type Target, targetOf } from './targets';

/** Takes the newest Landing of a Task back out of the checkout, byte for byte, or merged with what was edited since. */
export const undo: Command = {
  id: 'tributary.task.undo',
  async run(context, argument) {
    const target = await targetOf(context, argument, vscode.l10n.t('Undo'), canUndo);
    if (target === undefined) return;
    const { tasks } = target.board.core;
    const { id, packet } = target.task;
    const paths = await tasks.landedPaths(id);
    const unsaved = await unsavedIn([{ folder: packet.repository.root, paths }]);
    const question = vscode.l10n.t(
      'Files that Undo would write have unsaved edits. Save them first? Undo then writes only if they are still as they were accepted.',
    );
    if (unsaved.length > 0 && !(await askToSave(unsaved, question, context.dialogs))) return;
    const outcome = await tasks.undo(id);
    if (outcome.kind === 'stale') await offerMerge(context, target, outcome.paths);
    else await sayOutcome(context, target, outcome);
  },
};

/** Edited since: what a merge would do is shown first. */
async function offerMerge(context: CommandContext, target: Target, edited: readonly string[]): Promise<void> {
  const { tasks } = target.board.core;
  const plan = await tasks.previewUndo(target.task.id);
  if (plan.conflicts.length > 0) return sayConflicts(context, target, plan.conflicts);
  if (plan.merged.length === 0) return sayEdited(context, target, edited);
  const keep = vscode.l10n.t('Undo and Keep My Edits');
  const question = vscode.l10n.t('Files of "{0}" were edited since it was accepted.', nameOf(target));
  if ((await context.dialogs.decide(question, mergeText(plan), keep)) !== keep) return;
  const outcome = await tasks.undo(target.task.id, { merge: true });
  if (outcome.kind === 'stale') await sayEdited(context, target, outcome.paths);
  else await sayOutcome(context, target, outcome);
}

function mergeText({ paths, merged }: UndoPlan): string {
  const before = paths.filter((path) => !merged.includes(path));
  return [
    vscode.l10n.t('The change is taken out, your later edits stay in:'),
    ...merged.map(visibleName),
    ...(before.length === 0 ? [] : ['', vscode.l10n.t('As they were before:'), ...before.map(visibleName)]),
    '',
    vscode.l10n.t('What the files hold now is kept beside the Task’s records.'),
  ].join('\n');
}

async function sayOutcome(
  context: CommandContext,
  target: Target,
  outcome: Exclude<UndoOutcome, { kind: 'stale' }>,
): Promise<void> {
  switch (outcome.kind) {
    case 'undone':
      // Not awaited: a notification may stand for long.
      void context.dialogs.say('info', undoneText(target, outcome));
      return;
    case 'conflict':
      return sayConflicts(context, target, outcome.conflicts);
    case 'movedOn':
      await context.dialogs.say('warning', movedOnText(target, outcome));
  }
}

function undoneText(target: Target, { merge }: Extract<UndoOutcome, { kind: 'undone' }>): string {
  const name = nameOf(target);
  const merged = merge?.paths ?? [];
  if (merge !== undefined && merged.length > 0)
    return vscode.l10n.t(
      'Undone "{0}"; your later edits were kept in {1}. The bytes from before are in {2}',
      name,
      merged.map(visibleName).join(', '),
      plainLine(merge.kept),
    );
  return target.task.state === 'accepted'
    ? vscode.l10n.t('Undone "{0}": your files are as before; the Task is open again.', name)
    : vscode.l10n.t('Undone the last part of "{0}": your files are as before.', name);
}

/** What was committed since, or another branch, is never written over. */
function movedOnText(
  target: Target,
  { commit, ref, why, revert }: Extract<UndoOutcome, { kind: 'movedOn' }>,
): string {
  const name = nameOf(target);
  const at = commit.slice(0, 12);
  const branch = plainLine((ref ?? 'HEAD').replace(/^refs\/heads\//, ''));
  switch (why) {
    case 'onTop':
      return vscode.l10n.t(
        'Not undone: commits came on top of "{0}". Take it back with: git revert {1}. Then undo again, which opens the Task.',
        name,
        revert.join(' '),
      );
    case 'elsewhere':
      return vscode.l10n.t(
        'Not undone: "{0}" was committed on {1}, which is not checked out. Switch to it, then undo again.',
        name,
        branch,
      );
    case 'gone':
      return vscode.l10n.t(
        'Not undone: {1} does not hold the commit {2} of "{0}" any more, and its files are not as before it. Once they are, undo opens the Task.',
        name,
        branch,
        at,
      );
  }
}

async function sayConflicts(
  context: CommandContext,
  target: Target,
  conflicts: UndoPlan['conflicts'],
): Promise<void> {
  const show = vscode.l10n.t('Show Conflicts');
  const lines = conflicts.map(({ path, kind }) => `${visibleName(path)} (${kindText(kind)})`);
  const chosen = await context.dialogs.decide(
    vscode.l10n.t('"{0}" cannot be undone beside your later edits. Nothing was written.', nameOf(target)),
    [...lines, '', vscode.l10n.t('Put your edits of these files aside, then undo again.')].join('\n'),
    show,
  );
  if (chosen === show) await chooseConflict(context, target, conflicts);
}

async function sayEdited(
  { dialogs }: CommandContext,
  target: Target,
  edited: readonly string[],
): Promise<void> {
  await dialogs.say(
    'warning',
    vscode.l10n.t(
      'Not undone: edited since "{0}" was accepted: {1}. Put these edits aside, then undo again.',
      nameOf(target),
      edited.map(plainLine).join(', '),
    ),
  );
}

function nameOf({ task }: Target): string {
  return shown(task.packet.objective, 60);
}
