import type { HookFailure } from '../git/branchLandings';
import type { FileChange } from '../model/changes';
import type { BoardEvent } from '../model/events';
import type { Decision, Hunk } from '../model/hunks';
import type { LandingId, RunId, TaskId } from '../model/ids';
import type { Conflict, LandingMode, LandingPath, LandingSelection, PlannedCommit } from '../model/landing';
import type { Unresolved } from '../model/movedBase';
import type { TaskPacket } from '../model/packet';
import type { Run } from '../model/run';
import type { SetupPlan } from '../model/setup';
import type { Task } from '../model/task';
import type { LiveEvent, TranscriptEntry } from '../model/transcript';
import type { Verdict } from '../model/verdict';
import type { StoreProblem } from '../store/store';
import type { GateFailure, GateState } from './gate';
import type { MovedOn } from './landingModes';

/** What a user asks for, before it is a TaskPacket. */
export interface TaskDraft {
  readonly objective: string;
  /** A branch, tag or commit; default `HEAD`. */
  readonly base?: string;
  /** From HEAD with what the checkout holds uncommitted; `base` is absent or `HEAD` then. */
  readonly withUncommitted?: boolean;
  readonly scope?: readonly string[];
  /** Commands of acceptance tests, run in the Worktree's root. */
  readonly checks?: readonly string[];
  /** What makes the Worktree ready; its commands are the user's, agreed to. */
  readonly setup?: Partial<SetupPlan>;
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
  /** The Task's newest tree, of which all or a part would land; absent where there is none. */
  readonly tree?: string;
  readonly paths: readonly LandingPath[];
  readonly conflicts: readonly Conflict[];
  /** Rejected files and hunks, which therefore do not land; absent: there are none. */
  readonly leftOut?: LandingSelection;
  /** Of the modes that make commits. */
  readonly branch?: PlannedBranch;
  /** Whether the acceptance tests have to run on what would land; absent where nothing lands. */
  readonly gate?: GateState;
}

/** The branch that commits would go on. */
export interface PlannedBranch {
  /** Its full name; absent: HEAD is detached. */
  readonly ref?: string;
  /** The commit it stands at. */
  readonly head: string;
  /** Oldest first; the last one is where it would stand. */
  readonly commits: readonly PlannedCommit[];
}

/** A hunk with what the user said of it. */
export interface MarkedHunk extends Hunk {
  /** Of the hunk, or of its file. */
  readonly decision?: Decision;
  readonly isReviewed: boolean;
  /** Brought by a partial Landing that stands. */
  readonly isLanded: boolean;
}

/** A file with what the user said of it; without hunks it changes as a whole or not at all. */
export interface MarkedFile extends FileChange {
  readonly hunks: readonly MarkedHunk[];
  readonly decision?: Decision;
  /** As it is now, with all its hunks. */
  readonly isReviewed: boolean;
  readonly isLanded: boolean;
}

/** A Task's change, hunk by hunk. */
export interface TaskHunks {
  readonly task: Task;
  /** The tree that the hunks lead to; absent where nothing was changed. */
  readonly tree?: string;
  readonly files: readonly MarkedFile[];
}

/** What `undo` would do. */
export interface UndoPlan {
  readonly task: Task;
  /** The Landing it takes back; absent: there is none. */
  readonly landingId?: LandingId;
  /** The files of that Landing. */
  readonly paths: readonly string[];
  /** Those that were edited since, and where a merge would keep these edits. */
  readonly merged: readonly string[];
  /** Those where no merge can: nothing would be written. */
  readonly conflicts: readonly Conflict[];
  /** What the user did with its commits since: then nothing would be written, and `takenBack` opens the Task. */
  readonly left?: MovedOn | 'takenBack';
}

export interface UndoOptions {
  /** Merge where a landed file was edited since, instead of `stale`. */
  readonly merge?: boolean;
}

/** What the user decided on: an acceptance that would land anything else is `stale`. */
export type SeenPlan = Pick<LandingPlan, 'tree' | 'paths' | 'branch'>;

