import { assertNever, TributaryError } from '../base/errors';
import type { Run, RunEnd, RunState, RunStateName } from '../model/run';

/** What may happen to a Run. States are one-way; every end is final. */
export type RunTransition =
  | { readonly kind: 'start'; readonly at: string }
  | { readonly kind: 'complete'; readonly end: RunEnd }
  | { readonly kind: 'fail'; readonly end: RunEnd }
  | { readonly kind: 'stop'; readonly end: RunEnd }
  | { readonly kind: 'interrupt'; readonly end: RunEnd };

const allowed: Readonly<Record<RunStateName, readonly RunTransition['kind'][]>> = {
  created: ['start', 'fail', 'stop', 'interrupt'],
  running: ['complete', 'fail', 'stop', 'interrupt'],
  completed: [],
  failed: [],
  stopped: [],
  interrupted: [],
};

export function canTransition(state: RunStateName, kind: RunTransition['kind']): boolean {
  return allowed[state].includes(kind);
}

/** The Run after `change`. Throws `wrongState` for a change its state forbids. */
export function transition(run: Run, change: RunTransition): Run {
  if (!canTransition(run.status.state, change.kind)) {
    throw new TributaryError(
      'wrongState',
      `run ${run.id} is ${run.status.state}; "${change.kind}" is not possible`,
      {
        details: { runId: run.id, state: run.status.state, change: change.kind },
      },
    );
  }
  return { ...run, status: nextState(run.status, change) };
}

function nextState(status: RunState, change: RunTransition): RunState {
  const startedAt =
    'startedAt' in status && status.startedAt !== undefined ? { startedAt: status.startedAt } : {};
  switch (change.kind) {
    case 'start':
      return { state: 'running', startedAt: change.at };
    case 'complete':
      return { state: 'completed', startedAt: startedAt.startedAt ?? change.end.at, end: change.end };
    case 'fail':
      return { state: 'failed', ...startedAt, end: change.end };
    case 'stop':
      return { state: 'stopped', ...startedAt, end: change.end };
    case 'interrupt':
      return { state: 'interrupted', ...startedAt, end: change.end };
    default:
      return assertNever(change);
  }
}

/** Whether a Run has not ended yet. */
export function isLive(run: Run): boolean {
  return run.status.state === 'created' || run.status.state === 'running';
}
