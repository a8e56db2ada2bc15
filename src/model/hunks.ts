import * as z from 'zod';
import { fileChangeSchema } from './changes';

/** Lines of one file that change together. Lines count from 1, as in a patch without context. */
export const hunkSchema = z.object({
  /** The same in every later tree in which the hunk changes the same lines of the base to the same lines. */
  id: z.string(),
  path: z.string(),
  /** With no old lines: the line after which the new ones stand. */
  oldStart: z.number().int().nonnegative(),
  oldLines: z.number().int().nonnegative(),
  newStart: z.number().int().nonnegative(),
  newLines: z.number().int().nonnegative(),
  /** Its first line for people to know it by, marked `+` or `-`; never to be written anywhere. */
  firstLine: z.string(),
});
export type Hunk = z.infer<typeof hunkSchema>;

/** A file that differs, with its hunks; without any it changes as a whole or not at all. */
export const fileHunksSchema = z.lazy(() => fileChangeSchema.extend({ hunks: z.array(hunkSchema) }));
export type FileHunks = z.infer<typeof fileHunksSchema>;

/** What the user decided about a file or hunk. */
export const decisionSchema = z.enum(['accept', 'reject']);
export type Decision = z.infer<typeof decisionSchema>;

export const reviewMarkSchema = z.enum(['accept', 'reject', 'reviewed']);
export type ReviewMark = z.infer<typeof reviewMarkSchema>;

/** A mark on a file or on a hunk. A file was `reviewed` as `tree` has it; a hunk's id says that by itself. */
export const markSchema = z.object({
  kind: z.enum(['path', 'hunk']),
  /** The path, or the hunk's id. */
  of: z.string(),
  mark: reviewMarkSchema,
  tree: z.string().optional(),
  at: z.string(),
});
export type Mark = z.infer<typeof markSchema>;
