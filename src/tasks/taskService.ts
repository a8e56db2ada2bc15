import type { AgentKit } from '../agent/agentKit';
import type { Clock } from '../base/async';
import type { Emitter, Event } from '../base/emitter';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { Changes } from '../git/changes';
import type { Repository } from '../git/repository';
import type { FileChange } from '../model/changes';
import type { RunId, TaskId } from '../model/ids';
import { type TaskPacket, taskPacketSchema } from '../model/packet';
import type { Run } from '../model/run';
import type { Settings } from '../model/settings';
import { slugOf } from '../model/slug';
import { currentVerdict, type Task } from '../model/task';
import type { Transcript } from '../model/transcript';
import type { Verdict } from '../model/verdict';
import type { Store } from '../store/store';
import { Chains } from './chains';
import type { Endings } from './endings';
import { findTask } from './findTask';
import type { Landing } from './landing';
import { reconcile } from './reconcile';
import { isLive } from './runMachine';
import type { FinishedRun, RunRoad, RunSpec } from './runRoad';
import type {
  AcceptOutcome,
  AppendedEntry,
  Board,
  LandingPlan,
  Settled,
  StartTask,
  StopOutcome,
  StreamedEvent,
  TaskChange,
  TaskDraft,
  UndoOutcome,
  VerifyWhen,
} from './taskApi';
import type { TaskRecords } from './taskRecords';
import { fixInstruction, hasOpenFindings, type Verification } from './verification';
import { type WorktreeKeeper, withWorktree } from './worktreeKeeper';

/**
 * The front door: everything the editor, the command line and one day a pipe may ask. Takes and gives plain,
 * schema-described data. The only writer of Task state. Failures are TributaryErrors.
 */
export interface TaskService {
  readonly onDidChangeTask: Event<TaskChange>;
  readonly onDidAppendEntry: Event<AppendedEntry>;
  readonly onDidStream: Event<StreamedEvent>;

  /** Resolves base and HEAD into a frozen packet. Throws `unknownBase`, `unbornBranch`, `badArguments`. */
  prepare(draft: TaskDraft): Promise<TaskPacket>;
  /** Stores the Task and begins; `settled` says how it ends. Throws `unknownAgent`. */
  start(request: StartTask): Promise<{ task: Task; settled: Promise<Settled> }>;
  /** A message to the Task's author: a new Run that goes on in the same conversation. */
  followUp(id: TaskId, text: string): Promise<{ task: Task; settled: Promise<Settled> }>;
  /** A verification Run, or the host's checks alone when `checksOnly`. Throws `wrongState` when nothing differs from the base. */
  verify(id: TaskId): Promise<{ task: Task; settled: Promise<Settled> }>;
  /** A fix Run with the open Findings, then a verification, up to `tributary.verify.fixRounds` times. `nothing`: no open Finding. */
  fix(
    id: TaskId,
  ): Promise<{ kind: 'nothing'; task: Task } | { kind: 'started'; task: Task; settled: Promise<Settled> }>;
  /** Goes on with the last Run that was interrupted, stopped or failed. Throws `wrongState` when there is none. */
  resume(id: TaskId): Promise<{ task: Task; settled: Promise<Settled> }>;
  /** Stops a Run, or all Runs of a Task, wherever they live; waits at most `waitMs` (5,000). */
  stop(
    target: { taskId: TaskId; runId?: RunId },
    options?: { force?: boolean; waitMs?: number },
  ): Promise<StopOutcome>;

  list(): Promise<Board>;
  /** By whole id, unique prefix of an id, or slug. Throws `unknownId`, `ambiguousId`. */
  find(text: string): Promise<{ task: Task; run?: Run }>;
  transcript(taskId: TaskId, runId: RunId): Promise<Transcript>;
  /** What the Task changed: base..newest Snapshot, or the Worktree as it stands when it is there. */
  changes(id: TaskId): Promise<readonly FileChange[]>;
  /** The same as a patch that git can apply. */
  patch(id: TaskId): Promise<Uint8Array>;

  /** What `accept` would do; nothing is written. */
  preview(id: TaskId): Promise<LandingPlan>;
  accept(id: TaskId): Promise<AcceptOutcome>;
  undo(id: TaskId): Promise<UndoOutcome>;
  discard(id: TaskId): Promise<Task>;
  restore(id: TaskId): Promise<Task>;

  /** Aborts what runs here with `shutdown` and waits until its records are written. */
  dispose(): Promise<void>;
}

