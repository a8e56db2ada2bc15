import type { Disposable } from '../base/disposable';
import type { BoardEvent } from '../model/events';
import type { LandingId, RunId, TaskId } from '../model/ids';
import type { LandingRecord } from '../model/landing';
import type { OwnerRef } from '../model/run';
import type { Task } from '../model/task';
import type {
  NewEntry,
  Transcript,
  TranscriptCursor,
  TranscriptEntry,
  TranscriptHeader,
  TranscriptPart,
} from '../model/transcript';
import type { Worktree } from '../model/worktree';

/**
 * Something on disk that could not be used; it was kept, renamed or left, never deleted. `cutOff`: what a killed
 * accept or undo had begun was settled around what the user did since; `unsettled`: a Task that is shown as it was.
 */
export interface StoreProblem {
  readonly path: string;
  readonly code: 'corruptFile' | 'newerStore' | 'cutOff' | 'unsettled';
  /** A sentence that names the file and what can be done. */
  readonly message: string;
  /** Set when the file belongs to a Task. */
  readonly taskId?: TaskId;
}

/** The lock that every write to the board takes. Not reentrant: the stores below take it themselves. */
export const boardLock = 'board';

/** The Tasks of a repository, one folder each. Writes go through the board lock; only `taskService` calls them. */
export interface TaskStore {
  /** `build` gets an id that exclusive creation of its folder has decided. */
  create(build: (id: TaskId) => Task): Promise<Task>;
  /** Reads, changes and saves under the board lock. Throws `unknownId`, `newerStore`. `change` may return the same object: nothing is written then. */
  update(id: TaskId, change: (task: Task) => Task): Promise<Task>;
  /** An id no Run of the board has had. */
  newRunId(): Promise<RunId>;
  /** Throws `unknownId`, `corruptFile`, `newerStore`; one of a newer version that can be understood is given, read-only. */
  load(id: TaskId): Promise<Task>;
  /** In the order of their ids. A Task of a newer version may be in both lists. */
  list(): Promise<{ tasks: readonly Task[]; problems: readonly StoreProblem[] }>;
  /** Fires with the id when another process (or we) changed a Task: Node's watch plus a slow poll. */
  watch(listener: (id: TaskId) => void): Disposable;
}

/** An open transcript file; entries get `id`, `parentId` and `at` here. */
export interface TranscriptWriter {
  /** Resolves when the line is with the operating system. Calls are kept in order. */
  append(entry: NewEntry): Promise<TranscriptEntry>;
  close(): Promise<void>;
}

export interface TranscriptStore {
  /** Creates `runs/<runId>.jsonl` exclusively and writes the header. */
  create(header: TranscriptHeader): Promise<TranscriptWriter>;
  /** Opens a transcript of a dead owner to append to; a half last line is closed first. */
  reopen(taskId: TaskId, runId: RunId): Promise<TranscriptWriter>;
  /** Throws `unknownId` when there is none. */
  read(taskId: TaskId, runId: RunId): Promise<Transcript>;
  /** What stands behind `from`, at most about a megabyte at once. Throws `unknownId` when there is none. */
  readPart(taskId: TaskId, runId: RunId, from: TranscriptCursor): Promise<TranscriptPart>;
  /** `<runId>.output.md`, once, atomically. */
  writeOutput(taskId: TaskId, runId: RunId, text: string): Promise<void>;
  /** `runs/<runId>.out/`, not created yet. */
  outDirectory(taskId: TaskId, runId: RunId): string;
  path(taskId: TaskId, runId: RunId): string;
}

/** `worktrees/index.json` and `worktrees/events.jsonl`. */
export interface WorktreeRecords {
  list(): Promise<readonly Worktree[]>;
  /** Adds or replaces the record of the Task, under the board lock. */
  put(worktree: Worktree): Promise<void>;
  /** Writes down that the user opened it in a window or a terminal; it counts until the Worktree goes. */
  noteOpened(taskId: TaskId, at: string): Promise<void>;
  appendEvent(event: BoardEvent): Promise<void>;
  readEvents(): Promise<readonly BoardEvent[]>;
}

/** A lock held; `release` is idempotent. */
export interface HeldLock {
  release(): Promise<void>;
}

