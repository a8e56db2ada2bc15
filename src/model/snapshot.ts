import * as z from 'zod';
import { commitSchema } from './packet';

/** A commit under `refs/tributary/` that holds the full state of a Worktree after a Turn. */
export const snapshotSchema = z.object({
  ref: z.string(),
  commit: commitSchema,
  tree: commitSchema,
  runId: z.string(),
  /** The Turn of the Run after which it was taken; 0 before the first. */
  turn: z.number().int().nonnegative(),
  at: z.string(),
  /** Where the agent's branch and HEAD stood, so that a restore brings them back. */
  headCommit: commitSchema,
  headRef: z.string().optional(),
});
export type Snapshot = z.infer<typeof snapshotSchema>;
