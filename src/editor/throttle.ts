import type { Disposable } from '../base/disposable';

/** Runs `action` when asked: at once the first time, then at most once each `ms`; the last asking is never lost. */
export class Throttle implements Disposable {
  private readonly ms: number;
  private readonly action: () => void;
  private timer: NodeJS.Timeout | undefined;
  private isAsked = false;

  constructor(ms: number, action: () => void) {
    this.ms = ms;
    this.action = action;
  }

  ask(): void {
    if (this.timer !== undefined) {
      this.isAsked = true;
      return;
    }
    this.run();
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private run(): void {
    this.isAsked = false;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.isAsked) this.run();
    }, this.ms);
    this.action();
  }
}
