import type { Disposable } from '../base/disposable';
import type { Event } from '../base/emitter';
import type { FileChange } from '../model/changes';
import type { ForeignSetup } from '../model/foreignSetup';
import type { RunId, TaskId } from '../model/ids';
import type { MarkChange, MarkTargets } from '../model/marks';
import type { BoardOverlaps } from '../model/overlap';
import type { TaskPacket } from '../model/packet';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { Transcript, TranscriptCursor, TranscriptPart } from '../model/transcript';
import type { Housekeeping, RestoredTo, RestorePoint, TaskSnapshot } from './housekeepingApi';
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

/**
 * The front door: everything the editor, the command line and one day a pipe may ask. Takes and gives plain,
 * schema-described data. The only writer of Task state. Failures are TributaryErrors.
 */
export interface TaskService {
  readonly onDidChangeTask: Event<TaskChange>;
  readonly onDidAppendEntry: Event<AppendedEntry>;
  readonly onDidStream: Event<StreamedEvent>;
  readonly housekeeping: Housekeeping;
  /** Whether anything that was begun here still goes on, of one Task or of any: also in the gap between two Runs. */
  isBusy(id?: TaskId): boolean;

  /** HEAD first, with what is uncommitted next if anything is, then branches, remote branches and tags, newest commit first. Throws `unbornBranch`. */
  bases(): Promise<readonly BaseChoice[]>;
  /** Set-up commands that files of other tools in the checkout name; nothing runs them unless a draft takes them. */
  foreignSetups(): Promise<readonly ForeignSetup[]>;
  /** Resolves base and HEAD into a frozen packet. Throws `unknownBase`, `unbornBranch`, `badArguments`. */
  prepare(draft: TaskDraft): Promise<TaskPacket>;
  /** Stores the Task and begins; `settled` says how it ends. Throws `unknownAgent`. */
  start(request: StartTask): Promise<{ task: Task; settled: Promise<Settled> }>;
  /**
   * A message to the Task's author, with the Task's record when it resolves. A Run that lives, of any process, takes it
   * at its next step; else a new Run goes on in the same conversation. Of a Task that was accepted or discarded: a new
   * Task from HEAD, which is the one given.
   */
  followUp(id: TaskId, text: string): Promise<{ task: Task; settled: Promise<Settled> }>;
  /** A verification Run, or the host's checks alone when `checksOnly`. Throws `wrongState` when nothing differs from the base. */
  verify(id: TaskId): Promise<{ task: Task; settled: Promise<Settled> }>;
  /** A fix Run with the open Findings (or these of them), then a verification, up to `tributary.verify.fixRounds` times. `nothing`: no open Finding. */
  fix(
    id: TaskId,
    findingIds?: readonly string[],
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
  /** What was appended since `from`: for those who watch a Run, their own or another process's. Throws `unknownId` before it began. */
  transcriptPart(taskId: TaskId, runId: RunId, from: TranscriptCursor): Promise<TranscriptPart>;
  /** What the Task changed: base..newest Snapshot, or the Worktree as it stands when it is there. */
  changes(id: TaskId): Promise<readonly FileChange[]>;
  /** The same as a patch that git can apply. */
  patch(id: TaskId): Promise<Uint8Array>;

  /** The same hunk by hunk, with the user's marks; `since: 'review'` only what was not reviewed as it is now. */
  hunks(id: TaskId, options?: { since?: 'base' | 'review' }): Promise<TaskHunks>;
  /** Marks files and hunks, or all of the change where neither is named; `undefined` takes all marks off them. Throws `unknownId`. */
  mark(id: TaskId, targets: MarkTargets, mark: MarkChange | undefined): Promise<Task>;

  /** What `accept` would do for the same wish; nothing is written. Throws `unknownId` for what is no part of the change. */
  preview(id: TaskId, wish?: LandingWish): Promise<LandingPlan>;
  /**
   * Merges what the checkout holds now into the Task's Worktree, where conflicts get markers; the ChangeSet counts from
   * there on. Called again, it takes what an earlier merge kept of the Task's side for decided. Throws `wrongState`.
   */
  mergeIn(id: TaskId): Promise<MergeInOutcome>;
  /** The same, then, where conflicts are left, a Run of the Task's author that resolves them. */
  resolve(id: TaskId): Promise<ResolveOutcome>;
  /** Which open Tasks touch the same files, and which of those conflict; goes by Snapshots and by the checkout's files. */
  overlaps(): Promise<BoardOverlaps>;
  /**
   * Lands all that is not rejected and ends the Task, or lands a selection and leaves it open. With `expected`, nothing
   * lands and the outcome is `stale` when something else than the seen preview would.
   */
  accept(id: TaskId, options?: AcceptOptions): Promise<AcceptOutcome>;
  /** What `undo` would write back; empty when there is nothing to undo. */
  landedPaths(id: TaskId): Promise<readonly string[]>;
  /** What `undo` would do, with and without a merge; nothing is written. */
  previewUndo(id: TaskId): Promise<UndoPlan>;
  /** Takes the newest standing Landing back, byte for byte; of an open Task too, where it brought a part. */
  undo(id: TaskId, options?: UndoOptions): Promise<UndoOutcome>;
  discard(id: TaskId): Promise<Task>;
  restore(id: TaskId): Promise<Task>;
  /** The recorded states of a Task's Worktree, oldest first. */
  snapshots(id: TaskId): Promise<readonly TaskSnapshot[]>;
  /**
   * Puts an open Task's Worktree to a recorded state; what stood there is recorded first, so that it can be taken
   * back. Throws `wrongState` while a Run lives, `unknownId` for a state that is not recorded.
   */
  restoreTo(id: TaskId, point: RestorePoint): Promise<RestoredTo>;

  /** Sets a Finding of the current Verdict aside. Throws `unknownId`. */
  dismiss(id: TaskId, findingId: string, reason: string): Promise<Task>;
  /** The user has seen every alarm of the Task; they stay in its record. */
  dismissAlarms(id: TaskId): Promise<Task>;
  /** The bytes of a file in the Task's base commit; `undefined` when it was not there. */
  baseFile(id: TaskId, path: string): Promise<Uint8Array | undefined>;
  /** The same in the newest Snapshot, or in the tree that the current Verdict holds for; `undefined` too when there is neither. */
  taskFile(id: TaskId, version: 'snapshot' | 'verdict', path: string): Promise<Uint8Array | undefined>;
  /** Also tells of what other processes do with the board, as `task.changed`, until disposed; `onGone`: a Task's record is there no more. */
  follow(onGone?: (id: TaskId) => void): Disposable;

  /** Aborts what runs here with `shutdown` and waits until its records are written. */
  dispose(): Promise<void>;
}
