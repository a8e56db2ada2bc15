import * as z from 'zod';

/** The five sections every final answer carries. A section that is missing is listed in `missing`. */
export const answerSchema = z.lazy(() =>
  z.object({
    summary: z.string(),
    changes: z.array(z.object({ path: z.string(), note: z.string() })),
    evidence: z.array(
      z.object({
        path: z.string(),
        line: z.number().int().positive().optional(),
        endLine: z.number().int().positive().optional(),
        note: z.string(),
      }),
    ),
    risks: z.array(z.string()),
    blockers: z.array(z.string()),
    missing: z.array(z.enum(['SUMMARY', 'CHANGES', 'EVIDENCE', 'RISKS', 'BLOCKERS'])),
  }),
);
export type Answer = z.infer<typeof answerSchema>;
