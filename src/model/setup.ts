import * as z from 'zod';

/** A folder of the repository, relative to its root; never the root itself, never above it. */
export function isFolderInside(folder: string): boolean {
  const parts = folder.replace(/\/+$/, '').split('/');
  return !/^(?:[/\\]|[A-Za-z]:)/.test(folder) && parts.every((part) => !['', '.', '..'].includes(part));
}

const foldersSchema = z
  .array(z.string().refine(isFolderInside, 'a shared folder is named from the root of the repository'))
  .default([]);

const commandsSchema = z.array(z.string().trim().min(1)).default([]);

/** What makes a new Worktree of a Task ready, beside the files of its base. */
export const setupPlanSchema = z.object({
  /** Shell commands, one after another, in each new Worktree; one that fails is a failed start. */
  commands: commandsSchema,
  /** The same before a Worktree goes; what fails there is told and stops nothing. */
  teardown: commandsSchema,
  /** Each of them. */
  timeoutMs: z.number().int().positive().default(600_000),
  /** Ignored folders of the checkout that a symbolic link in the Worktree leads to. */
  link: foldersSchema,
  /** Ignored folders copied on write, else by hard links, else linked as above. */
  clone: foldersSchema,
  /** Globs of ignored files to copy; counts where the checkout has no `.worktreeinclude`. */
  include: z.array(z.string().min(1)).default([]),
});
export type SetupPlan = z.infer<typeof setupPlanSchema>;

export const sharingSchema = z.enum(['copyOnWrite', 'hardLinks', 'link']);
export type Sharing = z.infer<typeof sharingSchema>;

/** What a Worktree got of the checkout's ignored files. */
export const providedSchema = z.object({
  /** Files and links copied. */
  copied: z.number().int().nonnegative(),
  shared: z.array(z.object({ path: z.string(), how: sharingSchema })),
  /** What was asked for and did not come, each with the reason. */
  skipped: z.array(z.object({ path: z.string(), why: z.string() })),
});
export type Provided = z.infer<typeof providedSchema>;

/** One set-up or tear-down command that was run. */
export const setupCommandSchema = z.object({
  command: z.string(),
  /** `null`: it was ended, or never began; see `reason`. */
  exitCode: z.number().int().nullable(),
  reason: z.string(),
  durationMs: z.number().nonnegative(),
  /** The end of what it printed. */
  output: z.string(),
});
export type SetupCommand = z.infer<typeof setupCommandSchema>;

/**
 * How the set-up of the Task's Worktree went. `due`: its commands have to run before the next Run uses its tools,
 * because the Worktree is a new one.
 */
export const setupRecordSchema = z.object({
  state: z.enum(['running', 'done', 'failed', 'due']),
  at: z.string(),
  /** The command that runs now. */
  current: z.string().optional(),
  provided: providedSchema.optional(),
  commands: z.array(setupCommandSchema),
  /** The tear-down of the last Worktree; there from its first command on. */
  teardown: z.array(setupCommandSchema).optional(),
});
export type SetupRecord = z.infer<typeof setupRecordSchema>;
