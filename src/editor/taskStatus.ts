import type { Run, RunEnd } from '../model/run';
import { currentVerdict, openFindings, type Task } from '../model/task';
import type { VerdictWord } from '../model/verdict';
import { isLive } from '../tasks/runMachine';
import type { Activity } from './activity';

/** What the live Run is for, where it is not the Task's own work. */
export type Stage = 'working' | 'verifying' | 'fixing';

/** What a Task shows of itself, in one line; words and icons for it are in `taskWords.ts`. */
export type TaskStatus =
  | { readonly kind: 'live'; readonly stage: Stage; readonly activity: Activity | undefined }
  | { readonly kind: 'between' }
  | {
      readonly kind: 'ready';
      readonly files: number | undefined;
      readonly judged: Judged | undefined;
      /** Files with a conflict that nobody has resolved. */
      readonly unresolved?: number;
    }
  | { readonly kind: 'answered' }
  | { readonly kind: 'cut'; readonly state: 'failed' | 'stopped' | 'interrupted'; readonly end: RunEnd }
  | { readonly kind: 'ended'; readonly state: 'accepted' | 'discarded' | 'closed' }
  | { readonly kind: 'ending'; readonly to: Task['state'] }
  | { readonly kind: 'waiting' };

export interface Judged {
  readonly verdict: VerdictWord;
  readonly findings: number;
}

/** What is known of a Task beside its record. */
export interface Known {
  /** Of the live Run, where it lives in this window. */
  readonly activity?: Activity | undefined;
  /** Files that differ from the base. */
  readonly files?: number | undefined;
  /** One Run has ended and what follows from it is about to begin. */
  readonly isBusy?: boolean | undefined;
  /** Files of its Worktree with a conflict that nobody has resolved. */
  readonly unresolved?: number | undefined;
}

export function statusOf(task: Task, known: Known = {}): TaskStatus {
  if (task.pending !== undefined) return { kind: 'ending', to: task.pending.to };
  const live = task.runs.find(isLive);
  if (live !== undefined)
    return { kind: 'live', stage: stageOf(live), activity: known.activity ?? recordedActivity(task) };
  if (task.state !== 'open') return { kind: 'ended', state: task.state };
  if (known.isBusy === true) return { kind: 'between' };
  const last = task.runs.at(-1);
  if (last === undefined) return { kind: 'waiting' };
  const { status } = last;
  if (status.state === 'failed' || status.state === 'stopped' || status.state === 'interrupted')
    return { kind: 'cut', state: status.state, end: status.end };
  if (task.snapshot === undefined) return { kind: 'answered' };
  const { files, unresolved = 0 } = known;
  const left = unresolved === 0 ? {} : { unresolved };
  return { kind: 'ready', files, judged: judgedOf(task), ...left };
}

/** What the record tells of a Run that another process keeps: that its Worktree is being set up, and by which command. */
export function recordedActivity({ setup }: Pick<Task, 'setup'>): Activity | undefined {
  if (setup?.state !== 'running' || setup.current === undefined) return undefined;
  return { kind: 'settingUp', command: setup.current };
}

/** Whether the Task waits for the user to review it. */
export function isReady(task: Task): boolean {
  return statusOf(task).kind === 'ready';
}

/** Whether there is something that `accept` could land. */
export function canAccept(task: Task): boolean {
  return isAtRest(task) && task.state === 'open' && task.snapshot !== undefined;
}

/** Whether `undo` has a Landing to take back: all of an accepted Task, or the last part of an open one. */
export function canUndo(task: Task): boolean {
  if (!isAtRest(task) || task.expiredAt !== undefined) return false;
  return task.state === 'accepted' || (task.state === 'open' && hasPartLanded(task));
}

/** Whether a part of the Task has landed and stands. */
export function hasPartLanded({ landings }: Task): boolean {
  return landings.some(({ part, undoneAt }) => part !== undefined && undoneAt === undefined);
}

/** Whether no Run of the Task lives and no ending is under way. */
export function isAtRest(task: Task): boolean {
  return task.pending === undefined && !task.runs.some(isLive);
}

/** Whether `resume` has a Run to go on with. */
export function canResume(task: Task): boolean {
  return isAtRest(task) && task.state === 'open' && task.runs.at(-1)?.status.state !== 'completed';
}

/** The Verdict that counts, unless the Worktree has moved on since. */
export function judgedOf(task: Task): Judged | undefined {
  const verdict = currentVerdict(task);
  if (verdict === undefined || verdict.tree !== task.snapshot?.tree) return undefined;
  return { verdict: verdict.verdict, findings: openFindings(task).length };
}

function stageOf(run: Run): Stage {
  if (run.kind === 'verify' || run.kind === 'review') return 'verifying';
  return run.kind === 'fix' ? 'fixing' : 'working';
}

/** Numbers for badge and status bar. */
export interface Counts {
  readonly running: number;
  readonly ready: number;
  readonly waiting: number;
}

/** What tells a Task's state from its record alone. */
export interface CountBy {
  /** Whether a question of the Task waits for the user. */
  readonly isAsking: (task: Task) => boolean;
  /** Whether something still goes on with it, though no Run lives. */
  readonly isBusy: (task: Task) => boolean;
}

export function countTasks(tasks: readonly Task[], { isAsking, isBusy }: CountBy): Counts {
  const goesOn = (task: Task): boolean => task.runs.some(isLive) || isBusy(task);
  return {
    running: tasks.filter(goesOn).length,
    ready: tasks.filter((task) => isReady(task) && !goesOn(task)).length,
    waiting: tasks.filter(isAsking).length,
  };
}

/** Open Tasks first, newest first; then those that ended. */
export function inOrder(tasks: readonly Task[]): Task[] {
  const rank = (task: Task): number => (task.state === 'open' ? 0 : 1);
  return [...tasks].sort((a, b) => rank(a) - rank(b) || b.id.localeCompare(a.id));
}

/** How long a Run was at work, and how long it waited for the user, which is not counted as work. */
export interface Times {
  readonly workedMs: number;
  readonly waitedMs: number;
}

export function timesOf(run: Run, now: Date): Times | undefined {
  const { status, waitedMs = 0 } = run;
  const from = 'startedAt' in status ? status.startedAt : undefined;
  if (from === undefined) return undefined;
  const to = 'end' in status ? Date.parse(status.end.at) : now.getTime();
  return { workedMs: Math.max(0, to - Date.parse(from) - waitedMs), waitedMs };
}

/** What a verification came to; `undefined` for Runs of other kinds, and before it has. */
export function verdictOfRun(task: Task, { id, kind }: Run): VerdictWord | undefined {
  return kind === 'verify' ? task.verdicts.findLast(({ runId }) => runId === id)?.verdict : undefined;
}

/** Whether a Run may be writing files of the Task at this moment; one that judges puts back what it changes. */
export function isBeingWritten({ runs }: Task): boolean {
  return runs.some((run) => isLive(run) && stageOf(run) !== 'verifying');
}
