import * as z from 'zod';
import type { ForeignSetup } from './foreignSetup';
import { filledTemplate } from './foreignTemplate';

type Read = Pick<ForeignSetup, 'plan'> & { readonly notes: readonly string[] };

interface ForeignTomlFiles {
  /** Files of one tool, the one that counts most last; the values come in this order, `undefined` for none. */
  readonly paths: readonly string[];
  /** What they name; `undefined` where they are not what they should be. */
  readonly read: (values: readonly unknown[]) => Read | undefined;
}

/** The same as `foreignFiles` in TOML, the likeliest first. */
export const foreignTomlFiles: readonly ForeignTomlFiles[] = [
  { paths: ['.conductor/settings.toml', '.conductor/settings.local.toml'], read: conductorSetup },
  { paths: ['.codex/environments/environment.toml'], read: ([value]) => codexSetup(value) },
  { paths: ['.codex/local-environment.toml'], read: ([value]) => codexSetup(value) },
  { paths: ['.config/wt.toml'], read: ([value]) => worktrunkSetup(value) },
];

const scriptSchema = z.object({ script: z.string().optional() });
const codexSchema = z.object({ setup: scriptSchema.optional(), cleanup: scriptSchema.optional() });

function codexSetup(value: unknown): Read | undefined {
  const read = codexSchema.safeParse(value);
  if (!read.success) return undefined;
  const { setup, cleanup } = read.data;
  return plain(oneOf(setup?.script), oneOf(cleanup?.script));
}

const conductorSchema = z.object({
  scripts: z.object({ setup: z.string().optional(), archive: z.string().optional() }).optional(),
});

/** Key by key, what only this machine has goes before what all share. */
function conductorSetup(values: readonly unknown[]): Read | undefined {
  const read = values.filter((value) => value !== undefined).map((value) => conductorSchema.safeParse(value));
  if (read.length === 0 || read.some(({ success }) => !success)) return undefined;
  const scripts = read.map(({ data }) => data?.scripts);
  const last = (key: 'setup' | 'archive'): string | undefined =>
    scripts.map((one) => one?.[key]).findLast((command) => command !== undefined);
  return plain(oneOf(last('setup')), oneOf(last('archive')));
}

const namedCommands = z.record(z.string(), z.string());
const hookSchema = z.union([z.string(), namedCommands, z.array(z.union([z.string(), namedCommands]))]);
const worktrunkSchema = z.record(z.string(), z.unknown());

/** Older names beside the newer ones; those that wait come before those that run in the background there. */
const startHooks = ['post-create-command', 'post-create', 'pre-start-command', 'pre-start'];
const backgroundHooks = ['post-start-command', 'post-start'];
const endHooks = ['pre-remove-command', 'pre-remove'];

function worktrunkSetup(value: unknown): Read | undefined {
  const read = worktrunkSchema.safeParse(value);
  if (!read.success) return undefined;
  const notes: string[] = [];
  const taken = (hooks: readonly string[]): string[] =>
    hooks.flatMap((hook) => commandsOf(hook, read.data[hook], notes));
  const [first, background, teardown] = [taken(startHooks), taken(backgroundHooks), taken(endHooks)];
  if (background.length > 0)
    notes.push('commands of post-start, which run in the background there, run one after another here');
  return { plan: { commands: [...first, ...background], teardown, include: [] }, notes };
}

/** The commands of one hook; what cannot be taken goes into `notes`. */
function commandsOf(hook: string, value: unknown, notes: string[]): string[] {
  if (value === undefined) return [];
  const read = hookSchema.safeParse(value);
  if (!read.success) {
    notes.push(`${hook} is left out: it is neither a command nor a table of commands`);
    return [];
  }
  const parts = Array.isArray(read.data) ? read.data : [read.data];
  const commands = parts.flatMap((part) => (typeof part === 'string' ? [part] : Object.values(part)));
  return commands.flatMap((command) => {
    const filled = filledTemplate(command);
    if (filled.kind === 'filled') return oneOf(filled.command);
    notes.push(`${hook} is left out: ${filled.why} in ${command.trim()}`);
    return [];
  });
}

function plain(commands: string[], teardown: string[]): Read {
  return { plan: { commands, teardown, include: [] }, notes: [] };
}

function oneOf(command: string | undefined): string[] {
  return command === undefined || command.trim() === '' ? [] : [command.trim()];
}
