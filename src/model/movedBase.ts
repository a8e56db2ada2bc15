import * as z from 'zod';
import type { Conflict } from './landing';
import { commitSchema } from './packet';
import type { Task } from './task';

/** The user's checkout as it was merged into a Task's Worktree: what the Task's ChangeSet counts from since then. */
export const movedBaseSchema = z.object({
  /** A commit that holds `tree`, named by a ref of ours. */
  commit: commitSchema,
  tree: commitSchema,
  at: z.string(),
  /** HEAD of the checkout at that moment. */
  head: commitSchema,
  /** The base that the ChangeSet counted from before. */
  from: commitSchema,
  /** What the merge left in the Worktree. */
  result: commitSchema,
  /** How many Snapshots the Task had then: those up to this number belong to `from`. */
  snapshots: z.number().int().nonnegative(),
});
export type MovedBase = z.infer<typeof movedBaseSchema>;

/**
 * A conflict of such a merge: `markers` stand in the file, or the Task's side was `kept` because the two sides cannot
 * be written into one file.
 */
export const unresolvedSchema = z.object({
  path: z.string(),
  kind: z.enum(['markers', 'kept']),
  message: z.string(),
});
export type Unresolved = z.infer<typeof unresolvedSchema>;

/** Those that a preview of the Task still finds: the record does not know what was edited by hand. */
export function stillUnresolved(
  unresolved: readonly Unresolved[],
  conflicts: readonly Conflict[],
): readonly Unresolved[] {
  return unresolved.filter(({ path, kind }) =>
    conflicts.some((conflict) => conflict.path === path && conflict.kind === kind),
  );
}

/** What the Snapshots up to a number counted from, before the Task went back to one from before a merge. */
export const leftBasesSchema = z.object({
  snapshots: z.number().int().nonnegative(),
  movedBases: z.array(movedBaseSchema),
  unresolved: z.array(unresolvedSchema),
});
export type LeftBases = z.infer<typeof leftBasesSchema>;

/** The labels of the conflict markers that we write. */
export const markerLabels = { ours: 'your checkout', base: 'before both', theirs: 'the Task' } as const;

const markerLine = new RegExp(
  `^(?:<{7} ${markerLabels.ours}|\\|{7} ${markerLabels.base}|>{7} ${markerLabels.theirs})\\r?$`,
  'm',
);

const latin1 = new TextDecoder('latin1');

/** Whether a file still holds a marker that we wrote. */
export function holdsMarkers(content: Uint8Array): boolean {
  return markerLine.test(latin1.decode(content));
}

/** The commit that the Task's ChangeSet counts from: the packet's base, or the checkout as it was merged in last. */
export function baseOf(task: Pick<Task, 'packet' | 'movedBases'>): string {
  return task.movedBases.at(-1)?.commit ?? task.packet.repository.base.commit;
}

/** The same for an earlier Snapshot, by its number. */
export function movedBasesAt(task: Parameters<typeof countedAt>[0], snapshot: number): MovedBase[] {
  return countedAt(task, snapshot).movedBases;
}

/** What an earlier Snapshot counted from, and the conflicts that were open then. */
export function countedAt(
  task: Pick<Task, 'movedBases' | 'unresolved' | 'leftBases'>,
  snapshot: number,
): Pick<LeftBases, 'movedBases' | 'unresolved'> {
  const left = task.leftBases?.find(({ snapshots }) => snapshot <= snapshots) ?? task;
  const movedBases = left.movedBases.filter(({ snapshots }) => snapshots < snapshot);
  // Those of a merge that came later are none of its.
  const isNewest = movedBases.length === left.movedBases.length;
  return { movedBases, unresolved: isNewest ? left.unresolved : [] };
}

/** A number that no merge into the Task's Worktree has had yet. */
export function nextMovedBase({
  movedBases,
  leftBases = [],
}: Pick<Task, 'movedBases' | 'leftBases'>): number {
  return leftBases.reduce((sum, left) => sum + left.movedBases.length, movedBases.length) + 1;
}
