import * as z from 'zod';
import type { SetupPlan } from './setup';

/** Set-up commands that a file of another tool names. */
export interface ForeignSetup {
  /** The file, or files, relative to the root of the checkout. */
  readonly path: string;
  readonly plan: Pick<SetupPlan, 'commands' | 'teardown' | 'include'>;
  /** What of it cannot be taken, and why; also that the file is broken, with its line. */
  readonly notes: readonly string[];
}

/** The one to use: the first that names commands. */
export function chosenSetup(found: readonly ForeignSetup[]): ForeignSetup | undefined {
  return found.find(({ plan }) => plan.commands.length + plan.teardown.length > 0);
}

interface ForeignFile {
  readonly path: string;
  /** What its text names; `undefined` where it is not what it should be. */
  readonly read: (text: string, on: NodeJS.Platform) => ForeignSetup['plan'] | undefined;
}

const commands = z.array(z.string().trim().min(1));

/** Files that other tools which work in worktrees read, the likeliest first. */
export const foreignFiles: readonly ForeignFile[] = [
  { path: '.cursor/worktrees.json', read: (text, on) => cursorSetup(text, on) },
  { path: '.superset/config.json', read: (text) => supersetSetup(text) },
  { path: 'conductor.json', read: (text) => conductorSetup(text) },
  { path: '.emdash.json', read: (text) => emdashSetup(text) },
  { path: '.openclaw/worktree-setup.sh', read: () => script('.openclaw/worktree-setup.sh') },
  { path: '.kilo/setup-script.sh', read: () => script('.kilo/setup-script.sh') },
  { path: '.kilo/setup-script', read: () => script('.kilo/setup-script') },
];

const cursorSchema = z.object({
  'setup-worktree': z.union([commands, z.string()]).optional(),
  'setup-worktree-unix': z.union([commands, z.string()]).optional(),
  'setup-worktree-windows': z.union([commands, z.string()]).optional(),
});

/** A list of commands, or a script named from the folder of the file. */
function cursorSetup(text: string, on: NodeJS.Platform): ForeignSetup['plan'] | undefined {
  const said = parsed(cursorSchema, text);
  const own = on === 'win32' ? said?.['setup-worktree-windows'] : said?.['setup-worktree-unix'];
  const chosen = own ?? said?.['setup-worktree'];
  if (chosen === undefined) return undefined;
  return typeof chosen === 'string' ? script(`.cursor/${chosen}`) : planOf({ commands: chosen });
}

const supersetSchema = z.object({
  setup: commands.default([]),
  teardown: commands.default([]),
  cwd: z.string().optional(),
});

function supersetSetup(text: string): ForeignSetup['plan'] | undefined {
  const said = parsed(supersetSchema, text);
  if (said === undefined) return undefined;
  const { cwd } = said;
  const there = (command: string): string =>
    cwd === undefined ? command : `cd ${quoted(cwd)} && ${command}`;
  return planOf({ commands: said.setup.map(there), teardown: said.teardown.map(there) });
}

const scriptsSchema = z.object({
  scripts: z
    .object({ setup: z.string().optional(), archive: z.string().optional(), teardown: z.string().optional() })
    .optional(),
  preservePatterns: z.array(z.string().min(1)).default([]),
});

function conductorSetup(text: string): ForeignSetup['plan'] | undefined {
  const said = parsed(scriptsSchema, text)?.scripts;
  return said && planOf({ commands: oneOf(said.setup), teardown: oneOf(said.archive) });
}

function emdashSetup(text: string): ForeignSetup['plan'] | undefined {
  const said = parsed(scriptsSchema, text);
  if (said === undefined) return undefined;
  const { scripts, preservePatterns } = said;
  return planOf({
    commands: oneOf(scripts?.setup),
    teardown: oneOf(scripts?.teardown),
    include: preservePatterns,
  });
}

/** The script of the checkout, which the user can read, not the one that some base holds. */
function script(path: string): ForeignSetup['plan'] {
  return planOf({ commands: [`sh "$TRIBUTARY_ROOT_PATH"/${quoted(path)}`] });
}

function planOf(plan: Partial<ForeignSetup['plan']>): ForeignSetup['plan'] {
  return { commands: [], teardown: [], include: [], ...plan };
}

function oneOf(command: string | undefined): string[] {
  return command === undefined || command.trim() === '' ? [] : [command.trim()];
}

function parsed<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    const read = schema.safeParse(JSON.parse(text));
    return read.success ? read.data : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
