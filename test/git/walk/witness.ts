import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
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

/** Read from the files alone, but for an index that was not seen before: git is asked what that one holds. */
export async function usersState(repo: TempRepo): Promise<UsersState> {
  const { bytes } = await witness(repo.root);
  const refs = refsOf(bytes);
  const name = contentOf(bytes.get('.git/HEAD'));
  const commit = refs.get(name.replace(/^ref: /, '').trimEnd());
  const stash = [bytes.get('.git/refs/stash'), bytes.get('.git/logs/refs/stash')];
  const isTheirs = ([ref]: [string, string]): boolean => !ref.startsWith('refs/heads/agent-');
  const theirs = [...refs].filter(isTheirs).map(([ref, object]) => `${ref} ${object}`);
  return {
    files: new Map([...bytes].filter(([path]) => !path.startsWith('.git/'))),
    head: `${name}${commit ?? ''}`,
    staged: await stagedIn(repo, bytes.get('.git/index') ?? ''),
    stash: stash.map((one) => one ?? '').join('\n'),
    refs: theirs.sort().join('\n'),
  };
}

/** Loose and packed ones of the user: ours are no part of a witness, or have our names. */
function refsOf(bytes: Listing): Map<string, string> {
  const packed = contentOf(bytes.get('.git/packed-refs'))
    .split('\n')
    .flatMap((line) => [/^([0-9a-f]+) (refs\/.*)$/.exec(line)])
    .flatMap((match) => (match === null ? [] : [[match[2] ?? '', match[1] ?? ''] as const]))
    .filter(([ref]) => !/^refs\/(tributary|heads\/tributary)/.test(ref));
  const loose = [...bytes]
    .filter(([path]) => path.startsWith('.git/refs/'))
    .map(([path, line]) => [path.slice('.git/'.length), contentOf(line).trimEnd()] as const);
  return new Map([...packed, ...loose]);
}

/** Of a line of a witness: what stands behind kind and mode. */
function contentOf(line: string | undefined): string {
  return line?.replace(/^file \d+ /, '') ?? '';
}

const staged = new Map<string, string>();

async function stagedIn(repo: TempRepo, index: string): Promise<string> {
  const known = staged.get(index);
  if (known !== undefined) return known;
  const args = ['--no-optional-locks', 'ls-files', '--stage', '-v', '-z'];
  const said = (await gitAt(repo.root, ...args)).toString('latin1');
  if (staged.size > 100) staged.clear();
  staged.set(index, said);
  return said;
}

/** Files and links of a Worktree, those of repositories inside it too; folders are nobody's bytes. */
export async function worktreeFiles(root: string): Promise<Listing> {
  return new Map([...(await worktreeListing(root))].filter(([path]) => !path.endsWith('/')));
}

/** The names that git gives to the contents of all files below a folder; not of a repository's own directory there. */
export async function blobsBelow(folder: string): Promise<Map<string, string>> {
  const blobs = new Map<string, string>();
  const folders = [''];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await readdir(join(folder, at), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(at, entry.name);
      if (entry.isDirectory() && path !== '.git') folders.push(path);
      if (!entry.isFile()) continue;
      const content = await readFile(join(folder, path)).catch(() => undefined);
      if (content !== undefined) blobs.set(path, blobOf(content));
    }
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
