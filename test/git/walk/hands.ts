import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Core } from '../../../src/composeCore';
import type { Task } from '../../../src/model/task';
import { age } from '../../wire/support/board';
import type { TempRepo } from '../support/tempRepo';
import type { Made } from './made';
import { blobsBelow } from './witness';

/** Somebody edits files of a Worktree, deletes it, or lets git forget it while it is away. */
export async function byHand(
  repo: TempRepo,
  made: Made,
  { path, seed, name }: { path: string | undefined; seed: number; name: string },
): Promise<void> {
  if (path === undefined || (await blobsBelow(path)).size === 0) return;
  await made.sample();
  if (seed % 8 === 0) {
    await rm(path, { recursive: true });
    return made.forgetLost();
  }
  if (seed % 8 === 1) {
    await rename(path, `${path}-away`);
    await repo.git('worktree', 'prune');
    return rename(`${path}-away`, path);
  }
  await made.overwritten(path, 'a.txt');
  await writeFile(join(path, `hand-${name}.txt`), `by hand, ${name}\n`);
  await writeFile(join(path, 'a.txt'), `by hand, ${name}\n`);
}

/** Idle Worktrees may go after a day, and after 31 what was kept of Tasks that had ended. */
export async function letTimePass(core: Core, seed: number): Promise<readonly Task[]> {
  const { tasks } = await core.tasks.list();
  const open = tasks.find(({ state, branch }) => state === 'open' && branch !== undefined);
  // One without a change, or there would hardly ever be anything to sweep.
  if (open !== undefined && seed % 3 > 0)
    await core.tasks.restoreTo(open.id, { snapshot: 0 }).catch(() => undefined);
  for (const task of tasks) await age(core, task, seed % 4 === 0 ? 31 : 1).catch(() => undefined);
  return (await core.tasks.list()).tasks;
}
