import { type FSWatcher, watch } from 'node:fs';
import type { Disposable } from '../base/disposable';
import type { Logger } from '../base/logger';

/** Calls `tick` each `ms` until disposed; does not keep the process alive. */
export type Every = (ms: number, tick: () => void) => Disposable;

export const systemEvery: Every = (ms, tick) => {
  const timer = setInterval(tick, ms);
  timer.unref();
  return { dispose: () => clearInterval(timer) };
};

/** Watches one folder, not what lies below; throws when it is not there. Must not keep the process alive. */
export type WatchFolder = (
  folder: string,
  onEvent: () => void,
  onError: (error: unknown) => void,
) => Disposable;

export const systemWatchFolder: WatchFolder = (folder, onEvent, onError) => {
  const watcher: FSWatcher = watch(folder, { persistent: false }, onEvent);
  watcher.on('error', onError);
  return { dispose: () => watcher.close() };
};

export interface FollowDeps {
  readonly every: Every;
  readonly watchFolder: WatchFolder;
  readonly logger: Logger;
}

/**
 * Calls `look` at once, whenever the folder may have changed, and each `pollMs`: the folder may come later, and
 * a watch that fails leaves the poll.
 */
export function followFolder(
  folder: string,
  pollMs: number,
  look: () => void,
  { every, watchFolder, logger }: FollowDeps,
): Disposable {
  let watching: Disposable | undefined;
  let isWatchable = true;
  const giveUp = (error: unknown): void => {
    isWatchable = false;
    watching?.dispose();
    watching = undefined;
    logger.warn('watching a folder failed; it is polled', { folder, error });
  };
  const tick = (): void => {
    if (watching === undefined && isWatchable) {
      try {
        watching = watchFolder(folder, look, giveUp);
      } catch (error) {
        if (!isAbsent(error)) giveUp(error);
      }
    }
    look();
  };
  const timer = every(pollMs, tick);
  tick();
  return {
    dispose: () => {
      isWatchable = false;
      timer.dispose();
      watching?.dispose();
      watching = undefined;
    },
  };
}

function isAbsent(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
}

/** A task that is asked for often and never runs twice at once: a request during a run means one more run. */
export class Repeater {
  private readonly body: () => Promise<void>;
  private readonly onError: (error: unknown) => void;
  private isAsked = false;
  private running: Promise<void> | undefined;

  constructor(body: () => Promise<void>, onError: (error: unknown) => void) {
    this.body = body;
    this.onError = onError;
  }

  request(): void {
    this.isAsked = true;
    this.running ??= this.drain();
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    await this.running;
  }

  private async drain(): Promise<void> {
    while (this.isAsked) {
      this.isAsked = false;
      try {
        await this.body();
      } catch (error) {
        this.onError(error);
      }
    }
    this.running = undefined;
  }
}
