import * as vscode from 'vscode';
import { currentVerdict } from '../../model/task';
import type { Command } from './commandContext';
import { findingOf } from './targets';

/** Shows where a Finding comes from: the command of the verifier, in its transcript. */
export const showEvidence: Command = {
  id: 'tributary.finding.showEvidence',
  async run(context, argument) {
    const target = await findingOf(context, argument);
    if (target === undefined) return;
    const verdict = currentVerdict(target.task);
    const run = target.task.runs.find(({ id }) => id === verdict?.runId);
    const finding = verdict?.findings.find(({ id }) => id === target.findingId);
    if (run === undefined || finding === undefined) {
      await context.dialogs.say('info', vscode.l10n.t('That finding is not open any more.'));
      return;
    }
    context.transcripts.show(target.task.id, run.id, finding.call);
  },
};
