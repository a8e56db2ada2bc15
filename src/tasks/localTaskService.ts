import type { AgentKit } from '../agent/agentKit';
import type { Clock } from '../base/async';
import type { Disposable } from '../base/disposable';
import type { Emitter, Event } from '../base/emitter';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { Care } from '../git/care';
import type { Changes } from '../git/changes';
import type { ContentDrivers } from '../git/contentDrivers';
import type { MergeIns } from '../git/mergeIn';
import type { Repository } from '../git/repository';
import type { Snapshots } from '../git/snapshots';
import type { Uncommitted } from '../git/uncommitted';
import type { Worktrees } from '../git/worktrees';
import type { Alarm } from '../model/alarm';
import type { FileChange } from '../model/changes';
import type { ForeignSetup } from '../model/foreignSetup';
import type { RunId, TaskId } from '../model/ids';
import type { LandingSelection } from '../model/landing';
import type { MarkChange, MarkTargets } from '../model/marks';
import { baseOf } from '../model/movedBase';
import type { BoardOverlaps } from '../model/overlap';
import type { TaskPacket } from '../model/packet';
import { type Run, resumeInstruction } from '../model/run';
import type { Settings } from '../model/settings';
import { slugOf } from '../model/slug';
import { currentVerdict, openAlarms, type Task } from '../model/task';
import type { Transcript, TranscriptCursor, TranscriptPart } from '../model/transcript';
import type { Store } from '../store/store';
import { type Aims, modeOf } from './aims';
import { Chains } from './chains';
import { DailySweep } from './dailySweep';
import { type Endings, expectState, nothingChanged, standingLanding } from './endings';
import { findTask } from './findTask';
import { draftAfter, FollowUps, hasBegun, instructionAfter } from './followUps';
import { gateState } from './gate';
import type { Housekeeping, RestoredTo, RestorePoint, SweptItem, TaskSnapshot } from './housekeepingApi';
import type { KeptBranches } from './keptBranches';
import type { Landing } from './landing';
import { plannedBranch } from './landingModes';
import type { LandingParts } from './landingParts';
import { LocalHousekeeping } from './localHousekeeping';
import type { MergingIn } from './mergingIn';
import type { OverlapFinder } from './overlapFinder';
import { Packets } from './packets';
import { reconcile } from './reconcile';
import { Restoring } from './restoring';
import type { Reviews } from './reviews';
import { isLive } from './runMachine';
import type { RunRoad, RunSpec } from './runRoad';
import type { Scratches } from './scratches';
import { authorRuns, Settling } from './settling';
import type {
  AcceptOptions,
  AcceptOutcome,
  AppendedEntry,
  BaseChoice,
  Board,
  LandingPlan,
  LandingWish,
  MergeInOutcome,
  ResolveOutcome,
  Settled,
  StartTask,
  StopOutcome,
  StreamedEvent,
  TaskChange,
  TaskDraft,
  TaskHunks,
  UndoOptions,
  UndoOutcome,
  UndoPlan,
} from './taskApi';
import type { TaskRecords } from './taskRecords';
import type { TaskService } from './taskService';
import { conflictsLeft } from './unresolved';
import { mendable, type Verification } from './verification';
import type { WaitingMessages } from './waitingMessages';
import { type WorktreeKeeper, withWorktree } from './worktreeKeeper';

