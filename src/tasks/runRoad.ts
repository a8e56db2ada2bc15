import type { AgentKit, AgentRole } from '../agent/agentKit';
import { type CancelReason, cancelReasonOf } from '../base/async';
import { TributaryError, toTributaryError } from '../base/errors';
import type { Repository } from '../git/repository';
import type { RunId, TaskId } from '../model/ids';
import { baseOf } from '../model/movedBase';
import { baseText } from '../model/packet';
import type { Run, RunEnd, RunKind } from '../model/run';
import type { Task } from '../model/task';
import { noUsage } from '../model/usage';
import type { Store } from '../store/store';
import { expectState } from './endings';
import { isLive, type RunTransition, transition } from './runMachine';
import { cancelledAs, type RunOutcome, type RunPlace, type RunSupervisor } from './runSupervisor';
import type { Scheduler } from './scheduler';
import { runOf, type TaskRecords } from './taskRecords';
import type { WaitingMessages } from './waitingMessages';
import type { BegunTask, WorktreeKeeper } from './worktreeKeeper';

export interface RunSpec {
  readonly kind: RunKind;
  readonly agent: string;
  readonly model?: string;
  readonly instruction: string;
  readonly resumes?: RunId;
  readonly diff?: { readonly patch: string; readonly files: readonly string[] };
  readonly scratch?: string;
  /** Under the writer lock, when the place stands and before the agent starts. */
  readonly before?: (place: RunPlace, signal: AbortSignal) => Promise<void>;
  /** Under the writer lock, when the agent has ended; instead of the last Snapshot. */
  readonly after?: (place: RunPlace, outcome: RunOutcome) => Promise<void>;
}

export interface RunRoadDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly repository: Repository;
  readonly keeper: WorktreeKeeper;
  readonly scheduler: Scheduler;
  readonly supervisor: RunSupervisor;
  readonly kit: AgentKit;
  readonly messages: WaitingMessages;
}

export interface FinishedRun {
  readonly task: Task;
  readonly run: Run;
  readonly outcome: RunOutcome;
}

interface LiveRun {
  readonly controller: AbortController;
}

/** The road every Run of this process takes: recorded, given a slot, a place and a lock; run; recorded as ended. */
export class RunRoad {
  private readonly deps: RunRoadDeps;
  private readonly live = new Map<RunId, LiveRun>();
  private readonly made = new Set<RunId>();

  constructor(deps: RunRoadDeps) {
    this.deps = deps;
  }

  /** Whether the Run lives in this process. */
  has(runId: RunId): boolean {
    return this.live.has(runId);
  }

  /** Whether the Run is, or was, one of this process. */
  hasMade(runId: RunId): boolean {
    return this.made.has(runId);
  }

  stop(runId: RunId, reason: CancelReason): void {
    this.live.get(runId)?.controller.abort(reason);
  }

  async run(task: Task, spec: RunSpec, chain: AbortSignal): Promise<FinishedRun> {
    // Beside what comes first, so that the connection stands when the conversation begins; who needs it hears of its failure.
    this.deps.kit.languageModel().catch(() => undefined);
    const { role, run } = await this.newRun(task, spec);
    const event = {
      type: 'run.created',
      runId: run.id,
      kind: run.kind,
      agent: run.agent,
      model: run.model,
    } as const;
    const recorded = await this.deps.records.change(
      task.id,
      (current) => {
        expectFree(current, task, run);
        return { ...current, runs: [...current.runs, run] };
      },
      event,
    );
    this.made.add(run.id);
    const one: LiveRun = { controller: new AbortController() };
    this.live.set(run.id, one);
    const signal = AbortSignal.any([chain, one.controller.signal]);
    try {
      const outcome = await this.deps.scheduler.inSlot(
        () => this.inSlot(recorded, run, role, spec, signal),
        signal,
      );
      return await this.end(task.id, run, outcome);
    } catch (error) {
      return await this.end(task.id, run, unexpected(error, signal));
    } finally {
      this.live.delete(run.id);
    }
  }

