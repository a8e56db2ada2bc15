import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import type { WorktreeState } from '../model/worktree';

/** How much a folder takes on disk; `isWhole` is `false` where not all of it could be counted. */
export interface DiskSize {
  readonly bytes: number;
  readonly isWhole: boolean;
}

/** A Worktree of ours, with what a person needs to decide about it. */
export interface WorktreeReport {
  readonly taskId?: TaskId;
  readonly slug?: string;
  readonly taskState?: Task['state'];
  /** As the board has it; `unknown`: git knows it and the board does not. */
  readonly state: WorktreeState | 'unknown';
  /** What really stands at `path`. */
  readonly stands: 'whole' | 'gone' | 'file' | 'link' | 'forgotten' | 'elsewhere' | 'stranger';
  readonly branch: string;
  readonly base?: string;
  readonly path: string;
  readonly lastUsedAt?: string;
  readonly size?: DiskSize;
  /** Whether it differs from its base; absent where that cannot be told. */
  readonly isChanged?: boolean;
  /** When the user opened it by a command of ours. */
  readonly openedAt?: string;
  /** The process that is at work there. */
  readonly heldBy?: { readonly pid?: number; readonly host?: string };
}

/** Something under our folder of Worktrees that is none of ours; it is never touched. */
export interface StrangerReport {
  readonly path: string;
  readonly size?: DiskSize;
}

export interface WorktreesReport {
  readonly worktrees: readonly WorktreeReport[];
  readonly strangers: readonly StrangerReport[];
}

export type AilmentKind =
  | 'cutOff'
  | 'editedMeanwhile'
  | 'folderGone'
  | 'forgotten'
  | 'repositoryMoved'
  | 'repositoryCopied'
  | 'worktreeMoved'
  | 'inTheWay'
  | 'notIsolated'
  | 'trash'
  | 'stranger'
  | 'unrecorded'
  | 'deadLock'
  | 'deadProcess'
  | 'temporary'
  | 'refWithoutTask'
  | 'branchWithoutTask'
  | 'objectMissing'
  | 'refMissing'
  | 'unreadable'
  | 'setAside'
  | 'otherDisk'
  | 'insideRepository'
  | 'coreWorktree';

/** Something that is not as it should be. */
export interface AilmentReport {
  readonly kind: AilmentKind;
  /** `note`: worth knowing, nothing is wrong. */
  readonly weight: 'problem' | 'note';
  /** The Task, path or ref it is about. */
  readonly subject: string;
  readonly what: string;
  readonly why: string;
  /** What mending would do, or what only the user can do. */
  readonly remedy: string;
  readonly canMend: boolean;
  /** Only where mending was asked for. */
  readonly outcome?: { readonly kind: 'mended' } | { readonly kind: 'failed'; readonly message: string };
}

export interface SweptItem {
  /** `worktree`: its files are in a Snapshot or the base; `kept`: what would have brought an ended Task back. */
  readonly kind: 'worktree' | 'kept';
  readonly taskId: TaskId;
  readonly slug: string;
  readonly path?: string;
  readonly size?: DiskSize;
  readonly why: string;
  readonly outcome: 'removed' | 'wouldRemove' | 'failed';
  readonly message?: string;
}

export interface SweepOptions {
  /** Only says what would go. */
  readonly isDryRun?: boolean;
  /** Days instead of `tributary.worktrees.retentionDays`; never fewer than that. */
  readonly olderThanDays?: number;
  /** Only these of what would go. */
  readonly only?: readonly Pick<SweptItem, 'kind' | 'taskId'>[];
  readonly signal?: AbortSignal;
}

/** Looks after Worktrees and what is kept of ended Tasks. */
export interface Housekeeping {
  /** Every Worktree of ours and what else lies under our folder. */
  worktrees(options?: { signal?: AbortSignal }): Promise<WorktreesReport>;
  /** What is wrong. Changes nothing unless `mend` is set; then one by one, and answers what became of each. */
  examine(options?: { mend?: boolean }): Promise<readonly AilmentReport[]>;
  /** Removes what nobody needs: idle Worktrees without changes, leftovers of ended Tasks, what has been kept its time. */
  sweep(options?: SweepOptions): Promise<readonly SweptItem[]>;
  /** Writes down that the user opened a Task's Worktree in a window or a terminal: it does not go by itself then. */
  noteOpened(id: TaskId): Promise<void>;
}

/** A recorded state of a Task's Worktree, as a list of them shows it. */
export interface TaskSnapshot {
  readonly number: number;
  readonly commit: string;
  readonly tree: string;
  readonly at: string;
  /** After which Turn of which Run; `turn` 0: as it stood outside of one. Absent: kept before a check's leavings went. */
  readonly runId?: string;
  readonly turn?: number;
  /** Whether the Task's change is what this one holds. */
  readonly isNewest: boolean;
}

/** A state to go back to: a Snapshot by its number (0: the base), or what stood after a Turn (0: before the Run). */
export type RestorePoint = { readonly snapshot: number } | { readonly run: string; readonly turn: number };

export interface RestoredTo {
  readonly task: Task;
  /** What the Worktree holds now; 0 for the base. */
  readonly to: number;
  /** The Snapshot of what stood there before: restoring to it takes this back. */
  readonly before: number;
  readonly restored: readonly string[];
  readonly removed: readonly string[];
  /** What no Snapshot holds and stood in the way, as ignored files may, with the folder that keeps it. */
  readonly aside?: { readonly folder: string; readonly paths: readonly string[] };
}
