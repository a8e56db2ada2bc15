import * as vscode from 'vscode';
import * as z from 'zod';
import { taskIdSchema } from '../../model/ids';
import type { MarkedFile, MarkedHunk, TaskHunks } from '../../tasks/taskApi';
import { hunkAt, type Position } from '../review/hunkPlaces';
import type { Part } from '../review/marking';
import { type TaskFile, taskFileAt } from '../review/taskFiles';
import { askToSave } from '../unsaved';
import type { CommandContext } from './commandContext';
import type { Target } from './targets';

const rowSchema = z.looseObject({ taskId: taskIdSchema, path: z.string(), hunkId: z.string().optional() });
/** What key bindings of the view give: the row that is selected there is meant, not the cursor of an editor. */
const fromViewSchema = z.looseObject({ from: z.literal('view') });

/** A file or hunk that a command is about, as it is now. */
export interface FoundPart {
  readonly target: Target;
  readonly file: MarkedFile;
  readonly hunk?: MarkedHunk;
  /** How marks and selections name it. */
  readonly part: Part;
}

/**
 * The file or hunk a command is about: the row it was called on, else what the cursor stands in, else the selected row
 * of the review. `undefined`: there is none, or it is not there any more, which is then said.
 */
export async function partOf(
  context: CommandContext,
  argument: unknown,
  kind: 'file' | 'hunk',
): Promise<FoundPart | undefined> {
  const row = rowOf(argument) ?? (isFromView(argument) ? selectedRow(context) : undefined);
  if (row !== undefined) return found(context, row, kind);
  const here = editorFile(context);
  if (here === undefined) {
    const selected = selectedRow(context);
    return selected === undefined ? sayNone(context, kind) : found(context, selected, kind);
  }
  const seen = await hunksNow(context, here);
  if (seen === undefined) return undefined;
  const file = fileOf(seen, here);
  const hunk = kind === 'hunk' && file !== undefined ? hunkAt(file, here) : undefined;
  if (file === undefined || (kind === 'hunk' && hunk === undefined)) return sayNone(context, kind);
  const part = { taskId: here.task.id, path: file.path, ...(hunk === undefined ? {} : { hunkId: hunk.id }) };
  return found(context, part, kind, seen);
}

/** Where one is: the cursor in a file of a Task, else the selected row. */
export function positionOf(
  context: CommandContext,
  argument: unknown,
  { files }: Pick<TaskHunks, 'files'>,
): Position | undefined {
  const here = isFromView(argument) ? undefined : editorFile(context);
  if (here !== undefined) {
    const path = files.find((file) => isNamed(file, here))?.path ?? here.path;
    return { path, side: here.side, line: here.line };
  }
  const row = selectedRow(context);
  if (row === undefined) return undefined;
  const hunk = files.find(({ path }) => path === row.path)?.hunks.find(({ id }) => id === row.hunkId);
  return { path: row.path, side: 'task', line: hunk?.newStart ?? 0 };
}

/** The file of a Task in the editor that has the cursor, and the cursor's line, from 1. */
export function editorFile({ boards }: CommandContext): (TaskFile & { readonly line: number }) | undefined {
  const editor = vscode.window.activeTextEditor;
  const file = editor === undefined ? undefined : taskFileAt(boards, editor.document.uri);
  return editor === undefined || file === undefined
    ? undefined
    : { ...file, line: editor.selection.active.line + 1 };
}

/** Whether a key binding of the review view called. */
export function isFromView(argument: unknown): boolean {
  return fromViewSchema.safeParse(argument).success;
}

export function selectedRow({ review }: CommandContext): Part | undefined {
  return rowOf(review.view.selection[0]);
}

async function found(
  context: CommandContext,
  row: Part,
  kind: 'file' | 'hunk',
  seen?: TaskHunks,
): Promise<FoundPart | undefined> {
  const target = context.boards.find(row.taskId);
  if (target === undefined) return sayNone(context, kind);
  const { files } = seen ?? (await target.board.core.tasks.hunks(row.taskId));
  const file = files.find(({ path }) => path === row.path);
  const hunk = file?.hunks.find(({ id }) => id === row.hunkId);
  if (file === undefined || (kind === 'hunk' && hunk === undefined)) return sayGone(context);
  const { taskId, path } = row;
  if (kind === 'file' || hunk === undefined) return { target, file, part: { taskId, path } };
  return { target, file, hunk, part: { taskId, path, hunkId: hunk.id } };
}

/** The hunks as the disk has them: what an editor holds unsaved is saved first, if the user wants. */
async function hunksNow(context: CommandContext, { task }: TaskFile): Promise<TaskHunks | undefined> {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.isDirty === true) {
    const question = vscode.l10n.t('This file has unsaved edits. Save them first?');
    if (!(await askToSave([document], question, context.dialogs))) return undefined;
  }
  return context.boards.find(task.id)?.board.core.tasks.hunks(task.id);
}

function fileOf({ files }: TaskHunks, here: TaskFile): MarkedFile | undefined {
  return files.find((file) => isNamed(file, here));
}

/** On the left side a renamed file has its old name. */
function isNamed({ path, oldPath = path }: MarkedFile, here: TaskFile): boolean {
  return here.path === (here.side === 'base' ? oldPath : path);
}

function rowOf(value: unknown): Part | undefined {
  const parsed = rowSchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { taskId, path, hunkId } = parsed.data;
  return { taskId, path, ...(hunkId === undefined ? {} : { hunkId }) };
}

async function sayNone({ dialogs }: CommandContext, kind: 'file' | 'hunk'): Promise<undefined> {
  await dialogs.say(
    'info',
    kind === 'hunk'
      ? vscode.l10n.t(
          'Put the cursor into a changed part of a Task’s file, or select one in the Review view.',
        )
      : vscode.l10n.t('Open a file that a Task changed, or select one in the Review view.'),
  );
  return undefined;
}

async function sayGone({ dialogs }: CommandContext): Promise<undefined> {
  await dialogs.say(
    'info',
    vscode.l10n.t('That part of the change is not there any more; nothing was done.'),
  );
  return undefined;
}
