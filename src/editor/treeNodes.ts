import type { RunId, TaskId } from '../model/ids';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { PermissionQuestion } from '../tasks/permission';

/** A row of the tree. Commands take it as it is: `taskId` and `runId` are what they look at. */
export type TreeNode =
  | { readonly kind: 'repository'; readonly key: string; readonly repositoryId: string }
  | { readonly kind: 'task'; readonly key: string; readonly taskId: TaskId }
  | { readonly kind: 'run'; readonly key: string; readonly taskId: TaskId; readonly runId: RunId }
  | {
      readonly kind: 'question';
      readonly key: string;
      readonly taskId: TaskId;
      readonly runId: RunId;
      readonly questionId: string;
    };

/** Hands out one object per row, so that the editor knows a row again. */
export class TreeNodes {
  private readonly byKey = new Map<string, TreeNode>();

  repository(repositoryId: string): TreeNode {
    const key = `repository ${repositoryId}`;
    return this.known(key, () => ({ kind: 'repository', key, repositoryId }));
  }

  task(taskId: TaskId): TreeNode {
    const key = taskKey(taskId);
    return this.known(key, () => ({ kind: 'task', key, taskId }));
  }

  run(taskId: TaskId, runId: RunId): TreeNode {
    const key = `run ${runId}`;
    return this.known(key, () => ({ kind: 'run', key, taskId, runId }));
  }

  question({ id, taskId, runId }: PermissionQuestion): TreeNode {
    const key = `question ${id}`;
    return this.known(key, () => ({ kind: 'question', key, taskId, runId, questionId: id }));
  }

  private known(key: string, make: () => TreeNode): TreeNode {
    const node = this.byKey.get(key) ?? make();
    this.byKey.set(key, node);
    return node;
  }
}

export function taskKey(taskId: TaskId): string {
  return `task ${taskId}`;
}

/** The Runs directly under a Task, or under one of its Runs, oldest first. */
export function childRuns(task: Task, parent: RunId | undefined): readonly Run[] {
  const isKnown = (id: RunId | undefined): boolean => task.runs.some((run) => run.id === id);
  return task.runs.filter((run) =>
    parent === undefined ? !isKnown(run.parentRunId) : run.parentRunId === parent,
  );
}
