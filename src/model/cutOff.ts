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
  /** The files that were left. */
  paths: z.array(z.string()),
});
export type CutOff = z.infer<typeof cutOffSchema>;

/** What became of it and how to go on, in one sentence each. */
export function cutOffText(slug: string, { verb, stands, paths }: CutOff): string {
  const files = paths.join(', ');
  const began = `${verb} of ${slug} was cut off, and these files were edited since and left as they are: ${files}`;
  const undo = `tributary undo ${slug} --merge`;
  if (stands) {
    const rest = verb === 'accept' ? 'It stands' : 'All others stand as accepted';
    return `${began}. ${rest}; to take it back and keep the edits: ${undo}`;
  }
  const rest = 'All others are as before';
  if (verb === 'undo') return `${began}. ${rest}: it is undone.`;
  return `${began}. ${rest}; look at them with git diff, then: tributary accept ${slug}`;
}
