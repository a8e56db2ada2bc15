import * as z from 'zod';
import { setupPlanSchema } from './setup';

/** A full commit name, SHA-1 or SHA-256. */
export const commitSchema = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);

/** What a Task starts from: the reference as the user chose it and the commit it meant at that moment. */
export const baseSchema = z.object({
  /** As chosen: `HEAD`, a branch, a tag, a commit. */
  ref: z.string().min(1),
  commit: commitSchema,
  /** Commits that the upstream of `ref` has and `commit` has not; absent where there is no upstream. */
  behind: z.number().int().nonnegative().optional(),
  /** `commit` is one of ours: on top of `on`, what so many files of the checkout held uncommitted. */
  uncommitted: z.object({ on: commitSchema, files: z.number().int().positive() }).optional(),
});
export type Base = z.infer<typeof baseSchema>;

/** A base in English, for terminals and models. */
export function baseText({ ref, uncommitted }: Pick<Base, 'ref' | 'uncommitted'>): string {
  if (uncommitted === undefined) return ref;
  const { files } = uncommitted;
  return `${ref} with uncommitted changes in ${files} ${files === 1 ? 'file' : 'files'}`;
}

/** A command whose exit code says whether the Task is done. */
export const acceptanceTestSchema = z.object({
  command: z.string().min(1),
  /** Relative to the Worktree root; default the root. */
  cwd: z.string().default('.'),
  timeoutMs: z.number().int().positive().default(600_000),
  expectedExitCode: z.number().int().default(0),
});
export type AcceptanceTest = z.infer<typeof acceptanceTestSchema>;

export const limitsSchema = z.object({
  turns: z.number().int().positive().default(200),
  tokens: z.number().int().positive().optional(),
  money: z.number().positive().optional(),
  minutes: z.number().positive().optional(),
  runsPerRoot: z.number().int().positive().default(20),
});
export type Limits = z.infer<typeof limitsSchema>;

export const escalationRuleSchema = z.union([
  z.object({ kind: z.literal('ask') }),
  z.object({ kind: z.literal('retry'), times: z.number().int().positive() }),
  z.object({ kind: z.literal('stop') }),
]);

/** A glob that starts at the root of the repository and never leaves it. */
function isInside(glob: string): boolean {
  return !/^(?:[/\\]|[A-Za-z]:)/.test(glob) && !glob.split(/[/\\]/).includes('..');
}

/** The frozen contract of a Task. */
export const taskPacketSchema = z.lazy(() =>
  z.object({
    v: z.literal(1),
    objective: z.string().trim().min(1),
    /** Globs the Task may touch, relative to the repository root. */
    scope: z
      .array(z.string().min(1).refine(isInside, 'a scope is relative to the repository and stays inside it'))
      .min(1)
      .default(['**']),
    repository: z.object({ root: z.string(), head: commitSchema, base: baseSchema }),
    branchPolicy: z
      .object({ mayBranch: z.boolean(), namePattern: z.string() })
      .default({ mayBranch: false, namePattern: 'tributary/*' }),
    acceptanceTests: z.array(acceptanceTestSchema).default([]),
    setup: setupPlanSchema.optional(),
    escalation: z
      .object({
        onFailure: escalationRuleSchema,
        onTimeout: escalationRuleSchema,
        outOfScope: escalationRuleSchema,
        tell: z.string(),
      })
      .default({
        onFailure: { kind: 'ask' },
        onTimeout: { kind: 'ask' },
        outOfScope: { kind: 'ask' },
        tell: 'user',
      }),
    limits: limitsSchema.default({ turns: 200, runsPerRoot: 20 }),
  }),
);
export type TaskPacket = z.infer<typeof taskPacketSchema>;