  private async newRun(task: Task, spec: RunSpec): Promise<{ role: AgentRole; run: Run }> {
    const { kit, store, records, repository } = this.deps;
    const role = kit.role(spec.agent);
    // A new Worktree begins with the base's tree; any other is looked at once it stands.
    const treeAtStart = spec.kind === 'first' ? await repository.treeOf(baseOf(task)) : undefined;
    const run: Run = {
      id: await store.tasks.newRunId(),
      kind: spec.kind,
      agent: role.name,
      model: kit.modelFor(role, spec.model),
      context: 'isolated',
      lifecycle: 'foreground',
      instruction: spec.instruction,
      createdAt: records.now(),
      ...(treeAtStart === undefined ? {} : { treeAtStart }),
      ...(spec.resumes === undefined ? {} : { resumes: spec.resumes }),
      owner: await store.owners.self(),
      status: { state: 'created' },
      usage: noUsage,
    };
    // The same conversation keeps the model it began with, so that its prefix stays in the cache.
    const resumed = spec.resumes === undefined ? undefined : runOf(task, spec.resumes);
    return { role, run: resumed === undefined ? run : { ...run, model: resumed.model } };
  }

  private async inSlot(
    task: Task,
    run: Run,
    role: AgentRole,
    spec: RunSpec,
    signal: AbortSignal,
  ): Promise<RunOutcome> {
    const at = this.deps.records.now();
    const started = await this.deps.records.changeRun(
      task.id,
      run.id,
      (current) => transition(current, { kind: 'start', at }),
      {
        type: 'run.started',
        runId: run.id,
      },
    );
    const job = { run, role, spec, signal };
    if (started.branch !== undefined) return this.inWorktree(started, job);
    // A Task whose start failed may have no name for a Worktree yet: whoever writes gets one all the same.
    if (role.canWrite) return this.inWorktree(await this.deps.keeper.reserve(started.slug, started), job);
    return this.inPlace(started, job);
  }

  /** A reader in the user's checkout: no Worktree, no lock, nothing to record but the conversation. */
  private async inPlace(task: Task, job: SlotJob): Promise<RunOutcome> {
    const { root, head } = task.packet.repository;
    const place: RunPlace = { root, isWorktree: false, treeAtStart: await this.deps.repository.treeOf(head) };
    return this.deps.supervisor.run(
      {
        task,
        run: job.run,
        role: job.role,
        place,
        files: Promise.resolve(),
        ...(await this.reading(task, job.role)),
        onTurn: async () => undefined,
        ...this.deps.messages.portFor(task.id, job.run),
      },
      job.signal,
    );
  }

  private async inWorktree(task: Task, job: SlotJob): Promise<RunOutcome> {
    const { keeper } = this.deps;
    const lock = await keeper.writerLock(task, job.signal);
    let begun: BegunTask | undefined;
    try {
      // Another process may have ended the Task while the lock was waited for.
      const current = await this.deps.records.load(task.id);
      expectOpen(current, job.run.kind);
      begun = await keeper.begin(current, job.run.id, job.signal);
      return await this.withWriterLock(begun, job);
    } finally {
      if (begun !== undefined && (await stands(begun))) await keeper.release(begun.task);
      await lock.release();
    }
  }

  /** What stands there, recorded before an agent may write over it: edits by hand, or what a killed Run left. */
  private async recorded(
    { task, tree }: BegunTask,
    { run, spec }: SlotJob,
  ): Promise<{ task: BegunTask['task']; tree: string }> {
    const { keeper, repository } = this.deps;
    if (tree !== undefined) return { task, tree };
    // A verification is begun on a recorded tree, and keeps what it replaces.
    if (spec.after !== undefined) return { task, tree: await keeper.treeOf(task) };
    // Before this Run, so it belongs to the one that was last.
    const before = task.runs.filter(({ id }) => id !== run.id).at(-1) ?? run;
    const latest = await keeper.snapshot(task, { runId: before.id, turn: 0 });
    return { task: latest, tree: latest.snapshot?.tree ?? (await repository.treeOf(baseOf(latest))) };
  }

  private async withWriterLock(begun: BegunTask, job: SlotJob): Promise<RunOutcome> {
    const { keeper, records } = this.deps;
    const { run, role, spec, signal } = job;
    const { files } = begun;
    const { task, tree } = await this.recorded(begun, job);
    let latest = task;
    const place: RunPlace = {
      root: task.worktreePath,
      branch: task.branch,
      isWorktree: true,
      treeAtStart: tree,
    };
    const [reading] = await Promise.all([
      this.reading(task, role),
      run.treeAtStart === tree
        ? undefined
        : records.changeRun(task.id, run.id, (current) => ({ ...current, treeAtStart: tree })),
    ]);
    if (spec.before !== undefined) {
      await files;
      await spec.before(place, signal);
    }
    const outcome = await this.deps.supervisor.run(
      {
        task,
        run,
        role,
        place,
        files,
        ...reading,
        ...(spec.diff === undefined ? {} : { diff: spec.diff }),
        ...(spec.scratch === undefined ? {} : { scratch: spec.scratch }),
        onTurn: async (turn) => {
          // Once it is stopped, the last Snapshot below is the one that counts: whoever shuts us down is in a hurry.
          if (spec.after !== undefined || signal.aborted) return;
          latest = await keeper.snapshot(latest, { runId: run.id, turn });
        },
        ...this.deps.messages.portFor(task.id, run),
      },
      signal,
    );
    if (!(await stands(begun))) return outcome;
    if (spec.after === undefined) await keeper.snapshot(latest, { runId: run.id, turn: outcome.turns });
    else await spec.after(place, outcome);
    return outcome;
  }

