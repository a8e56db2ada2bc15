import * as z from 'zod';

/**
 * An `accept` or `undo` that a kill cut off while its user edited some of its files: those were left as they stood,
 * and it ended as what holds for the others.
 */
export const cutOffSchema = z.object({
  at: z.string(),
  verb: z.enum(['accept', 'undo']),
  /** Whether what was accepted stands. */
  stands: z.boolean(),
  /** It was accepted by commits: these are taken back without a merge. */
  isCommitted: z.literal(true).optional(),
  /** The files that were left. */
  paths: z.array(z.string()),
});
export type CutOff = z.infer<typeof cutOffSchema>;

/** What became of it and how to go on, in one sentence each. */
export function cutOffText(slug: string, { verb, stands, isCommitted, paths }: CutOff): string {
  const files = paths.join(', ');
  const began = `${verb} of ${slug} was cut off, and these files were edited since and left as they are: ${files}`;
  if (stands) {
    const rest = verb === 'accept' ? 'It stands' : 'All others stand as accepted';
    const way = isCommitted
      ? `to take it back, put the edits aside (git stash), then: tributary undo ${slug}`
      : `to take it back and keep the edits: tributary undo ${slug} --merge`;
    return `${began}. ${rest}; ${way}`;
  }
  const rest = 'All others are as before';
  if (verb === 'undo') return `${began}. ${rest}: it is undone.`;
  return `${began}. ${rest}; look at them with git diff, then: tributary accept ${slug}`;
}
