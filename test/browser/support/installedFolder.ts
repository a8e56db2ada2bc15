import { cp, mkdtemp, readFile, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod';

const manifest = z.object({ publisher: z.string(), name: z.string(), version: z.string() });

/** A fresh extensions folder that has the staged extension as if it had been installed. The caller removes it. */
export async function extensionsFolderWith(staged: string): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tributary-extensions-')));
  const { publisher, name, version } = manifest.parse(
    JSON.parse(await readFile(join(staged, 'package.json'), 'utf8')),
  );
  await cp(staged, join(folder, `${publisher}.${name}-${version}`), { recursive: true });
  return folder;
}
