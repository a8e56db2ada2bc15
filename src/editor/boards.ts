import type { Event } from '../base/emitter';
import type { Core } from '../composeCore';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';

/** A repository of this window and its core. */
export interface OpenBoard {
  /** The git common directory, absolute and real: the same for every worktree of a repository. */
  readonly id: string;
  /** What the tree calls it. */
  readonly label: string;
  readonly core: Core;
  /** The Tasks as last heard of; never asks the disk. */
  readonly tasks: readonly Task[];
}

/** Every board of the window; opens one per repository of the workspace folders, lazily and asynchronously. */
export interface Boards {
  readonly all: readonly OpenBoard[];
  /** Which boards there are, or what Tasks they have, changed. */
  readonly onDidChange: Event<void>;
  /** The board that has the Task, and the Task as last heard of. */
  find(taskId: TaskId): { readonly board: OpenBoard; readonly task: Task } | undefined;
}
