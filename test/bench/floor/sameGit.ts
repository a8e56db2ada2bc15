// The git that a Run of the product takes, one process for one of its processes.
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gitWith } from './bare';

/** A worktree on a branch of its own, locked and proven; `files`: they come while the caller goes on, as in the product. */
export async function begin(path: string, branch: string): Promise<{ files: Promise<unknown> }> {
  const root = process.cwd();
  const ref = `refs/heads/${branch}`;
  await Promise.all([run(root, 'version'), run(root, 'rev-parse', '--git-common-dir', '--show-toplevel')]);
  await run(root, 'rev-parse', 'HEAD', 'HEAD^{tree}');
  await run(root, 'for-each-ref', '--format=%(refname)', 'refs/heads');
  const commit = await run(root, 'rev-parse', '--verify', 'HEAD');
  await run(root, 'update-ref', ref, commit, '0'.repeat(40));
  await run(
    root,
    'worktree',
    'add',
    '--quiet',
    '--no-checkout',
    '--lock',
    '--reason',
    'bare',
    '--',
    path,
    branch,
  );
  await run(path, 'rev-parse', '--show-toplevel', '--git-common-dir', 'HEAD', 'HEAD^{tree}');
  const files = run(path, '-c', 'checkout.workers=0', 'read-tree', '-m', '-u', 'HEAD');
  await gitWith({ cwd: root, input: `${commit}:CLAUDE.md\n${commit}:AGENTS.md\n` }, 'cat-file', '--batch');
  return { files };
}

let previous: string | undefined;
const status = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--no-renames'];

/** Records the tree through an index of its own, unless nothing differs from the last one. */
export async function look(path: string, branch: string): Promise<void> {
  const own = join(process.cwd(), '.git', 'worktrees', basename(path));
  const index = join(own, 'bare-index');
  const env = { GIT_INDEX_FILE: index };
  if (previous !== undefined) {
    const seen = await gitWith({ cwd: path, env }, ...status);
    // What the index holds beside HEAD is the last look; only files that differ from the index are news.
    if (!seen.split('\0').some((line) => /^(\?|. .[^.])/.test(line))) return;
  }
  await copyFile(join(own, 'index'), index);
  const [, changes] = await Promise.all([
    gitWith({ cwd: path, env }, 'ls-files', '--stage', '-v', '-z'),
    gitWith({ cwd: path, env }, ...status),
  ]);
  const paths = changes.split('\0').flatMap((line) => line.split(' ').at(-1) ?? []);
  await gitWith(
    { cwd: path, env, input: paths.join('\0') },
    'update-index',
    '--add',
    '--remove',
    '-z',
    '--stdin',
  );
  const tree = await gitWith({ cwd: path, env }, 'write-tree');
  const head = await run(path, 'rev-parse', 'HEAD');
  const input = 'snapshot';
  const commit = await gitWith({ cwd: path, input }, 'commit-tree', '-p', head, '-F', '-', tree);
  await run(path, 'update-ref', `refs/bare/${branch}/1`, commit, previous ?? '0'.repeat(40));
  previous = commit;
}

function run(cwd: string, ...args: string[]): Promise<string> {
  return gitWith({ cwd }, ...args);
}
