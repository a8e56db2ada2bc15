import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import type { SweptItem } from '../../tasks/housekeepingApi';
import { agoText, sizeText, sweptText, totalSize } from '../houseWords';
import type { LiveBoard } from '../liveBoard';
import { shown } from '../taskWords';
import type { Command, CommandContext } from './commandContext';
import { whileShown } from './looking';
import { boardOf } from './targets';

/** Removes Worktrees and leftovers that nobody needs: those that the user chooses of what may go. */
export const sweep: Command = {
  id: 'tributary.worktrees.sweep',
  async run(context, argument) {
    const title = vscode.l10n.t('Sweep Worktrees');
    const board = await boardOf(context, title, argument);
    if (board === undefined) return;
    const { housekeeping } = board.core.tasks;
    const looking = vscode.l10n.t('Tributary: looking for what nobody needs');
    const items = await whileShown(looking, () => housekeeping.sweep({ isDryRun: true }));
    if (items.length === 0) {
      const message = vscode.l10n.t(
        'Nothing to sweep. Worktrees go when their Task has ended or nothing was changed in them for 15 minutes; what is kept of ended Tasks goes when its time is over.',
      );
      await context.dialogs.say('info', message);
      return;
    }
    const chosen = await chosenOf(context, board, items);
    if (chosen.length === 0 || !(await isWanted(context, chosen))) return;
    const doing = vscode.l10n.t('Tributary: sweeping');
    await sayResult(context, await whileShown(doing, () => housekeeping.sweep({ only: chosen })));
  },
};

async function chosenOf(
  { dialogs }: CommandContext,
  board: LiveBoard,
  items: readonly SweptItem[],
): Promise<readonly SweptItem[]> {
  const reply = await dialogs.pickMany({
    title: vscode.l10n.t('Sweep Worktrees'),
    placeHolder: vscode.l10n.t('Choose what to remove'),
    items: items.map((item) => ({
      label: nameOf(board, item),
      description: factsOf(board, item),
      detail: plainLine(item.why),
      picked: true,
      item,
    })),
  });
  return reply.kind === 'given' ? reply.value.map(({ item }) => item) : [];
}

function nameOf(board: LiveBoard, { taskId, slug }: SweptItem): string {
  return shown(board.task(taskId)?.packet.objective ?? slug);
}

function factsOf(board: LiveBoard, { kind, size, taskId }: SweptItem): string {
  const changedAt = board.task(taskId)?.changedAt;
  return [
    kind === 'worktree' ? vscode.l10n.t('worktree') : vscode.l10n.t('what was kept'),
    ...(size === undefined ? [] : [sizeText(size)]),
    ...(changedAt === undefined ? [] : [agoText(changedAt)]),
  ].join(' · ');
}

async function isWanted({ dialogs }: CommandContext, items: readonly SweptItem[]): Promise<boolean> {
  const remove = vscode.l10n.t('Remove');
  const detail = [
    ...(items.some(({ kind }) => kind === 'worktree')
      ? [
          vscode.l10n.t(
            'What stands in the worktrees is in a snapshot or the base; they come back with a follow-up or a restore.',
          ),
        ]
      : []),
    ...(items.some(({ kind }) => kind === 'kept')
      ? [
          vscode.l10n.t(
            'Tasks whose kept things go can no longer be undone or restored. Their transcripts stay.',
          ),
        ]
      : []),
  ].join('\n\n');
  const question = vscode.l10n.t('Remove {0} ({1})?', sweptText(items), sizeText(totalSize(items)));
  return (await dialogs.decide(question, detail, remove)) === remove;
}

async function sayResult({ dialogs }: CommandContext, items: readonly SweptItem[]): Promise<void> {
  const failed = items.filter(({ outcome }) => outcome === 'failed');
  const gone = items.filter(({ outcome }) => outcome === 'removed');
  const said =
    gone.length === 0
      ? vscode.l10n.t('Nothing was removed.')
      : vscode.l10n.t('Removed: {0}, {1} freed.', sweptText(gone), sizeText(totalSize(gone)));
  if (failed.length === 0) {
    await dialogs.say('info', said);
    return;
  }
  const why = failed.map(({ slug, message }) => `${plainLine(slug)}: ${plainLine(message ?? '')}`).join('; ');
  await dialogs.say('warning', vscode.l10n.t('{0} Not removed: {1}', said, why));
}
