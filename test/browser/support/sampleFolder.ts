import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createSampleRepository } from '../../../src/demo/sampleRepository';

const run = promisify(execFile);

/** The demo's repository in a fresh folder; its worktrees will stand beside it, and go with it. */
export async function makeSampleFolder(
  name = 'kitchen-timer',
): Promise<{ folder: string; remove(): Promise<void> }> {
  const around = await realpath(await mkdtemp(join(tmpdir(), 'tributary-sample-')));
  const folder = join(around, name);
  await mkdir(folder);
  await createSampleRepository(folder, {
    git: async (args, cwd) => {
      await run('git', [...args], { cwd });
    },
  });
  return { folder, remove: () => rm(around, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The environment an editor under test gets: no model, no key, nothing of an editor around it. */
export function plainEnvironment(): NodeJS.ProcessEnv {
  const foreign = /^(ANTHROPIC_|VSCODE_|ELECTRON_|TRIBUTARY_(?!LONG|TEST_))|^NODE_OPTIONS$/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
}
