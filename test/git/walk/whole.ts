import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '../../../src/model/task';
import { isLive } from '../../../src/tasks/runMachine';
import { gitAt, type TempRepo } from '../support/tempRepo';

/** Records, registrations and folders say the same, and nothing half-done lies about. */
export async function assertWhole(repo: TempRepo, tasks: readonly Task[]): Promise<void> {
  for (const task of tasks) {
    assert.equal(task.pending, undefined, `${task.slug} is on its way`);
    assert.deepEqual(task.runs.filter(isLive), [], `${task.slug} has a run alive`);
  }
  const listed = (await repo.git('worktree', 'list', '--porcelain')).split('\n');
  assert.deepEqual(
    listed.filter((line) => /^(locked|prunable)/.test(line)),
    [],
  );
  const paths = listed.flatMap((line) => /^worktree (.*)$/.exec(line)?.slice(1) ?? []).slice(1);
  for (const path of paths) {
    await gitAt(path, 'status', '--porcelain');
    assert.ok((await stat(path)).isDirectory());
  }
  const standing = await readdir(`${repo.root}.worktrees`).catch(() => []);
  assert.deepEqual(standing.sort(), paths.map((path) => path.slice(path.lastIndexOf('/') + 1)).sort());
  const names = await readdir(join(repo.root, '.git'), { recursive: true });
  assert.deepEqual(
    names.filter((name) => name.endsWith('.lock') && !name.startsWith('tributary')),
    [],
  );
  await repo.git('fsck', '--connectivity-only', '--no-dangling');
}
