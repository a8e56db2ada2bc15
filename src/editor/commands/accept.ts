import { join } from 'node:path';
import * as vscode from 'vscode';
import type { Conflict, LandingPath } from '../../model/landing';
import { plainLine } from '../../model/plainText';
import { currentVerdict, openFindings } from '../../model/task';
import type { AcceptOutcome, LandingPlan } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { currentUri, stands } from '../review/review';
import { canAccept, judgedOf } from '../taskStatus';
import { judgedText, shown } from '../taskWords';
import { askToSave, unsavedIn } from '../unsaved';
import type { Command, CommandContext } from './commandContext';
import { type Target, targetOf } from './targets';

const shownPaths = 20;

/** Shows what would be written, and writes it when the user says so. */
export const accept: Command = {
  id: 'tributary.task.accept',
  async run(context, argument) {
    const target = await targetOf(context, argument, vscode.l10n.t('Accept'), canAccept);
    if (target === undefined) return;
    const plan = await savedPlan(context, target);
    if (plan === undefined) return;
    if (plan.conflicts.length > 0) return sayConflicts(context, target, plan.conflicts);
    const accepting = vscode.l10n.t('Accept');
    const question = vscode.l10n.t('Accept "{0}"?', nameOf(target));
    if ((await context.dialogs.decide(question, planText(plan), accepting)) !== accepting) return;
    await sayOutcome(
      context,
      target,
      await target.board.core.tasks.accept(target.task.id, { expected: plan }),
    );
  },
};

/** The plan once no editor holds unsaved text of it or of the Worktree; `undefined`: the user left it so. */
async function savedPlan(
  { dialogs }: CommandContext,
  { board, task }: Target,
): Promise<LandingPlan | undefined> {
  const { tasks } = board.core;
  const plan = await tasks.preview(task.id);
  const paths = [...plan.paths, ...plan.conflicts].map(({ path }) => path);
  const { worktreePath, packet } = task;
  const unsaved = await unsavedIn([
    { folder: packet.repository.root, paths },
    ...(worktreePath === undefined ? [] : [{ folder: worktreePath }]),
  ]);
  if (unsaved.length === 0) return plan;
  const question = vscode.l10n.t('Files of this change have unsaved edits. Save them first?');
  return (await askToSave(unsaved, question, dialogs)) ? tasks.preview(task.id) : undefined;
}

/** What the user decides on: the Verdict, then every file with what happens to it. */
export function planText({ task, paths }: LandingPlan): string {
  const judged = judgedOf(task);
  const findings = openFindings(task).length;
  const verdict =
    judged === undefined
      ? currentVerdict(task) === undefined
        ? vscode.l10n.t('Not verified.')
        : vscode.l10n.t('Changed since it was verified.')
      : vscode.l10n.t('Verdict: {0}.', judgedText({ ...judged, findings }));
  if (paths.length === 0)
    return `${verdict}\n\n${vscode.l10n.t('Nothing would be written: your checkout has all of it already.')}`;
  const lines = paths.slice(0, shownPaths).map(pathText);
  const more = paths.length - lines.length;
  const rest = more > 0 ? [vscode.l10n.t('… and {0} more', more)] : [];
  const root = vscode.l10n.t('Written into {0}:', plainLine(task.packet.repository.root));
  return [verdict, '', root, ...lines, ...rest].join('\n');
}

/** `A`, `M` or `D` and the path. */
function pathText({ path, before, after }: LandingPath): string {
  const letter = before === 'absent' ? 'A' : after === 'absent' ? 'D' : 'M';
  return `${letter}  ${visibleName(path)}`;
}

async function sayOutcome(context: CommandContext, target: Target, outcome: AcceptOutcome): Promise<void> {
  const { dialogs } = context;
  switch (outcome.kind) {
    case 'landed': {
      const undo = vscode.l10n.t('Undo');
      const message =
        outcome.paths.length === 1
          ? vscode.l10n.t('Accepted "{0}": 1 file written.', nameOf(target))
          : vscode.l10n.t('Accepted "{0}": {1} files written.', nameOf(target), outcome.paths.length);
      // Not awaited: a notification may stand for long.
      void dialogs.say('info', message, undo).then((chosen) => {
        if (chosen === undo) void undoAccepted(context, target);
      });
      return;
    }
    case 'gateFailed':
    case 'hookFailed': {
      const what = outcome.kind === 'gateFailed' ? outcome.command : outcome.hook;
      const message = vscode.l10n.t(
        'Nothing was written: {0} failed. {1}',
        plainLine(what),
        plainLine(outcome.output),
      );
      await dialogs.say('warning', message);
      return;
    }
    case 'kept':
      await dialogs.say('info', vscode.l10n.t('The branch of "{0}" was kept.', nameOf(target)));
      return;
    case 'conflict':
      return sayConflicts(context, target, outcome.conflicts);
    case 'stale': {
      const again = vscode.l10n.t('Look Again');
      const message =
        outcome.paths.length === 0
          ? vscode.l10n.t('Nothing was written: "{0}" changed after it was looked at.', nameOf(target))
          : vscode.l10n.t(
              'Nothing was written: files changed after they were looked at: {0}.',
              outcome.paths.map(visibleName).join(', '),
            );
      // Not awaited: a notification may stand for long.
      void dialogs.say('warning', message, again).then((chosen) => {
        if (chosen === again)
          void vscode.commands.executeCommand('tributary.task.accept', { taskId: target.task.id });
      });
      return;
    }
  }
}

/** From the notification, which stands on while other ways to undo are taken: it says so then. */
async function undoAccepted({ boards, dialogs }: CommandContext, target: Target): Promise<void> {
  const { id } = target.task;
  if (boards.find(id)?.task.state === 'accepted') {
    await vscode.commands.executeCommand('tributary.task.undo', { taskId: id });
    return;
  }
  await dialogs.say('info', vscode.l10n.t('"{0}" was undone already; nothing was changed.', nameOf(target)));
}

/** Conflicts by file; picking one shows both sides. */
async function sayConflicts(
  context: CommandContext,
  target: Target,
  conflicts: readonly Conflict[],
): Promise<void> {
  const show = vscode.l10n.t('Show Conflicts');
  const lines = conflicts.map(({ path, kind }) => `${plainLine(path)} (${plainLine(kind)})`);
  const chosen = await context.dialogs.decide(
    vscode.l10n.t('"{0}" conflicts with your checkout. Nothing was written.', nameOf(target)),
    `${lines.slice(0, shownPaths).join('\n')}\n\n${vscode.l10n.t(
      'Change the files so that they agree, or ask the agent in a follow-up.',
    )}`,
    show,
  );
  if (chosen !== show) return;
  const reply = await context.dialogs.pick({
    title: vscode.l10n.t('Conflicts'),
    placeHolder: vscode.l10n.t('Choose a file to see both sides'),
    items: conflicts.map(({ path, kind, message }) => ({
      label: plainLine(path),
      description: plainLine(kind),
      detail: plainLine(message),
      path,
    })),
  });
  if (reply.kind === 'given') await openBothSides(target, reply.value.path);
}

async function openBothSides({ task }: Target, path: string): Promise<void> {
  const checkout = vscode.Uri.file(join(task.packet.repository.root, ...path.split('/')));
  const theirs = currentUri(task, path, await stands(task));
  const title = vscode.l10n.t('{0}: your checkout and the Task', plainLine(path));
  await vscode.commands.executeCommand('vscode.diff', checkout, theirs, title);
}

function nameOf({ task }: Target): string {
  return shown(task.packet.objective, 60);
}
