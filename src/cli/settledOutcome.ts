import { plainLine } from '../model/plainText';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { Settled } from '../tasks/taskApi';
import { type Described, describe, exitCodeOf, isErrorCode } from './messages';
import type { Paint } from './paint';
import { nextSteps, taskData } from './records';
import type { Outcome } from './report';
import { verdictText } from './texts';

/**
 * What a call is judged by. `made`: if there is a Verdict, only a PASS is a success; `asked`: there must be one;
 * `all`: it is all the call is for, and the last thing printed.
 */
export type VerdictNeed = 'made' | 'asked' | 'all';

/** The outcome of a call that ran agents. */
export function settledOutcome(settled: Settled, need: VerdictNeed, paint: Paint): Outcome {
  const { task, runs, verdict } = settled;
  const last = runs.at(-1);
  const error = last === undefined ? undefined : errorOf(last, task.slug);
  return {
    exitCode: exitCodeOfSettled(settled, need),
    data: {
      task: taskData(task),
      runs: runs.map(({ id }) => id),
      ...(verdict === undefined ? {} : { verdict }),
    },
    text: textOfSettled(settled, need, paint),
    ...(error === undefined ? {} : { error }),
  };
}

/** 0, 1, 3 or 130: see `helpText`. */
export function exitCodeOfSettled({ task, runs, verdict }: Settled, need: VerdictNeed): number {
  const status = runs.at(-1)?.status;
  switch (status?.state) {
    case 'stopped':
      return 130;
    case 'failed': {
      const code = isErrorCode(status.end.reason) ? exitCodeOf(status.end.reason) : 1;
      return code === 3 ? 3 : 1;
    }
    case 'interrupted':
      return 1;
    default:
      // Nothing changed and something was in the way: that is not done.
      if (verdict === undefined && task.state === 'closed' && blockersOf(runs).length > 0) return 1;
      if (verdict === undefined) return need === 'made' ? 0 : 1;
      return verdict.verdict === 'PASS' ? 0 : 1;
  }
}

function errorOf({ status }: Run, slug: string): Described | undefined {
  // What the user asked for is no error.
  if (status.state === 'stopped' && status.end.reason === 'user') return undefined;
  if (status.state !== 'failed' && status.state !== 'stopped' && status.state !== 'interrupted')
    return undefined;
  return describe(status.end.reason, status.end.message, slug);
}

function textOfSettled({ task, verdict }: Settled, need: VerdictNeed, paint: Paint): string {
  const judged = verdict === undefined ? '' : verdictText(verdict, paint);
  if (need === 'all' && verdict !== undefined) return judged;
  const steps = nextSteps(task);
  if (task.state === 'closed') return `${judged}${closedText(task)}`;
  return steps.length === 0
    ? judged
    : `${judged}${['Next:', ...steps.map((step) => `  ${step}`)].join('\n')}\n`;
}

function closedText(task: Task): string {
  const blockers = blockersOf(task.runs).map((blocker) => `Blocked: ${plainLine(blocker)}\n`);
  const kept =
    task.aside === undefined
      ? ''
      : `What git ignores there, such as files that were copied there, is kept in ${plainLine(task.aside)}\n`;
  return `${blockers.join('')}Nothing was changed; the Task is closed.\n${kept}`;
}

/** What the author's last answer says kept it from finishing. */
function blockersOf(runs: readonly Run[]): readonly string[] {
  return runs.filter((run) => run.kind !== 'verify').at(-1)?.answer?.blockers ?? [];
}
