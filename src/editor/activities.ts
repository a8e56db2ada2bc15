import type { Disposable } from '../base/disposable';
import { DisposableStack } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { RunId, TaskId } from '../model/ids';
import { type Activity, type ActivityEvent, nextActivity } from './activity';
import type { WindowBoards } from './boards';
import type { LiveBoard } from './liveBoard';

/** What the Runs of this window are at, by Run. */
export class Activities implements Disposable {
  /** The Task one of whose Runs is at something else now. */
  readonly onDidChange: Event<TaskId>;
  private readonly changed: Emitter<TaskId>;
  private readonly byRun = new Map<RunId, Activity>();
  private readonly subscriptions = new DisposableStack();

  constructor(deps: { readonly boards: WindowBoards; readonly logger: Logger }) {
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
    for (const board of deps.boards.all) this.listen(board);
    this.subscriptions.add(deps.boards.onDidOpen((board) => this.listen(board)));
  }

  of(runId: RunId): Activity | undefined {
    return this.byRun.get(runId);
  }

  dispose(): void {
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  private listen(board: LiveBoard): void {
    this.subscriptions.add(
      board.onDidChangeTask(({ event, task }) => {
        const runId = 'runId' in event ? event.runId : task.runs.at(-1)?.id;
        if (runId !== undefined) this.take(task.id, runId, { from: 'board', event });
      }),
    );
    this.subscriptions.add(
      board.onDidAppendEntry(({ taskId, runId, entry }) =>
        this.take(taskId, runId, { from: 'transcript', entry }),
      ),
    );
    this.subscriptions.add(
      board.onDidStream(({ taskId, runId, event }) => this.take(taskId, runId, { from: 'stream', event })),
    );
  }

  private take(taskId: TaskId, runId: RunId, happened: ActivityEvent): void {
    const now = this.byRun.get(runId);
    const next = nextActivity(now, happened);
    if (next === now) return;
    if (next === undefined) this.byRun.delete(runId);
    else this.byRun.set(runId, next);
    this.changed.fire(taskId);
  }
}
