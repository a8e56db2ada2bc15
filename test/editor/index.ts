// What an editor loads as its test module: the suite, run by mocha inside the extension host.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from 'node:util';
import Mocha from 'mocha';
import * as z from 'zod';
import { reportMark } from './support/reportMark';

const request = z.object({
  files: z.array(z.string()),
  grep: z.string().optional(),
  timeoutMs: z.number(),
  countsPath: z.string(),
});

/** Rejects when a test failed; the counts are then in the file that was asked for. */
export async function run(): Promise<void> {
  const here = fileURLToPath(new URL('.', import.meta.url));
  const asked = request.parse(JSON.parse(await readFile(join(here, 'request.json'), 'utf8')));
  Mocha.reporters.Base.consoleLog = (...parts: unknown[]) => console.log(reportMark + format(...parts));
  const mocha = new Mocha({
    ui: 'bdd',
    reporter: 'spec',
    color: false,
    timeout: asked.timeoutMs,
    ...(asked.grep === undefined ? {} : { grep: asked.grep }),
  });
  for (const file of asked.files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const counts = await new Promise<{ passed: number; failed: number; skipped: number }>((resolve) => {
    const runner = mocha.run((failed) => {
      const { passes = 0, pending = 0 } = runner.stats ?? {};
      resolve({ passed: passes, failed, skipped: pending });
    });
  });
  await writeFile(asked.countsPath, JSON.stringify(counts));
  if (counts.failed > 0) throw new Error(`${counts.failed} failed`);
}
