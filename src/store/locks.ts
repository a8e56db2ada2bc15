import { type Clock, cancelled, delay, throwIfCancelled } from '../base/async';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { LockFiles, SeenLock } from './lockFiles';
import type { HeldLock, Locks } from './store';
import { type Place, WaitingLine } from './waitingLine';

const defaultWaitMs = 30_000;
const firstPauseMs = 5;
const longestPauseMs = 100;

export interface LocksDeps {
  readonly files: LockFiles;
  readonly clock: Clock;
  readonly logger: Logger;
  /** 0 to 1, as `Math.random`. */
  readonly random: () => number;
}

/** One call of `acquire`: what it waits for and until when. */
interface Wanted {
  readonly name: string;
  readonly waitMs: number;
  readonly since: number;
  readonly signal: AbortSignal | undefined;
}

/** Lock files; inside this process callers of one name stand in line and only the first looks at the disk. */
export class FileLocks implements Locks {
  private readonly deps: LocksDeps;
  private readonly lines = new Map<string, WaitingLine>();

  constructor(deps: LocksDeps) {
    this.deps = deps;
  }

  async acquire(name: string, options: { waitMs?: number; signal?: AbortSignal } = {}): Promise<HeldLock> {
    const { signal } = options;
    throwIfCancelled(signal);
    const wanted: Wanted = {
      name,
      waitMs: options.waitMs ?? defaultWaitMs,
      since: performance.now(),
      signal,
    };
    const line = this.lines.get(name) ?? new WaitingLine();
    this.lines.set(name, line);
    const place = line.join();
    try {
      await this.waitForTurn(place, wanted);
      const nonce = await this.takeFile(wanted);
      return this.held(name, nonce, () => this.leave(name, line, place));
    } catch (error) {
      this.leave(name, line, place);
      throw error;
    }
  }

  async withLock<T>(
    name: string,
    body: () => Promise<T>,
    options?: { waitMs?: number; signal?: AbortSignal },
  ): Promise<T> {
    const lock = await this.acquire(name, options);
    try {
      return await body();
    } finally {
      await lock.release();
    }
  }

  private async waitForTurn(place: Place, wanted: Wanted): Promise<void> {
    const outcome = await place.turn(remainingMs(wanted), wanted.signal);
    if (outcome === 'cancelled') throw cancelled();
    if (outcome === 'timeout')
      throw this.timeout(wanted, await this.deps.files.look(this.deps.files.pathOf(wanted.name)));
  }

  /** Only the first in line of this process comes here. Returns the nonce of the lock file. */
  private async takeFile(wanted: Wanted): Promise<string> {
    const { files, random } = this.deps;
    const path = files.pathOf(wanted.name);
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      const take = await files.tryTake(path);
      if (take.kind === 'taken') {
        // Cancelled while the file was being made: nobody would release it.
        if (!wanted.signal?.aborted) return take.nonce;
        await files.release(path, take.nonce);
        throw cancelled();
      }
      const leftMs = remainingMs(wanted);
      if (leftMs <= 0) throw this.timeout(wanted, take.by);
      // Half fixed, half random: processes that began together do not stay together.
      await delay(Math.min(leftMs, (pauseMs * (1 + random())) / 2), wanted.signal);
    }
  }

  private held(name: string, nonce: string, leave: () => void): HeldLock {
    const { files, logger } = this.deps;
    let released: Promise<void> | undefined;
    const release = async (): Promise<void> => {
      try {
        await files.release(files.pathOf(name), nonce);
      } catch (error) {
        // The work under the lock is done. The file is taken over when this process is gone.
        logger.error('a lock file could not be removed', { name, error });
      } finally {
        leave();
      }
    };
    return {
      release: () => {
        released ??= release();
        return released;
      },
    };
  }

  private leave(name: string, line: WaitingLine, place: Place): void {
    line.leave(place);
    if (line.isEmpty && this.lines.get(name) === line) this.lines.delete(name);
  }

  /** `lock`: who has it, as the disk says; absent when it changes hands at this moment. */
  private timeout({ name, waitMs }: Wanted, lock: SeenLock | undefined): TributaryError {
    const { clock, files } = this.deps;
    const heldMs = lock === undefined ? 0 : Math.max(0, clock.now().getTime() - lock.at.getTime());
    const holder = lock?.holder;
    const who =
      holder === undefined ? 'a process that left no name' : `process ${holder.pid} on ${holder.host}`;
    return new TributaryError(
      'lockTimeout',
      `the lock "${name}" has been held for ${seconds(heldMs)} by ${who}; gave up after ${seconds(waitMs)}`,
      {
        details: {
          name,
          path: files.pathOf(name),
          heldMs,
          waitMs,
          ...(holder === undefined ? {} : { pid: holder.pid, host: holder.host }),
        },
      },
    );
  }
}

function remainingMs({ since, waitMs }: Wanted): number {
  return since + waitMs - performance.now();
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
