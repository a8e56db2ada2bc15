import * as vscode from 'vscode';
import { DisposableStack } from '../base/disposable';
import type { Logger } from '../base/logger';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import { isLive } from '../tasks/runMachine';
import type { Activities } from './activities';
import type { WindowBoards } from './boards';
import type { ChangedFiles } from './changedFiles';
import type { OverlapMarks } from './overlapMarks';
import type { PermissionInbox } from './permissionInbox';
import { commandTooltip } from './plainWords';
import { markUri } from './rowMarks';
import { inOrder, recordedActivity, statusOf, type TaskStatus, verdictOfRun } from './taskStatus';
import { shown } from './taskWords';
import { Throttle } from './throttle';
import {
  goneRow,
  questionRow,
  type RowContent,
  repositoryRow,
  runRow,
  runTooltip,
  taskRow,
  taskTooltip,
} from './treeItems';
import { childRuns, type TreeNode, TreeNodes } from './treeNodes';
import type { UnresolvedFiles } from './unresolvedFiles';
import { conflictLines } from './warningWords';

export interface TaskTreeDeps {
  readonly boards: WindowBoards;
  readonly activities: Activities;
  readonly files: ChangedFiles;
  readonly inbox: PermissionInbox;
  readonly overlaps: Pick<OverlapMarks, 'of' | 'onDidChange'>;
  readonly unresolved: UnresolvedFiles;
  readonly logger: Logger;
}

/** At most four refreshes a second. */
const refreshMs = 250;
const rootKey = 'root';

/** Tasks with their Runs, by repository where there are several. Only rows that look different are refreshed. */
export class TaskTree implements vscode.TreeDataProvider<TreeNode> {
  readonly onDidChangeTreeData: vscode.Event<TreeNode[] | undefined>;
  private readonly changed = new vscode.EventEmitter<TreeNode[] | undefined>();
  private readonly deps: TaskTreeDeps;
  private readonly nodes = new TreeNodes();
  private readonly subscriptions = new DisposableStack();
  private readonly throttle = new Throttle(refreshMs, () => this.flush());
  /** What the editor was last given of each row, and of its children. */
  private readonly given = new Map<string, { readonly node: TreeNode; readonly looks: string }>();
  private readonly givenChildren = new Map<string, string>();

  constructor(deps: TaskTreeDeps) {
    this.deps = deps;
    this.onDidChangeTreeData = this.changed.event;
    for (const subscription of [
      deps.boards.onDidChange(() => this.throttle.ask()),
      deps.activities.onDidChange(() => this.throttle.ask()),
      deps.files.onDidLoad(() => this.throttle.ask()),
      deps.inbox.onDidChange(() => this.throttle.ask()),
      deps.overlaps.onDidChange(() => this.throttle.ask()),
      deps.unresolved.onDidLook(() => this.throttle.ask()),
    ])
      this.subscriptions.add(subscription);
  }

  getChildren(parent?: TreeNode): TreeNode[] {
    const children = this.childrenOf(parent);
    this.givenChildren.set(parent?.key ?? rootKey, keysOf(children));
    return children;
  }

  getTreeItem(node: TreeNode): vscode.TreeItem {
    const row = this.rowOf(node);
    this.given.set(node.key, { node, looks: looksOf(row) });
    const item = new vscode.TreeItem(row.label, this.collapsible(node));
    item.id = node.key;
    item.description = row.description;
    item.iconPath = row.icon;
    if (row.mark !== undefined) item.resourceUri = markUri(node.key, row.mark);
    item.contextValue = row.context.join(' ');
    item.accessibilityInformation = { label: row.spoken };
    if (node.kind !== 'repository') {
      // Without arguments: the command looks at the selection, which is this row. The editor forgets a row's
      // arguments while it refreshes the row, and a click in that moment would fail.
      const title = vscode.l10n.t('Open Transcript');
      item.command = { command: 'tributary.task.openTranscript', title };
    }
    return item;
  }

  /** Tooltips are made when they are looked at. */
  resolveTreeItem(item: vscode.TreeItem, node: TreeNode): vscode.TreeItem {
    if (node.kind === 'repository') return item;
    const task = this.taskOf(node.taskId);
    if (task === undefined) return item;
    if (node.kind === 'task')
      item.tooltip = taskTooltip(task, this.statusOf(task), {
        conflicts: this.conflictsOf(task),
        unresolved: this.deps.unresolved.of(task),
      });
    if (node.kind === 'run') {
      const run = task.runs.find((one) => one.id === node.runId);
      if (run !== undefined) item.tooltip = runTooltip(run);
    }
    if (node.kind === 'question')
      item.tooltip = commandTooltip(
        this.deps.inbox.pending.find(({ id }) => id === node.questionId)?.command ?? '',
      );
    return item;
  }

  getParent(node: TreeNode): TreeNode | undefined {
    if (node.kind === 'repository') return undefined;
    if (node.kind === 'task') {
      const board = this.deps.boards.find(node.taskId)?.board;
      return this.isGrouped && board !== undefined ? this.nodes.repository(board.id) : undefined;
    }
    const parent =
      node.kind === 'run'
        ? this.taskOf(node.taskId)?.runs.find((run) => run.id === node.runId)?.parentRunId
        : undefined;
    return parent === undefined ? this.nodes.task(node.taskId) : this.nodes.run(node.taskId, parent);
  }

