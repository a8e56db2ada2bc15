import { throwIfCancelled } from '../base/async';
import { TributaryError } from '../base/errors';
import type { Changes } from '../git/changes';
import type { Repository } from '../git/repository';
import type { RunId } from '../model/ids';
import { baseOf } from '../model/movedBase';
import type { Run } from '../model/run';
import { currentVerdict, openFindings, type Task } from '../model/task';
import type { Check, Finding, Verdict } from '../model/verdict';
import type { Store } from '../store/store';
import type { JudgeInput, Verifier } from '../verify/verifier';
import type { Alarms } from './alarms';
import type { FinishedRun, RunRoad, RunSpec } from './runRoad';
import type { RunOutcome, RunPlace } from './runSupervisor';
import type { TaskRecords } from './taskRecords';
import { type TaskWithWorktree, type WorktreeKeeper, withWorktree } from './worktreeKeeper';

export interface VerificationDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly repository: Repository;
  readonly changes: Changes;
  readonly keeper: WorktreeKeeper;
  readonly road: RunRoad;
  readonly verifier: Verifier;
  readonly alarms: Alarms;
  readonly commandEnv: (task: Task, runId: string) => Readonly<Record<string, string>>;
  /** Makes a scratch folder and answers how to remove it. */
  readonly scratch: () => Promise<{ directory: string; dispose: () => Promise<void> }>;
}

export interface Verified {
  readonly task: Task;
  readonly runs: readonly Run[];
  readonly verdict: Verdict;
}

/** Judges a Task's newest Snapshot: the host's own Checks, then, if asked, an agent that tries to break it. */
export class Verification {
  private readonly deps: VerificationDeps;

  constructor(deps: VerificationDeps) {
    this.deps = deps;
  }

  /**
   * A verification Run on the Worktree as it stands now, the packet's Checks before it. Throws `wrongState` when
   * nothing differs from the base.
   */
  async byAgent(asked: Task, signal: AbortSignal): Promise<Verified> {
    const task = await this.recorded(asked, signal);
    const tree = recordedTree(task);
    const scratch = await this.deps.scratch();
    const gathered: { hostChecks: readonly Check[]; tampered: readonly string[] } = {
      hostChecks: [],
      tampered: [],
    };
    try {
      const spec: RunSpec = {
        kind: 'verify',
        agent: 'verification',
        instruction:
          'Try to break this change. Report what you ran and what you found, and end with your verdict.',
        diff: await this.diff(task, tree),
        scratch: scratch.directory,
        before: async (place, inner) => {
          expectTree(task, place, tree);
          await this.deps.keeper.guardTree(withWorktree(task), tree);
          gathered.hostChecks = await this.hostChecks(task, place, inner);
        },
        after: async () => {
          gathered.tampered = await this.deps.keeper.putBack(withWorktree(task), tree);
        },
      };
      const finished = await this.deps.road.run(task, spec, signal);
      return await this.concludeRun(finished, tree, gathered);
    } finally {
      await scratch.dispose();
    }
  }

  /** The packet's Checks alone, in the Worktree under the writer lock. */
  async byHost(asked: Task, runId: RunId, signal: AbortSignal): Promise<Verified> {
    const task = await this.recorded(asked, signal);
    const tree = task.snapshot?.tree ?? (await this.deps.repository.treeOf(baseOf(task)));
    const hostChecks = await this.inWorktree(task, runId, signal, async (ready) => {
      await this.deps.keeper.guardTree(ready, tree);
      return this.hostChecks(task, placeOfTask(ready, tree), signal);
    });
    // Checks that were cut short say nothing.
    throwIfCancelled(signal);
    const verdict = await this.judge(task, { runId, tree, at: this.deps.records.now(), hostChecks });
    return { ...(await this.save(task, verdict)), runs: [] };
  }

  /** The Task with a Snapshot of what stands in its Worktree now, edits by hand included. */
  private async recorded(task: Task, signal: AbortSignal): Promise<Task> {
    const runId = task.runs.at(-1)?.id;
    if (runId === undefined || task.branch === undefined) return task;
    return this.inWorktree(task, runId, signal, (ready) =>
      this.deps.keeper.snapshot(ready, { runId, turn: 0 }),
    );
  }

  private async inWorktree<T>(
    task: Task,
    runId: RunId,
    signal: AbortSignal,
    body: (ready: TaskWithWorktree) => Promise<T>,
  ): Promise<T> {
    const lock = await this.deps.keeper.writerLock(task, signal);
    try {
      const ready = await this.deps.keeper.ensure(task, runId, signal);
      try {
        return await body(ready);
      } finally {
        await this.deps.keeper.release(ready);
      }
    } finally {
      await lock.release();
    }
  }

  /** Runs the packet's acceptance tests on exactly the recorded tree; what they change is put back. */
  private async hostChecks(task: Task, place: RunPlace, signal: AbortSignal): Promise<readonly Check[]> {
    const tests = task.packet.acceptanceTests;
    if (tests.length === 0) return [];
    const runId = task.runs.at(-1)?.id;
    const outDirectory =
      runId === undefined ? place.root : this.deps.store.transcripts.outDirectory(task.id, runId);
    try {
      return await this.deps.verifier.runChecks({
        tests,
        root: place.root,
        env: this.deps.commandEnv(task, runId ?? task.id),
        signal,
        outDirectory,
        ...(runId === undefined ? {} : { around: this.deps.alarms.aroundChecks(task, runId) }),
      });
    } finally {
      await this.deps.keeper.putBack(withWorktree(task), place.treeAtStart);
    }
  }

  private async diff(task: Task, tree: string): Promise<{ patch: string; files: readonly string[] }> {
    const base = baseOf(task);
    const [patch, set] = await Promise.all([
      this.deps.changes.patch(base, tree),
      this.deps.changes.changeSet(base, tree),
    ]);
    return { patch: patch.toString('utf8'), files: set.files.map((file) => file.path) };
  }

