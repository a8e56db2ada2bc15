import * as z from 'zod';

export const changeStatusSchema = z.enum(['added', 'modified', 'deleted', 'renamed', 'typeChanged']);

/** One file that differs between base and tree. Modes are git's, octal strings; `000000` = absent. */
export const fileChangeSchema = z.object({
  path: z.string(),
  /** Set for `renamed`. */
  oldPath: z.string().optional(),
  status: changeStatusSchema,
  oldMode: z.string(),
  newMode: z.string(),
  oldBlob: z.string(),
  newBlob: z.string(),
  isBinary: z.boolean(),
  /** Lines; 0 for binaries. */
  added: z.number().int().nonnegative(),
  removed: z.number().int().nonnegative(),
});
export type FileChange = z.infer<typeof fileChangeSchema>;

/** What differs between a base commit and a tree. */
export const changeSetSchema = z.lazy(() =>
  z.object({
    base: z.string(),
    tree: z.string(),
    files: z.array(fileChangeSchema),
  }),
);
export type ChangeSet = z.infer<typeof changeSetSchema>;
