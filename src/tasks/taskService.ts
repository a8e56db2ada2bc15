import type { Event } from '../base/emitter';
import type { FileChange } from '../model/changes';
import type { BoardEvent } from '../model/events';
import type { RunId, TaskId } from '../model/ids';
import type { Conflict, LandingPath } from '../model/landing';
import type { TaskPacket } from '../model/packet';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { LiveEvent, Transcript, TranscriptEntry } from '../model/transcript';
import type { Verdict } from '../model/verdict';
import type { StoreProblem } from '../store/store';

/** What a user asks for, before it is a TaskPacket. */
export interface TaskDraft {
  readonly objective: string;
  /** A branch, tag or commit; default `HEAD`. */
  readonly base?: string;
  readonly scope?: readonly string[];
  /** Commands of acceptance tests, run in the Worktree's root. */
  readonly checks?: readonly string[];
}

export type VerifyWhen = 'always' | 'writing' | 'never';

export interface StartTask {
  readonly packet: TaskPacket;
  /** An agent's name or alias; default `general`. */
  readonly agent?: string;
  readonly model?: string;
  /** Default: the setting `tributary.verify.when`. */
  readonly verify?: VerifyWhen;
}

/** A Task changed: its record as it is now, and what happened. */
export interface TaskChange {
  readonly task: Task;
  readonly event: BoardEvent;
}

export interface AppendedEntry {
  readonly taskId: TaskId;
  readonly runId: RunId;
  readonly entry: TranscriptEntry;
}

export interface StreamedEvent {
  readonly taskId: TaskId;
  readonly runId: RunId;
  readonly event: LiveEvent;
}

export interface Board {
  readonly tasks: readonly Task[];
  readonly problems: readonly StoreProblem[];
}

/** How a call that runs agents ended, once nothing of it runs any more. */
export interface Settled {
  readonly task: Task;
  /** The Runs this call started, oldest first. */
  readonly runs: readonly Run[];
  /** The Verdict this call came to; absent when none was asked for. */
  readonly verdict?: Verdict;
}

export interface LandingPlan {
  readonly task: Task;
  readonly paths: readonly LandingPath[];
  readonly conflicts: readonly Conflict[];
}

export type AcceptOutcome =
  | { readonly kind: 'landed'; readonly task: Task; readonly paths: readonly string[] }
  | { readonly kind: 'conflict'; readonly task: Task; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'stale'; readonly task: Task; readonly paths: readonly string[] };

export type UndoOutcome =
  | { readonly kind: 'undone'; readonly task: Task; readonly paths: readonly string[] }
  | { readonly kind: 'stale'; readonly task: Task; readonly paths: readonly string[] };

export interface StopOutcome {
  /** Runs that had not ended when `waitMs` was over. */
  readonly stillRunning: readonly RunId[];
  readonly stopped: readonly RunId[];
}

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