export interface TaskServiceDeps {
  readonly store: Store;
  readonly records: TaskRecords;
  readonly repository: Repository;
  readonly changes: Changes;
  readonly uncommitted: Uncommitted;
  readonly drivers: ContentDrivers;
  readonly foreignSetups: () => Promise<readonly ForeignSetup[]>;
  readonly care: Care;
  readonly worktrees: Worktrees;
  readonly snapshots: Snapshots;
  readonly mergeIns: MergeIns;
  readonly every: (ms: number, tick: () => void) => Disposable;
  readonly onSwept?: (items: readonly SweptItem[]) => void;
  readonly keeper: WorktreeKeeper;
  readonly road: RunRoad;
  readonly endings: Endings;
  readonly landing: Landing;
  readonly aims: Aims;
  readonly keptBranches: KeptBranches;
  readonly scratches: Scratches;
  readonly parts: LandingParts;
  readonly reviews: Reviews;
  readonly verification: Verification;
  readonly mergingIn: MergingIn;
  readonly overlapFinder: OverlapFinder;
  readonly kit: AgentKit;
  readonly messages: WaitingMessages;
  readonly settings: () => Settings;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly delay: (ms: number) => Promise<void>;
  /** Ends what dead processes, named by their boot ids, left running. */
  readonly endLeftovers: (bootIds: ReadonlySet<string>) => Promise<void>;
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
  private readonly settling: Settling;
  private readonly followUps: FollowUps;
  readonly housekeeping: Housekeeping;
  private readonly packets: Packets;
  private readonly restoring: Restoring;
  private readonly daily: DailySweep;

  constructor(deps: TaskServiceDeps) {
    this.deps = deps;
    this.onDidChangeTask = deps.events.changes.event;
    this.onDidAppendEntry = deps.events.entries.event;
    this.onDidStream = deps.events.stream.event;
    this.settling = new Settling(deps);
    this.followUps = new FollowUps(deps, this.settling);
    this.chains = new Chains({
      ...deps,
      keep: (id, text) => deps.messages.add(id, text),
      goOn: (settled, signal) => this.followUps.ofWhatWaits(settled, signal),
    });
    this.packets = new Packets(deps);
    this.restoring = new Restoring(deps);
    const now = (): Date => deps.clock.now();
    this.housekeeping = new LocalHousekeeping({ ...deps, now }, () => this.list());
    this.daily = new DailySweep({
      ...deps,
      claim: (everyMs) => deps.store.care.claimHousekeeping(everyMs),
      sweep: (signal) => this.housekeeping.sweep({ signal }),
    });
  }

  isBusy(id?: TaskId): boolean {
    return this.chains.isBusy(id);
  }

  bases(): Promise<readonly BaseChoice[]> {
    return this.packets.bases();
  }

  foreignSetups(): Promise<readonly ForeignSetup[]> {
    return this.deps.foreignSetups();
  }

  prepare(draft: TaskDraft): Promise<TaskPacket> {
    return this.packets.prepare(draft);
  }

  start(request: StartTask): Promise<Started> {
    return this.begin(request, request.packet.objective);
  }

