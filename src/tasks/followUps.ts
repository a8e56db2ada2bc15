import { TributaryError } from '../base/errors';
import type { Run } from '../model/run';
import type { Settings } from '../model/settings';
import { setupPlanOf, type Task } from '../model/task';
import type { Store } from '../store/store';
import type { Endings } from './endings';
import type { RunSpec } from './runRoad';
import { authorRuns, type Settling } from './settling';
import type { Settled, TaskDraft } from './taskApi';
import type { TaskRecords } from './taskRecords';
import type { WaitingMessages } from './waitingMessages';

export interface FollowUpsDeps {
  readonly store: Store;
  readonly records: TaskRecords;
  readonly endings: Endings;
  readonly messages: WaitingMessages;
  readonly settings: () => Settings;
}

/** Runs that go on in a Task's conversation with the messages that wait for it. */
export class FollowUps {
  private readonly deps: FollowUpsDeps;
  private readonly settling: Settling;

  constructor(deps: FollowUpsDeps, settling: Settling) {
    this.deps = deps;
    this.settling = settling;
  }

  /** Brings a closed Task back; `body` is the Run and what follows from it. */
  async begin(task: Task): Promise<{ task: Task; body: (signal: AbortSignal) => Promise<Settled> }> {
    const open = task.state === 'open' ? task : await this.deps.endings.restore(task);
    const spec = await this.specOf(open);
    const body = (signal: AbortSignal): Promise<Settled> =>
      this.settling.author(open, spec, this.deps.settings().verify.when, signal);
    return { task: open, body };
  }

  /** One follow-up with all that came too late for the Runs that are over; only where those ended by themselves. */
  async ofWhatWaits({ task: { id }, runs }: Settled, signal: AbortSignal): Promise<Settled | undefined> {
    if (signal.aborted || runs.some(({ status }) => wasCutOff(status.state))) return undefined;
    const task = await this.deps.records.load(id);
    const canGoOn = (task.state === 'open' || task.state === 'closed') && task.pending === undefined;
    if (!canGoOn || authorRuns(task).at(-1)?.status.state !== 'completed') return undefined;
    if ((await this.deps.messages.unsent(task)).length === 0) return undefined;
    return (await this.begin(task)).body(signal);
  }

  private async specOf(task: Task): Promise<RunSpec> {
    const instruction = task.messages.map(({ text }) => text).join('\n\n');
    const runs = [...authorRuns(task)].reverse();
    for (const run of runs)
      if (await hasBegun(this.deps.store, task, run))
        return { kind: 'followUp', agent: run.agent, instruction, resumes: run.id };
    // No Run came as far as a conversation: the first one is begun again, and what waits is said with it.
    const agent = runs.at(-1)?.agent ?? task.agent;
    return { kind: 'retry', agent, instruction: task.packet.objective };
  }
}

/** Whether the Run has a conversation that another can go on from. */
export async function hasBegun(store: Store, task: Task, run: Run): Promise<boolean> {
  try {
    const { entries } = await store.transcripts.read(task.id, run.id);
    return entries.some((entry) => entry.type === 'user' || entry.type === 'message');
  } catch (error) {
    if (error instanceof TributaryError && error.code === 'unknownId') return false;
    throw error;
  }
}

/** A follow-up on a Task that was accepted or discarded: a new one from HEAD, under the same terms. */
export function draftAfter(task: Task, text: string): TaskDraft {
  const { scope, acceptanceTests } = task.packet;
  const checks = acceptanceTests.map(({ command }) => command);
  return { objective: text, scope, checks, setup: setupPlanOf(task) };
}

/** The same, told of the Task before it. */
export function instructionAfter(task: Task, text: string): string {
  const summary = authorRuns(task).findLast(({ answer }) => answer !== undefined)?.answer?.summary;
  const fate =
    task.state === 'accepted'
      ? 'The user accepted its change into their checkout, where it may not be committed yet: it may be missing here.'
      : 'The user discarded its change: it is not here.';
  const earlier = [
    'This follows on an earlier task of the same user, which is over.',
    `Its objective: ${task.packet.objective}`,
    ...(summary === undefined || summary === '' ? [] : [`Its summary: ${summary}`]),
    fate,
  ];
  return `${text}\n\n${earlier.join('\n')}`;
}

function wasCutOff(state: Run['status']['state']): boolean {
  return state === 'stopped' || state === 'interrupted';
}
