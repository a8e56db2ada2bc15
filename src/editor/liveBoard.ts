import { setTimeout as pause } from 'node:timers/promises';
import { SerialQueue } from '../base/async';
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
  readonly compose: () => Promise<Core>;
  readonly logger: Logger;
  readonly onProblem: (problem: StoreProblem) => void;
  /** Its Tasks, or the core itself, changed. */
  readonly onChange: () => void;
}

/** Milliseconds between looks at Runs of other processes: one that was killed writes nothing more. */
const foreignPollMs = 15_000;
/** Milliseconds between looks whether a core that is out of date may be replaced. */
const renewPollMs = 500;

/** A board of this window with what was last heard of its Tasks. Its core may be replaced while nothing runs. */
export class LiveBoard implements OpenBoard, Disposable {
  readonly id: string;
  readonly label: string;
  readonly onDidChangeTask: Event<TaskChange>;
  readonly onDidAppendEntry: Event<AppendedEntry>;
  readonly onDidStream: Event<StreamedEvent>;
  private readonly deps: LiveBoardDeps;
  private readonly known = new Map<TaskId, Task>();
  private readonly changes: Emitter<TaskChange>;
  private readonly entries: Emitter<AppendedEntry>;
  private readonly stream: Emitter<StreamedEvent>;
  private current: { readonly core: Core; readonly subscriptions: DisposableStack } | undefined;
  private storeProblems: readonly StoreProblem[] = [];
  private foreignPoll: NodeJS.Timeout | undefined;
  private renewPoll: NodeJS.Timeout | undefined;
  private readonly replacing = new SerialQueue();
  private renewals = 0;
  private isDisposed = false;

  constructor(deps: LiveBoardDeps) {
    this.deps = deps;
    this.id = deps.place.commonDir;
    this.label = deps.place.label;
    this.changes = new Emitter(deps.logger);
    this.entries = new Emitter(deps.logger);
    this.stream = new Emitter(deps.logger);
    this.onDidChangeTask = this.changes.event;
    this.onDidAppendEntry = this.entries.event;
    this.onDidStream = this.stream.event;
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
    return this.current?.core.tasks.isBusy(id) === true;
  }

  /** Whether a core that is out of date still answers. */
  get isRenewing(): boolean {
    return this.renewals > 0;
  }

  /** Loads the core and brings the board to what is true: dead Runs are `interrupted` from here on. */
  async start(): Promise<void> {
    const core = await this.deps.compose();
    const subscriptions = new DisposableStack();
    // Before the first listing, so that nothing falls between the two.
    subscriptions.add(core.tasks.onDidChangeTask((change) => this.take(change)));
    subscriptions.add(core.tasks.onDidAppendEntry((entry) => this.entries.fire(entry)));
    subscriptions.add(core.tasks.onDidStream((event) => this.stream.fire(event)));
    this.current = { core, subscriptions };
    try {
      await this.list(core);
      subscriptions.add(core.tasks.follow());
    } catch (error) {
      this.current = undefined;
      subscriptions.dispose();
      await core.dispose();
      throw error;
    }
    this.pollForeign();
  }

  /** Replaces the core as soon as nothing that was begun here goes on. */
  renew(): void {
    clearTimeout(this.renewPoll);
    if (this.isDisposed) return;
    if (this.current?.core.tasks.isBusy() === true) {
      this.renewPoll = setTimeout(() => this.renew(), renewPollMs);
      return;
    }
    this.renewals += 1;
    // One after the other: the newest settings make the core that stays.
    void this.replacing
      .run(() => this.replace())
      .finally(() => {
        this.renewals -= 1;
      });
  }

  async dispose(): Promise<void> {
    this.isDisposed = true;
    clearTimeout(this.foreignPoll);
    clearTimeout(this.renewPoll);
    await this.current?.core.dispose();
    this.current?.subscriptions.dispose();
    for (const emitter of [this.changes, this.entries, this.stream]) emitter.dispose();
  }

  /** The old core answers until the new one stands; one that cannot be made leaves the old one in place. */
  private async replace(): Promise<void> {
    if (this.isDisposed) return;
    const old = this.current;
    try {
      await this.start();
      this.deps.onChange();
    } catch (error) {
      this.current = old;
      this.deps.logger.error('a core could not be replaced', { repository: this.label, error });
      return;
    }
    // A command may have begun something on the old one meanwhile.
    while (old?.core.tasks.isBusy() === true && !this.isDisposed) await pause(renewPollMs);
    await old?.core.dispose();
    old?.subscriptions.dispose();
  }

  private async list(core: Core): Promise<void> {
    const { tasks, problems } = await core.tasks.list();
    for (const problem of problems) {
      this.deps.logger.warn(problem.message, { path: problem.path });
      this.deps.onProblem(problem);
    }
    this.storeProblems = problems;
    for (const task of tasks) this.known.set(task.id, task);
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
    if (!this.tasks.some((task) => task.runs.some(isForeign))) return;
    this.foreignPoll = setTimeout(() => {
      this.foreignPoll = undefined;
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