  /** Project documents and a short status, for the roles that want them; documents come from the base commit. */
  private async reading(task: Task, role: AgentRole): Promise<{ docs?: string; gitStatus?: string }> {
    const { base } = task.packet.repository;
    const names = ['CLAUDE.md', 'AGENTS.md'];
    const found = role.wantsDocs ? await this.deps.repository.readFiles(baseOf(task), names) : [];
    const docs = found.flatMap((bytes, index) =>
      bytes === undefined ? [] : [`${names[index]}:\n${bytes.toString('utf8')}`],
    );
    const gitStatus =
      task.branch === undefined
        ? undefined
        : `On ${task.branch}, made from ${baseText(base)} (${base.commit.slice(0, 12)}).`;
    return {
      ...(docs.length === 0 ? {} : { docs: docs.join('\n\n') }),
      ...(gitStatus === undefined || !role.wantsGitStatus ? {} : { gitStatus }),
    };
  }

  private async end(taskId: TaskId, run: Run, outcome: RunOutcome): Promise<FinishedRun> {
    const { records } = this.deps;
    const end: RunEnd = { reason: outcome.reason, message: outcome.message, at: records.now() };
    const apply = (current: Run): Run => ({
      ...(isLive(current) ? transition(current, endingOf(outcome, end)) : current),
      usage: outcome.usage,
      ...(outcome.waitedMs === undefined || outcome.waitedMs === 0 ? {} : { waitedMs: outcome.waitedMs }),
      ...(outcome.answer === undefined ? {} : { answer: outcome.answer }),
    });
    const { state, reason, message, usage } = outcome;
    const task = await records.changeRun(taskId, run.id, apply, {
      type: 'run.ended',
      runId: run.id,
      state,
      reason,
      message,
      usage,
    });
    return { task, run: runOf(task, run.id) ?? run, outcome };
  }
}

/** Throws `wrongState` unless the Task may have one more Run: open, nothing alive, nothing new since it was asked for. */
function expectFree(current: Task, asked: Task, run: Run): void {
  expectState(current, ['open'], run.kind);
  const [last, known] = [current.runs.at(-1), asked.runs.at(-1)];
  if (last?.id === known?.id) return;
  throw new TributaryError(
    'wrongState',
    `task ${current.slug} has had another run meanwhile; look at it first`,
    {
      details: { taskId: current.id, verb: run.kind },
    },
  );
}

function expectOpen(current: Task, verb: string): void {
  if (current.state === 'open' && current.pending === undefined) return;
  const state = current.pending === undefined ? current.state : `on the way to ${current.pending.to}`;
  throw new TributaryError('wrongState', `task ${current.slug} is ${state}; ${verb} needs one that is open`, {
    details: { taskId: current.id, state: current.state, verb },
  });
}

interface SlotJob {
  readonly run: Run;
  readonly role: AgentRole;
  readonly spec: RunSpec;
  readonly signal: AbortSignal;
}

/** Whether the Worktree's files came; waits until that is certain. */
function stands({ files }: BegunTask): Promise<boolean> {
  return files.then(
    () => true,
    () => false,
  );
}

function endingOf(outcome: RunOutcome, end: RunEnd): RunTransition {
  const kinds = { completed: 'complete', failed: 'fail', stopped: 'stop', interrupted: 'interrupt' } as const;
  return { kind: kinds[outcome.state], end };
}

/** A Run that ended before, or outside, its conversation: no slot, no lock, no Worktree. */
function unexpected(error: unknown, signal: AbortSignal): RunOutcome {
  const nothing = { usage: noUsage, text: '', turns: 0, checks: [], findings: [], commands: [] };
  if (signal.aborted) return { ...cancelledAs(cancelReasonOf(signal)), ...nothing };
  const failure = toTributaryError(error);
  return { state: 'failed', reason: failure.code, message: failure.message, ...nothing };
}
