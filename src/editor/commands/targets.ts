import * as vscode from 'vscode';
import * as z from 'zod';
import { type RunId, runIdSchema, type TaskId, taskIdSchema } from '../../model/ids';
import type { Task } from '../../model/task';
import type { LiveBoard } from '../liveBoard';
import { inOrder, statusOf } from '../taskStatus';
import { shown, statusText } from '../taskWords';
import type { CommandContext } from './commandContext';

/** What a command is about. */
export interface Target {
  readonly board: LiveBoard;
  readonly task: Task;
  readonly runId?: RunId;
}

const targetSchema = z.looseObject({ taskId: taskIdSchema, runId: runIdSchema.optional() });
const findingSchema = z.looseObject({ taskId: taskIdSchema, findingId: z.string() });

/**
 * The Task a command is about: the one it was called on, else the row that is selected if it fits, else the one the
 * user picks. `undefined`: the user left, or none fits, which is then said.
 */
export async function targetOf(
  context: CommandContext,
  argument: unknown,
  title: string,
  fits: (task: Task) => boolean,
): Promise<Target | undefined> {
  const parsed = targetSchema.safeParse(argument);
  if (parsed.success) return knownTarget(context, parsed.data);
  const selected = targetSchema.safeParse(context.view.selection[0]);
  const target = selected.success ? knownTarget(context, selected.data) : undefined;
  if (target !== undefined && fits(target.task)) return target;
  const fitting = context.boards.all.flatMap((board) =>
    inOrder(board.tasks.filter(fits)).map((task) => ({ board, task })),
  );
  if (fitting.length === 0) {
    await context.dialogs.say('info', vscode.l10n.t('{0}: there is no Task for that now.', title));
    return undefined;
  }
  const items = fitting.map((target) => ({
    label: shown(target.task.packet.objective),
    description: statusText(statusOf(target.task)),
    target,
  }));
  const reply = await context.dialogs.pick({
    title,
    placeHolder: vscode.l10n.t('Choose a Task'),
    items,
  });
  return reply.kind === 'given' ? reply.value.target : undefined;
}

function knownTarget(
  context: CommandContext,
  { taskId, runId }: { taskId: TaskId; runId?: RunId | undefined },
): Target | undefined {
  const found = context.boards.find(taskId);
  if (found === undefined) {
    void context.dialogs.say('warning', vscode.l10n.t('That Task is not in this window any more.'));
    return undefined;
  }
  return runId === undefined ? found : { ...found, runId };
}

/** A Finding that a quick fix or a link names; `undefined` when it is not there any more, which is then said. */
export async function findingOf(
  context: CommandContext,
  argument: unknown,
): Promise<(Target & { readonly findingId: string }) | undefined> {
  const parsed = findingSchema.safeParse(argument);
  if (!parsed.success) {
    await context.dialogs.say('info', vscode.l10n.t('Use this from the finding in a file.'));
    return undefined;
  }
  const target = knownTarget(context, parsed.data);
  return target === undefined ? undefined : { ...target, findingId: parsed.data.findingId };
}

/** The board to work on: that of the row or Task it was called on, else the only repository of the window, else the one the user picks. Opens it. */
export async function boardOf(
  context: CommandContext,
  title: string,
  argument?: unknown,
): Promise<LiveBoard | undefined> {
  const named = z.looseObject({ repositoryId: z.string() }).safeParse(argument);
  if (named.success) return context.boards.ensure(named.data.repositoryId);
  const ofTask = targetSchema.safeParse(argument);
  if (ofTask.success) return knownTarget(context, ofTask.data)?.board;
  if (!context.boards.isSearched) await context.boards.refresh();
  const places = context.boards.repositories;
  const [only] = places;
  if (only === undefined) {
    await context.dialogs.say('warning', noRepositoryText());
    return undefined;
  }
  if (places.length === 1) return context.boards.ensure(only.commonDir);
  const items = places.map(({ label, root, commonDir }) => ({ label, description: root, commonDir }));
  const placeHolder = vscode.l10n.t('Choose a repository');
  const reply = await context.dialogs.pick({ title, placeHolder, items });
  return reply.kind === 'given' ? context.boards.ensure(reply.value.commonDir) : undefined;
}

function noRepositoryText(): string {
  if (!vscode.workspace.isTrusted)
    return vscode.l10n.t('Tributary runs nothing until you trust this workspace.');
  return vscode.l10n.t('No git repository is open in this window.');
}
