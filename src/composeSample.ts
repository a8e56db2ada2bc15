import { appendFile, mkdir, mkdtemp, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePlaybook } from './demo/samplePlaybook';
import { createSampleRepository, isSample, sampleTestCommand } from './demo/sampleRepository';
import { makeGit } from './git/plumbing';
import { runCommand } from './process/runCommand';

/** The one Task the offline model can do, where the sample is; `undefined` in any other repository. */
export async function suggestedTask(
  root: string,
): Promise<{ objective: string; checks: readonly string[] } | undefined> {
  if (!(await isSample(root))) return undefined;
  return { objective: samplePlaybook.objective, checks: [sampleTestCommand] };
}

/**
 * Makes the sample repository in a fresh folder under `parent`; answers the folder. The demo model is chosen in
 * the folder's own settings, which git does not see: they never become part of a Task.
 */
export async function makeSample(
  parent: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  await mkdir(parent, { recursive: true });
  // Worktrees stand beside a repository, so each sample has a folder around it.
  const around = await realpath(await mkdtemp(join(parent, 'demo-')));
  const folder = join(around, 'kitchen-timer');
  const git = makeGit({ runCommand, env });
  await createSampleRepository(folder, { git: (args, cwd) => git({ args, cwd }) });
  await appendFile(join(folder, '.git', 'info', 'exclude'), '/.vscode/\n');
  await mkdir(join(folder, '.vscode'));
  const settings = { 'tributary.model.provider': 'demo' };
  await writeFile(join(folder, '.vscode', 'settings.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
  return folder;
}
