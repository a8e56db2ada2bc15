import * as z from 'zod';
import { taskIdSchema } from './ids';
import { baseSchema } from './packet';

export const worktreeStateSchema = z.enum([
  'creating',
  'ready',
  'busy',
  'removing',
  'removed',
  'failed',
  'missing',
]);
export type WorktreeState = z.infer<typeof worktreeStateSchema>;

/** One line of `worktrees/index.json`. */
export const worktreeSchema = z.object({
  path: z.string(),
  /** Full ref name, such as `refs/heads/tributary/fix-parser`. */
  branch: z.string(),
  base: baseSchema,
  taskId: taskIdSchema,
  state: worktreeStateSchema,
  /** While Checks or a verifier are at it: the recorded tree that stands again afterwards. */
  checkedTree: z.string().optional(),
  /** While the checkout is merged in: once the Task counts from `base`, it is `tree` that stands again instead. */
  merging: z.object({ base: z.string(), tree: z.string() }).optional(),
  changedAt: z.string(),
  /** When the user opened it, in a window or a terminal: it does not go by itself then. */
  openedAt: z.string().optional(),
});
export type Worktree = z.infer<typeof worktreeSchema>;

export const worktreeIndexSchema = z.lazy(() =>
  z.object({ v: z.literal(1), worktrees: z.array(worktreeSchema) }),
);
export type WorktreeIndex = z.infer<typeof worktreeIndexSchema>;
