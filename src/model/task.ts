import * as z from 'zod';
import { type Alarm, alarmSchema, contentDriverSchema } from './alarm';
import { cutOffSchema } from './cutOff';
import { markSchema } from './hunks';
import { landingIdSchema, taskIdSchema } from './ids';
import { landedPartSchema } from './landing';
import { leftBasesSchema, movedBaseSchema, unresolvedSchema } from './movedBase';
import { taskPacketSchema } from './packet';
import { runSchema } from './run';
import { type SetupPlan, setupPlanSchema, setupRecordSchema } from './setup';
import { snapshotSchema } from './snapshot';
import { checkSchema, type Finding, type Verdict, verdictSchema } from './verdict';

export const taskStateNameSchema = z.enum(['open', 'accepted', 'discarded', 'closed']);
export type TaskStateName = z.infer<typeof taskStateNameSchema>;

/**
 * An ending that has begun and whose two halves (Task state, Worktree fate) are not both done. It is written
 * before the first half and cleared with the last; the next start finishes what it finds.
 */
export const pendingEndingSchema = z.object({
  to: taskStateNameSchema,
  at: z.string(),
  landingId: landingIdSchema.optional(),
  /** The Task's branch stays for the user and goes from one commit to another; without `from` it is made. */
  kept: z.object({ from: z.string().optional(), to: z.string() }).optional(),
  /** The Landing brings a part: the Task is to stay open. */
  part: landedPartSchema.optional(),
  /** The Landing is taken back by writing this one over it; see `LandingRecord.undoes`. */
  undoneBy: landingIdSchema.optional(),
  /** It was cut off while its user edited files; told once it has ended. */
  cutOff: cutOffSchema.optional(),
});
export type PendingEnding = z.infer<typeof pendingEndingSchema>;

/** The host's Checks of one tree, whichever Run or Landing it was for. */
export const gateSchema = z.object({ tree: z.string(), at: z.string(), checks: z.array(checkSchema) });
export type Gate = z.infer<typeof gateSchema>;

/** What the user wrote to the Task's agent and no transcript holds yet. */
export const waitingMessageSchema = z.object({ id: z.string(), at: z.string(), text: z.string() });
export type WaitingMessage = z.infer<typeof waitingMessageSchema>;

export const taskSchema = z.lazy(() =>
  z.object({
    v: z.literal(1),
    id: taskIdSchema,
    slug: z.string().min(1),
    packet: taskPacketSchema,
    agent: z.string(),
    createdAt: z.string(),
    changedAt: z.string(),
    state: taskStateNameSchema,
    /** The branch of the Task's Worktree, a full ref name; absent for a Task that runs in place. */
    branch: z.string().optional(),
    worktreePath: z.string().optional(),
    runs: z.array(runSchema),
    /** How the Worktree was made ready; absent where its base was all it needed. */
    setup: setupRecordSchema.optional(),
    /** The newest Snapshot of the Worktree; restore and review use it. */
    snapshot: snapshotSchema.optional(),
    snapshotCount: z.number().int().nonnegative(),
    /** The checkout each time it was merged into the Worktree, newest last; see `baseOf`. */
    movedBases: z.array(movedBaseSchema).default([]),
    /** What earlier Snapshots counted from where the Task went back behind a merge, oldest first; see `countedAt`. */
    leftBases: z.array(leftBasesSchema).optional(),
    /** Conflicts that the newest of these merges left, some of them perhaps resolved since. */
    unresolved: z.array(unresolvedSchema).default([]),
    verdicts: z.array(verdictSchema),
    /** Findings of the current Verdict that the user set aside, with the reason. */
    dismissed: z
      .array(z.object({ runId: z.string(), findingId: z.string(), reason: z.string(), at: z.string() }))
      .default([]),
    /** Messages not sent yet, oldest first; each is taken off once it stands in a transcript. */
    messages: z.array(waitingMessageSchema).default([]),
    /** Landings of this Task, newest last; the last one not undone is what `undo` takes back. */
    landings: z.array(
      z.object({
        id: landingIdSchema,
        at: z.string(),
        undoneAt: z.string().optional(),
        /** Absent: all that was not landed or rejected before. */
        part: landedPartSchema.optional(),
        /** The merge that took it back; its journal keeps what it wrote over. */
        undoneBy: landingIdSchema.optional(),
      }),
    ),
    /** What the user said about files and hunks of the change. */
    marks: z.array(markSchema).default([]),
    /** What the acceptance tests said of trees that were about to land, newest last. */
    gates: z.array(gateSchema).default([]),
    /** The commit that the Task's branch stood at when it was left to the user. */
    keptBranch: z.string().optional(),
    /** Ignored files that were kept when the Worktree was removed: a folder under `aside/`. */
    aside: z.string().optional(),
    /** Folders of removed Worktrees that could not be emptied, such as for files of another user; never deleted. */
    keptFolders: z.array(z.string()).optional(),
    pending: pendingEndingSchema.optional(),
    /** The last accept or undo, where it ended around files that were edited while it was cut off. */
    cutOff: cutOffSchema.optional(),
    /** What of the configuration git ran over contents when the Task began; absent: not known. */
    drivers: z.array(contentDriverSchema).optional(),
    /** Full ref names of branches that its agents' commands made beside its own. */
    branchesMade: z.array(z.string()).default([]),
    /** What was found changed outside the Worktree around its commands, oldest first. */
    alarms: z.array(alarmSchema).default([]),
    /** When the Task ended; absent while it is open, and for one that ended before this was written down. */
    endedAt: z.string().optional(),
    /** When its Snapshots, kept files and landing journals went: it cannot be brought back any more. */
    expiredAt: z.string().optional(),
    /** Changes of place: where the repository and the Worktree were before, oldest first. */
    moves: z
      .array(z.object({ at: z.string(), root: z.string(), worktreePath: z.string().optional() }))
      .optional(),
  }),
);
export type Task = z.infer<typeof taskSchema>;

/** The alarms that the user has not dismissed. */
export function openAlarms(task: Task): readonly Alarm[] {
  return task.alarms.filter((alarm) => alarm.dismissedAt === undefined);
}

/** What makes the Task's Worktree ready beside its base. */
export function setupPlanOf(task: Task): SetupPlan {
  return task.packet.setup ?? setupPlanSchema.parse({});
}

/** The Verdict that counts: the newest one. */
export function currentVerdict(task: Task): Verdict | undefined {
  return task.verdicts.at(-1);
}

/**
 * What to show as the Task's judgement of `tree` (default: its newest Snapshot): a Verdict holds for the tree it was
 * made on and for no other.
 */
export function verdictOn(
  task: Task,
  tree: string | undefined = task.snapshot?.tree,
): { readonly verdict: Verdict; readonly isCurrent: boolean } | undefined {
  const verdict = currentVerdict(task);
  if (verdict === undefined) return undefined;
  return { verdict, isCurrent: tree === undefined || verdict.tree === tree };
}

/** The Findings of the current Verdict that nobody dismissed. */
export function openFindings(task: Task): readonly Finding[] {
  const verdict = currentVerdict(task);
  if (verdict === undefined || verdict.verdict === 'PASS') return [];
  const isDismissed = (id: string): boolean =>
    task.dismissed.some((one) => one.runId === verdict.runId && one.findingId === id);
  return verdict.findings.filter((finding) => !isDismissed(finding.id));
}
