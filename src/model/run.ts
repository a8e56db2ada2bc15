import * as z from 'zod';
import { answerSchema } from './answer';
import { runIdSchema } from './ids';
import { usageSchema } from './usage';

export const runKindSchema = z.enum([
  'first',
  'followUp',
  'fix',
  'verify',
  'review',
  'retry',
  'resume',
  'child',
]);
export type RunKind = z.infer<typeof runKindSchema>;

/** What a Run that goes on with an interrupted one tells the model, where something must be told. */
export const resumeInstruction = 'Go on where you were stopped.';

export const lifecycleSchema = z.enum(['foreground', 'background', 'remote', 'teammate']);
export type Lifecycle = z.infer<typeof lifecycleSchema>;

export const contextModeSchema = z.enum(['isolated', 'fork']);

/** Who keeps a Run alive: the boot id of a process, registered in `owners/`. */
export const ownerRefSchema = z.object({
  bootId: z.string(),
  pid: z.number().int().positive(),
  host: z.string(),
});
export type OwnerRef = z.infer<typeof ownerRefSchema>;

/**
 * Why a Run ended the way it did. `failed` carries an ErrorCode or one of: `limit`, `maxTokens`, `refusal`,
 * `contextFull`, `emptyAnswer`, `setup`. `stopped`: `user`, `budget`. `interrupted`: `shutdown`, `crash`.
 */
export const runEndSchema = z.object({ reason: z.string(), message: z.string(), at: z.string() });
export type RunEnd = z.infer<typeof runEndSchema>;

/** States are one-way: `created -> running -> one end`; `created` may go straight to any end but `completed`. */
export const runStateSchema = z.discriminatedUnion('state', [
  z.object({ state: z.literal('created') }),
  z.object({ state: z.literal('running'), startedAt: z.string() }),
  z.object({ state: z.literal('completed'), startedAt: z.string(), end: runEndSchema }),
  z.object({ state: z.literal('failed'), startedAt: z.string().optional(), end: runEndSchema }),
  z.object({ state: z.literal('stopped'), startedAt: z.string().optional(), end: runEndSchema }),
  z.object({ state: z.literal('interrupted'), startedAt: z.string().optional(), end: runEndSchema }),
]);
export type RunState = z.infer<typeof runStateSchema>;
export type RunStateName = RunState['state'];

export const runSchema = z.lazy(() =>
  z.object({
    id: runIdSchema,
    kind: runKindSchema,
    agent: z.string(),
    model: z.string(),
    context: contextModeSchema,
    lifecycle: lifecycleSchema,
    instruction: z.string(),
    createdAt: z.string(),
    parentRunId: runIdSchema.optional(),
    parentToolCallId: z.string().optional(),
    spawnedBy: runIdSchema.optional(),
    /** The Run this one goes on from, message for message. */
    resumes: runIdSchema.optional(),
    /** The Worktree's tree when the Run began; absent until then. */
    treeAtStart: z.string().optional(),
    owner: ownerRefSchema,
    status: runStateSchema,
    usage: usageSchema,
    /** Milliseconds it waited for the user's answers, once it ended; absent: none, or not known. */
    waitedMs: z.number().nonnegative().optional(),
    /** The last model answer, parsed; absent until the Run completed. */
    answer: answerSchema.optional(),
  }),
);
export type Run = z.infer<typeof runSchema>;
