import * as vscode from 'vscode';
import type { TaskId } from '../../model/ids';
import type { Task } from '../../model/task';
import type { RestoredTo, TaskSnapshot } from '../../tasks/housekeepingApi';
import type { LiveBoard } from '../liveBoard';
import { isAtRest } from '../taskStatus';
import { runKindText, shown } from '../taskWords';
import { saveAll, unsavedIn, unsavedText } from '../unsaved';
import type { Command, CommandContext } from './commandContext';
import { type Target, targetOf } from './targets';

type Choice = vscode.QuickPickItem & { readonly number: number };

/** Puts a Task's Worktree to what stood after any of its Turns; what stands there now is recorded first. */
export const restoreTo: Command = {
  id: 'tributary.task.restoreTo',
  async run(context, argument) {
    const title = vscode.l10n.t('Restore to a Turn');
    const fits = (task: Task): boolean =>
      task.state === 'open' && isAtRest(task) && task.snapshot !== undefined;
    const target = await targetOf(context, argument, title, fits);
    if (target === undefined) return;
    const { board, task } = target;
    const snapshots = await board.core.tasks.snapshots(task.id);
    const placeHolder = vscode.l10n.t('Choose what the worktree shall hold');
    const items = [...snapshots.map((one) => choiceOf(task, one)).reverse(), baseChoice()];
    const reply = await context.dialogs.pick({ title, placeHolder, items });
    if (reply.kind !== 'given' || !(await isWanted(context, target, reply.value))) return;
    const restored = await board.core.tasks.restoreTo(task.id, { snapshot: reply.value.number });
    await sayRestored(context, board, restored, reply.value.label);
  },
};

function choiceOf(task: Task, { number, at, runId, turn, isNewest }: TaskSnapshot): Choice {
  const run = task.runs.find(({ id }) => id === runId);
  const kind = run === undefined ? undefined : `${runKindText(run.kind)}: ${shown(run.agent)}`;
  return {
    label: turnText(turn),
    description: [
      ...(kind === undefined ? [] : [kind]),
      new Date(at).toLocaleString(),
      ...(isNewest ? [vscode.l10n.t('as it is now')] : []),
    ].join(' · '),
    detail: vscode.l10n.t('Snapshot {0}', number),
    number,
  };
}

function turnText(turn: number | undefined): string {
  if (turn === undefined) return vscode.l10n.t('Before the leavings of checks were removed');
  return turn === 0 ? vscode.l10n.t('Outside of a Turn') : vscode.l10n.t('After Turn {0}', turn);
}

function baseChoice(): Choice {
  return {
    label: vscode.l10n.t('The base'),
    description: vscode.l10n.t('nothing changed'),
    number: 0,
  };
}

async function isWanted({ dialogs }: CommandContext, { task }: Target, { label }: Choice): Promise<boolean> {
  const restore = vscode.l10n.t('Restore');
  const { worktreePath } = task;
  const unsaved = worktreePath === undefined ? [] : await unsavedIn([{ folder: worktreePath }]);
  const note = vscode.l10n.t('What stands there now is recorded first, so that this can be taken back.');
  const saved = vscode.l10n.t(
    'These have unsaved edits; they are saved first, so that the snapshot has them:',
  );
  const detail = unsaved.length === 0 ? [note] : [note, `${saved}\n${unsavedText(unsaved)}`];
  const name = shown(task.packet.objective, 60);
  const question = vscode.l10n.t('Put the worktree of "{0}" back to: {1}?', name, label);
  const chosen = await dialogs.decide(question, detail.join('\n\n'), restore);
  return chosen === restore && saveAll(unsaved, dialogs);
}

async function sayRestored(
  { dialogs, announcer }: CommandContext,
  board: LiveBoard,
  { task, before, restored, removed, aside }: RestoredTo,
  label: string,
): Promise<void> {
  const back = vscode.l10n.t('Take It Back');
  const message = vscode.l10n.t(
    'The worktree of "{0}" is back at: {1}. Files written: {2}, removed: {3}.',
    shown(task.packet.objective, 60),
    label,
    restored.length,
    removed.length,
  );
  const kept =
    aside === undefined
      ? ''
      : ` ${vscode.l10n.t('What was in their way, as ignored files may be, is kept in {0}.', aside.folder)}`;
  if ((await dialogs.say('info', `${message}${kept}`, back)) !== back) return;
  await takeBack(board, task.id, before).catch((error: unknown) =>
    announcer.failed('tributary.task.restoreTo', error, task.id),
  );
}

async function takeBack(board: LiveBoard, id: TaskId, before: number): Promise<void> {
  await board.core.tasks.restoreTo(id, { snapshot: before });
}
