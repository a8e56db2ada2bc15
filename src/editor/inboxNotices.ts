import * as vscode from 'vscode';
import { DisposableStack } from '../base/disposable';
import type { PermissionQuestion } from '../tasks/permission';
import type { Boards } from './boards';
import type { Dialogs } from './dialogs';
import type { QuestionInbox } from './permissionInbox';
import { wholeInNotice } from './plainWords';
import type { TaskTree } from './taskTree';
import { shown } from './taskWords';
import type { TreeNode } from './treeNodes';

export interface InboxNoticesDeps {
  readonly inbox: QuestionInbox;
  readonly boards: Boards;
  readonly dialogs: Dialogs;
  readonly tree: TaskTree;
  readonly view: vscode.TreeView<TreeNode>;
}

/** Tells of each new question without getting in the way: a notification, and its row in the tree. */
export class InboxNotices implements vscode.Disposable {
  private readonly deps: InboxNoticesDeps;
  private readonly subscriptions = new DisposableStack();
  private readonly told = new Set<string>();

  constructor(deps: InboxNoticesDeps) {
    this.deps = deps;
    this.subscriptions.add(
      deps.inbox.onDidChange(() => {
        for (const question of deps.inbox.pending) if (!this.told.has(question.id)) void this.tell(question);
      }),
    );
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private async tell(question: PermissionQuestion): Promise<void> {
    const { inbox, dialogs, boards } = this.deps;
    this.told.add(question.id);
    void this.reveal(question);
    const allow = vscode.l10n.t('Allow');
    const deny = vscode.l10n.t('Deny');
    const always = vscode.l10n.t('Allow All in This Repository…');
    // A decision is about the whole command: nothing of it is cut off or hidden. The transcript has room for any.
    const command = wholeInNotice(question.command);
    const show = vscode.l10n.t('Show…');
    const message =
      command === undefined
        ? vscode.l10n.t('{0} wants to run a long command in its worktree.', shown(question.agent))
        : vscode.l10n.t('{0} wants to run in its worktree: {1}', shown(question.agent), command);
    const chosen = await dialogs.say('info', message, command === undefined ? show : allow, deny, always);
    if (chosen === allow || chosen === deny) {
      // The message may be older than an answer on the page or in the tree.
      if (!inbox.answer(question.id, chosen === allow)) await sayAnswered(dialogs);
    }
    if (chosen === show)
      await vscode.commands.executeCommand('tributary.task.openTranscript', {
        taskId: question.taskId,
        runId: question.runId,
      });
    if (chosen === always) {
      const repositoryId = boards.find(question.taskId)?.board.id;
      await vscode.commands.executeCommand('tributary.consent.allowCommands', { repositoryId });
    }
  }

  /** Opens the Task's row where the view is seen, so that the question is. */
  private async reveal(question: PermissionQuestion): Promise<void> {
    const { view, tree } = this.deps;
    if (!view.visible) return;
    await view.reveal(tree.nodeOf(question.taskId), { select: false, focus: false, expand: 1 });
  }
}

/** An answer that came too late changes nothing, which is said. */
export async function sayAnswered(dialogs: Dialogs): Promise<void> {
  await dialogs.say('info', vscode.l10n.t('That question was answered already; nothing was changed.'));
}