export interface TaskServiceDeps {
  readonly store: Store;
  readonly records: TaskRecords;
  readonly repository: Repository;
  readonly changes: Changes;
  readonly keeper: WorktreeKeeper;
  readonly road: RunRoad;
  readonly endings: Endings;
  readonly landing: Landing;
  readonly verification: Verification;
  readonly kit: AgentKit;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly delay: (ms: number) => Promise<void>;
  readonly events: {
    readonly changes: Emitter<TaskChange>;
    readonly entries: Emitter<AppendedEntry>;
    readonly stream: Emitter<StreamedEvent>;
  };
}

type Started = { task: Task; settled: Promise<Settled> };

/** The front door over one repository's board. */
export class LocalTaskService implements TaskService {
  readonly onDidChangeTask: Event<TaskChange>;
  readonly onDidAppendEntry: Event<AppendedEntry>;
  readonly onDidStream: Event<StreamedEvent>;
  private readonly deps: TaskServiceDeps;
  private readonly chains: Chains;

  constructor(deps: TaskServiceDeps) {
    this.deps = deps;
    this.onDidChangeTask = deps.events.changes.event;
    this.onDidAppendEntry = deps.events.entries.event;
    this.onDidStream = deps.events.stream.event;
    this.chains = new Chains({ store: deps.store, road: deps.road });
  }

  async prepare(draft: TaskDraft): Promise<TaskPacket> {
    const { repository } = this.deps;
    const [head, base] = await Promise.all([repository.head(), repository.resolveBase(draft.base)]);
    const parsed = taskPacketSchema.safeParse({
      v: 1,
      objective: draft.objective,
      ...(draft.scope === undefined || draft.scope.length === 0 ? {} : { scope: draft.scope }),
      repository: { root: repository.facts.root, head: head.commit, base },
      acceptanceTests: (draft.checks ?? []).map((command) => ({ command })),
    });
    if (parsed.success) return parsed.data;
    const problem = parsed.error.issues
      .map((issue) => `${issue.path.join('.')}: ${issue.message}`)
      .join('; ');
    throw new TributaryError('badArguments', problem, { details: { problem } });
  }

  async start(request: StartTask): Promise<Started> {
    const role = this.deps.kit.role(request.agent ?? 'general');
    const { packet } = request;
    // A reader runs in place unless it was given a base of its own.
    const isInPlace = !role.canWrite && packet.repository.base.commit === packet.repository.head;
    const created = await this.deps.records.create((id, at) => ({
      v: 1,
      id,
      slug: slugOf(packet.objective) || id,
      packet,
      agent: role.name,
      createdAt: at,
      changedAt: at,
      state: 'open',
      runs: [],
      snapshotCount: 0,
      verdicts: [],
      landings: [],
    }));
    const task = isInPlace ? created : await this.deps.keeper.reserve(created.slug, created);
    const { base } = packet.repository;
    await this.deps.records.report(task, {
      type: 'task.created',
      objective: packet.objective,
      agent: role.name,
      base,
      ...(task.branch === undefined ? {} : { branch: task.branch }),
    });
    const spec: RunSpec = {
      kind: 'first',
      agent: role.name,
      instruction: packet.objective,
      ...(request.model === undefined ? {} : { model: request.model }),
    };
    return this.chain(task, (signal) =>
      this.author(task, spec, request.verify ?? this.deps.settings.verify.when, signal),
    );
  }

  async followUp(id: TaskId, text: string): Promise<Started> {
    const task = await this.current(id);
    if (this.deps.road.leaveMessage(id, text)) return this.chains.joined(task);
    const last = authorRuns(task).at(-1);
    if (last === undefined)
      throw new TributaryError('wrongState', `task ${task.slug} has no run to go on from`);
    const open = task.state === 'open' ? task : await this.deps.endings.restore(task);
    const spec: RunSpec = { kind: 'followUp', agent: last.agent, instruction: text, resumes: last.id };
    return this.chain(open, (signal) => this.author(open, spec, this.deps.settings.verify.when, signal));
  }

  async verify(id: TaskId): Promise<Started> {
    const task = await this.current(id);
    return this.chain(task, (signal) => this.judged(task, [], signal));
  }

  async fix(id: TaskId): Promise<{ kind: 'nothing'; task: Task } | ({ kind: 'started' } & Started)> {
    const task = await this.current(id);
    if (!hasOpenFindings(currentVerdict(task))) return { kind: 'nothing', task };
    return { kind: 'started', ...(await this.chain(task, (signal) => this.fixRounds(task, signal))) };
  }

