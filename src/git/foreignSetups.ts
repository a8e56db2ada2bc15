import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../base/errors';
import { type ForeignSetup, foreignFiles } from '../model/foreignSetup';
import { unlessMissing } from './checkouts';
import type { RepositoryFacts } from './repository';

/** Longer ones are no settings. */
const maxBytes = 256 * 1024;

/** The set-up commands that files of other tools in the opened checkout name, in their order; what names none is left out. */
export async function findForeignSetups({ root }: RepositoryFacts): Promise<readonly ForeignSetup[]> {
  const found: ForeignSetup[] = [];
  for (const { path, read } of foreignFiles) {
    const text = await textOf(join(root, path));
    const plan = text === undefined ? undefined : read(text, process.platform);
    if (plan !== undefined && plan.commands.length + plan.teardown.length > 0) found.push({ path, plan });
  }
  return found;
}

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
