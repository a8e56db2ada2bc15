import { join } from 'node:path';
import * as vscode from 'vscode';
import * as z from 'zod';
import { type TaskId, taskIdSchema } from '../../model/ids';
import { isConflict, type Overlap, type OverlapPath } from '../../model/overlap';
import type { Task } from '../../model/task';
import type { LiveBoard } from '../liveBoard';
import { visibleName } from '../plainWords';
import { currentUri, stands } from '../review/review';
import { statusOf } from '../taskStatus';
import { shown, statusText } from '../taskWords';
import { filesText } from '../warningWords';
import type { Command, CommandContext } from './commandContext';

const subjectSchema = z.looseObject({ taskId: taskIdSchema });

/** A choice of the list: two changes that meet, or the order to land them in. */
type Choice = vscode.QuickPickItem &
  (
    | { readonly kindOf: 'pair'; readonly board: LiveBoard; readonly overlap: Overlap }
    | { readonly kindOf: 'order'; readonly board: LiveBoard; readonly order: readonly TaskId[] }
  );

/** Which open Tasks stand in each other's way, file by file, and the order in which to land them. */
export const showConflicts: Command = {
  id: 'tributary.task.showConflicts',
  async run(context, argument) {
    const title = vscode.l10n.t('Conflicts Between Tasks');
    const subject = subjectSchema.safeParse(argument);
    const items = await choices(context, subject.success ? subject.data.taskId : undefined);
    if (items.length === 0) {
      const message = vscode.l10n.t('No open Task changes a file that another one or your checkout changes.');
      await context.dialogs.say('info', message);
      return;
    }
    const placeHolder = vscode.l10n.t('Choose two changes to see their files');
    const reply = await context.dialogs.pick({ title, placeHolder, items });
    if (reply.kind !== 'given') return;
    if (reply.value.kindOf === 'order') await pickNext(context, reply.value.order);
    else await pickFile(context, reply.value.board, reply.value.overlap);
  },
};

async function choices({ boards }: CommandContext, of: TaskId | undefined): Promise<Choice[]> {
  const lists = await Promise.all(
    boards.all.map(async (board): Promise<Choice[]> => {
      const { overlaps, order } = await board.core.tasks.overlaps();
      const ours = overlaps.filter(({ a, b }) => of === undefined || a === of || b === of);
      const conflictsFirst = [...ours].sort(
        (one, other) => Number(isConflict(other)) - Number(isConflict(one)),
      );
      const pairs = conflictsFirst.map((overlap): Choice => pairChoice(board, overlap));
      return pairs.length === 0 || order.length < 2 ? pairs : [...pairs, orderChoice(board, order)];
    }),
  );
  return lists.flat();
}

function pairChoice(board: LiveBoard, overlap: Overlap): Choice {
  const { a, b, paths } = overlap;
  const inConflict = paths.filter(({ kind }) => kind === 'conflict').map(({ path }) => path);
  const hasConflict = inConflict.length > 0;
  return {
    label: vscode.l10n.t('{0} and {1}', sideName(board, a), sideName(board, b)),
    description: hasConflict ? vscode.l10n.t('conflict') : vscode.l10n.t('same files, no conflict'),
    detail: filesText(hasConflict ? inConflict : paths.map(({ path }) => path)),
    iconPath: new vscode.ThemeIcon(hasConflict ? 'warning' : 'check'),
    kindOf: 'pair',
    board,
    overlap,
  };
}

function orderChoice(board: LiveBoard, order: readonly TaskId[]): Choice {
  return {
    label: vscode.l10n.t('Best order to accept them in'),
    detail: order.map((id, index) => `${index + 1}. ${sideName(board, id)}`).join('  '),
    iconPath: new vscode.ThemeIcon('list-ordered'),
    kindOf: 'order',
    board,
    order,
  };
}

function sideName(board: LiveBoard, side: Overlap['b']): string {
  if (side === 'checkout') return vscode.l10n.t('your checkout');
  return `"${shown(board.task(side)?.packet.objective ?? side, 40)}"`;
}

/** The Tasks in their order; one that is picked shows what it changed. */
async function pickNext({ dialogs, boards }: CommandContext, order: readonly TaskId[]): Promise<void> {
  const items = order.flatMap((taskId, index) => {
    const task = boards.find(taskId)?.task;
    if (task === undefined) return [];
    const label = `${index + 1}. ${shown(task.packet.objective)}`;
    return [{ label, description: statusText(statusOf(task)), taskId }];
  });
  const title = vscode.l10n.t('Best order to accept them in');
  const reply = await dialogs.pick({ title, placeHolder: vscode.l10n.t('Choose a Task to review'), items });
  if (reply.kind === 'given')
    await vscode.commands.executeCommand('tributary.task.review', { taskId: reply.value.taskId });
}

async function pickFile({ dialogs }: CommandContext, board: LiveBoard, overlap: Overlap): Promise<void> {
  const { a, b, paths } = overlap;
  const [only] = paths;
  if (only !== undefined && paths.length === 1) return openBothSides(dialogs, board, overlap, only);
  const conflictsFirst = [...paths].sort((one, other) => one.kind.localeCompare(other.kind));
  const reply = await dialogs.pick({
    title: vscode.l10n.t('{0} and {1}', sideName(board, a), sideName(board, b)),
    placeHolder: vscode.l10n.t('Choose a file to see both sides'),
    items: conflictsFirst.map((path) => ({
      label: visibleName(path.path),
      description: path.kind === 'conflict' ? vscode.l10n.t('conflict') : vscode.l10n.t('no conflict'),
      path,
    })),
  });
  if (reply.kind === 'given') await openBothSides(dialogs, board, overlap, reply.value.path);
}

async function openBothSides(
  dialogs: CommandContext['dialogs'],
  board: LiveBoard,
  { a, b }: Overlap,
  { path }: OverlapPath,
): Promise<void> {
  const sides = [await sideUri(board, b, path), await sideUri(board, a, path)] as const;
  const [left, right] = sides;
  const names = [sideName(board, b), sideName(board, a)] as const;
  if (left !== undefined && right !== undefined) {
    const title = vscode.l10n.t('{0}: {1} and {2}', visibleName(path), ...names);
    await vscode.commands.executeCommand('vscode.diff', left, right, title);
    return;
  }
  const there = left ?? right;
  if (there !== undefined) await vscode.commands.executeCommand('vscode.open', there);
  const gone = left === undefined ? names[0] : names[1];
  await dialogs.say('info', vscode.l10n.t('{0} is not a file in {1}.', visibleName(path), gone));
}

/** The file as that side has it; `undefined` where it has none. */
async function sideUri(board: LiveBoard, side: Overlap['b'], path: string): Promise<vscode.Uri | undefined> {
  const task: Task | undefined = side === 'checkout' ? undefined : board.task(side);
  const uri =
    task === undefined
      ? vscode.Uri.file(join(board.root, ...path.split('/')))
      : currentUri(task, path, await stands(task));
  const isThere = await vscode.workspace.fs.stat(uri).then(
    ({ type }) => type !== vscode.FileType.Directory,
    () => false,
  );
  return isThere ? uri : undefined;
}
