import { makeRunId, makeTaskId, type RunId } from '../../src/model/ids';
import type { Run, RunState } from '../../src/model/run';
import type { Task } from '../../src/model/task';
import { noUsage } from '../../src/model/usage';

export const at = '2026-01-02T03:04:05.678Z';
const commit = 'a'.repeat(40);

export function makeRun(parts: Partial<Run> = {}): Run {
  return {
    id: makeRunId('20260102T030405678', 1),
    kind: 'first',
    agent: 'general',
    model: 'model',
    context: 'isolated',
    lifecycle: 'foreground',
    instruction: 'do it',
    createdAt: at,
    owner: { bootId: 'boot', pid: 1, host: 'host' },
    status: { state: 'created' },
    usage: noUsage,
    ...parts,
  };
}

export function makeTask(parts: Partial<Task> = {}): Task {
  return {
    v: 1,
    id: makeTaskId(new Date(at), 1),
    slug: 'do-it',
    packet: {
      v: 1,
      objective: 'do it',
      scope: ['**'],
      repository: { root: '/repo', head: commit, base: { ref: 'HEAD', commit } },
      branchPolicy: { mayBranch: false, namePattern: 'tributary/*' },
      acceptanceTests: [],
      escalation: {
        onFailure: { kind: 'ask' },
        onTimeout: { kind: 'ask' },
        outOfScope: { kind: 'ask' },
        tell: 'user',
      },
      limits: { turns: 200, runsPerRoot: 20 },
    },
    agent: 'general',
    createdAt: at,
    changedAt: at,
    state: 'open',
    runs: [],
    snapshotCount: 0,
    movedBases: [],
    unresolved: [],
    verdicts: [],
    dismissed: [],
    messages: [],
    landings: [],
    gates: [],
    branchesMade: [],
    alarms: [],
    marks: [],
    ...parts,
  };
}

export function runIds(count: number): RunId[] {
  return Array.from({ length: count }, (_, index) => makeRunId('20260102T030405678', index + 1));
}

export const end = { reason: 'done', message: '', at };

export const endedStates: readonly RunState[] = [
  { state: 'completed', startedAt: at, end },
  { state: 'failed', end },
  { state: 'stopped', end },
  { state: 'interrupted', end },
];
