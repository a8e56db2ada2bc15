import * as vscode from 'vscode';
import type { Command, CommandContext } from './commandContext';

/** A command of Tasks on the one under review. */
function onReviewed(id: Command['id'], command: string): Command {
  return {
    id,
    async run({ reviewState }) {
      const taskId = reviewState.task?.id;
      if (taskId !== undefined) await vscode.commands.executeCommand(command, { taskId });
    },
  };
}

async function expandAll({ reviewTree, review }: CommandContext): Promise<void> {
  const rows = reviewTree.getChildren();
  for (const row of rows) await review.view.reveal(row, { select: false, focus: false, expand: true });
  const [first] = rows;
  if (first !== undefined) await review.view.reveal(first, { select: false, focus: false });
}

/** The buttons of the review's title bar. */
export const reviewViewCommands: readonly Command[] = [
  onReviewed('tributary.review.accept', 'tributary.task.accept'),
  onReviewed('tributary.review.acceptAs', 'tributary.task.acceptAs'),
  onReviewed('tributary.review.openAll', 'tributary.task.review'),
  {
    id: 'tributary.review.sinceReview',
    run: async ({ reviewState }) => reviewState.setSinceReview(true),
  },
  { id: 'tributary.review.whole', run: async ({ reviewState }) => reviewState.setSinceReview(false) },
  { id: 'tributary.review.expandAll', run: expandAll },
];
