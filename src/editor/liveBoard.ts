import { setTimeout as pause } from 'node:timers/promises';
import { type Disposable, DisposableStack } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { Core } from '../composeCore';
import type { TaskId } from '../model/ids';
import type { Run } from '../model/run';
import type { Task } from '../model/task';
import type { StoreProblem } from '../store/store';
import { isLive } from '../tasks/runMachine';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../tasks/taskApi';
import type { OpenBoard, RepositoryPlace } from './boards';

export interface LiveBoardDeps {
  readonly place: RepositoryPlace;
  readonly compose: (place: RepositoryPlace) => Promise<Core>;
  readonly logger: Logger;
  readonly onProblem: (problem: StoreProblem) => void;
  /** Its Tasks, or the core itself, changed. */
  readonly onChange: () => void;
}

/** Milliseconds between looks at Runs of other processes: one that was killed writes nothing more. */
const foreignPollMs = 15_000;
/** Milliseconds between looks whether a core that was replaced has ended what it began. */
const retirePollMs = 500;

interface RunningCore {
  readonly core: Core;
  readonly subscriptions: DisposableStack;
}

/** A board of this window with what was last heard of its Tasks. Its core is replaced when its checkout is another one. */
export class LiveBoard implements OpenBoard, Disposable {
  readonly id: string;
  readonly onDidChangeTask: Event<TaskChange>;
  readonly onDidAppendEntry: Event<AppendedEntry>;
  readonly onDidStream: Event<StreamedEvent>;
  private readonly deps: LiveBoardDeps;
  private readonly known = new Map<TaskId, Task>();
  private readonly changes: Emitter<TaskChange>;
  private readonly entries: Emitter<AppendedEntry>;
  private readonly stream: Emitter<StreamedEvent>;
  private place: RepositoryPlace;
  private current: RunningCore | undefined;
  /** Replaced, and still ending what they began. */
  private readonly retiring = new Map<RunningCore, Promise<void>>();
  private readonly goneWhileBusy = new Set<TaskId>();
  private storeProblems: readonly StoreProblem[] = [];
  private foreignPoll: NodeJS.Timeout | undefined;
  private isDisposed = false;

  constructor(deps: LiveBoardDeps) {
    this.deps = deps;
    this.id = deps.place.commonDir;
    this.place = deps.place;
    this.changes = new Emitter(deps.logger);
    this.entries = new Emitter(deps.logger);
    this.stream = new Emitter(deps.logger);
    this.onDidChangeTask = this.changes.event;
    this.onDidAppendEntry = this.entries.event;
    this.onDidStream = this.stream.event;
  }

  get label(): string {
    return this.place.label;
  }

  /** The checkout that new Tasks start from and that accepted ones land in. */
  get root(): string {
    return this.place.root;
  }

  get core(): Core {
    if (this.current === undefined) throw new Error(`the board of ${this.label} is not open`);
    return this.current.core;
  }

  get tasks(): readonly Task[] {
    return [...this.known.values()];
  }

  /** What of the board on disk could not be read. */
  get problems(): readonly StoreProblem[] {
    return this.storeProblems;
  }

  task(id: TaskId): Task | undefined {
    return this.known.get(id);
  }

  /** Whether something that was begun in this window still goes on with the Task: a Run, or what follows it. */
  isBusy(id: TaskId): boolean {
    return this.cores().some((core) => core.tasks.isBusy(id));
  }

  /** Loads the core and brings the board to what is true: dead Runs are `interrupted` from here on. */
  async start(): Promise<void> {
    const core = await this.deps.compose(this.place);
    const subscriptions = new DisposableStack();
    // Before the first listing, so that nothing falls between the two.
    subscriptions.add(core.tasks.onDidChangeTask((change) => this.take(change)));
    subscriptions.add(core.tasks.onDidAppendEntry((entry) => this.entries.fire(entry)));
    subscriptions.add(core.tasks.onDidStream((event) => this.stream.fire(event)));
    this.current = { core, subscriptions };
    try {
      await this.list(core);
      subscriptions.add(core.tasks.follow((id) => this.forget(id)));
    } catch (error) {
      this.current = undefined;
      subscriptions.dispose();
      await core.dispose();
      throw error;
    }
    this.pollForeign();
  }

  /** Another checkout of the repository: what is new begins there at once, Runs that live end where they began. */
  async moveTo(place: RepositoryPlace): Promise<void> {
    const old = this.current;
    this.place = place;
    await this.start();
    if (old !== undefined) this.retiring.set(old, this.retire(old));
    this.deps.onChange();
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    clearTimeout(this.foreignPoll);
    await Promise.all([
      this.current?.core.dispose(),
      ...[...this.retiring.keys()].map(({ core }) => core.dispose()),
    ]);
    this.current?.subscriptions.dispose();
    await Promise.all(this.retiring.values());
    for (const emitter of [this.changes, this.entries, this.stream]) emitter.dispose();
  }

  private cores(): readonly Core[] {
    const all = this.current === undefined ? this.retiring.keys() : [this.current, ...this.retiring.keys()];
    return [...all].map(({ core }) => core);
  }

  private async retire(old: RunningCore): Promise<void> {
    while (old.core.tasks.isBusy() && !this.isDisposed) await pause(retirePollMs);
    try {
      await old.core.dispose();
    } catch (error) {
      this.deps.logger.error('a core that was replaced could not be closed', {
        repository: this.label,
        error,
      });
    }
    old.subscriptions.dispose();
    this.retiring.delete(old);
  }

  /** The Task's record is gone from the disk. One that something of this window is at work on shows until that ends. */
  private forget(id: TaskId): void {
    if (this.isBusy(id)) {
      this.goneWhileBusy.add(id);
      this.pollForeign();
    } else if (this.known.delete(id)) this.deps.onChange();
  }

  private async list(core: Core): Promise<void> {
    // What comes while the list is read need not be in it.
    const before = [...this.known.keys()];
    const { tasks, problems } = await core.tasks.list();
    for (const problem of problems) {
      this.deps.logger.warn(problem.message, { path: problem.path });
      this.deps.onProblem(problem);
    }
    this.storeProblems = problems;
    for (const task of tasks) this.known.set(task.id, task);
    const there = new Set([...tasks.map(({ id }) => id), ...problems.map(({ taskId }) => taskId)]);
    for (const id of before) if (!there.has(id)) this.forget(id);
  }

  private take(change: TaskChange): void {
    this.known.set(change.task.id, change.task);
    this.changes.fire(change);
    this.pollForeign();
    this.deps.onChange();
  }

  /** While a Run of another process lives, its owner is looked at now and then; the listing settles dead ones. */
  private pollForeign(): void {
    if (this.foreignPoll !== undefined || this.isDisposed) return;
    if (this.goneWhileBusy.size === 0 && !this.tasks.some((task) => task.runs.some(isForeign))) return;
    this.foreignPoll = setTimeout(() => {
      this.foreignPoll = undefined;
      this.goneWhileBusy.clear();
      void this.lookAgain();
    }, foreignPollMs);
  }

  private async lookAgain(): Promise<void> {
    try {
      if (this.current !== undefined && !this.isDisposed) await this.list(this.current.core);
      this.deps.onChange();
    } catch (error) {
      this.deps.logger.warn('a board could not be read again', { repository: this.label, error });
    }
    this.pollForeign();
  }
}

function isForeign(run: Run): boolean {
  return isLive(run) && run.owner.pid !== process.pid;
}