/** Locks across processes, as files with their owner; a dead owner's lock is taken over. */
export interface Locks {
  /** Waits with backoff. Throws `lockTimeout` naming the holder, or `cancelled`. Default wait 30,000 ms. */
  acquire(name: string, options?: { waitMs?: number; signal?: AbortSignal }): Promise<HeldLock>;
  withLock<T>(
    name: string,
    body: () => Promise<T>,
    options?: { waitMs?: number; signal?: AbortSignal },
  ): Promise<T>;
}

/** The processes that keep Runs alive. */
export interface Owners {
  /** This process; its heartbeat file is written at the first call. */
  self(): Promise<OwnerRef>;
  /** Same host: pid and process start time decide at once; else a heartbeat younger than 30 s. */
  isAlive(owner: OwnerRef): Promise<boolean>;
  /** Boot ids of processes of this host that ended without taking their leave, as far back as a day. */
  dead(): Promise<readonly string[]>;
  /** Stops the heartbeat and removes our file. */
  dispose(): Promise<void>;
}

export type TaskRequest =
  | { readonly kind: 'stop'; readonly runId: RunId; readonly force: boolean }
  | { readonly kind: 'message'; readonly runId: RunId; readonly text: string }
  | {
      readonly kind: 'answer';
      readonly runId: RunId;
      readonly questionId: string;
      readonly allowed: boolean;
    };

/** Files in `tasks/<taskId>/requests/`: how another process speaks to the owner of a Run. */
export interface Requests {
  send(taskId: TaskId, request: TaskRequest): Promise<void>;
  /**
   * Calls `onRequest` once per request file, in order, waits for it, and removes it; watched, and polled each 500 ms. When it
   * gives `false` the request is for a Run of another owner: the file stays and is offered again later.
   */
  serve(taskId: TaskId, onRequest: (request: TaskRequest) => unknown): Disposable;
}

/** `journal/<landingId>/`: what a Landing writes, before it writes. */
export interface Journal {
  /** A fresh folder and id. */
  create(): Promise<{ id: LandingId; directory: string }>;
  save(record: LandingRecord): Promise<void>;
  load(id: LandingId): Promise<LandingRecord>;
  list(): Promise<readonly LandingRecord[]>;
  /** Removes the folder of a Landing that wrote nothing; none there is no error. */
  drop(id: LandingId): Promise<void>;
  directory(id: LandingId): string;
}

/** `overlaps.json`: answers about trees, by what was asked; replaced whole. */
export interface OverlapCache {
  load(): Promise<ReadonlyMap<string, readonly string[]>>;
  /** One that cannot be written is only logged. */
  save(known: ReadonlyMap<string, readonly string[]>): Promise<void>;
}

/** A board as it lies on the disk, read without a lock and without setting anything aside. */
export interface BoardLook {
  readonly tasks: readonly Task[];
  readonly worktrees: readonly Worktree[];
  readonly hasIndex: boolean;
  /** Records that cannot be read, or only read. */
  readonly problems: readonly StoreProblem[];
  /** Damaged records that were renamed earlier. */
  readonly setAside: readonly string[];
  /** Tasks with a folder, whether their record can be read or not. */
  readonly taskIds: readonly TaskId[];
}

/** Who holds a lock. */
export interface LockHolder {
  readonly pid?: number;
  readonly host?: string;
}

/** What looks after the board itself. */
export interface BoardCare {
  /** Changes no byte. */
  look(): Promise<BoardLook>;
  /** The living process that holds a lock. */
  holderOf(lock: string): Promise<LockHolder | undefined>;
  /** Lock files of dead processes. */
  deadLocks(): Promise<readonly string[]>;
  removeDeadLock(path: string): Promise<void>;
  removeDeadOwner(bootId: string): Promise<void>;
  isProcessAlive(pid: number): Promise<boolean>;
  /** Deletes what was set aside of a Task. */
  dropAside(taskId: TaskId): Promise<void>;
  /** Whether nobody has tidied up within `everyMs`; who is answered `true` has it for that time. */
  claimHousekeeping(everyMs: number): Promise<boolean>;
}

/** Everything under `<git common dir>/tributary/`. */
export interface Store {
  readonly directory: string;
  readonly tasks: TaskStore;
  readonly transcripts: TranscriptStore;
  readonly worktrees: WorktreeRecords;
  readonly locks: Locks;
  readonly owners: Owners;
  readonly requests: Requests;
  readonly journal: Journal;
  readonly overlaps: OverlapCache;
  readonly care: BoardCare;
  /** `aside/<taskId>/`, not created. */
  asideDirectory(taskId: TaskId): string;
  dispose(): Promise<void>;
}
