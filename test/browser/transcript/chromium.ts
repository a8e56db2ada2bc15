import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { chosenEditor } from '../support/editorChoice';

const finder = z.object({ findChromium: z.function({ input: [], output: z.string().optional() }) });

/** The Chromium that the page alone is shown in. */
export async function chromiumPath(): Promise<string> {
  const editor = chosenEditor();
  if (editor.kind === 'served' && editor.chromium !== undefined) return editor.chromium;
  const path = join(process.env['TRIBUTARY_ROOT'] ?? '', 'scripts', 'editor', 'chromium.mjs');
  const module: unknown = await import(pathToFileURL(path).href);
  const found = finder.parse({ ...(typeof module === 'object' ? module : {}) }).findChromium();
  if (found === undefined)
    throw new Error('the tests of the page alone need a Chromium: name one by TRIBUTARY_CHROMIUM');
  return found;
}
