import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './checkouts';
import type { Git } from './plumbing';

/**
 * Names the commits that a worktree's HEAD once stood on and the kept commit does not reach
 * `refs/tributary/left/<name>/<short oid>`: its reflog, often the only thing that holds them, is about to go.
 */
export async function keepLeftCommits(
  git: Git,
  { cwd, gitDir, name, keptCommit }: { cwd: string; gitDir: string; name: string; keptCommit: string },
): Promise<void> {
  const log = (await readFile(join(gitDir, 'logs', 'HEAD'), 'latin1').catch(unlessMissing)) ?? '';
  const commits = await commitsAmong(git, cwd, namesIn(log));
  if (commits.length === 0) return;
  const walk = await git({
    cwd,
    args: ['rev-list', '--stdin'],
    input: [...commits, `^${keptCommit}`, ''].join('\n'),
    // 128: the history cannot be walked; then all of them are kept.
    okCodes: [0, 128],
  });
  const isWalked = walk.exitCode === 0;
  const unkept = new Set(walk.stdout.toString('latin1').split('\n'));
  const left = commits.filter((commit) => !isWalked || unkept.has(commit));
  const folder = `refs/tributary/left/${name.replace(/[^\w-]+/g, '-')}`;
  const updates = left.map((commit) => `update ${folder}/${commit.slice(0, 12)} ${commit}\n`).join('');
  if (left.length > 0) await git({ cwd, args: ['update-ref', '--stdin'], input: updates });
}

/** Every object a reflog names, once. */
function namesIn(log: string): string[] {
  const pairs = log.split('\n').map((line) => /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line)?.slice(1));
  return [...new Set(pairs.flatMap((pair) => pair ?? []))].filter((name) => !/^0+$/.test(name));
}

/** Those that are there, and are commits. */
async function commitsAmong(git: Git, cwd: string, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return [];
  const { stdout } = await git({ cwd, args: ['cat-file', '--batch-check'], input: `${names.join('\n')}\n` });
  const lines = stdout.toString('latin1').split('\n');
  return lines.flatMap((line) => /^([0-9a-f]+) commit /.exec(line)?.[1] ?? []);
}
