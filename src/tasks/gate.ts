import { TributaryError } from '../base/errors';
import type { RunId } from '../model/ids';
import type { Gate, Task } from '../model/task';
import type { Check } from '../model/verdict';
import type { Store } from '../store/store';
import type { Verifier } from '../verify/verifier';
import type { Alarms } from './alarms';
import type { Scratches } from './scratches';
import type { TaskRecords } from './taskRecords';

export interface LandingGateDeps {
  readonly records: TaskRecords;
  readonly store: Pick<Store, 'transcripts'>;
  readonly scratches: Scratches;
  readonly alarms: Alarms;
  readonly verifier: Verifier;
  readonly commandEnv: (task: Task, runId: string) => Readonly<Record<string, string>>;
}

/** The acceptance test, or set-up command, that says no. */
export interface GateFailure {
  readonly command: string;
  readonly exitCode: number | null;
  readonly output: string;
}

/** How the acceptance tests stand to a tree: there are none, they passed on exactly it, or they have to run. */
export type GateState = 'none' | 'passed' | 'due';

const keptGates = 5;

/** The Task's acceptance tests on the tree that would land, in a scratch checkout of it, before anything is written. */
export class LandingGate {
  private readonly deps: LandingGateDeps;

  constructor(deps: LandingGateDeps) {
    this.deps = deps;
  }

  /** `undefined`: the tree may land. Throws `cancelled`. */
  async judge(of: Task, tree: string, signal?: AbortSignal): Promise<GateFailure | undefined> {
    const task = await this.deps.records.load(of.id);
    if (gateState(task, tree) !== 'due') return undefined;
    const runId = task.runs.at(-1)?.id;
    if (runId === undefined) return undefined;
    const checks = await this.checksOn(task, { runId, tree, signal });
    if (!Array.isArray(checks)) return checks;
    if (signal?.aborted) throw new TributaryError('cancelled', 'the acceptance tests were stopped');
    const gate: Gate = { tree, at: this.deps.records.now(), checks };
    await this.deps.records.change(task.id, (now) => ({
      ...now,
      gates: [...now.gates.filter((one) => one.tree !== tree), gate].slice(-keptGates),
    }));
    const failed = checks.find((check) => check.result !== 'pass');
    return failed === undefined ? undefined : failureOf(failed);
  }

  private async checksOn(
    task: Task,
    { runId, tree, signal }: { runId: RunId; tree: string; signal: AbortSignal | undefined },
  ): Promise<Check[] | GateFailure> {
    try {
      return await this.deps.scratches.use({ task, runId, tree, signal }, async (root) => [
        ...(await this.deps.verifier.runChecks({
          tests: task.packet.acceptanceTests,
          root,
          around: this.deps.alarms.aroundChecks(task, runId),
          env: this.deps.commandEnv(task, runId),
          signal: signal ?? new AbortController().signal,
          outDirectory: this.deps.store.transcripts.outDirectory(task.id, runId),
        })),
      ]);
    } catch (error) {
      if (!(error instanceof TributaryError) || error.code !== 'setup') throw error;
      const { command, exitCode, output } = error.details;
      return {
        command: String(command),
        exitCode: typeof exitCode === 'number' ? exitCode : null,
        output: String(output),
      };
    }
  }
}

/** What is known already: from an earlier gate, or from a verification of exactly this tree. */
export function gateState(task: Task, tree: string): GateState {
  const { acceptanceTests } = task.packet;
  if (acceptanceTests.length === 0) return 'none';
  const host = (checks: readonly Check[]): Check[] =>
    checks.filter((check) => check.source === 'acceptance' && check.evidence === 'host');
  const known = [...task.gates, ...task.verdicts].filter((one) => one.tree === tree);
  const isPassed = known.some((one) => {
    const passed = host(one.checks).filter((check) => check.result === 'pass');
    return passed.length === acceptanceTests.length && passed.length === host(one.checks).length;
  });
  return isPassed ? 'passed' : 'due';
}

function failureOf({ command, exitCode, observed }: Check): GateFailure {
  return { command, exitCode, output: observed };
}