  async resume(id: TaskId): Promise<Started> {
    const task = await this.current(id);
    const last = task.runs.at(-1);
    if (task.state !== 'open' || last === undefined || isLive(last) || last.status.state === 'completed') {
      throw new TributaryError(
        'wrongState',
        `task ${task.slug} has no run that was interrupted, stopped or failed`,
        { details: { taskId: id, verb: 'resume' } },
      );
    }
    if (last.kind === 'verify') return this.verify(id);
    const hasTranscript = await this.hasTranscript(task, last);
    const spec: RunSpec = hasTranscript
      ? { kind: 'resume', agent: last.agent, instruction: 'Go on where you were stopped.', resumes: last.id }
      : { kind: 'retry', agent: last.agent, model: last.model, instruction: last.instruction };
    return this.chain(task, (signal) => this.author(task, spec, this.deps.settings.verify.when, signal));
  }

  async stop(
    target: { taskId: TaskId; runId?: RunId },
    options: { force?: boolean; waitMs?: number } = {},
  ): Promise<StopOutcome> {
    const task = await this.deps.store.tasks.load(target.taskId);
    const wanted = task.runs.filter(
      (run) => isLive(run) && (target.runId === undefined || run.id === target.runId),
    );
    if (target.runId === undefined) this.chains.stop(target.taskId, 'user');
    for (const run of wanted) {
      if (this.deps.road.has(run.id)) this.deps.road.stop(run.id, 'user');
      else
        await this.deps.store.requests.send(task.id, {
          kind: 'stop',
          runId: run.id,
          force: options.force ?? false,
        });
    }
    return this.waitForEnd(
      task.id,
      wanted.map((run) => run.id),
      options.waitMs ?? 5_000,
    );
  }

  async list(): Promise<Board> {
    const { tasks, problems } = await this.deps.store.tasks.list();
    const settled = await reconcile({ ...this.deps, isOurs: (run) => this.deps.road.has(run.id) }, tasks);
    return { tasks: settled.tasks, problems: [...problems, ...settled.problems] };
  }

  async find(text: string): Promise<{ task: Task; run?: Run }> {
    return findTask((await this.list()).tasks, text);
  }

  transcript(taskId: TaskId, runId: RunId): Promise<Transcript> {
    return this.deps.store.transcripts.read(taskId, runId);
  }

  async changes(id: TaskId): Promise<readonly FileChange[]> {
    const { base, tree } = await this.sides(id);
    return tree === undefined ? [] : (await this.deps.changes.changeSet(base, tree)).files;
  }

  async patch(id: TaskId): Promise<Uint8Array> {
    const { base, tree } = await this.sides(id);
    return tree === undefined ? new Uint8Array() : this.deps.changes.patch(base, tree);
  }

  async preview(id: TaskId): Promise<LandingPlan> {
    const { task, tree } = await this.sides(id);
    if (tree === undefined) return { task, paths: [], conflicts: [] };
    const preview = await this.deps.landing.preview(task, tree);
    return { task, paths: preview.paths, conflicts: preview.conflicts };
  }

  async accept(id: TaskId): Promise<AcceptOutcome> {
    return this.deps.endings.accept(await this.current(id));
  }

  async undo(id: TaskId): Promise<UndoOutcome> {
    return this.deps.endings.undo(await this.current(id));
  }

  async discard(id: TaskId): Promise<Task> {
    return this.deps.endings.discard(await this.current(id));
  }

  async restore(id: TaskId): Promise<Task> {
    return this.deps.endings.restore(await this.current(id));
  }

  async dispose(): Promise<void> {
    await this.chains.dispose();
    await this.deps.store.dispose();
  }

  private async chain(task: Task, body: (signal: AbortSignal) => Promise<Settled>): Promise<Started> {
    return { task, settled: this.chains.run(task.id, body) };
  }

  /** An author's Run and what follows from it: a verification, or the Task's end when nothing changed. */
  private async author(task: Task, spec: RunSpec, when: VerifyWhen, signal: AbortSignal): Promise<Settled> {
    const finished = await this.deps.road.run(task, spec, signal);
    if (finished.run.status.state !== 'completed')
      return { task: await this.withoutEmptyWorktree(finished), runs: [finished.run] };
    if (await this.isUnchanged(finished.task)) {
      const closed = await this.deps.endings.close(finished.task);
      return { task: closed, runs: [finished.run] };
    }
    const isNew = finished.task.snapshot?.tree !== task.snapshot?.tree;
    if (isNew || when === 'always') return this.afterChange(finished, when, signal);
    return { task: finished.task, runs: [finished.run] };
  }

