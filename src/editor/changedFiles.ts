import type { Disposable } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { FileChange } from '../model/changes';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import type { Boards } from './boards';

interface Loaded {
  readonly tree: string;
  readonly files: readonly FileChange[] | undefined;
}

/** What Tasks changed, asked for once per Snapshot and remembered. */
export class ChangedFiles implements Disposable {
  readonly onDidLoad: Event<TaskId>;
  private readonly boards: Boards;
  private readonly logger: Logger;
  private readonly loaded: Emitter<TaskId>;
  private readonly byTask = new Map<TaskId, Loaded>();

  constructor(deps: { readonly boards: Boards; readonly logger: Logger }) {
    this.boards = deps.boards;
    this.logger = deps.logger;
    this.loaded = new Emitter(deps.logger);
    this.onDidLoad = this.loaded.event;
  }

  /** The files of the newest Snapshot; `undefined` while they are not known, and then they are asked for. */
  of(task: Task): readonly FileChange[] | undefined {
    const tree = task.snapshot?.tree;
    if (tree === undefined) return [];
    const known = this.byTask.get(task.id);
    if (known?.tree === tree) return known.files;
    this.byTask.set(task.id, { tree, files: undefined });
    void this.load(task.id, tree);
    return undefined;
  }

  dispose(): void {
    this.loaded.dispose();
  }

  private async load(id: TaskId, tree: string): Promise<void> {
    try {
      const files = await this.boards.find(id)?.board.core.tasks.changes(id);
      if (files === undefined || this.byTask.get(id)?.tree !== tree) return;
      this.byTask.set(id, { tree, files });
      this.loaded.fire(id);
    } catch (error) {
      // Whoever asks next tries again: forgotten, not remembered as unknown for good.
      if (this.byTask.get(id)?.tree === tree) this.byTask.delete(id);
      this.logger.warn('what a task changed could not be found out', { taskId: id, error });
    }
  }
}
