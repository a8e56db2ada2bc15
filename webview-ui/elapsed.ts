import type { RunFacts } from '../src/protocol/transcriptApi';
import { t } from './words';

/** How long a Run was at work until `now` or its end, and how long it waited for the user beside that. */
export interface Elapsed {
  readonly workedMs: number;
  readonly waitedMs: number;
}

export function elapsedOf(run: RunFacts, now: number): Elapsed | undefined {
  const { startedAt, end, waitingSince } = run;
  if (startedAt === undefined) return undefined;
  const until = end === undefined ? now : Date.parse(end.at);
  const open = waitingSince === undefined ? 0 : Math.max(0, until - Date.parse(waitingSince));
  const waitedMs = run.waitedMs + open;
  return { workedMs: Math.max(0, until - Date.parse(startedAt) - waitedMs), waitedMs };
}

/** The time at work; that of waiting beside it, where there was any to speak of. */
export function elapsedText({ workedMs, waitedMs }: Elapsed, format: (ms: number) => string): string {
  return waitedMs < 1_000 ? format(workedMs) : t('{0}, waited {1}', format(workedMs), format(waitedMs));
}
