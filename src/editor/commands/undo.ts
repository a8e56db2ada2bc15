import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import { isAtRest } from '../taskStatus';
import { shown } from '../taskWords';
import { askToSave, unsavedIn } from '../unsaved';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Takes an accepted change back out of the checkout, byte for byte. */
export const undo: Command = {
  id: 'tributary.task.undo',
  async run(context, argument) {
    const title = vscode.l10n.t('Undo');
    const target = await targetOf(
      context,
      argument,
      title,
      (task) => task.state === 'accepted' && isAtRest(task),
    );
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
    const name = shown(packet.objective, 60);
    if (outcome.kind === 'undone') {
      const message = vscode.l10n.t('Undone "{0}": your files are as before; the Task is open again.', name);
      void context.dialogs.say('info', message);
      return;
    }
    if (outcome.kind === 'movedOn') {
      const commit = outcome.commit.slice(0, 12);
      const message =
        outcome.why === 'onTop'
          ? vscode.l10n.t(
              'Not undone: commits came on top of "{0}". Take it back with: git revert {1}',
              name,
              commit,
            )
          : vscode.l10n.t(
              'Not undone: the branch that "{0}" was committed to does not stand at {1}.',
              name,
              commit,
            );
      await context.dialogs.say('warning', message);
      return;
    }
    const edited = outcome.kind === 'stale' ? outcome.paths : outcome.conflicts.map(({ path }) => path);
    await context.dialogs.say(
      'warning',
      vscode.l10n.t(
        'Not undone: edited since "{0}" was accepted: {1}. Put these edits aside, then undo again.',
        name,
        edited.map(plainLine).join(', '),
      ),
    );
  },
};