  /** Whether nothing differs from the base: nothing was ever done, or all of it was taken back. */
  private async isUnchanged(task: Task): Promise<boolean> {
    if (task.snapshot === undefined) return true;
    return task.snapshot.tree === (await this.deps.repository.treeOf(task.packet.repository.base.commit));
  }

  private async afterChange(finished: FinishedRun, when: VerifyWhen, signal: AbortSignal): Promise<Settled> {
    const { task, run } = finished;
    if (when !== 'never') return this.judged(task, [run], signal);
    if (task.packet.acceptanceTests.length === 0) return { task, runs: [run] };
    const verified = await this.deps.verification.byHost(task, run.id, signal);
    return { task: verified.task, runs: [run], verdict: verified.verdict };
  }

  private async judged(task: Task, before: readonly Run[], signal: AbortSignal): Promise<Settled> {
    const verified = await this.deps.verification.byAgent(task, signal);
    return { task: verified.task, runs: [...before, ...verified.runs], verdict: verified.verdict };
  }

  private async fixRounds(task: Task, signal: AbortSignal): Promise<Settled> {
    const rounds = Math.max(1, this.deps.settings.verify.fixRounds);
    const runs: Run[] = [];
    let current = task;
    let verdict: Verdict | undefined = currentVerdict(task);
    for (let round = 0; round < rounds && hasOpenFindings(verdict); round += 1) {
      const agent = authorRuns(current).at(-1)?.agent ?? current.agent;
      const finished = await this.deps.road.run(
        current,
        { kind: 'fix', agent, instruction: fixInstruction(verdict) },
        signal,
      );
      runs.push(finished.run);
      if (finished.run.status.state !== 'completed') return { task: finished.task, runs };
      const settled = await this.judged(finished.task, [], signal);
      runs.push(...settled.runs);
      current = settled.task;
      verdict = settled.verdict;
    }
    return { task: current, runs, ...(verdict === undefined ? {} : { verdict }) };
  }

  /** A first Run that failed before its first answer leaves no Worktree behind; a resume makes it again. */
  private async withoutEmptyWorktree(finished: FinishedRun): Promise<Task> {
    const { task, outcome } = finished;
    if (
      outcome.state !== 'failed' ||
      outcome.turns > 0 ||
      task.branch === undefined ||
      task.snapshot !== undefined
    )
      return task;
    return this.deps.endings.putAway(task);
  }

  private async current(id: TaskId): Promise<Task> {
    return (await this.find(id)).task;
  }

  private async hasTranscript(task: Task, run: Run): Promise<boolean> {
    try {
      const transcript = await this.deps.store.transcripts.read(task.id, run.id);
      return (
        transcript.entries.some((entry) => entry.type === 'user') || transcript.header.resumes !== undefined
      );
    } catch (error) {
      if (error instanceof TributaryError && error.code === 'unknownId') return false;
      throw error;
    }
  }

  /** Base and the newest tree: the Worktree as it stands when it is there, else the Snapshot. */
  private async sides(id: TaskId): Promise<{ task: Task; base: string; tree?: string }> {
    const task = await this.current(id);
    const base = task.packet.repository.base.commit;
    const record = task.branch === undefined ? undefined : await this.deps.keeper.recordOf(task);
    const stands = record?.state === 'ready' || record?.state === 'busy';
    if (stands && (await this.deps.keeper.isRegistered(withWorktree(task)))) {
      return { task, base, tree: await this.deps.keeper.treeOf(withWorktree(task)) };
    }
    return { task, base, ...(task.snapshot === undefined ? {} : { tree: task.snapshot.tree }) };
  }

  private async waitForEnd(id: TaskId, runIds: readonly RunId[], waitMs: number): Promise<StopOutcome> {
    const until = this.deps.clock.now().getTime() + waitMs;
    for (;;) {
      const task = await this.current(id);
      const stillRunning = task.runs
        .filter((run) => runIds.includes(run.id) && isLive(run))
        .map((run) => run.id);
      const stopped = runIds.filter((runId) => !stillRunning.includes(runId));
      if (stillRunning.length === 0 || this.deps.clock.now().getTime() >= until)
        return { stillRunning, stopped };
      await this.deps.delay(50);
    }
  }
}

/** The Runs that write for the Task: verifications are not among them. */
function authorRuns(task: Task): readonly Run[] {
  return task.runs.filter((run) => run.kind !== 'verify' && run.kind !== 'review');
}
