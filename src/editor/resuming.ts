import type { RunId, TaskId } from '../model/ids';
import type { Run } from '../model/run';
import type { Settings } from '../model/settings';
import type { Task } from '../model/task';
import { canResume } from './taskStatus';

/** Minutes after a clean shutdown within which a Run goes on by itself. */
const graceMs = 10 * 60_000;

/** Tasks whose Runs were interrupted, by what is to be done about them. */
export interface ToResume {
  readonly automatic: readonly Task[];
  readonly ask: readonly Task[];
}

/**
 * What a window does about interrupted Runs when it opens a board. Only its own are its business: what a command
 * line had begun goes on by a command line, or by hand.
 */
export function toResume(
  tasks: readonly Task[],
  how: { readonly setting: Settings['resume']; readonly own: ReadonlySet<string>; readonly now: Date },
): ToResume {
  if (how.setting === 'never') return { automatic: [], ask: [] };
  const cut = tasks.filter((task) => isInterruptedHere(task, how.own));
  const isAutomatic = (task: Task): boolean =>
    how.setting === 'automatic' && isRecentShutdown(task.runs.at(-1), how.now);
  return { automatic: cut.filter(isAutomatic), ask: cut.filter((task) => !isAutomatic(task)) };
}

function isInterruptedHere(task: Task, own: ReadonlySet<string>): boolean {
  const last = task.runs.at(-1);
  return last?.status.state === 'interrupted' && canResume(task) && own.has(last.id);
}

function isRecentShutdown(run: Run | undefined, now: Date): boolean {
  if (run?.status.state !== 'interrupted' || run.status.end.reason !== 'shutdown') return false;
  const age = now.getTime() - Date.parse(run.status.end.at);
  return age >= 0 && age < graceMs;
}

/** How many of the window's Runs are remembered. */
const rememberedRuns = 100;

/** Which Runs this window began, across its restarts. */
export class OwnRuns {
  private readonly memory: {
    get(key: string): unknown;
    update(key: string, value: unknown): PromiseLike<void>;
  };
  private ids: readonly string[];

  constructor(memory: OwnRuns['memory']) {
    this.memory = memory;
    const stored = memory.get(ownRunsKey);
    this.ids = Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
  }

  get all(): ReadonlySet<string> {
    return new Set(this.ids);
  }

  add(runId: RunId): void {
    if (this.ids.includes(runId)) return;
    this.ids = [...this.ids, runId].slice(-rememberedRuns);
    void this.memory.update(ownRunsKey, this.ids);
  }

  /** Asked about and not wanted: not asked again. */
  forget(tasks: readonly { readonly id: TaskId; readonly runs: readonly Run[] }[]): void {
    const gone = new Set(tasks.flatMap((task) => task.runs.map((run): string => run.id)));
    this.ids = this.ids.filter((id) => !gone.has(id));
    void this.memory.update(ownRunsKey, this.ids);
  }
}

const ownRunsKey = 'tributary.ownRuns';
