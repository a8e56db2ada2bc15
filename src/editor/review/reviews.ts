import * as vscode from 'vscode';
import { DisposableStack } from '../../base/disposable';
import type { FileChange } from '../../model/changes';
import type { TaskId } from '../../model/ids';
import type { Task } from '../../model/task';
import type { WindowBoards } from '../boards';
import type { ChangedFiles } from '../changedFiles';
import type { Dialogs } from '../dialogs';
import { isBeingWritten } from '../taskStatus';
import { shown } from '../taskWords';
import { openReview, reviewTitle } from './review';

export interface ReviewsDeps {
  readonly boards: WindowBoards;
  readonly files: ChangedFiles;
  readonly dialogs: Dialogs;
}

interface OpenReview {
  readonly title: string;
  /** Which files it shows. */
  readonly looks: string;
  /** The tab as it was last seen. */
  tab?: vscode.Tab;
  /** The files the user was told of, that it does not show. */
  told?: string;
}

/** The reviews that are open, a tab for each Task. The editor never adds a file to one; this says when it should. */
export class Reviews implements vscode.Disposable {
  private readonly deps: ReviewsDeps;
  private readonly open = new Map<TaskId, OpenReview>();
  private readonly subscriptions = new DisposableStack();

  constructor(deps: ReviewsDeps) {
    this.deps = deps;
    for (const subscription of [
      vscode.window.tabGroups.onDidChangeTabs(({ closed }) => this.onClosed(closed)),
      deps.boards.onDidChange(() => this.look()),
      deps.files.onDidLoad(() => this.look()),
    ])
      this.subscriptions.add(subscription);
  }

  /** Shows the review of a Task in place of the one that is open. */
  async show(task: Task, files: readonly FileChange[]): Promise<void> {
    const title = reviewTitle(task);
    const old = this.tabOf(task.id, title);
    // A tab that the user closes in this very moment is as good as closed here.
    if (old !== undefined) await vscode.window.tabGroups.close(old, true).then(undefined, () => true);
    this.open.set(task.id, { title, looks: looksOf(files) });
    await openReview(task, files);
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  /**
   * The tab of the Task's review, also of one from before the window was reloaded. Looked for among what stands:
   * the editor does not tell of every tab, and gives one that it tells of anew another identity.
   */
  private tabOf(taskId: TaskId, title: string): vscode.Tab | undefined {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const known = this.open.get(taskId)?.tab;
    if (known !== undefined && tabs.includes(known)) return known;
    const ofOthers = new Set([...this.open].map(([id, { tab }]) => (id === taskId ? undefined : tab)));
    return tabs.find((tab) => !ofOthers.has(tab) && isReview(tab, title));
  }

  private onClosed(closed: readonly vscode.Tab[]): void {
    for (const [id, { tab }] of this.open)
      if (tab !== undefined && closed.includes(tab)) this.open.delete(id);
  }

  private look(): void {
    for (const [id, review] of this.open) {
      const found = this.deps.boards.find(id);
      const tab = this.tabOf(id, review.title);
      if (tab === undefined || found === undefined || !maySay(found.task)) continue;
      review.tab = tab;
      const files = this.deps.files.of(found.task);
      if (files === undefined || files.length === 0) continue;
      const looks = looksOf(files);
      if (looks === review.looks || looks === review.told) continue;
      review.told = looks;
      void this.tell(found.task);
    }
  }

  /** Not replaced unasked: somebody may be reading, or writing, in it. */
  private async tell({ id, packet }: Task): Promise<void> {
    const refresh = vscode.l10n.t('Refresh Review');
    const name = shown(packet.objective, 60);
    const message = vscode.l10n.t('"{0}" changed other files than the open review shows.', name);
    if ((await this.deps.dialogs.say('info', message, refresh)) === refresh)
      await vscode.commands.executeCommand('tributary.task.review', { taskId: id });
  }
}

/** Not after each Turn of a Run that writes, but as soon as it has ended, whatever judges its work then. */
function maySay(task: Task): boolean {
  return task.state === 'open' && task.pending === undefined && !isBeingWritten(task);
}

/** The editor adds the number of files to the title. */
function isReview({ label }: vscode.Tab, title: string): boolean {
  return label === title || label.startsWith(`${title} (`);
}

function looksOf(files: readonly FileChange[]): string {
  return JSON.stringify(files.map(({ status, path, oldPath }) => [status, path, oldPath]));
}
