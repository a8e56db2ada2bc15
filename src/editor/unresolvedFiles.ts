import * as vscode from 'vscode';
import { type Disposable, DisposableStack } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { TaskId } from '../model/ids';
import { stillUnresolved, type Unresolved } from '../model/movedBase';
import type { Task } from '../model/task';
import type { WindowBoards } from './boards';
import { isInside } from './review/taskFiles';
import { canAccept } from './taskStatus';

interface Looked {
  readonly of: Task['unresolved'];
  readonly tree: string | undefined;
  readonly left: readonly Unresolved[];
}

/** What the last merge of the checkout into a Task's Worktree left to be resolved there, and nobody has resolved yet. */
export class UnresolvedFiles implements Disposable {
  readonly onDidLook: Event<TaskId>;
  private readonly boards: WindowBoards;
  private readonly logger: Logger;
  private readonly looked: Emitter<TaskId>;
  private readonly byTask = new Map<TaskId, Looked>();
  private readonly subscriptions = new DisposableStack();

  constructor(deps: { readonly boards: WindowBoards; readonly logger: Logger }) {
    this.boards = deps.boards;
    this.logger = deps.logger;
    this.looked = new Emitter(deps.logger);
    this.onDidLook = this.looked.event;
    this.subscriptions.add(vscode.workspace.onDidSaveTextDocument(({ uri }) => this.onSave(uri)));
  }

  /** As last looked at; the record does not know what was edited by hand, so the Worktree is asked where it names any. */
  of(task: Task): readonly Unresolved[] {
    const { id, unresolved, snapshot } = task;
    if (unresolved.length === 0 || task.state !== 'open') return [];
    if (!canAccept(task)) return unresolved;
    const known = this.byTask.get(id);
    if (known?.of === unresolved && known.tree === snapshot?.tree) return known.left;
    this.byTask.set(id, { of: unresolved, tree: snapshot?.tree, left: known?.left ?? unresolved });
    void this.look(id);
    return known?.left ?? unresolved;
  }

  /** Looks again, and answers what is left. */
  async look(id: TaskId): Promise<readonly Unresolved[]> {
    const found = this.boards.find(id);
    if (found === undefined || found.task.unresolved.length === 0) return [];
    const { unresolved, snapshot } = found.task;
    try {
      const { conflicts } = await found.board.core.tasks.preview(id);
      const left = stillUnresolved(unresolved, conflicts);
      this.byTask.set(id, { of: unresolved, tree: snapshot?.tree, left });
      this.looked.fire(id);
      return left;
    } catch (error) {
      this.logger.warn('what is left to resolve could not be found out', { taskId: id, error });
      return unresolved;
    }
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.looked.dispose();
  }

  private onSave({ scheme, fsPath }: vscode.Uri): void {
    if (scheme !== 'file') return;
    const tasks = this.boards.all.flatMap((board) => board.tasks);
    const task = tasks.find(({ worktreePath }) => isInside(fsPath, worktreePath));
    if (task !== undefined && task.unresolved.length > 0 && canAccept(task)) void this.look(task.id);
  }
}
