import * as z from 'zod';
import { runIdSchema, taskIdSchema } from '../src/model/ids';

/** What the editor keeps of the page while it is hidden and over a reload; the host reads `taskId` and `runId` of it. */
export const viewStateSchema = z.object({
  taskId: taskIdSchema,
  runId: runIdSchema.optional(),
  /** Rows whose fold is not as it would be by itself, by key. */
  folds: z.record(z.string(), z.boolean()).default({}),
  /** The row at the top edge, and the entry it shows; absent: at the end. */
  anchor: z.object({ key: z.string(), index: z.number() }).optional(),
  /** A message that was not sent yet. */
  draft: z.string().default(''),
});
export type ViewState = z.infer<typeof viewStateSchema>;
