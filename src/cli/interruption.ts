import { cancelled } from '../base/async';
import type { Disposable } from '../base/disposable';
import type { Core } from '../composeCore';
import type { TaskId } from '../model/ids';
import type { CliHost } from './host';
import type { Report } from './report';

/** The records of what is interrupted must be written within this time; then the process ends anyway. */
const shutdownMs = 4_000;
const forceMs = 1_500;

export interface InterruptionDeps {
  readonly host: CliHost;
  readonly report: Report;
  /** Prints the result, once, and ends the process. */
  readonly leave: (exitCode: number) => void;
}

/**
 * What signals do to a call. Before it changes anything: it is given up. While agents run: Ctrl-C stops them,
 * a second one forces, a third one just ends; to be told to end interrupts them. While files are written: they are
 * finished first.
 */
export class Interruption implements Disposable {
  /** Rejects with `cancelled` when the call is given up. */
  readonly givenUp: Promise<never>;
  private readonly stopping = new AbortController();
  private readonly deps: InterruptionDeps;
  private readonly subscription: Disposable;
  private giveUp: () => void = () => undefined;
  private core: Core | undefined;
  private taskId: TaskId | undefined;
  private phase: 'before' | 'agents' | 'files' = 'before';
  private presses = 0;
  private terminated = false;
  private deadline: NodeJS.Timeout | undefined;

  constructor(deps: InterruptionDeps) {
    this.deps = deps;
    this.givenUp = new Promise((_resolve, reject) => {
      this.giveUp = () => reject(cancelled());
    });
    // Nobody may be waiting for it at that moment.
    this.givenUp.catch(() => undefined);
    this.subscription = deps.host.onSignal((signal) =>
      signal === 'interrupt' ? this.interrupt() : this.terminate(),
    );
  }

  /** Aborted when the call should end soon: what comes before files are written, such as tests, is given up then. */
  get stopped(): AbortSignal {
    return this.stopping.signal;
  }

  get isTerminated(): boolean {
    return this.terminated;
  }

  attach(core: Core): void {
    this.core = core;
  }

  /** From here on the call is not given up but stopped (`agents`) or finished (`files`). */
  begin(phase: 'agents' | 'files'): void {
    this.phase = phase;
  }

  /** Says what a stop is meant for; one that came too early is made up for. */
  started(taskId: TaskId): void {
    this.taskId = taskId;
    if (this.presses > 0) this.stop(false);
  }

  dispose(): void {
    clearTimeout(this.deadline);
    this.subscription.dispose();
  }

  private interrupt(): void {
    const { leave } = this.deps;
    this.presses += 1;
    if (this.presses > 2 || (this.presses > 1 && this.phase !== 'agents')) {
      leave(130);
    } else if (this.phase === 'before') {
      this.giveUp();
    } else if (this.phase === 'files') {
      this.stopping.abort();
      this.say('Finishing what is being written; Ctrl-C again ends at once.');
    } else if (this.presses === 1) {
      this.say('Stopping; the work is kept. Ctrl-C again forces.');
      this.stop(false);
    } else {
      this.leaveAfter(forceMs, 130);
      this.stop(true);
    }
  }

  private terminate(): void {
    if (this.terminated || this.core === undefined) {
      this.deps.leave(1);
      return;
    }
    this.terminated = true;
    this.leaveAfter(shutdownMs, 1);
    this.stopping.abort();
    if (this.phase === 'before') this.giveUp();
    else if (this.phase === 'agents') this.core.dispose().catch(() => undefined);
  }

  /** On a terminal the cursor stands behind the `^C`, or behind a question. */
  private say(text: string): void {
    const { host, report } = this.deps;
    report.warn(host.stderr.isTerminal ? `\n${text}` : text);
  }

  private leaveAfter(ms: number, exitCode: number): void {
    clearTimeout(this.deadline);
    this.deadline = setTimeout(() => this.deps.leave(exitCode), ms);
  }

  private stop(force: boolean): void {
    if (this.core === undefined || this.taskId === undefined) return;
    const options = force ? { force, waitMs: forceMs } : {};
    this.core.tasks
      .stop({ taskId: this.taskId }, options)
      .then(() => (force ? this.deps.leave(130) : undefined))
      .catch((error: unknown) => this.deps.report.warn(`cannot stop: ${String(error)}`));
  }
}
