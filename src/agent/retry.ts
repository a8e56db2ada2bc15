/** Attempts after the first one before a failure that may pass counts as final. */
export const maxRetries = 8;

const firstWaitMs = 1_000;
const longestWaitMs = 60_000;
/** A server may ask for more than a minute, but not for a day. */
const longestObeyedMs = 3_600_000;

/**
 * The wait before retry number `attempt` (from 1), in ms: what the server asked for, else 1 s doubling to
 * 60 s, of which `random` (0..1) takes off up to half, so that many Runs do not come back together.
 */
export function retryWaitMs(attempt: number, retryAfterMs: number | undefined, random: number): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, longestObeyedMs);
  const whole = Math.min(longestWaitMs, firstWaitMs * 2 ** (attempt - 1));
  return Math.round(whole * (1 - random / 2));
}
