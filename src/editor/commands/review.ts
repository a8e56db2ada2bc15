import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import { isNameable } from '../review/review';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Shows all that a Task changed as one difference. */
export const review: Command = {
  id: 'tributary.task.review',
  async run(context, argument) {
    const target = await targetOf(
      context,
      argument,
      vscode.l10n.t('Review'),
      (task) => task.snapshot !== undefined,
    );
    if (target === undefined) return;
    const { task, board } = target;
    const files = await board.core.tasks.changes(task.id);
    if (files.length === 0) {
      await context.dialogs.say('info', vscode.l10n.t('Nothing differs from the base.'));
      return;
    }
    context.reviewState.show(task.id);
    await context.reviews.show(task, files);
    const unnameable = files.filter((file) => !isNameable(file));
    if (unnameable.length === 0) return;
    const names = unnameable.map(({ path }) => plainLine(path)).join(', ');
    await context.dialogs.say(
      'warning',
      vscode.l10n.t('Not shown, because their names are not text: {0}.', names),
    );
  },
};
