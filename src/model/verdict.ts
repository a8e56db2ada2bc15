import * as z from 'zod';

export const verdictWordSchema = z.enum(['PASS', 'FAIL', 'PARTIAL', 'none']);
/** `none`: the verifier gave none that can be read; shown as such, never as a pass. */
export type VerdictWord = z.infer<typeof verdictWordSchema>;

/** Where a Check came from. `acceptance`: run by the host itself; `verifier`: claimed by an agent. */
export const checkSchema = z.object({
  source: z.enum(['acceptance', 'verifier']),
  title: z.string(),
  command: z.string(),
  exitCode: z.number().int().nullable(),
  /** What was seen: output, shortened. */
  observed: z.string(),
  result: z.enum(['pass', 'fail', 'skip']),
  /** The N of `[call N]` in the verifier's transcript that the claim was bound to. */
  call: z.number().int().positive().optional(),
  /** `bound`: found in the transcript with that exit code; `unobserved`: claimed only; `host`: run by us. */
  evidence: z.enum(['host', 'bound', 'unobserved']),
  /** True for a check of the verifier's own: neither an acceptance test nor the bare project suite. */
  isOwn: z.boolean(),
  durationMs: z.number().nonnegative().optional(),
});
export type Check = z.infer<typeof checkSchema>;

export const severitySchema = z.enum(['error', 'warning', 'info']);
export type Severity = z.infer<typeof severitySchema>;

/** A place in a file. Lines and columns count from 1; `path` is relative to the Worktree root, with `/`. */
export const locationSchema = z.object({
  path: z.string().min(1),
  line: z.number().int().positive(),
  endLine: z.number().int().positive().optional(),
  column: z.number().int().positive().optional(),
  endColumn: z.number().int().positive().optional(),
});
export type Location = z.infer<typeof locationSchema>;

export const findingSchema = z.object({
  id: z.string(),
  /** Absent: the finding has no place that exists; surfaces put it on the first changed file. */
  location: locationSchema.optional(),
  severity: severitySchema,
  title: z.string(),
  detail: z.string(),
  call: z.number().int().positive().optional(),
  /** `verifier`: reported or read from the answer; `host`: ours, such as "claimed, not observed". */
  source: z.enum(['verifier', 'host']),
});
export type Finding = z.infer<typeof findingSchema>;

/** One judgement on one tree. */
export const verdictSchema = z.lazy(() =>
  z.object({
    verdict: verdictWordSchema,
    /** What the verifier itself wrote, before evidence was bound; absent without a verifier. */
    stated: verdictWordSchema.optional(),
    /** The verify Run, or, for host checks alone, the Run whose tree was checked. */
    runId: z.string(),
    tree: z.string(),
    at: z.string(),
    checks: z.array(checkSchema),
    findings: z.array(findingSchema),
    /** Why the verdict is not what was stated, one sentence each. */
    reasons: z.array(z.string()),
  }),
);
export type Verdict = z.infer<typeof verdictSchema>;
