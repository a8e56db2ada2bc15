import type { RunId } from '../../../../src/model/ids';
import { type Facts, factsSchema } from '../../../../src/protocol/transcriptApi';
import { at, makeTask } from '../../../fakes/records';

/** Facts of a running Run. */
export function factsFor(runId: RunId, serial: number, changes: Partial<Facts> = {}): Facts {
  const task = makeTask();
  return factsSchema.parse({
    serial,
    task: {
      id: task.id,
      objective: 'do it',
      state: 'open',
      base: task.packet.repository.base,
      hasChanges: false,
    },
    isBusy: true,
    run: {
      id: runId,
      kind: 'first',
      agent: 'general',
      model: 'model',
      isDemo: false,
      state: 'running',
      createdAt: at,
      startedAt: at,
      usage: { requests: 0, input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      waitedMs: 0,
      problems: [],
    },
    runs: [{ id: runId, kind: 'first', agent: 'general', state: 'running' }],
    unsent: [],
    dismissed: [],
    waiting: [],
    now: at,
    ...changes,
  });
}