  private async begin(request: StartTask, instruction: string): Promise<Started> {
    const role = this.deps.kit.role(request.agent ?? 'general');
    const { packet } = request;
    const drivers = [...(await this.deps.drivers.current())];
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
      movedBases: [],
      unresolved: [],
      verdicts: [],
      dismissed: [],
      messages: [],
      landings: [],
      gates: [],
      branchesMade: [],
      alarms: [],
      drivers,
      marks: [],
    }));
    const task = isInPlace ? created : await this.reserved(created);
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
      instruction,
      ...(request.model === undefined ? {} : { model: request.model }),
    };
    return this.chain(task, (signal) =>
      this.settling.author(task, spec, request.verify ?? this.deps.settings().verify.when, signal),
    );
  }

  /** A Task that gets no name for its Worktree never began: it is closed, not left open without a Run. */
  private async reserved(created: Task): Promise<Task> {
    const { base } = created.packet.repository;
    try {
      if (base.uncommitted !== undefined) await this.deps.uncommitted.keep(created.id, base.commit);
      return await this.deps.keeper.reserve(created.slug, created);
    } catch (error) {
      await this.deps.records.change(created.id, (task) => ({ ...task, state: 'closed' }));
      throw error;
    }
  }

  async followUp(id: TaskId, text: string): Promise<Started> {
    const task = await this.current(id);
    if (task.state === 'accepted' || task.state === 'discarded' || task.expiredAt !== undefined) {
      const packet = await this.prepare(draftAfter(task, text));
      return this.begin({ packet, agent: task.agent }, instructionAfter(task, text));
    }
    if (authorRuns(task).length === 0 && !this.isBusy(id))
      throw new TributaryError('wrongState', `task ${task.slug} has no run to go on from`);
    const { task: kept, messageId } = await this.deps.messages.add(id, text);
    const joined = this.chains.join(kept);
    if (joined !== undefined) return joined;
    // A Run of another process: its owner looks for what waits before it ends.
    if (kept.runs.some(isLive)) return { task: kept, settled: Promise.resolve({ task: kept, runs: [] }) };
    try {
      const begun = await this.followUps.begin(kept);
      return await this.chain(begun.task, begun.body);
    } catch (error) {
      // The caller hears that it was not sent, and has the text.
      await this.deps.messages.remove(id, [messageId]);
      throw error;
    }
  }

  async verify(id: TaskId): Promise<Started> {
    const task = await this.current(id);
    expectState(task, ['open'], 'verify');
    return this.chain(task, (signal) => this.settling.judged(task, [], signal));
  }

  async fix(
    id: TaskId,
    findingIds?: readonly string[],
  ): Promise<{ kind: 'nothing'; task: Task } | ({ kind: 'started' } & Started)> {
    const task = await this.current(id);
    const instruction = mendable(task, findingIds);
    if (instruction === undefined) return { kind: 'nothing', task };
    expectState(task, ['open'], 'fix');
    return {
      kind: 'started',
      ...(await this.chain(task, (signal) => this.settling.fixRounds(task, instruction, signal))),
    };
  }

  async dismiss(id: TaskId, findingId: string, reason: string): Promise<Task> {
    const at = this.deps.records.now();
    const task = await this.current(id);
    const verdict = currentVerdict(task);
    if (!verdict?.findings.some((finding) => finding.id === findingId)) {
      throw new TributaryError('unknownId', `the verdict of ${task.slug} has no finding ${findingId}`, {
        details: { text: findingId },
      });
    }
    const one = { runId: verdict.runId, findingId, reason, at };
    return this.deps.records.change(
      id,
      (current) => ({ ...current, dismissed: [...current.dismissed, one] }),
      { type: 'task.changed', state: task.state },
    );
  }

  async dismissAlarms(id: TaskId): Promise<Task> {
    const at = this.deps.records.now();
    const task = await this.current(id);
    if (openAlarms(task).length === 0) return task;
    const dismissed = (alarm: Alarm): Alarm => ({ ...alarm, dismissedAt: alarm.dismissedAt ?? at });
    return this.deps.records.change(
      id,
      (current) => ({ ...current, alarms: current.alarms.map(dismissed) }),
      { type: 'task.changed', state: task.state },
    );
  }

  async baseFile(id: TaskId, path: string): Promise<Uint8Array | undefined> {
    const task = await this.deps.store.tasks.load(id);
    return this.deps.repository.readFile(baseOf(task), path);
  }

  async taskFile(id: TaskId, version: 'snapshot' | 'verdict', path: string): Promise<Uint8Array | undefined> {
    const task = await this.deps.store.tasks.load(id);
    const tree = version === 'snapshot' ? task.snapshot?.tree : currentVerdict(task)?.tree;
    return tree === undefined ? undefined : this.deps.repository.readFile(tree, path);
  }

  follow(onGone?: (id: TaskId) => void): Disposable {
    return this.deps.store.tasks.watch((id) => void this.tellOf(id, onGone));
  }

  async resume(id: TaskId): Promise<Started> {
    const task = await this.current(id);
    expectState(task, ['open'], 'resume');
    const last = task.runs.at(-1);
    if (last?.status.state === 'completed') {
      throw new TributaryError(
        'wrongState',
        `task ${task.slug} has no run that was interrupted, stopped or failed`,
        { details: { taskId: id, verb: 'resume' } },
      );
    }
    if (last?.kind === 'verify') return this.verify(id);
    const spec = await this.goingOn(task, last);
    return this.chain(task, (signal) =>
      this.settling.author(task, spec, this.deps.settings().verify.when, signal),
    );
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
    await this.deps.scratches.sweep();
    const settled = await reconcile({ ...this.deps, isOurs: (run) => this.deps.road.has(run.id) }, tasks);
    return { tasks: settled.tasks, problems: [...problems, ...settled.problems] };
  }

  async find(text: string): Promise<{ task: Task; run?: Run }> {
    return findTask((await this.list()).tasks, text);
  }

  transcript(taskId: TaskId, runId: RunId): Promise<Transcript> {
    return this.deps.store.transcripts.read(taskId, runId);
  }

  transcriptPart(taskId: TaskId, runId: RunId, from: TranscriptCursor): Promise<TranscriptPart> {
    return this.deps.store.transcripts.readPart(taskId, runId, from);
  }

  async changes(id: TaskId): Promise<readonly FileChange[]> {
    const { base, tree } = await this.sides(id);
    return tree === undefined ? [] : (await this.deps.changes.changeSet(base, tree)).files;
  }

  async patch(id: TaskId): Promise<Uint8Array> {
    const { base, tree } = await this.sides(id);
    return tree === undefined ? new Uint8Array() : this.deps.changes.patch(base, tree);
  }

  async hunks(id: TaskId, { since = 'base' }: { since?: 'base' | 'review' } = {}): Promise<TaskHunks> {
    const { task, tree } = await this.sides(id);
    if (tree === undefined) return { task, files: [] };
    return { task, tree, files: await this.deps.reviews.files(task, tree, since) };
  }

  async mark(id: TaskId, targets: MarkTargets, mark: MarkChange | undefined): Promise<Task> {
    const { task, tree } = await this.sides(id);
    if (tree === undefined) throw nothingChanged(task);
    return this.deps.reviews.mark(task, tree, targets, mark);
  }

  async preview(id: TaskId, wish: LandingWish = {}): Promise<LandingPlan> {
    refusePartOfBranch(wish);
    const { task, tree } = await this.sides(id);
    expectState(task, ['open'], 'accept');
    if (tree === undefined) return { task, paths: [], conflicts: [] };
    const part = await this.deps.parts.partOf(task, tree, { mode: modeOf(wish), ...wish });
    const { leftOut } = part;
    const left = isNone(leftOut) ? {} : { leftOut };
    if (modeOf(wish) === 'keepBranch')
      return { ...(await this.deps.keptBranches.plan(withWorktree(task), tree, wish)), ...left };
    const aim = this.deps.aims.of(task, wish, part.isAll);
    const planned = await this.deps.drivers.during(task.drivers, () =>
      this.deps.landing.plan(task, part, aim),
    );
    const unresolved = await conflictsLeft(this.deps.repository, task, tree);
    const { paths } = planned.preview;
    const conflicts = [...planned.preview.conflicts, ...unresolved];
    const branch = plannedBranch(planned, aim);
    const onBranch = branch === undefined ? {} : { branch };
    return { task, tree, paths, conflicts, gate: gateState(task, planned.tree), ...onBranch, ...left };
  }

  async accept(id: TaskId, options: AcceptOptions = {}): Promise<AcceptOutcome> {
    refusePartOfBranch(options);
    return this.deps.endings.accept(await this.current(id), options);
  }

  async mergeIn(id: TaskId): Promise<MergeInOutcome> {
    return this.deps.mergingIn.into(await this.current(id), { isMeant: true });
  }

  async resolve(id: TaskId): Promise<ResolveOutcome> {
    const merged = await this.deps.mergingIn.into(await this.current(id), { isMeant: false });
    if (merged.conflicts.length === 0) return { kind: 'clean', task: merged.task, merged };
    const { task, settled } = await this.followUp(id, await this.deps.mergingIn.instruction(merged.task));
    return {
      kind: 'started',
      task,
      merged,
      settled: settled.then((one) => this.deps.mergingIn.decided(one)),
    };
  }

  async overlaps(): Promise<BoardOverlaps> {
    return this.deps.overlapFinder.among((await this.deps.store.tasks.list()).tasks);
  }

  async landedPaths(id: TaskId): Promise<readonly string[]> {
    const last = standingLanding(await this.current(id));
    return last === undefined ? [] : this.deps.landing.paths(last.id);
  }

  async previewUndo(id: TaskId): Promise<UndoPlan> {
    return this.deps.endings.previewUndo(await this.current(id));
  }

  async undo(id: TaskId, options: UndoOptions = {}): Promise<UndoOutcome> {
    return this.deps.endings.undo(await this.current(id), options);
  }

  async discard(id: TaskId): Promise<Task> {
    return this.deps.endings.discard(await this.current(id));
  }

  async restore(id: TaskId): Promise<Task> {
    return this.deps.endings.restore(await this.current(id));
  }

  async snapshots(id: TaskId): Promise<readonly TaskSnapshot[]> {
    return this.restoring.list(await this.deps.records.load(id));
  }

  async restoreTo(id: TaskId, point: RestorePoint): Promise<RestoredTo> {
    return this.restoring.restoreTo(await this.current(id), point);
  }

  async dispose(): Promise<void> {
    this.daily.dispose();
    await this.chains.dispose();
    await this.daily.idle();
    await this.deps.store.dispose();
  }

  private async chain(task: Task, body: (signal: AbortSignal) => Promise<Settled>): Promise<Started> {
    const { drivers } = this.deps;
    const run = (signal: AbortSignal): Promise<Settled> => drivers.during(task.drivers, () => body(signal));
    return { task, settled: this.chains.run(task, run) };
  }

  /** A record that somebody saved, perhaps another process: shown once for each time it really changed. */
  private async tellOf(id: TaskId, onGone: ((id: TaskId) => void) | undefined): Promise<void> {
    try {
      const task = await this.deps.store.tasks.load(id);
      if (this.deps.records.isKnown(task)) return;
      this.deps.events.changes.fire({
        task,
        event: { v: 1, at: task.changedAt, taskId: id, type: 'task.changed', state: task.state },
      });
    } catch (error) {
      if (error instanceof TributaryError && error.code === 'unknownId') onGone?.(id);
      else this.deps.logger.warn('a task that changed could not be read', { id, error });
    }
  }

  private async current(id: TaskId): Promise<Task> {
    return (await this.find(id)).task;
  }

  /** What a resume runs: the conversation where it was cut, or, where none had begun, the same Run again. */
  private async goingOn(task: Task, last: Run | undefined): Promise<RunSpec> {
    if (last === undefined) return { kind: 'first', agent: task.agent, instruction: task.packet.objective };
    const { agent, model, instruction, resumes } = last;
    if (await hasBegun(this.deps.store, task, last))
      return { kind: 'resume', agent, instruction: resumeInstruction, resumes: last.id };
    return resumes === undefined
      ? { kind: 'retry', agent, model, instruction }
      : { kind: last.kind, agent, model, instruction, resumes };
  }

  /** Base and the newest tree: the Worktree as it stands when it is there, else the Snapshot. */
  private async sides(id: TaskId): Promise<{ task: Task; base: string; tree?: string }> {
    const task = await this.current(id);
    const base = baseOf(task);
    if (task.branch !== undefined && (await this.deps.keeper.stands(withWorktree(task)))) {
      const look = (): Promise<string> => this.deps.keeper.treeOf(withWorktree(task));
      return { task, base, tree: await this.deps.drivers.during(task.drivers, look) };
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

/** A branch that is kept holds all of the change. */
function refusePartOfBranch({ mode, selection }: LandingWish): void {
  if (mode !== 'keepBranch' || selection === undefined) return;
  const problem = 'a branch is kept with the whole change on it, not with a part';
  throw new TributaryError('badArguments', problem, { details: { problem } });
}

function isNone({ paths, hunks }: LandingSelection): boolean {
  return paths.length + hunks.length === 0;
}
