import * as vscode from 'vscode';
import * as z from 'zod';
import { DisposableStack } from '../../base/disposable';
import { taskIdSchema } from '../../model/ids';
import type { Announcer } from '../announcer';
import type { WindowBoards } from '../boards';
import { shown } from '../taskWords';
import type { TreeNode } from '../treeNodes';
import { markPart } from './marking';
import type { ReviewState } from './reviewState';
import type { ReviewNode, ReviewTree } from './reviewTree';

export interface ReviewViewDeps {
  readonly boards: WindowBoards;
  readonly state: ReviewState;
  readonly tree: ReviewTree;
  readonly tasks: vscode.TreeView<TreeNode>;
  readonly announcer: Announcer;
}

const ofTask = z.looseObject({ taskId: taskIdSchema });

/** The view of the Task under review: whose change it is, what it says when empty, its checkboxes. */
export class ReviewView implements vscode.Disposable {
  readonly view: vscode.TreeView<ReviewNode>;
  private readonly deps: ReviewViewDeps;
  private readonly subscriptions = new DisposableStack();

  constructor(deps: ReviewViewDeps) {
    this.deps = deps;
    this.view = vscode.window.createTreeView('tributary.review', {
      treeDataProvider: deps.tree,
      showCollapseAll: true,
      // A file's checkbox is not its hunks' together: it says that the file was reviewed as it is.
      manageCheckboxStateManually: true,
    });
    this.subscriptions.add(this.view);
    this.subscriptions.add(this.view.onDidChangeCheckboxState(({ items }) => void this.onChecked(items)));
    this.subscriptions.add(deps.tasks.onDidChangeSelection(({ selection }) => this.onSelected(selection[0])));
    this.subscriptions.add(deps.state.onDidChange(() => this.show()));
    this.show();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /** A Task that changed something is under review as soon as its row is selected. */
  private onSelected(node: TreeNode | undefined): void {
    const parsed = ofTask.safeParse(node);
    if (!parsed.success) return;
    const task = this.deps.boards.find(parsed.data.taskId)?.task;
    if (task?.snapshot !== undefined) this.deps.state.show(task.id);
  }

  private async onChecked(
    items: readonly (readonly [ReviewNode, vscode.TreeItemCheckboxState])[],
  ): Promise<void> {
    try {
      for (const [node, checked] of items) {
        const { Checked } = vscode.TreeItemCheckboxState;
        await markPart(this.deps.boards, node, checked === Checked ? 'reviewed' : 'notReviewed');
      }
    } catch (error) {
      await this.deps.announcer.failed(vscode.l10n.t('Marking as reviewed'), error);
    }
    // Also where nothing was marked: the checkbox shows what is so.
    await this.deps.state.refresh();
  }

  private show(): void {
    const { task, hunks, isSinceReview } = this.deps.state;
    const description = task === undefined ? undefined : shown(task.packet.objective, 60);
    if (this.view.description !== description) {
      if (description === undefined) delete this.view.description;
      else this.view.description = description;
    }
    const isEmpty = hunks !== undefined && hunks.files.length === 0;
    if (!isEmpty) delete this.view.message;
    else
      this.view.message = isSinceReview
        ? vscode.l10n.t('Nothing changed since your review.')
        : vscode.l10n.t('Nothing differs from the base.');
  }
}
