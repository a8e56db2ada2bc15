import { DisposableStack } from '../base/disposable';
import type { TaskId } from '../model/ids';
import type { Settled } from '../tasks/taskApi';
import type { TaskService } from '../tasks/taskService';
import type { Report } from './report';
import type { VerbContext } from './verbContext';

interface Begun {
  readonly settled: Promise<Settled>;
}

/** Begins something that runs agents and reports all that happens to its Task, until nothing of it runs. */
export async function follow<B extends { readonly task: { readonly id: TaskId } } & Partial<Begun>>(
  context: VerbContext,
  begin: () => Promise<B>,
): Promise<{ begun: B; settled: Settled | undefined }> {
  const feed = new Feed(context.tasks, context.report);
  try {
    context.interruption.begin('agents');
    const begun = await begin();
    feed.admit(begun.task.id);
    context.interruption.started(begun.task.id);
    return { begun, settled: await begun.settled };
  } finally {
    feed.dispose();
  }
}

/** Other Tasks' events are not of this call; until its Task is known, all are kept back. */
class Feed {
  private readonly subscriptions = new DisposableStack();
  private kept: { readonly taskId: TaskId; readonly tell: () => void }[] = [];
  private admitted: TaskId | undefined;

  constructor(tasks: TaskService, report: Report) {
    this.subscriptions.add(
      tasks.onDidChangeTask((change) => this.take(change.event.taskId, () => report.change(change))),
    );
    this.subscriptions.add(
      tasks.onDidAppendEntry((appended) => this.take(appended.taskId, () => report.entry(appended))),
    );
    this.subscriptions.add(
      tasks.onDidStream((streamed) => this.take(streamed.taskId, () => report.stream(streamed))),
    );
  }

  admit(taskId: TaskId): void {
    this.admitted = taskId;
    for (const { taskId: of, tell } of this.kept.splice(0)) if (of === taskId) tell();
  }

  dispose(): void {
    this.subscriptions.dispose();
  }

  private take(taskId: TaskId, tell: () => void): void {
    if (this.admitted === undefined) this.kept.push({ taskId, tell });
    else if (this.admitted === taskId) tell();
  }
}
