import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import type { TaskHunks } from '../../tasks/taskApi';
import { type Stop, stopBeside } from '../review/hunkPlaces';
import { openAt } from '../review/openAt';
import type { Command, CommandContext } from './commandContext';
import { editorFile, isFromView, positionOf, selectedRow } from './parts';

function moving(id: Command['id'], step: 1 | -1): Command {
  return {
    id,
    async run(context, argument) {
      const seen = await hunksHere(context, argument);
      const stop = seen && stopBeside(seen.files, positionOf(context, argument, seen), step);
      if (seen === undefined || stop === undefined) {
        await context.dialogs.say('info', vscode.l10n.t('There is no change of a Task to go to.'));
        return;
      }
      await goTo(context, seen.task, stop);
    },
  };
}

/** Of the Task whose file has the cursor, else of the one under review. */
async function hunksHere(context: CommandContext, argument: unknown): Promise<TaskHunks | undefined> {
  const here = isFromView(argument) ? undefined : editorFile(context)?.task;
  const task = here ?? context.reviewState.task;
  if (task === undefined) return undefined;
  context.reviewState.show(task.id);
  return context.boards.find(task.id)?.board.core.tasks.hunks(task.id);
}

async function goTo(context: CommandContext, task: Task, stop: Stop): Promise<void> {
  const node = context.reviewTree.nodeOf(stop.file.path, stop.hunk?.id);
  const { view } = context.review;
  // Not the row of a view that is hidden: that would show it.
  if (node !== undefined && view.visible) await view.reveal(node, { select: true, focus: false });
  await open(context, task, stop);
}

async function open({ dialogs }: CommandContext, task: Task, stop: Stop): Promise<void> {
  if (await openAt(task, stop)) return;
  await dialogs.say('info', vscode.l10n.t('This file cannot be shown: its name is not text.'));
}

/** Opens the selected row of the review in its difference, at the hunk. */
export const openRow: Command = {
  id: 'tributary.review.open',
  async run(context) {
    const row = selectedRow(context);
    const { task, hunks } = context.reviewState;
    const file = hunks?.files.find(({ path }) => path === row?.path);
    if (row === undefined || task?.id !== row.taskId || file === undefined) return;
    const hunk = file.hunks.find(({ id }) => id === row.hunkId) ?? file.hunks[0];
    await open(context, task, { file, ...(hunk === undefined ? {} : { hunk }) });
  },
};

/** From hunk to hunk of a Task, across its files. */
export const moveCommands: readonly Command[] = [
  moving('tributary.hunk.next', 1),
  moving('tributary.hunk.previous', -1),
];
