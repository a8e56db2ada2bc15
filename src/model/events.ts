import * as z from 'zod';
import { alarmSchema } from './alarm';
import { runIdSchema, taskIdSchema } from './ids';
import { baseSchema } from './packet';
import { runKindSchema } from './run';
import { providedSchema, setupCommandSchema } from './setup';
import { taskStateNameSchema } from './task';
import { usageSchema } from './usage';
import { checkSchema, findingSchema, verdictWordSchema } from './verdict';

const base = { v: z.literal(1), at: z.string(), taskId: taskIdSchema };
const ofRun = { ...base, runId: runIdSchema };

/** One line of `worktrees/events.jsonl`: something that happened. Events observe; the state files decide. */
export const boardEventSchema = z.lazy(() =>
  z.discriminatedUnion('type', [
    z.object({
      ...base,
      type: z.literal('task.created'),
      objective: z.string(),
      agent: z.string(),
      base: baseSchema,
      branch: z.string().optional(),
    }),
    z.object({ ...base, type: z.literal('task.changed'), state: taskStateNameSchema }),
    z.object({ ...base, type: z.literal('worktree.create.started') }),
    z.object({
      ...base,
      type: z.literal('worktree.create.completed'),
      path: z.string(),
      branch: z.string(),
      base: z.string(),
    }),
    z.object({ ...base, type: z.literal('worktree.create.failed'), code: z.string(), message: z.string() }),
    z.object({ ...base, type: z.literal('worktree.moved'), path: z.string(), root: z.string() }),
    z.object({ ...base, ...providedSchema.shape, type: z.literal('worktree.provided') }),
    z.object({
      ...ofRun,
      type: z.literal('worktree.command.started'),
      phase: z.enum(['setup', 'teardown']),
      command: z.string(),
    }),
    z.object({
      ...ofRun,
      ...setupCommandSchema.shape,
      type: z.literal('worktree.command.ended'),
      phase: z.enum(['setup', 'teardown']),
    }),
    z.object({ ...base, type: z.literal('worktree.remove.started'), path: z.string() }),
    z.object({ ...base, type: z.literal('worktree.remove.completed'), path: z.string() }),
    z.object({
      ...base,
      type: z.literal('worktree.remove.failed'),
      path: z.string(),
      code: z.string(),
      message: z.string(),
    }),
    z.object({
      ...ofRun,
      type: z.literal('run.created'),
      kind: runKindSchema,
      agent: z.string(),
      model: z.string(),
    }),
    z.object({ ...ofRun, type: z.literal('run.started') }),
    z.object({
      ...ofRun,
      type: z.literal('run.ended'),
      state: z.enum(['completed', 'failed', 'stopped', 'interrupted']),
      reason: z.string(),
      message: z.string(),
      usage: usageSchema,
    }),
    z.object({
      ...ofRun,
      type: z.literal('snapshot'),
      turn: z.number().int().nonnegative(),
      commit: z.string(),
      tree: z.string(),
    }),
    z.object({
      ...ofRun,
      type: z.literal('verdict'),
      verdict: verdictWordSchema,
      tree: z.string(),
      checks: z.array(checkSchema),
      findings: z.array(findingSchema),
    }),
    z.object({ ...ofRun, type: z.literal('alarm'), alarm: alarmSchema }),
  ]),
);
export type BoardEvent = z.infer<typeof boardEventSchema>;