  /** The row of a Task, to be revealed. */
  nodeOf(taskId: TaskId): TreeNode {
    return this.nodes.task(taskId);
  }

  rowOf(node: TreeNode): RowContent {
    const { boards, inbox, activities } = this.deps;
    if (node.kind === 'repository') {
      const place = boards.repositories.find(({ commonDir }) => commonDir === node.repositoryId);
      const board = boards.all.find(({ id }) => id === node.repositoryId);
      return repositoryRow(place?.label ?? '', board?.tasks.length ?? 0);
    }
    if (node.kind === 'question') {
      const question = inbox.pending.find(({ id }) => id === node.questionId);
      return question === undefined ? goneRow() : questionRow(question);
    }
    const task = this.taskOf(node.taskId);
    if (task === undefined) return goneRow();
    if (node.kind === 'task')
      return taskRow(task, this.statusOf(task), {
        questions: this.questionsOf(task).length,
        conflicts: this.deps.overlaps.of(task.id),
      });
    const run = task.runs.find(({ id }) => id === node.runId);
    return run === undefined
      ? goneRow()
      : runRow(run, {
          activity: activities.of(run.id) ?? recordedActivity(task),
          verdict: verdictOfRun(task, run),
        });
  }

  dispose(): void {
    this.throttle.dispose();
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  private get isGrouped(): boolean {
    return this.deps.boards.repositories.length > 1;
  }

  private childrenOf(parent: TreeNode | undefined): TreeNode[] {
    const { boards } = this.deps;
    if (parent === undefined) {
      // Without any Task the view says what to do instead.
      if (boards.all.every(({ tasks }) => tasks.length === 0)) return [];
      if (this.isGrouped) return boards.repositories.map(({ commonDir }) => this.nodes.repository(commonDir));
      return boards.all.flatMap(({ tasks }) => this.taskNodes(tasks));
    }
    if (parent.kind === 'repository')
      return this.taskNodes(boards.all.find(({ id }) => id === parent.repositoryId)?.tasks ?? []);
    if (parent.kind === 'question') return [];
    const task = this.taskOf(parent.taskId);
    if (task === undefined) return [];
    const questions =
      parent.kind === 'task' ? this.questionsOf(task).map((one) => this.nodes.question(one)) : [];
    const runs = childRuns(task, parent.kind === 'run' ? parent.runId : undefined);
    return [...questions, ...runs.map((run) => this.nodes.run(task.id, run.id))];
  }

  private taskNodes(tasks: readonly Task[]): TreeNode[] {
    return inOrder(tasks).map((task) => this.nodes.task(task.id));
  }

  /** A Task at work opens by itself: its Runs say what they are at, and their questions are seen. */
  private collapsible(node: TreeNode): vscode.TreeItemCollapsibleState {
    const { None, Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
    const task = node.kind === 'task' ? this.taskOf(node.taskId) : undefined;
    // A row that was shown without children is not opened by the editor when they come.
    if (task !== undefined && (task.runs.length === 0 || task.runs.some(isLive))) return Expanded;
    if (this.childrenOf(node).length === 0) return None;
    return node.kind === 'task' ? Collapsed : Expanded;
  }

  private questionsOf(task: Task): PermissionInbox['pending'] {
    return this.deps.inbox.pending.filter(({ taskId }) => taskId === task.id);
  }

  private conflictsOf(task: Task): string[] {
    const nameOf = (id: TaskId): string => shown(this.taskOf(id)?.packet.objective ?? id, 60);
    return conflictLines(task.id, this.deps.overlaps.of(task.id), nameOf);
  }

  private taskOf(taskId: TaskId): Task | undefined {
    return this.deps.boards.find(taskId)?.task;
  }

  private statusOf(task: Task): TaskStatus {
    const live = task.runs.find(isLive);
    const activity = live === undefined ? undefined : this.deps.activities.of(live.id);
    const isBusy = this.deps.boards.find(task.id)?.board.isBusy(task.id);
    const isReady = live === undefined && isBusy !== true && task.state === 'open';
    const files = isReady ? this.deps.files.of(task)?.length : undefined;
    const unresolved = this.deps.unresolved.of(task).length;
    return statusOf(task, { activity, isBusy, files, unresolved });
  }

  /** Nothing tells when the last of what a Run brought with it is over, and that is in a moment. */
  private lookAgain(): void {
    const isBetween = (task: Task): boolean => this.statusOf(task).kind === 'between';
    if (this.deps.boards.all.some(({ tasks }) => tasks.some(isBetween))) this.throttle.ask();
  }

  /** Tells the editor of what looks different from what it was given. */
  private flush(): void {
    this.lookAgain();
    if (this.givenChildren.get(rootKey) !== keysOf(this.childrenOf(undefined))) {
      this.changed.fire(undefined);
      return;
    }
    const different = [...this.given.values()].flatMap(({ node, looks }) => {
      const children = this.givenChildren.get(node.key);
      const isSame =
        looks === looksOf(this.rowOf(node)) &&
        (children === undefined || children === keysOf(this.childrenOf(node)));
      return isSame ? [] : [node];
    });
    if (different.length > 0) this.changed.fire(different);
  }
}

function keysOf(nodes: readonly TreeNode[]): string {
  return nodes.map(({ key }) => key).join('\n');
}

function looksOf({ label, description, icon, mark, context, spoken }: RowContent): string {
  return JSON.stringify([label, description, icon.id, icon.color?.id, mark, context, spoken]);
}
