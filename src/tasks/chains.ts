import type { CancelReason } from '../base/async';
import type { Disposable } from '../base/disposable';
import { TributaryError } from '../base/errors';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import type { Store } from '../store/store';
import { isLive } from './runMachine';
import type { RunRoad } from './runRoad';
import type { Settled } from './taskApi';

interface Chain {
  readonly controller: AbortController;
  readonly settled: Promise<Settled>;
}

/**
 * What one call set going on a Task: a Run and the Runs that follow from it. One at a time per Task in this
 * process; other processes reach it by request files.
 */
export class Chains {
  private readonly store: Store;
  private readonly road: RunRoad;
  private readonly running = new Map<TaskId, Chain>();

  constructor(deps: { store: Store; road: RunRoad }) {
    this.store = deps.store;
    this.road = deps.road;
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
    const settled = body(controller.signal).finally(() => {
      serving.dispose();
      this.running.delete(id);
    });
    this.running.set(id, { controller, settled });
    return settled;
  }

  /** The chain that a message was left for. */
  joined(task: Task): { task: Task; settled: Promise<Settled> } {
    const chain = this.running.get(task.id);
    return { task, settled: chain?.settled ?? Promise.resolve({ task, runs: [] }) };
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
    return this.store.requests.serve(task.id, (request) => {
      const { runId } = request;
      if (over.has(runId)) return true;
      if (before.has(runId) || !this.road.hasMade(runId)) return false;
      if (request.kind === 'message') this.road.leaveMessage(task.id, request.text);
      if (request.kind !== 'stop') return true;
      // It may have ended between the asking and now: what follows from it is to stop as well.
      if (this.road.has(runId)) this.road.stop(runId, 'user');
      else controller.abort('user');
      return true;
    });
  }
}
