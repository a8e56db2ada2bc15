import { cancelled, throwIfCancelled } from '../base/async';

/** Slots for Runs of this process; whoever waits gets one in order of asking. */
export class Scheduler {
  private readonly limit: number;
  private readonly waiting: Array<() => void> = [];
  private taken = 0;

  constructor(limit: number) {
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
    if (this.taken < this.limit) {
      this.taken += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
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
  }

  private leave(): void {
    const next = this.waiting.shift();
    // A slot that is handed on stays taken, so that nobody can slip in between.
    if (next) next();
    else this.taken -= 1;
  }
}