  private async concludeRun(
    finished: FinishedRun,
    tree: string,
    gathered: { hostChecks: readonly Check[]; tampered: readonly string[] },
  ): Promise<Verified> {
    const { task, run, outcome } = finished;
    const common = { runId: run.id, tree, at: this.deps.records.now(), hostChecks: gathered.hostChecks };
    const verdict =
      outcome.state === 'completed'
        ? await this.judge(task, { ...common, verifier: verifierSide(outcome, gathered.tampered) })
        : await this.unfinished(task, common, outcome);
    const saved = await this.save(task, verdict);
    return { ...saved, runs: [run] };
  }

  /** The verifier did not come to an end: the host's failing Checks still count, a pass needs both. */
  private async unfinished(
    task: Task,
    common: Omit<JudgeInput, 'suiteCommands' | 'files' | 'worktreeRoot' | 'verifier'>,
    outcome: RunOutcome,
  ): Promise<Verdict> {
    const why = `the verification run ${outcome.state}: ${outcome.message || outcome.reason}`;
    if (common.hostChecks.length > 0) {
      const judged = await this.judge(task, common);
      if (judged.verdict === 'FAIL') return { ...judged, reasons: [...judged.reasons, why] };
    }
    const { runId, tree, at } = common;
    return { verdict: 'none', runId, tree, at, checks: [...common.hostChecks], findings: [], reasons: [why] };
  }

  private async judge(
    task: Task,
    input: Omit<JudgeInput, 'suiteCommands' | 'files' | 'worktreeRoot'>,
  ): Promise<Verdict> {
    const files = new Set(await this.deps.repository.listFiles(input.tree));
    return this.deps.verifier.judge({
      ...input,
      suiteCommands: task.packet.acceptanceTests.map((test) => test.command),
      files,
      worktreeRoot: task.worktreePath ?? task.packet.repository.root,
    });
  }

  private async save(task: Task, verdict: Verdict): Promise<{ task: Task; verdict: Verdict }> {
    const { verdict: word, tree, checks, findings, runId } = verdict;
    const about = task.runs.find((run) => run.id === runId);
    if (about === undefined)
      throw new TributaryError(
        'internal',
        `a verdict names run ${runId}, which task ${task.id} does not have`,
      );
    const saved = await this.deps.records.change(
      task.id,
      (current) => ({ ...current, verdicts: [...current.verdicts, verdict] }),
      {
        type: 'verdict',
        runId: about.id,
        verdict: word,
        tree,
        checks,
        findings,
      },
    );
    return { task: saved, verdict };
  }
}

function verifierSide(outcome: RunOutcome, tampered: readonly string[]): NonNullable<JudgeInput['verifier']> {
  return {
    answer: outcome.text,
    checks: outcome.checks,
    findings: outcome.findings.map(({ location, ...rest }) => ({
      ...rest,
      ...(location === undefined ? {} : { path: location.path, line: location.line }),
      ...(location?.endLine === undefined ? {} : { endLine: location.endLine }),
    })),
    commands: outcome.commands,
    tampered,
  };
}

/** The tree a Verdict will be bound to. Throws `wrongState` where there is nothing to judge. */
export function recordedTree(task: Task): string {
  if (task.snapshot === undefined) {
    throw new TributaryError(
      'wrongState',
      `task ${task.id} has changed nothing yet; there is nothing to verify`,
      {
        details: { taskId: task.id },
      },
    );
  }
  return task.snapshot.tree;
}

/** What a fix Run is told: every open Finding and every failed Check, nothing of the verifier's own prose. */
function fixInstruction(verdict: Verdict, open: readonly Finding[]): string {
  const findings = open.map(
    (finding) => `- ${placeOf(finding)}${finding.severity}: ${finding.title}\n  ${finding.detail}`,
  );
  const failed = verdict.checks
    .filter((check) => check.result === 'fail')
    .map(
      (check) =>
        `- ${check.command} (exit code ${check.exitCode ?? 'none'}): ${check.title}\n${indent(check.observed)}`,
    );
  return [
    'A verification of this task found what follows. Mend every one of them in the worktree; keep what is right.',
    findings.length > 0 ? `Findings:\n${findings.join('\n')}` : '',
    failed.length > 0 ? `Failed checks:\n${failed.join('\n')}` : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function placeOf(finding: Finding): string {
  return finding.location === undefined ? '' : `${finding.location.path}:${finding.location.line} `;
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
}

/** What a Task's current Verdict leaves to mend; `undefined`: nothing. `only`: these Findings and no failed Check. */
export function mendable(task: Task, only?: readonly string[]): string | undefined {
  const verdict = currentVerdict(task);
  if (verdict === undefined || verdict.verdict === 'PASS') return undefined;
  const open = openFindings(task).filter((finding) => only?.includes(finding.id) ?? true);
  const checks = only === undefined ? verdict.checks : [];
  if (open.length === 0 && !checks.some((check) => check.result === 'fail')) return undefined;
  return fixInstruction({ ...verdict, checks }, open);
}

function placeOfTask(task: TaskWithWorktree, tree: string): RunPlace {
  return { root: task.worktreePath, branch: task.branch, isWorktree: true, treeAtStart: tree };
}

/** Throws `stale` when somebody wrote into the Worktree between its Snapshot and the verification. */
function expectTree(task: Task, place: RunPlace, tree: string): void {
  if (place.treeAtStart === tree) return;
  throw new TributaryError(
    'stale',
    `the worktree of ${task.slug} was changed while its verification began; verify it again`,
    {
      details: { taskId: task.id, paths: [] },
    },
  );
}
