import { cancelled, throwIfCancelled } from '../base/async';

/** Slots for Runs of this process; whoever waits gets one in order of asking. The limit may change at any time. */
export class Scheduler {
  private readonly limit: () => number;
  private readonly waiting: Array<() => void> = [];
  private taken = 0;

  constructor(limit: () => number) {
    this.limit = limit;
  }

  get runningCount(): number {
    return this.taken;
  }

  /** Waits for a slot, runs `body` in it, gives it back. Rejects with `cancelled` when aborted while waiting. */
  async inSlot<T>(body: () => Promise<T>, signal: AbortSignal): Promise<T> {
    await this.enter(signal);
    try {
      return await body();
    } finally {
      this.leave();
    }
  }

  private async enter(signal: AbortSignal): Promise<void> {
    throwIfCancelled(signal);
    const waits = new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        this.waiting.splice(this.waiting.indexOf(admit), 1);
        reject(cancelled());
      };
      const admit = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.waiting.push(admit);
    });
    this.admit();
    await waits;
  }

  private leave(): void {
    this.taken -= 1;
    this.admit();
  }

  /** Fills the slots that there are now; those who came first go first. */
  private admit(): void {
    const limit = this.limit();
    while (this.taken < limit) {
      const next = this.waiting.shift();
      if (next === undefined) return;
      this.taken += 1;
      next();
    }
  }
}
