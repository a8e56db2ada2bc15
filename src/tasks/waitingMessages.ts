import type { UserMessage } from '../agent/agentLoop';
import { TributaryError } from '../base/errors';
import type { RunId, TaskId } from '../model/ids';
import type { Run } from '../model/run';
import type { Task, WaitingMessage } from '../model/task';
import type { Store } from '../store/store';
import type { RunJob } from './runSupervisor';
import { authorRuns, isAuthor } from './settling';
import type { TaskRecords } from './taskRecords';

export interface WaitingMessagesDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly newId: () => string;
}

/**
 * What the user wrote to a Task's agent, in the Task's record until it stands in a transcript: any process may add,
 * the Run that lives takes, and whatever happens to that Run, what it did not take is still there.
 */
export class WaitingMessages {
  private readonly deps: WaitingMessagesDeps;

  constructor(deps: WaitingMessagesDeps) {
    this.deps = deps;
  }

  /** On the disk when it resolves. Throws `wrongState` for a Task that has been accepted or discarded. */
  async add(id: TaskId, text: string): Promise<{ task: Task; messageId: string }> {
    const message: WaitingMessage = { id: this.deps.newId(), at: this.deps.records.now(), text };
    const task = await this.change(id, (messages, { state, slug }) => {
      if (state === 'open' || state === 'closed') return [...messages, message];
      throw new TributaryError('wrongState', `task ${slug} is ${state}; a message needs one that is open`, {
        details: { taskId: id, state, verb: 'followUp' },
      });
    });
    return { task, messageId: message.id };
  }

  remove(id: TaskId, messageIds: readonly string[]): Promise<Task> {
    return this.change(id, (messages) => messages.filter((one) => !messageIds.includes(one.id)));
  }

  /** What waits, without what a process that died had written into a transcript and not taken off. */
  async unsent(task: Task): Promise<readonly WaitingMessage[]> {
    if (task.messages.length === 0) return [];
    const [oldest] = task.messages;
    const mayHold = authorRuns(task).filter(
      ({ status }) => 'end' in status && oldest !== undefined && status.end.at >= oldest.at,
    );
    const found = await Promise.all(mayHold.map((run) => this.messagesIn(task.id, run.id)));
    const said = new Set(found.flat());
    const left = task.messages.filter(({ id }) => !said.has(id));
    if (left.length < task.messages.length) await this.remove(task.id, [...said]);
    return left;
  }

  /** Of a Run that writes for the Task; whoever judges it hears nothing of the user's. */
  portFor(id: TaskId, run: Run): Pick<RunJob, 'takeMessages' | 'said'> {
    return {
      takeMessages: async (): Promise<readonly UserMessage[]> =>
        isAuthor(run) ? this.unsent(await this.deps.records.load(id)) : [],
      said: async (messageId) => {
        await this.remove(id, [messageId]);
      },
    };
  }

  private async change(
    id: TaskId,
    change: (messages: readonly WaitingMessage[], task: Task) => WaitingMessage[],
  ): Promise<Task> {
    const task = await this.deps.records.change(id, (current) => ({
      ...current,
      messages: change(current.messages, current),
    }));
    await this.deps.records.report(task, { type: 'task.changed', state: task.state });
    return task;
  }

  private async messagesIn(id: TaskId, runId: RunId): Promise<string[]> {
    try {
      const { entries } = await this.deps.store.transcripts.read(id, runId);
      return entries.flatMap((entry) =>
        entry.type === 'user' && entry.messageId !== undefined ? [entry.messageId] : [],
      );
    } catch (error) {
      // It ended before it had a transcript.
      if (error instanceof TributaryError && error.code === 'unknownId') return [];
      throw error;
    }
  }
}
