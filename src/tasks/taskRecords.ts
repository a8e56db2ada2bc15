import type { Clock } from '../base/async';
import type { Emitter } from '../base/emitter';
import type { BoardEvent } from '../model/events';
import type { RunId, TaskId } from '../model/ids';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { Store } from '../store/store';
import type { TaskChange } from './taskApi';

type WithoutStamp<E> = E extends unknown ? Omit<E, 'v' | 'at' | 'taskId'> : never;
/** A board event before it is stamped with version, time and Task. */
export type NewBoardEvent = WithoutStamp<BoardEvent>;

/**
 * The one road on which Tasks are saved: changes the record under the board lock, writes the event line, fires
 * once. Events observe, so a line that cannot be written does not undo the change.
 */
export class TaskRecords {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly changes: Emitter<TaskChange>;
  private readonly lastSeen = new Map<TaskId, string>();

  constructor(deps: { store: Store; clock: Clock; changes: Emitter<TaskChange> }) {
    this.store = deps.store;
    this.clock = deps.clock;
    this.changes = deps.changes;
  }

  now(): string {
    return this.clock.now().toISOString();
  }

  /** Whether this very state of the Task was saved here, or told of before. */
  isKnown(task: Task): boolean {
    if (this.lastSeen.get(task.id) === task.changedAt) return true;
    this.lastSeen.set(task.id, task.changedAt);
    return false;
  }

  load(id: TaskId): Promise<Task> {
    return this.store.tasks.load(id);
  }

  async create(build: (id: TaskId, at: string) => Task): Promise<Task> {
    const at = this.now();
    return this.store.tasks.create((id) => build(id, at));
  }

  /** Saves what `change` makes of the newest record; fires `event`, when given, with the saved one. */
  async change(id: TaskId, change: (task: Task) => Task, event?: NewBoardEvent): Promise<Task> {
    const at = this.now();
    const saved = await this.store.tasks.update(id, (task) => {
      const next = change(task);
      return next === task ? task : { ...withEnding(task, next, at), changedAt: at };
    });
    this.lastSeen.set(id, saved.changedAt);
    if (event !== undefined) await this.tell(saved, event);
    return saved;
  }

  changeRun(id: TaskId, runId: RunId, change: (run: Run) => Run, event?: NewBoardEvent): Promise<Task> {
    return this.change(id, (task) => withRun(task, runId, change), event);
  }

  /** Writes and fires an event, with the Task's record as it is now: whoever tells may have it from before. */
  async report({ id }: Pick<Task, 'id'>, event: NewBoardEvent): Promise<void> {
    await this.tell(await this.load(id), event);
  }

  private async tell(task: Task, event: NewBoardEvent): Promise<void> {
    const stamped: BoardEvent = { v: 1, at: this.now(), taskId: task.id, ...event };
    await this.store.worktrees.appendEvent(stamped);
    this.changes.fire({ task, event: stamped });
  }
}

/** Writes down when a Task ended: what would bring it back is kept for so many days from then. */
function withEnding(before: Task, next: Task, at: string): Task {
  if (before.state === next.state) return next;
  const { endedAt: _endedAt, ...rest } = next;
  return next.state === 'open' ? rest : { ...rest, endedAt: at };
}

/** The Task with one of its Runs changed. */
export function withRun(task: Task, runId: RunId, change: (run: Run) => Run): Task {
  return { ...task, runs: task.runs.map((run) => (run.id === runId ? change(run) : run)) };
}

export function runOf(task: Task, runId: RunId): Run | undefined {
  return task.runs.find((run) => run.id === runId);
}
