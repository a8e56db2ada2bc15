import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unlessMissing } from './checkouts';
import type { Git } from './plumbing';

/**
 * Names the commits that only a worktree's own administration holds and the kept commit does not reach
 * `refs/tributary/left/<name>/<short oid>`, before it goes: those its HEAD left, those below its own refs
 * (`refs/worktree`, `refs/bisect`), what an operation under way put away (gitrepository-layout, git-worktree(1)).
 */
export async function keepLeftCommits(
  git: Git,
  { cwd, gitDir, name, keptCommit }: { cwd: string; gitDir: string; name: string; keptCommit: string },
): Promise<void> {
  const left = await leftAmong(git, cwd, { names: await namesHeldBy(gitDir), keptCommit });
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

/** Folders in a worktree's administration with names of commits: reflogs, refs of its own, operations under way. */
const folders: readonly string[] = ['logs', 'refs', 'rebase-merge', 'rebase-apply', 'sequencer'];
/** Files at its top with such names; `ORIG_HEAD`, `CHERRY_PICK_HEAD`, `MERGE_AUTOSTASH`, `BISECT_EXPECTED_REV`. */
const pseudoRef = /^(?!FETCH_HEAD$)[A-Z]+_(?:HEAD|AUTOSTASH|REV)$/;
/** Longer files, such as a patch that is being applied, are no lists of commits. */
const longestFile = 8_000_000;

/** Every object that is named there, once. */
async function namesHeldBy(gitDir: string): Promise<string[]> {
  const top = (await readdir(gitDir).catch(unlessMissing)) ?? [];
  const files = top.filter((name) => pseudoRef.test(name));
  for (const folder of folders.filter((name) => top.includes(name)))
    for (const name of await readdir(join(gitDir, folder), { recursive: true }))
      files.push(join(folder, name));
  const found = new Set<string>();
  for (const file of files) {
    const stats = await lstat(join(gitDir, file)).catch(unlessMissing);
    if (!stats?.isFile() || stats.size > longestFile) continue;
    const text = (await readFile(join(gitDir, file), 'latin1').catch(unlessMissing)) ?? '';
    for (const name of text.match(/\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b/g) ?? []) found.add(name);
  }
  return [...found].filter((name) => !/^0+$/.test(name));
}

/** Those that are there, and are commits. */
async function commitsAmong(git: Git, cwd: string, names: readonly string[]): Promise<string[]> {
  const { stdout } = await git({ cwd, args: ['cat-file', '--batch-check'], input: `${names.join('\n')}\n` });
  const lines = stdout.toString('latin1').split('\n');
  return lines.flatMap((line) => /^([0-9a-f]+) commit /.exec(line)?.[1] ?? []);
}
