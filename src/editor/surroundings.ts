import * as vscode from 'vscode';
import { DisposableStack } from '../base/disposable';
import type { Logger } from '../base/logger';
import type { Task } from '../model/task';
import type { WindowBoards } from './boards';
import { describeError } from './messages';
import type { PermissionInbox } from './permissionInbox';
import { type Counts, countTasks, isAtRest } from './taskStatus';
import { badgeText } from './taskWords';
import { Throttle } from './throttle';
import type { TreeNode } from './treeNodes';

export interface SurroundingsDeps {
  readonly boards: WindowBoards;
  readonly inbox: PermissionInbox;
  readonly view: vscode.TreeView<TreeNode>;
  /** Whether a model can be reached: there is a key, or the demo is chosen. */
  readonly hasModel: () => Promise<boolean>;
  readonly logger: Logger;
}

const refreshMs = 250;

/** What shows around the tree: its badge and message, the status bar, and the context keys that menus and welcomes ask for. */
export class Surroundings implements vscode.Disposable {
  private readonly deps: SurroundingsDeps;
  private readonly subscriptions = new DisposableStack();
  private readonly item: vscode.StatusBarItem;
  private readonly throttle = new Throttle(refreshMs, () => this.show());
  private readonly keys = new Map<string, unknown>();

  constructor(deps: SurroundingsDeps) {
    this.deps = deps;
    this.item = vscode.window.createStatusBarItem('tributary.counts', vscode.StatusBarAlignment.Left, 0);
    this.item.name = 'Tributary';
    this.item.command = 'tributary.tasks.focus';
    this.subscriptions.add(deps.boards.onDidChange(() => this.throttle.ask()));
    this.subscriptions.add(deps.inbox.onDidChange(() => this.throttle.ask()));
    this.setKey('tributary.state', 'loading');
    void this.refreshModel();
  }

  /** Key or provider changed. */
  async refreshModel(): Promise<void> {
    this.setKey('tributary.hasModel', await this.deps.hasModel());
  }

  dispose(): void {
    this.throttle.dispose();
    this.subscriptions.dispose();
    this.item.dispose();
  }

  private show(): void {
    const { boards, inbox, view } = this.deps;
    const tasks = boards.all.flatMap((board) => board.tasks);
    const asking = new Set(inbox.pending.map(({ taskId }) => taskId));
    const isBusy = ({ id }: Task): boolean => boards.find(id)?.board.isBusy(id) === true;
    const counts = countTasks(tasks, { isAsking: ({ id }) => asking.has(id), isBusy });
    // Nothing tells when the last of it is over, and that is in a moment.
    if (tasks.some((task) => isAtRest(task) && isBusy(task))) this.throttle.ask();
    const value = counts.ready + counts.waiting;
    const badge = value === 0 ? undefined : { value, tooltip: badgeText(counts) };
    if (view.badge?.value !== badge?.value || view.badge?.tooltip !== badge?.tooltip) view.badge = badge;
    this.showItem(counts);
    this.showState(tasks.length > 0);
  }

  private showItem(counts: Counts): void {
    const text = statusBarText(counts);
    if (text === undefined) {
      this.item.hide();
      return;
    }
    this.item.text = text;
    this.item.tooltip = vscode.l10n.t('Tributary: show the Tasks');
    this.item.show();
  }

  private showState(hasTasks: boolean): void {
    const { boards, view } = this.deps;
    const [failure] = boards.problems;
    const unread = boards.all.reduce((sum, board) => sum + board.problems.length, 0);
    if (failure !== undefined) view.message = describeError(failure).message;
    else if (unread > 0)
      view.message = vscode.l10n.t('{0} records cannot be read; the log says which.', unread);
    else if (view.message !== undefined) delete view.message;
    this.setKey('tributary.hasTasks', hasTasks);
    this.setKey('tributary.isAsking', this.deps.inbox.pending.length > 0);
    this.setKey('tributary.state', this.stateOf(failure !== undefined));
  }

  private stateOf(hasFailed: boolean): string {
    const { boards } = this.deps;
    if (!vscode.workspace.isTrusted) return 'untrusted';
    if (!boards.isSearched) return 'loading';
    if (hasFailed) return 'failed';
    return boards.repositories.length === 0 ? 'noRepository' : 'ready';
  }

  private setKey(key: string, value: unknown): void {
    if (this.keys.has(key) && this.keys.get(key) === value) return;
    this.keys.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}

/** `2 running · 1 waiting`; what has nothing to count is left out; nothing at all: the item is hidden. */
function statusBarText({ running, waiting, ready }: Counts): string | undefined {
  const parts = [
    ...(running + waiting === 0 ? [] : [vscode.l10n.t('{0} running', running)]),
    ...(running + waiting === 0 ? [] : [vscode.l10n.t('{0} waiting', waiting)]),
    ...(ready === 0 ? [] : [vscode.l10n.t('{0} ready', ready)]),
  ];
  return parts.length === 0
    ? undefined
    : `$(git-branch) ${vscode.l10n.t('Tributary: {0}', parts.join(' · '))}`;
}
