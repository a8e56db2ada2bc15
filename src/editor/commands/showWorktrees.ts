import { basename } from 'node:path';
import * as vscode from 'vscode';
import { plainLine } from '../../model/plainText';
import type { WorktreeReport, WorktreesReport } from '../../tasks/housekeepingApi';
import { sizeText, worktreeText } from '../houseWords';
import type { LiveBoard } from '../liveBoard';
import { shown } from '../taskWords';
import type { Command, CommandContext } from './commandContext';
import { whileShown } from './looking';
import { boardOf } from './targets';

type Choice = vscode.QuickPickItem & { readonly path: string; readonly worktree?: WorktreeReport };
type Action = vscode.QuickPickItem & { run(): PromiseLike<unknown> };

/** Lists every Worktree of a repository's Tasks, and what to do with one. */
export const showWorktrees: Command = {
  id: 'tributary.worktrees.show',
  async run(context, argument) {
    const title = vscode.l10n.t('Worktrees');
    const board = await boardOf(context, title, argument);
    if (board === undefined) return;
    const looking = vscode.l10n.t('Tributary: looking at the worktrees');
    const report = await whileShown(looking, () => board.core.tasks.housekeeping.worktrees());
    const items = choices(board, report);
    if (items.length === 0) {
      await context.dialogs.say('info', vscode.l10n.t('No Task has a worktree now.'));
      return;
    }
    const placeHolder = vscode.l10n.t('Choose a worktree to open it or go to its Task');
    const reply = await context.dialogs.pick({ title, placeHolder, items });
    if (reply.kind === 'given') await act(context, reply.value);
  },
};

function choices(board: LiveBoard, { worktrees, strangers }: WorktreesReport): Choice[] {
  const ours = worktrees.map((worktree): Choice => {
    const task = worktree.taskId === undefined ? undefined : board.task(worktree.taskId);
    return {
      label: shown(task?.packet.objective ?? worktree.slug ?? basename(worktree.path)),
      description: worktreeText(worktree),
      detail: plainLine(worktree.path),
      iconPath: new vscode.ThemeIcon(worktree.stands === 'whole' ? 'folder' : 'warning'),
      path: worktree.path,
      worktree,
    };
  });
  const others = strangers.map(
    ({ path, size }): Choice => ({
      label: plainLine(basename(path)),
      description: [
        vscode.l10n.t('not made by Tributary, never touched'),
        ...(size === undefined ? [] : [sizeText(size)]),
      ].join(' · '),
      detail: plainLine(path),
      iconPath: new vscode.ThemeIcon('question'),
      path,
    }),
  );
  return [...ours, ...others];
}

async function act(context: CommandContext, { label, path, worktree }: Choice): Promise<void> {
  const placeHolder = vscode.l10n.t('Choose what to do');
  const items = actionsOn(context, path, worktree);
  const reply = await context.dialogs.pick({ title: label, placeHolder, items });
  if (reply.kind === 'given') await reply.value.run();
}

function actionsOn(
  { view, tree, boards }: CommandContext,
  path: string,
  worktree?: WorktreeReport,
): Action[] {
  const { taskId } = worktree ?? {};
  const run = (command: string) => (): PromiseLike<unknown> =>
    vscode.commands.executeCommand(command, { taskId });
  const isKnown = taskId !== undefined && boards.find(taskId) !== undefined;
  const reveal: Action[] = isKnown
    ? [
        {
          label: vscode.l10n.t('Go to Its Task'),
          run: () => view.reveal(tree.nodeOf(taskId), { select: true, focus: true, expand: true }),
        },
      ]
    : [];
  const open: Action[] =
    isKnown && worktree?.stands === 'whole' && worktree.taskState === 'open'
      ? [
          {
            label: vscode.l10n.t('Open Worktree in New Window'),
            run: run('tributary.task.openWorktree'),
          },
          { label: vscode.l10n.t('Open Worktree in Terminal'), run: run('tributary.task.openTerminal') },
        ]
      : [];
  const copy: Action = {
    label: vscode.l10n.t('Copy Path'),
    run: () => vscode.env.clipboard.writeText(path),
  };
  return [...open, ...reveal, copy];
}
