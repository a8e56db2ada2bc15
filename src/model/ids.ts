import * as z from 'zod';

// Ids read `{kind}_{ts}_{counter}` with `ts` in UTC as YYYYMMDDTHHmmssSSS, so that they sort by time.
const idPattern = (kind: string): RegExp => new RegExp(`^${kind}_\\d{8}T\\d{9}_[1-9]\\d*$`);

export const taskIdSchema = z.string().regex(idPattern('task')).brand<'TaskId'>();
export const runIdSchema = z.string().regex(idPattern('run')).brand<'RunId'>();
export const landingIdSchema = z.string().regex(idPattern('landing')).brand<'LandingId'>();

export type TaskId = z.infer<typeof taskIdSchema>;
export type RunId = z.infer<typeof runIdSchema>;
export type LandingId = z.infer<typeof landingIdSchema>;

/** The `ts` part of an id: UTC, `YYYYMMDDTHHmmssSSS`. */
export function idTimestamp(at: Date): string {
  return at.toISOString().replace(/[-:.Z]/g, '');
}

export function makeTaskId(at: Date, counter: number): TaskId {
  return taskIdSchema.parse(`task_${idTimestamp(at)}_${counter}`);
}

export function makeRunId(ts: string, counter: number): RunId {
  return runIdSchema.parse(`run_${ts}_${counter}`);
}

export function makeLandingId(at: Date, counter: number): LandingId {
  return landingIdSchema.parse(`landing_${idTimestamp(at)}_${counter}`);
}
