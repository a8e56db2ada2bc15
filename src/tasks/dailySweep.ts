import type { Disposable } from '../base/disposable';
import type { Logger } from '../base/logger';
import type { SweptItem } from './housekeepingApi';

/** A process that lives this long looks whether it is time; one command does not. */
const firstLookMs = 60_000;
const dayMs = 24 * 60 * 60 * 1_000;

export interface DailySweepDeps {
  /** `true` for one process of all, once within that time. */
  readonly claim: (everyMs: number) => Promise<boolean>;
  readonly sweep: (signal: AbortSignal) => Promise<readonly SweptItem[]>;
  /** Calls back each so many ms until disposed, without keeping the process alive. */
  readonly every: (ms: number, tick: () => void) => Disposable;
  /** Hears of what it took, where it took anything. */
  readonly onSwept?: (items: readonly SweptItem[]) => void;
  readonly logger: Logger;
}

/**
 * Sweeps a repository at most once a day, by itself: a minute after a process has opened it, and each minute after
 * that, it asks whether it is time, by one small file. Nobody waits for it; who disposes of it ends it.
 */
export class DailySweep implements Disposable {
  private readonly deps: DailySweepDeps;
  private readonly timer: Disposable;
  private readonly controller = new AbortController();
  private current: Promise<void> | undefined;

  constructor(deps: DailySweepDeps) {
    this.deps = deps;
    this.timer = deps.every(firstLookMs, () => this.look());
  }

  dispose(): void {
    this.timer.dispose();
    this.controller.abort('shutdown');
  }

  /** Resolves when nothing of it goes on. */
  async idle(): Promise<void> {
    await this.current;
  }

  private look(): void {
    this.current ??= this.sweepIfDue().finally(() => {
      this.current = undefined;
    });
  }

  private async sweepIfDue(): Promise<void> {
    const { claim, sweep, logger } = this.deps;
    const { signal } = this.controller;
    try {
      if (signal.aborted || !(await claim(dayMs))) return;
      const items = await sweep(signal);
      if (items.length === 0) return;
      logger.info('swept', { items: items.map(({ slug, why, outcome }) => ({ slug, why, outcome })) });
      this.deps.onSwept?.(items);
    } catch (error) {
      if (!signal.aborted) logger.warn('the daily sweep failed', { error });
    }
  }
}
