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
  const left = await leftAmong(git, cwd, { names: namesIn(log), keptCommit });
  await keepCommits(git, cwd, name, left);
}

/** Names commits as `keepLeftCommits` does, for as long as what brings the Task of that name back is kept. */
export async function keepCommits(
  git: Git,
  cwd: string,
  name: string,
  commits: readonly string[],
): Promise<void> {
  const updates = commits
    .map((commit) => `update ${leftRefsOf(name)}${commit.slice(0, 12)} ${commit}\n`)
    .join('');
  if (commits.length > 0) await git({ cwd, args: ['update-ref', '--stdin'], input: updates });
}

/** What the refs of such commits begin with. */
export function leftRefsOf(name: string): string {
  return `refs/tributary/left/${name.replace(/[^\w-]+/g, '-')}/`;
}

/** The commits among `names` that are there and that `keptCommit` does not reach. */
async function leftAmong(
  git: Git,
  cwd: string,
  { names, keptCommit }: { names: readonly string[]; keptCommit: string },
): Promise<string[]> {
  if (names.length === 0) return [];
  const walk = await git({
    cwd,
    args: ['rev-list', '--ignore-missing', '--stdin'],
    input: [...names, `^${keptCommit}`, ''].join('\n'),
    okCodes: [0, 128],
  });
  // 128: parts of the history are gone. Then all that is there is kept.
  if (walk.exitCode !== 0) return commitsAmong(git, cwd, names);
  const unkept = new Set(walk.stdout.toString('latin1').split('\n'));
  return names.filter((name) => unkept.has(name));
}

/** Every object a reflog names, once. */
function namesIn(log: string): string[] {
  const pairs = log.split('\n').map((line) => /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) /.exec(line)?.slice(1));
  return [...new Set(pairs.flatMap((pair) => pair ?? []))].filter((name) => !/^0+$/.test(name));
}

/** Those that are there, and are commits. */
async function commitsAmong(git: Git, cwd: string, names: readonly string[]): Promise<string[]> {
  const { stdout } = await git({ cwd, args: ['cat-file', '--batch-check'], input: `${names.join('\n')}\n` });
  const lines = stdout.toString('latin1').split('\n');
  return lines.flatMap((line) => /^([0-9a-f]+) commit /.exec(line)?.[1] ?? []);
}
