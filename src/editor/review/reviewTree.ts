import * as vscode from 'vscode';
import { DisposableStack } from '../../base/disposable';
import type { TaskId } from '../../model/ids';
import type { Task } from '../../model/task';
import type { MarkedFile, MarkedHunk } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { Throttle } from '../throttle';
import { goneRow } from '../treeItems';
import { fileRow, hunkRow, type ReviewRow } from './reviewRows';
import type { ReviewState } from './reviewState';

/** A row of the review: a file or one of its hunks. Commands take it as it is. */
export interface ReviewNode {
  readonly kind: 'file' | 'hunk';
  readonly key: string;
  readonly taskId: TaskId;
  readonly path: string;
  /** Of a hunk. */
  readonly hunkId?: string;
}

/** At most ten refreshes a second. */
const refreshMs = 100;

/** What the Task under review changed: files, and below each its hunks. Only rows that look different are refreshed. */
export class ReviewTree implements vscode.TreeDataProvider<ReviewNode> {
  readonly onDidChangeTreeData: vscode.Event<ReviewNode[] | undefined>;
  private readonly changed = new vscode.EventEmitter<ReviewNode[] | undefined>();
  private readonly state: ReviewState;
  private readonly subscriptions = new DisposableStack();
  private readonly throttle = new Throttle(refreshMs, () => this.flush());
  private readonly nodes = new Map<string, ReviewNode>();
  /** What the editor was last given of each row, and which rows there were. */
  private readonly given = new Map<string, { readonly node: ReviewNode; readonly looks: string }>();
  private givenRows = '';

  constructor(state: ReviewState) {
    this.state = state;
    this.onDidChangeTreeData = this.changed.event;
    this.subscriptions.add(state.onDidChange(() => this.throttle.ask()));
  }

  getChildren(parent?: ReviewNode): ReviewNode[] {
    if (parent === undefined) this.givenRows = this.rows();
    return this.childrenOf(parent);
  }

  getTreeItem(node: ReviewNode): vscode.TreeItem {
    const row = this.rowOf(node);
    this.given.set(node.key, { node, looks: looksOf(row) });
    const { Expanded, None } = vscode.TreeItemCollapsibleState;
    const item = new vscode.TreeItem(row.label, this.childrenOf(node).length === 0 ? None : Expanded);
    item.id = node.key;
    item.description = row.description;
    item.iconPath = row.icon;
    item.contextValue = row.context.join(' ');
    item.accessibilityInformation = { label: row.spoken };
    if (row.isReviewed !== undefined) item.checkboxState = checkbox(row.isReviewed, row.spoken);
    // Without arguments, as in the tree of Tasks: the command looks at the selection, which is this row.
    item.command = { command: 'tributary.review.open', title: vscode.l10n.t('Show in the Difference') };
    return item;
  }

  /** Tooltips are made when they are looked at. */
  resolveTreeItem(item: vscode.TreeItem, node: ReviewNode): vscode.TreeItem {
    const file = this.fileOf(node.path);
    if (file === undefined) return item;
    const markdown = new vscode.MarkdownString();
    const from = file.oldPath === undefined ? '' : `${visibleName(file.oldPath)} → `;
    markdown.appendText(`${from}${visibleName(node.path)}\n\n${this.rowOf(node).spoken}`);
    item.tooltip = markdown;
    return item;
  }

  getParent({ kind, taskId, path }: ReviewNode): ReviewNode | undefined {
    return kind === 'file' ? undefined : this.fileNode(taskId, path);
  }

  /** The row of a file or hunk, to be revealed; `undefined` when it is not shown now. */
  nodeOf(path: string, hunkId?: string): ReviewNode | undefined {
    const { task } = this.state;
    const file = this.fileOf(path);
    if (task === undefined || file === undefined) return undefined;
    const hunk = file.hunks.find(({ id }) => id === hunkId);
    return hunk === undefined ? this.fileNode(task.id, path) : this.hunkNode(task.id, hunk);
  }

  rowOf(node: ReviewNode): ReviewRow {
    const { task } = this.state;
    const file = this.fileOf(node.path);
    if (task === undefined || task.id !== node.taskId || file === undefined) return goneRow();
    if (node.kind === 'file') return fileRow(task, file);
    const hunk = file.hunks.find(({ id }) => id === node.hunkId);
    return hunk === undefined ? goneRow() : hunkRow(task, hunk);
  }

  dispose(): void {
    this.throttle.dispose();
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  private childrenOf(parent: ReviewNode | undefined): ReviewNode[] {
    const { task, hunks } = this.state;
    if (task === undefined || hunks === undefined) return [];
    if (parent === undefined) return hunks.files.map(({ path }) => this.fileNode(task.id, path));
    if (parent.kind === 'hunk' || parent.taskId !== task.id) return [];
    return (this.fileOf(parent.path)?.hunks ?? []).map((hunk) => this.hunkNode(task.id, hunk));
  }

  private fileOf(path: string): MarkedFile | undefined {
    return this.state.hunks?.files.find((file) => file.path === path);
  }

  private fileNode(taskId: TaskId, path: string): ReviewNode {
    const key = `file ${taskId} ${path}`;
    return this.known({ kind: 'file', key, taskId, path });
  }

  private hunkNode(taskId: Task['id'], { id, path }: MarkedHunk): ReviewNode {
    return this.known({ kind: 'hunk', key: `hunk ${taskId} ${id}`, taskId, path, hunkId: id });
  }

  /** One object per row, so that the editor knows a row again. */
  private known(node: ReviewNode): ReviewNode {
    const before = this.nodes.get(node.key);
    if (before === undefined) this.nodes.set(node.key, node);
    return before ?? node;
  }

  private rows(): string {
    return this.childrenOf(undefined)
      .flatMap((node) => [node.key, ...this.childrenOf(node).map(({ key }) => key)])
      .join('\n');
  }

  /** Tells the editor of what looks different from what it was given. */
  private flush(): void {
    if (this.givenRows !== this.rows()) {
      this.given.clear();
      this.changed.fire(undefined);
      return;
    }
    const different = [...this.given.values()].filter(
      ({ node, looks }) => looks !== looksOf(this.rowOf(node)),
    );
    if (different.length > 0) this.changed.fire(different.map(({ node }) => node));
  }
}

function checkbox(isReviewed: boolean, spoken: string): NonNullable<vscode.TreeItem['checkboxState']> {
  const { Checked, Unchecked } = vscode.TreeItemCheckboxState;
  return {
    state: isReviewed ? Checked : Unchecked,
    tooltip: isReviewed ? vscode.l10n.t('Reviewed') : vscode.l10n.t('Mark as Reviewed'),
    accessibilityInformation: { label: vscode.l10n.t('Reviewed: {0}', spoken) },
  };
}

function looksOf({ label, description, icon, context, spoken, isReviewed }: ReviewRow): string {
  return JSON.stringify([label, description, icon.id, icon.color?.id, context, spoken, isReviewed]);
}
