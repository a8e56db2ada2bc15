import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FileHunks } from '../../../src/model/hunks';
import type { LandingSelection } from '../../../src/model/landing';
import { type TempRepo, testGitEnvironment } from './tempRepo';

// What plain git makes of the same question, by other roads than the product's.

interface Subset {
  readonly base: string;
  readonly tree: string;
  readonly files: readonly FileHunks[];
  readonly selection: LandingSelection;
}

/** The tree of `base` with the selected files and hunks, each applied as a patch to an index. */
export async function subsetByGit(repo: TempRepo, { base, tree, files, selection }: Subset): Promise<string> {
  return withIndex(repo, async (run) => {
    await run(['read-tree', base]);
    for (const file of files) {
      const isWhole = selection.paths.includes(file.path);
      const chosen = file.hunks.map((hunk) => selection.hunks.includes(hunk.id));
      if (!isWhole && !chosen.includes(true)) continue;
      const paths = [file.path, ...(file.oldPath === undefined ? [] : [file.oldPath])];
      const args = ['diff', '--binary', '--no-renames', '--unified=0', base, tree, '--', ...paths];
      const patch = await run(['--literal-pathspecs', ...args]);
      const isPart = !isWhole && file.status === 'modified';
      const apply = ['apply', '--cached', '--unidiff-zero', '--whitespace=nowarn', '-'];
      await run(apply, isPart ? withHunks(patch, chosen) : patch);
    }
    return (await run(['write-tree'])).toString('latin1').trim();
  });
}

/** The same patch with some hunks only, where they would stand then; its mode changes are left out. */
function withHunks(patch: Buffer, chosen: readonly boolean[]): Buffer {
  const [header = '', ...hunks] = patch.toString('latin1').split(/^(?=@@ )/m);
  let moved = 0;
  const kept = hunks.flatMap((hunk, at) => {
    const match = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(hunk);
    if (match === null || chosen[at] !== true) return [];
    const [whole, start, old = '1', added = '1'] = match;
    const shift = Number(old) === 0 ? 1 : Number(added) === 0 ? -1 : 0;
    const line = Number(start) + shift + moved;
    moved += Number(added) - Number(old);
    return [`@@ -${start},${old} +${line},${added} @@${hunk.slice(whole.length)}`];
  });
  const plain = header.replace(/^(old|new) mode .*\n/gm, '').replace(/^(index .*\.\.\S+).*$/m, '$1 100644');
  return Buffer.from(plain + kept.join(''), 'latin1');
}

/** Every file of the checkout as a tree, whatever the index says. */
export async function treeOfFiles(repo: TempRepo): Promise<string> {
  return withIndex(repo, async (run) => {
    await run(['add', '--all', '--force']);
    return (await run(['write-tree'])).toString('latin1').trim();
  });
}

/** The merged tree, or `undefined` where git finds a conflict. */
export async function mergedByGit(
  repo: TempRepo,
  { base, ours, theirs }: { base: string; ours: string; theirs: string },
): Promise<string | undefined> {
  const commit = async (tree: string, parent: string): Promise<string> =>
    (await repo.git('commit-tree', '-m', 'side', '-p', parent, tree)).trim();
  const sides = [await commit(ours, base), await commit(theirs, base)];
  return repo
    .git('merge-tree', '--write-tree', ...sides)
    .then((text) => text.trim())
    .catch(() => undefined);
}

type Run = (args: readonly string[], input?: Buffer) => Promise<Buffer>;

/** With an index of its own beside the checkout. */
async function withIndex<T>(repo: TempRepo, body: (run: Run) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-oracle-'));
  const env = { ...testGitEnvironment(), GIT_INDEX_FILE: join(folder, 'index') };
  try {
    return await body((args, input) => gitWith(repo.root, env, args, input));
  } finally {
    await rm(folder, { recursive: true });
  }
}

function gitWith(
  cwd: string,
  env: Record<string, string>,
  args: readonly string[],
  input: Buffer | undefined,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', args, { cwd, env, stdio: 'pipe' });
    const [out, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(out));
      else reject(new Error(`git ${args.join(' ')}: ${Buffer.concat(errors).toString('latin1')}`));
    });
    // A git that reads nothing may be gone before it is written to; its exit code says how it went.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input ?? Buffer.alloc(0));
  });
}
