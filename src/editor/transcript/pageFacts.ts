import type { Run } from '../../model/run';
import { demoModelName } from '../../model/settings';
import { currentVerdict, type Task } from '../../model/task';
import type { Verdict } from '../../model/verdict';
import type { Facts, RunFacts } from '../../protocol/transcriptApi';
import type { PermissionQuestion } from '../../tasks/permission';
import { isLive } from '../../tasks/runMachine';
import type { RunFeed } from './runFeed';

export interface FactsInput {
  readonly task: Task;
  readonly run: Run;
  readonly feed: RunFeed;
  readonly pending: readonly PermissionQuestion[];
}

/** Characters of a message that waits: enough to know it by. */
const longestUnsent = 300;

/** Everything the page shows beside the entries; picked field by field, so that nothing else gets there. */
export function pageFacts({ task, run, feed, pending }: FactsInput): Omit<Facts, 'serial' | 'now'> {
  const verdict = verdictFor(task, run);
  const { packet, branch } = task;
  return {
    task: {
      id: task.id,
      objective: packet.objective,
      state: task.state,
      base: packet.repository.base,
      ...(branch === undefined ? {} : { branch }),
      hasChanges: task.snapshot !== undefined,
    },
    isBusy: task.runs.some(isLive) || task.pending !== undefined,
    run: runFacts(run, feed),
    runs: task.runs.map((one) => ({
      id: one.id,
      kind: one.kind,
      agent: one.agent,
      state: one.status.state,
      ...verdictWord(task, one),
      ...(one.parentRunId === undefined ? {} : { parentRunId: one.parentRunId }),
      ...(one.parentToolCallId === undefined ? {} : { parentToolCallId: one.parentToolCallId }),
    })),
    ...(verdict === undefined ? {} : { verdict }),
    unsent: task.messages.map(({ text }) => text.slice(0, longestUnsent)),
    dismissed: task.dismissed
      .filter(({ runId }) => runId === verdict?.runId)
      .map(({ findingId }) => findingId),
    waiting: pending
      .filter(({ taskId }) => taskId === task.id)
      .map(({ id, agent, tool, command, runId }) => ({ id, agent, tool, command, runId })),
  };
}

function runFacts(run: Run, feed: RunFeed): RunFacts {
  const { status } = run;
  const startedAt = 'startedAt' in status ? status.startedAt : undefined;
  const hasEnded = 'end' in status;
  return {
    id: run.id,
    kind: run.kind,
    agent: run.agent,
    model: run.model,
    isDemo: run.model === demoModelName,
    state: status.state,
    createdAt: run.createdAt,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(hasEnded ? { end: status.end } : {}),
    ...(run.parentRunId === undefined ? {} : { parentRunId: run.parentRunId }),
    ...(run.answer === undefined ? {} : { answer: run.answer }),
    usage: feed.usage,
    ...feed.waits,
    // Half a line is one being written, unless nobody writes any more.
    problems: hasEnded && feed.isTorn ? [...feed.problems, 'its last line is cut off'] : [...feed.problems],
  };
}

/** A Run's own Verdict; for the Run that was judged, the one that was given on it. */
function verdictFor(task: Task, run: Run): Verdict | undefined {
  const own = task.verdicts.findLast(({ runId }) => runId === run.id);
  if (own !== undefined || run.kind === 'verify') return own;
  const last = task.runs.findLast(({ kind }) => kind !== 'verify' && kind !== 'review');
  const newest = currentVerdict(task);
  return last?.id === run.id && newest !== undefined && newest.at >= run.createdAt ? newest : undefined;
}

function verdictWord(task: Task, run: Run): Pick<Facts['runs'][number], 'verdict'> {
  if (run.kind !== 'verify') return {};
  const verdict = task.verdicts.findLast(({ runId }) => runId === run.id)?.verdict;
  return verdict === undefined ? {} : { verdict };
}
