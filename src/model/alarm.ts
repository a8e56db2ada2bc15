import * as z from 'zod';
import { runIdSchema } from './ids';

/** One thing outside its Worktree that no command of an agent may change. */
export const driftChangeSchema = z.object({
  kind: z.enum(['head', 'ref', 'stash', 'index', 'config', 'hook', 'driver']),
  /** A full ref name, a checkout's folder, a file, or `filter.<name>` and `merge.<name>`. */
  name: z.string(),
  /** As short text, where it can be told in one; absent: it was not there, or its content is too long to tell. */
  before: z.string().optional(),
  after: z.string().optional(),
});
export type DriftChange = z.infer<typeof driftChangeSchema>;

/** What was found changed around a command; kept with the Task until the user has seen it. */
export const alarmSchema = z.object({
  id: z.string(),
  at: z.string(),
  runId: runIdSchema,
  /** Absent where it was there already when the command began. */
  command: z.string().optional(),
  changes: z.array(driftChangeSchema),
  /** Changes beyond those listed. */
  more: z.number().int().positive().optional(),
  dismissedAt: z.string().optional(),
});
export type Alarm = z.infer<typeof alarmSchema>;

/** A command set by the configuration that git runs over contents: `filter.lfs`, `merge.ours`. */
export const contentDriverSchema = z.object({ name: z.string(), sha256: z.string() });
export type ContentDriver = z.infer<typeof contentDriverSchema>;

/** A change in English, for terminals, transcripts and models. */
export function driftText({ kind, name, before, after }: DriftChange): string {
  const [old, now] = [short(before), short(after)];
  switch (kind) {
    case 'head':
      return `HEAD of ${name}: ${old} -> ${now}`;
    case 'ref':
      return `${name}: ${old} -> ${now}`;
    case 'stash':
      return `the stash: ${old} -> ${now}`;
    case 'index':
      return `what is staged in ${name}`;
    case 'config':
      return `the configuration file ${name}`;
    case 'hook':
      return `the hook ${name}`;
    case 'driver':
      return `${name}, which git would run, is not as it was when the Task began: it is off for this Task`;
  }
}

/** Object names as people write them. */
function short(value: string | undefined): string {
  if (value === undefined) return 'none';
  return /^[0-9a-f]{40,64}$/.test(value) ? value.slice(0, 12) : value;
}

/** What happened, without a claim of who did it: the user works in the same repository. */
export function alarmHeadline({ command }: Pick<Alarm, 'command'>): string {
  return command === undefined
    ? 'Changed outside the Worktree since the Task began:'
    : 'Changed outside the Worktree while this command ran:';
}

/** The alarm as rows. */
export function alarmLines({ changes, more }: Pick<Alarm, 'changes' | 'more'>): string[] {
  return [...changes.map(driftText), ...(more === undefined ? [] : [`and ${more} more`])];
}
