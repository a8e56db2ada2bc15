import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../base/errors';
import { type ForeignSetup, foreignFiles } from '../model/foreignSetup';
import { foreignTomlFiles } from '../model/foreignToml';
import { unlessMissing } from './checkouts';
import type { RepositoryFacts } from './repository';
import { parseToml } from './tomlText';

/** Longer ones are no settings. */
const maxBytes = 256 * 1024;

/**
 * The set-up commands that files of other tools in the opened checkout name, in their order; what names none is left
 * out, unless there is something to say about it.
 */
export async function findForeignSetups({ root }: RepositoryFacts): Promise<readonly ForeignSetup[]> {
  const found: ForeignSetup[] = [];
  for (const { path, read } of foreignFiles) {
    const text = await textOf(join(root, path));
    const plan = text === undefined ? undefined : read(text, process.platform);
    if (plan !== undefined) found.push({ path, plan, notes: [] });
  }
  const tomls = await Promise.all(foreignTomlFiles.map((files) => fromToml(root, files)));
  // Where a tool has both, its TOML is the newer one.
  return [...tomls, ...found]
    .filter(
      (one) =>
        one !== undefined && one.plan.commands.length + one.plan.teardown.length + one.notes.length > 0,
    )
    .flatMap((one) => one ?? []);
}

/** `undefined`: the files are not there, or are something else. */
async function fromToml(
  root: string,
  { paths, read }: (typeof foreignTomlFiles)[number],
): Promise<ForeignSetup | undefined> {
  const texts = await Promise.all(paths.map((path) => textOf(join(root, path))));
  const there = paths.filter((_path, index) => texts[index] !== undefined);
  const path = there[0];
  if (path === undefined) return undefined;
  const values: unknown[] = [];
  for (const [index, text] of texts.entries()) {
    const parsed = text === undefined ? undefined : await parseToml(text);
    if (parsed?.kind === 'broken')
      return { path, plan: nothing, notes: [`${paths[index]}:${parsed.line}: ${parsed.why}`] };
    values.push(parsed?.value);
  }
  const found = read(values);
  return found && { path: there.join(', '), ...found };
}

const nothing: ForeignSetup['plan'] = { commands: [], teardown: [], include: [] };

async function textOf(file: string): Promise<string | undefined> {
  const stats = await stat(file).catch(unlessMissing);
  if (!stats?.isFile() || stats.size > maxBytes) return undefined;
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    // What the user may not read names nothing for us either.
    if (errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
}
