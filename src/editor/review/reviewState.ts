import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { DisposableStack } from '../../base/disposable';
import { Emitter, type Event } from '../../base/emitter';
import type { Logger } from '../../base/logger';
import { type TaskId, taskIdSchema } from '../../model/ids';
import type { Task } from '../../model/task';
import type { TaskHunks } from '../../tasks/taskApi';
import type { WindowBoards } from '../boards';
import type { Memory } from '../consent';
import { isInside } from './taskFiles';

export interface ReviewStateDeps {
  readonly boards: WindowBoards;
  /** Remembers which Task was under review when the window is reloaded. */
  readonly memory: Memory;
  readonly logger: Logger;
}

const memoryKey = 'reviewedTask';

/** The Task under review in this window, with its change hunk by hunk as it was last looked at. */
export class ReviewState implements Disposable {
  readonly onDidChange: Event<void>;
  private readonly deps: ReviewStateDeps;
  private readonly changed: Emitter<void>;
  private readonly subscriptions = new DisposableStack();
  private id: TaskId | undefined;
  private loaded: TaskHunks | undefined;
  private isSince = false;
  private looks = '';
  private loading: Promise<void> | undefined;
  private isAsked = false;

  constructor(deps: ReviewStateDeps) {
    this.deps = deps;
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
    const remembered = taskIdSchema.safeParse(deps.memory.get(memoryKey));
    if (remembered.success) this.id = remembered.data;
    this.subscriptions.add(deps.boards.onDidChange(() => this.look()));
    this.subscriptions.add(vscode.workspace.onDidSaveTextDocument(({ uri }) => this.onSave(uri)));
    this.showKeys();
  }

  /** The Task under review, while this window knows it. */
  get task(): Task | undefined {
    return this.id === undefined ? undefined : this.deps.boards.find(this.id)?.task;
  }

  /** Its change as last looked at; `undefined` before the first look. */
  get hunks(): TaskHunks | undefined {
    return this.loaded?.task.id === this.id ? this.loaded : undefined;
  }

  /** Whether only what changed since the user's review is shown. */
  get isSinceReview(): boolean {
    return this.isSince;
  }

  /** Makes it the Task under review. */
  show(id: TaskId): void {
    if (this.id === id) return;
    this.id = id;
    this.isSince = false;
    void this.deps.memory.update(memoryKey, id);
    this.changed.fire();
    this.look();
  }

  setSinceReview(isSince: boolean): void {
    this.isSince = isSince;
    this.look();
  }

  /** Looks again, whatever was seen last; resolves when it was seen. */
  async refresh(): Promise<void> {
    this.looks = '';
    this.look();
    await this.loading;
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  private onSave({ scheme, fsPath }: vscode.Uri): void {
    if (scheme === 'file' && isInside(fsPath, this.task?.worktreePath)) void this.refresh();
  }

  private look(): void {
    this.showKeys();
    const { task } = this;
    const looks = task === undefined ? '' : looksOf(task, this.isSince);
    if (looks === this.looks) return;
    this.looks = looks;
    this.isAsked = task !== undefined;
    if (task === undefined) this.changed.fire();
    else this.loading ??= this.load();
  }

  /** One look after another; the last asking is never lost. */
  private async load(): Promise<void> {
    while (this.isAsked) {
      this.isAsked = false;
      const id = this.id;
      const tasks = id === undefined ? undefined : this.deps.boards.find(id)?.board.core.tasks;
      try {
        const since = this.isSince ? 'review' : 'base';
        const hunks = id === undefined ? undefined : await tasks?.hunks(id, { since });
        if (id !== this.id || hunks === undefined) continue;
        this.loaded = hunks;
      } catch (error) {
        this.deps.logger.warn('what a task changed could not be read hunk by hunk', { taskId: id, error });
      }
      this.changed.fire();
    }
    this.loading = undefined;
  }

  private showKeys(): void {
    void vscode.commands.executeCommand('setContext', 'tributary.isReviewing', this.task !== undefined);
    void vscode.commands.executeCommand('setContext', 'tributary.isSinceReview', this.isSince);
  }
}

/** What of a record tells that its hunks, or what was said of them, may be other ones. */
function looksOf(task: Task, isSince: boolean): string {
  const { id, state, pending, snapshot, marks, landings, movedBases } = task;
  return JSON.stringify([id, state, pending, snapshot?.tree, marks, landings, movedBases.length, isSince]);
}
