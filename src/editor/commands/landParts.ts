import * as vscode from 'vscode';
import { visibleName } from '../plainWords';
import { selectionOf } from '../review/marking';
import { linesWords } from '../review/reviewRows';
import { canAccept } from '../taskStatus';
import { shown } from '../taskWords';
import type { Command } from './commandContext';
import { land } from './landing';
import { type FoundPart, partOf } from './parts';

function landing(id: Command['id'], kind: 'file' | 'hunk'): Command {
  return {
    id,
    async run(context, argument) {
      const found = await partOf(context, argument, kind);
      if (found === undefined) return;
      const { target, file, part } = found;
      if (!canAccept(target.task)) {
        const name = shown(target.task.packet.objective, 60);
        await context.dialogs.say(
          'info',
          vscode.l10n.t('Nothing of "{0}" can be landed now: it is at work, or was ended.', name),
        );
        return;
      }
      context.reviewState.show(target.task.id);
      await land(context, target, {
        wish: { selection: selectionOf(file, part.hunkId) },
        question: questionOf(found),
        button: vscode.l10n.t('Land'),
      });
    },
  };
}

function questionOf({ file, hunk }: FoundPart): string {
  const path = visibleName(file.path);
  return hunk === undefined
    ? vscode.l10n.t('Land {0}? The rest of the Task stays open.', path)
    : vscode.l10n.t('Land {0} of {1}? The rest of the Task stays open.', linesWords(hunk), path);
}

/** A file or hunk into the user's files, the Task stays open with the rest. */
export const landCommands: readonly Command[] = [
  landing('tributary.hunk.land', 'hunk'),
  landing('tributary.file.land', 'file'),
];
