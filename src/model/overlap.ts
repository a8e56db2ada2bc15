import * as z from 'zod';
import type { TaskId } from './ids';

/** A file that two changes touch: `same`: git merges them; `conflict`: it does not. */
export interface OverlapPath {
  readonly path: string;
  readonly kind: 'same' | 'conflict';
}

/** Two changes on the same files: of two Tasks, or of a Task and the user's checkout. */
export interface Overlap {
  readonly a: TaskId;
  readonly b: TaskId | 'checkout';
  readonly paths: readonly OverlapPath[];
}

/** What stands in each other's way, and the order in which the open Tasks with a change are best landed. */
export interface BoardOverlaps {
  readonly overlaps: readonly Overlap[];
  readonly order: readonly TaskId[];
}

/** Whether git cannot merge the two without help. */
export function isConflict({ paths }: Overlap): boolean {
  return paths.some(({ kind }) => kind === 'conflict');
}

/** `overlaps.json`: what was found out about trees, by what was asked; trees do not change, so it stays true. */
export const knownOverlapsSchema = z.lazy(() =>
  z.object({ v: z.literal(1), known: z.record(z.string(), z.array(z.string())) }),
);
export type KnownOverlaps = z.infer<typeof knownOverlapsSchema>;