/** What of a Task is to land, and how. */
export interface LandingWish {
  /** Default `apply`. */
  readonly mode?: LandingMode;
  /** Absent: all of it. */
  readonly selection?: LandingSelection;
  /** Of the commit, where the mode makes one; default: the objective's first line. */
  readonly message?: string;
}

export interface AcceptOptions extends LandingWish {
  /** The preview the user saw, made for the same wish. */
  readonly expected?: SeenPlan;
  /** Lands without asking the acceptance tests. */
  readonly skipGate?: boolean;
  /** Stops the acceptance tests; nothing is written then. What has begun to be written is finished. */
  readonly signal?: AbortSignal;
}

/** A reference that a Task may start from. */
export interface BaseChoice {
  /** `uncommitted`: HEAD with what the checkout holds beyond it, see `TaskDraft.withUncommitted`. */
  readonly kind: 'head' | 'uncommitted' | 'branch' | 'remote' | 'tag';
  /** What `TaskDraft.base` takes: `HEAD` or a full ref name. */
  readonly ref: string;
  /** Files with uncommitted changes; of `uncommitted` only. */
  readonly files?: number;
  readonly commit: string;
  /** The branch that HEAD is on; absent for others and for a detached HEAD. */
  readonly branch?: string;
  /** First line of the commit's message. */
  readonly subject: string;
}

export type AcceptOutcome =
  | {
      readonly kind: 'landed';
      readonly task: Task;
      readonly paths: readonly string[];
      /** The newest commit that was made, where the mode makes any and there was something to commit. */
      readonly commit?: string;
      /** Full name of the branch it is on; absent where HEAD is detached. */
      readonly ref?: string;
    }
  /** `keepBranch`: nothing was written, the branch stays at `commit`, the Task is closed. */
  | { readonly kind: 'kept'; readonly task: Task; readonly ref: string; readonly commit: string }
  | { readonly kind: 'conflict'; readonly task: Task; readonly conflicts: readonly Conflict[] }
  /** An acceptance test said no of what would have landed; nothing was written. */
  | ({ readonly kind: 'gateFailed'; readonly task: Task } & GateFailure)
  /** A hook of the user said no; nothing was written. */
  | ({ readonly kind: 'hookFailed'; readonly task: Task } & HookFailure)
  /** `paths` is empty when only the Worktree moved on, or HEAD (`isHeadMoved`), and the same files would be written. */
  | {
      readonly kind: 'stale';
      readonly task: Task;
      readonly paths: readonly string[];
      readonly isHeadMoved?: boolean;
    };

/** What came of merging the checkout into a Task's Worktree; the checkout itself is as it was. */
export interface MergeInOutcome {
  /** `upToDate`: the Task had all of it already. */
  readonly kind: 'merged' | 'upToDate';
  readonly task: Task;
  /** Files that the merge changed in the Worktree. */
  readonly paths: readonly string[];
  /** What is to be resolved there now, of earlier merges too. */
  readonly conflicts: readonly Unresolved[];
}

export type ResolveOutcome =
  /** There was nothing to resolve, so no Run was started. */
  | { readonly kind: 'clean'; readonly task: Task; readonly merged: MergeInOutcome }
  | {
      readonly kind: 'started';
      readonly task: Task;
      readonly merged: MergeInOutcome;
      readonly settled: Promise<Settled>;
    };

export type UndoOutcome =
  | {
      readonly kind: 'undone';
      readonly task: Task;
      readonly paths: readonly string[];
      /** Files that keep edits made since, and the folder with their bytes from before the merge. */
      readonly merge?: { readonly paths: readonly string[]; readonly kept: string };
    }
  /** Of a merge; nothing was written. */
  | { readonly kind: 'conflict'; readonly task: Task; readonly conflicts: readonly Conflict[] }
  | { readonly kind: 'stale'; readonly task: Task; readonly paths: readonly string[] }
  /** The branch no longer stands at the commit that was landed; nothing was written. */
  | ({ readonly kind: 'movedOn'; readonly task: Task } & MovedOn);

export interface StopOutcome {
  /** Runs that had not ended when `waitMs` was over. */
  readonly stillRunning: readonly RunId[];
  readonly stopped: readonly RunId[];
}
