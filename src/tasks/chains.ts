import type { CancelReason } from '../base/async';
import type { Disposable } from '../base/disposable';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import type { Store } from '../store/store';
import { isLive } from './runMachine';
import type { RunRoad } from './runRoad';
import type { Settled } from './taskApi';

interface Chain {
  readonly controller: AbortController;
  readonly settled: Promise<Settled>;
  /** A message was left since the chain last looked for what waits. */
  hasNews: boolean;
}

export interface ChainsDeps {
  readonly store: Store;
  readonly road: RunRoad;
  /** Keeps a message that came as a request, with the Task. */
  readonly keep: (id: TaskId, text: string) => Promise<unknown>;
  /** Begins, when all of `settled` is over, what is left to do; `undefined`: nothing is. */
  readonly goOn: (settled: Settled, signal: AbortSignal) => Promise<Settled | undefined>;
  readonly logger: Logger;
}

/**
 * What one call set going on a Task: a Run and the Runs that follow from it. One at a time per Task in this
 * process; other processes reach it by request files.
 */
export class Chains {
  private readonly deps: ChainsDeps;
  private readonly running = new Map<TaskId, Chain>();

  constructor(deps: ChainsDeps) {
    this.deps = deps;
  }

  isBusy(id?: TaskId): boolean {
    return id === undefined ? this.running.size > 0 : this.running.has(id);
  }

  run(task: Task, body: (signal: AbortSignal) => Promise<Settled>): Promise<Settled> {
    const { id } = task;
    if (this.running.has(id))
      throw new TributaryError('wrongState', `task ${id} still has a run going on`, {
        details: { taskId: id },
      });
    const controller = new AbortController();
    const serving = this.serve(task, controller);
    const settled = this.toTheEnd(id, () => body(controller.signal), controller.signal).finally(() =>
      serving.dispose(),
    );
    this.running.set(id, { controller, settled, hasNews: false });
    return settled;
  }

  /** The chain of a Task that a message was just kept with, which will look for it; `undefined`: none is running. */
  join(task: Task): { task: Task; settled: Promise<Settled> } | undefined {
    const chain = this.running.get(task.id);
    if (chain === undefined) return undefined;
    chain.hasNews = true;
    return { task, settled: chain.settled };
  }

  private async toTheEnd(id: TaskId, body: () => Promise<Settled>, signal: AbortSignal): Promise<Settled> {
    try {
      let settled = await body();
      for (;;) {
        const chain = this.running.get(id);
        if (chain !== undefined) chain.hasNews = false;
        const more = await this.deps.goOn(settled, signal);
        // Nothing is awaited between this look and the end: who comes later finds no chain and begins one.
        if (more === undefined && chain?.hasNews !== true) return settled;
        if (more !== undefined) settled = { ...settled, ...more, runs: [...settled.runs, ...more.runs] };
      }
    } finally {
      this.running.delete(id);
    }
  }

  stop(id: TaskId, reason: CancelReason): void {
    this.running.get(id)?.controller.abort(reason);
  }

  /** Interrupts everything and waits until it is written down. */
  async dispose(): Promise<void> {
    const chains = [...this.running.values()];
    for (const chain of chains) chain.controller.abort('shutdown');
    await Promise.allSettled(chains.map((chain) => chain.settled));
  }

  /** Another process may serve the same Task: what is for a Run of its own is left to it. */
  private serve(task: Task, controller: AbortController): Disposable {
    // What nobody took while these Runs lived is not meant for what comes after them.
    const over = new Set(task.runs.filter((run) => !isLive(run)).map((run) => run.id));
    const before = new Set(task.runs.map((run) => run.id));
    const { store, road } = this.deps;
    return store.requests.serve(task.id, async (request) => {
      const { runId } = request;
      if (over.has(runId)) return request.kind === 'message' ? this.keep(task, request.text) : true;
      if (before.has(runId) || !road.hasMade(runId)) return false;
      if (request.kind === 'message') return this.keep(task, request.text);
      if (request.kind !== 'stop') return true;
      // It may have ended between the asking and now: what follows from it is to stop as well.
      if (road.has(runId)) road.stop(runId, 'user');
      else controller.abort('user');
      return true;
    });
  }

  /** A request file goes only when its message is kept: one that cannot be is offered again. */
  private async keep(task: Task, text: string): Promise<boolean> {
    try {
      await this.deps.keep(task.id, text);
      this.join(task);
      return true;
    } catch (error) {
      this.deps.logger.warn('a message could not be kept', { taskId: task.id, error });
      return false;
    }
  }
}
