import * as vscode from 'vscode';
import type { Command } from './commandContext';
import { targetOf } from './targets';

/** Shows the transcript of a Run, of the newest one when none is named. */
export const openTranscript: Command = {
  id: 'tributary.task.openTranscript',
  async run(context, argument) {
    // Also of a Task whose first Run is about to begin: the page waits for it.
    const target = await targetOf(context, argument, vscode.l10n.t('Open Transcript'), () => true);
    if (target !== undefined) context.transcripts.show(target.task.id, target.runId);
  },
};
