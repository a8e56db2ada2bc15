import { createHash } from 'node:crypto';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Listing, witness, worktreeListing } from '../states/witness';
import { gitAt, type TempRepo } from '../support/tempRepo';

/** What only its user may change, but for a Landing. */
export interface UsersState {
  readonly files: Listing;
  readonly head: string;
  readonly staged: string;
  readonly stash: string;
  readonly refs: string;
}

export async function usersState(repo: TempRepo): Promise<UsersState> {
  const git = async (...args: string[]): Promise<string> =>
    (await gitAt(repo.root, '--no-optional-locks', ...args)).toString('latin1');
  const [files, name, commit, staged, stash, refs] = await Promise.all([
    filesOf(repo.root),
    readFile(join(repo.root, '.git/HEAD'), 'utf8'),
    git('rev-parse', 'HEAD'),
    git('ls-files', '--stage', '-v', '-z'),
    git('stash', 'list', '--format=%H %gs'),
    git('for-each-ref', '--format=%(refname) %(objectname)'),
  ]);
  const isTheirs = (line: string): boolean => !/^refs\/(tributary|heads\/tributary|heads\/agent-)/.test(line);
  return {
    files,
    head: `${name}${commit}`,
    staged,
    stash,
    refs: refs.split('\n').filter(isTheirs).join('\n'),
  };
}

/** Files and links, with what they hold; git directories left out. */
async function filesOf(root: string): Promise<Listing> {
  const { bytes } = await witness(root);
  return new Map([...bytes].filter(([path]) => !path.startsWith('.git/')));
}

/** Files and links of a Worktree, those of repositories inside it too; folders are nobody's bytes. */
export async function worktreeFiles(root: string): Promise<Listing> {
  return new Map([...(await worktreeListing(root))].filter(([path]) => !path.endsWith('/')));
}

/** The names that git gives to the contents of all files below a folder. */
export async function blobsBelow(folder: string): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  for (const name of names) {
    const path = join(folder, name);
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isFile() !== true) continue;
    const content = await readFile(path).catch(() => undefined);
    if (content !== undefined) blobs.set(name, blobOf(content));
  }
  return blobs;
}

export function blobOf(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** Every object that a ref, ours or the user's, still reaches. */
export async function reachable(root: string): Promise<Set<string>> {
  const said = await gitAt(root, 'rev-list', '--objects', '--all', '--reflog');
  return new Set(
    said
      .toString('latin1')
      .split('\n')
      .map((line) => line.split(' ')[0] ?? ''),
  );
}
