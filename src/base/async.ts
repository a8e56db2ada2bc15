import { TributaryError } from './errors';

/**
 * Why something was cancelled; carried as `signal.reason`. The first reason wins. `worktree`: the files it was
 * to work on could not be put there.
 */
export type CancelReason = 'user' | 'timeout' | 'budget' | 'shutdown' | 'worktree';

const reasons: readonly string[] = ['user', 'timeout', 'budget', 'shutdown', 'worktree'];

/** The reason of an aborted signal; an unknown one counts as `user`. */
export function cancelReasonOf(signal: AbortSignal): CancelReason {
  const reason: unknown = signal.reason;
  return isCancelReason(reason) ? reason : 'user';
}

function isCancelReason(value: unknown): value is CancelReason {
  return typeof value === 'string' && reasons.includes(value);
}

/** Waits `ms`; rejects with `cancelled` as soon as the signal aborts. Leaves no timer and no listener. */
export async function delay(ms: number, signal?: AbortSignal): Promise<void> {
  throwIfCancelled(signal);
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(cancelled());
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** The error that unwinds a cancelled operation; callers look at the signal, not at this. */
export function cancelled(): TributaryError {
  return new TributaryError('cancelled', 'cancelled');
}

export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw cancelled();
}

/** Time, ids and randomness come in, so that transcripts are reproducible. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Runs tasks one after another in the order of their calls; a failing one does not stop the next. */
export class SerialQueue {
  private tail: Promise<unknown> = Promise.resolve();

  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.tail.then(task, task);
    this.tail = result.catch(() => undefined);
    return result;
  }
}

/** As `Promise.all`, but a failure waits until the others are over too: for those that share something. */
export async function allOf<T extends readonly unknown[]>(
  parts: readonly [...{ [K in keyof T]: Promise<T[K]> }],
): Promise<T> {
  await Promise.allSettled(parts);
  return (await Promise.all(parts)) as unknown as T;
}

/** Maps with at most `limit` calls under way; results keep the order of `items`. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await map(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
