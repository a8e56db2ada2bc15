import * as vscode from 'vscode';
import { openAlarms, type Task } from '../../model/task';
import { shown } from '../taskWords';
import { alarmHead, alarmLines } from '../warningWords';
import type { Command } from './commandContext';
import { targetOf } from './targets';

const hasAlarm = (task: Task): boolean => openAlarms(task).length > 0;
/** A modal question is as high as its text. */
const shownLines = 20;

/** Says what changed outside a Task's Worktree, and leads to the command it happened around. */
export const showAlarms: Command = {
  id: 'tributary.task.showAlarms',
  async run(context, argument) {
    const title = vscode.l10n.t('Show Alarms');
    const target = await targetOf(context, argument, title, hasAlarm);
    if (target === undefined) return;
    const { task } = target;
    const alarms = openAlarms(task);
    const newest = alarms.at(-1);
    if (newest === undefined) {
      await context.dialogs.say('info', vscode.l10n.t('No alarm of this Task is open any more.'));
      return;
    }
    const openTranscript = vscode.l10n.t('Open Transcript');
    const dismiss = vscode.l10n.t('Dismiss');
    const texts = alarms.map((alarm) => {
      const at = new Date(alarm.at).toLocaleString();
      return [`${at}: ${alarmHead(alarm)}`, ...alarmLines(alarm).map((line) => `• ${line}`)].join('\n');
    });
    const lines = texts.join('\n\n').split('\n');
    const cut = lines.length > shownLines ? [vscode.l10n.t('… the transcript has the rest')] : [];
    const note = vscode.l10n.t(
      'If this was you, dismiss it. If not, look at what the agent did before you accept anything.',
    );
    const chosen = await context.dialogs.decide(
      vscode.l10n.t('Changed outside the worktree of "{0}"', shown(task.packet.objective, 60)),
      [...lines.slice(0, shownLines), ...cut, '', note].join('\n'),
      openTranscript,
      dismiss,
    );
    if (chosen === openTranscript) context.transcripts.show(task.id, newest.runId);
    if (chosen === dismiss) await target.board.core.tasks.dismissAlarms(task.id);
  },
};

/** Takes the alarms of a Task off its row; its record and transcript keep them. */
export const dismissAlarms: Command = {
  id: 'tributary.task.dismissAlarms',
  async run(context, argument) {
    const target = await targetOf(context, argument, vscode.l10n.t('Dismiss Alarms'), hasAlarm);
    await target?.board.core.tasks.dismissAlarms(target.task.id);
  },
};
