import * as vscode from 'vscode';
import { accept } from './accept';
import { acceptAs } from './acceptAs';
import { dismissAlarms, showAlarms } from './alarms';
import { allowQuestion, denyQuestion } from './answerQuestion';
import type { Command, CommandContext } from './commandContext';
import { allowCommands, revokeCommands } from './consent';
import { discard } from './discard';
import { dismissFinding } from './dismissFinding';
import { doctor } from './doctor';
import { fix } from './fix';
import { fixFinding } from './fixFinding';
import { followUp } from './followUp';
import { moveCommands, openRow } from './hunkMoves';
import { clearKey, setKey } from './key';
import { landCommands } from './landParts';
import { markCommands } from './markParts';
import { mergeIn, openUnresolved } from './mergeIn';
import { newTask } from './newTask';
import { callKey, isLostRow, isOfRow, OpenCommands } from './openCommands';
import { openDemo } from './openDemo';
import { openTranscript } from './openTranscript';
import { openTerminal, openWorktree } from './openWorktree';
import { resolve } from './resolve';
import { restore } from './restore';
import { restoreTo } from './restoreTo';
import { resume } from './resume';
import { revealOfFile } from './revealOfFile';
import { review } from './review';
import { reviewViewCommands } from './reviewView';
import { showConflicts } from './showConflicts';
import { showEvidence } from './showEvidence';
import { showOutput } from './showOutput';
import { showSetup } from './showSetup';
import { showWorktrees } from './showWorktrees';
import { stop } from './stop';
import { sweep } from './sweep';
import { undo } from './undo';
import { verify } from './verify';

/** Every command there is; the manifest lists the same. */
export const commandTable: readonly Command[] = [
  newTask,
  openTranscript,
  review,
  accept,
  acceptAs,
  mergeIn,
  openUnresolved,
  resolve,
  discard,
  undo,
  restore,
  restoreTo,
  verify,
  fix,
  resume,
  stop,
  followUp,
  openWorktree,
  openTerminal,
  revealOfFile,
  showConflicts,
  showSetup,
  showAlarms,
  dismissAlarms,
  fixFinding,
  showEvidence,
  dismissFinding,
  allowQuestion,
  denyQuestion,
  setKey,
  clearKey,
  allowCommands,
  revokeCommands,
  showWorktrees,
  sweep,
  doctor,
  openDemo,
  showOutput,
  openRow,
  ...landCommands,
  ...markCommands,
  ...moveCommands,
  ...reviewViewCommands,
];

/** Registers them all; a failure is said once, and what is open already is not opened again. */
export function registerCommands(context: CommandContext): vscode.Disposable {
  const open = new OpenCommands();
  const run = async (command: Command, argument: unknown): Promise<void> => {
    if (!isOfRow(command.id)) return command.run(context, argument);
    const key = callKey(command.id, argument, context.view.selection[0]);
    return open.once(key, context.dialogs, (dialogs) => command.run({ ...context, dialogs }, argument));
  };
  const registered = commandTable.map((command) =>
    vscode.commands.registerCommand(command.id, async (...given: readonly unknown[]) => {
      try {
        if (isLostRow(command.id, given)) await sayLostRow(context);
        else await run(command, given[0]);
      } catch (error) {
        await context.announcer.failed(command.id, error);
      }
    }),
  );
  return vscode.Disposable.from(...registered);
}

/** Never the selected row instead: it may be another one. */
async function sayLostRow({ dialogs }: CommandContext): Promise<void> {
  await dialogs.say('info', vscode.l10n.t('The list was just changing, so nothing was done. Press again.'));
}
