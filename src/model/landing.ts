import * as z from 'zod';
import { landingIdSchema, taskIdSchema } from './ids';

/**
 * How an accepted change reaches the user: `apply` writes the working tree only; `commit`, `merge` and `rebase` also
 * move the branch that is checked out, by one commit, a merge commit, or the Task's commits on top; `keepBranch`
 * writes nothing and leaves the Task's branch standing.
 */
export const landingModeSchema = z.enum(['apply', 'commit', 'merge', 'rebase', 'keepBranch']);
export type LandingMode = z.infer<typeof landingModeSchema>;

/** The part of a ChangeSet that is to land: whole files with their modes, and single hunks by their ids. */
export const landingSelectionSchema = z.object({
  paths: z.array(z.string()).default([]),
  hunks: z.array(z.string()).default([]),
  /** Files whose mode is taken beside some of their hunks. */
  modes: z.array(z.string()).optional(),
});
export type LandingSelection = z.infer<typeof landingSelectionSchema>;

/** What of a Task a partial Landing brought: the selected part of `tree`. */
export const landedPartSchema = z.object({
  /** What the ChangeSet counted from then. */
  base: z.string(),
  tree: z.string(),
  selection: landingSelectionSchema,
  /** Absent: `apply`. */
  mode: landingModeSchema.optional(),
});
export type LandedPart = z.infer<typeof landedPartSchema>;

/** One path a Landing writes: what the preview saw in the checkout and what will stand there. */
export const landingPathSchema = z.object({
  path: z.string(),
  /** Mode and blob as the preview saw the checkout; `absent` when nothing was there. */
  before: z.union([z.literal('absent'), z.object({ mode: z.string(), blob: z.string() })]),
  after: z.union([z.literal('absent'), z.object({ mode: z.string(), blob: z.string() })]),
});
export type LandingPath = z.infer<typeof landingPathSchema>;

export const conflictSchema = z.object({
  path: z.string(),
  /** Such as `content`, `modify/delete`, `add/add`, `rename`, `file/directory`, `submodule`, `binary`. */
  kind: z.string(),
  message: z.string(),
});
export type Conflict = z.infer<typeof conflictSchema>;

/** What a Landing would do; computed in the object store, nothing written. */
export const previewSchema = z.lazy(() =>
  z.object({
    taskId: taskIdSchema,
    base: z.string(),
    /** The tree of the user's working tree, dirty files included. */
    ours: z.string(),
    /** The tree of the Snapshot. */
    theirs: z.string(),
    merged: z.string(),
    paths: z.array(landingPathSchema),
    conflicts: z.array(conflictSchema),
  }),
);
export type Preview = z.infer<typeof previewSchema>;

/** Raw bytes of one path on either side of a Landing, as the journal keeps them. */
export const landedSideSchema = z.lazy(() =>
  z.union([
    z.object({ kind: z.literal('absent') }),
    z.object({
      kind: z.literal('file'),
      sha256: z.string(),
      executable: z.boolean(),
      /** All permission bits (0o777), where they are to be given back; two files that differ only here are the same. */
      mode: z.number().int().min(0).max(0o777).optional(),
    }),
    z.object({ kind: z.literal('symlink'), target: z.string() }),
  ]),
);
export type LandedSide = z.infer<typeof landedSideSchema>;

/** A folder of the checkout that stood before a Landing, with all bits of its mode. */
export const landedFolderSchema = z.object({ path: z.string(), mode: z.number().int().min(0).max(0o7777) });
export type LandedFolder = z.infer<typeof landedFolderSchema>;

/** What a Landing does beside the files: HEAD goes from one commit to another. */
export const landedBranchSchema = z.object({
  /** Full name; absent: HEAD was detached. */
  ref: z.string().optional(),
  from: z.string(),
  to: z.string(),
  /** Entries of the index; the whole of it as it was lies beside the record as `index.before`. */
  index: z.array(landingPathSchema),
});
export type LandedBranch = z.infer<typeof landedBranchSchema>;

/** A commit that a Landing makes: `replayed` ones were the agent's, `task` is what a merge brings in. */
export const plannedCommitSchema = z.object({
  kind: z.enum(['commit', 'replayed', 'task', 'merge']),
  subject: z.string(),
});
export type PlannedCommit = z.infer<typeof plannedCommitSchema>;

/** `journal/<landingId>/landing.json`: enough to finish, to take back, and to say what happened. */
export const landingRecordSchema = z.lazy(() =>
  z.object({
    v: z.literal(1),
    id: landingIdSchema,
    taskId: taskIdSchema,
    at: z.string(),
    checkout: z.string(),
    /** `writing`: begun, files may be half done; `undoing` the same the other way. */
    state: z.enum(['writing', 'landed', 'undoing', 'undone']),
    ours: z.string(),
    merged: z.string(),
    /** Absent: `apply`. */
    mode: landingModeSchema.optional(),
    /** The commits that the checkout's branch, or its detached HEAD, gets, and the index with them. */
    branch: landedBranchSchema.optional(),
    /** This one takes another back by a merge with what the user changed since. */
    undoes: landingIdSchema.optional(),
    /** Files that the user edited while it was cut off: they were left as they stood. */
    left: z.array(z.string()).optional(),
    /** File contents lie beside it as `before/<n>` and `after/<n>`, n the index in this list. */
    paths: z.array(z.object({ path: z.string(), before: landedSideSchema, after: landedSideSchema })),
    /** Folders at and above these paths that stood before: they come back as they were, empty ones too. */
    folders: z.array(landedFolderSchema).optional(),
  }),
);
export type LandingRecord = z.infer<typeof landingRecordSchema>;

/** The files that a Landing wrote, or would. */
export function pathsOf({ paths }: Pick<LandingRecord, 'paths'>): string[] {
  return paths.map(({ path }) => path);
}

/** Whether two sides are the same bytes. */
export function sameSide(a: LandedSide, b: LandedSide): boolean {
  if (a.kind === 'file' && b.kind === 'file') return a.sha256 === b.sha256 && a.executable === b.executable;
  if (a.kind === 'symlink' && b.kind === 'symlink') return a.target === b.target;
  return a.kind === b.kind;
}
