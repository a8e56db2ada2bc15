import * as z from 'zod';
import { setupPlanSchema } from './setup';

/** The model of the offline demo, as Runs and transcripts name it. */
export const demoModelName = 'demo-scripted';

/** The settings of the first steps, with their defaults; names follow `tributary.*` of the manifest. */
export const settingsSchema = z.lazy(() =>
  z.object({
    model: z
      .object({
        provider: z.enum(['anthropic', 'demo']).default('anthropic'),
        baseUrl: z.url().optional(),
        main: z.string().optional(),
        small: z.string().optional(),
        maxOutputTokens: z.number().int().positive().default(32_000),
        /** Seconds without any event but `ping` before a request counts as stalled. */
        apiTimeoutSeconds: z.number().int().min(1).max(1800).optional(),
      })
      .prefault({}),
    verify: z
      .object({
        when: z.enum(['writing', 'always', 'never']).default('writing'),
        fixRounds: z.number().int().nonnegative().default(1),
      })
      .prefault({}),
    resume: z.enum(['automatic', 'ask', 'never']).default('automatic'),
    worktrees: z
      .object({
        root: z.string().optional(),
        /** Commands in each new Worktree, and before one goes. */
        setup: setupPlanSchema.shape.commands,
        teardown: setupPlanSchema.shape.teardown,
        /** Ignored folders that Worktrees share with the checkout. */
        link: setupPlanSchema.shape.link,
        clone: setupPlanSchema.shape.clone,
        retentionDays: z.number().int().positive().default(30),
      })
      .prefault({}),
    maxConcurrentRuns: z.number().int().min(1).max(20).default(10),
  }),
);
export type Settings = z.infer<typeof settingsSchema>;
