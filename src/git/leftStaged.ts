import { type Checkout, inCheckout } from './checkouts';
import { kindOf } from './gitErrors';
import type { IndexEntry } from './indexInfo';
import { keepCommits, keepLeftCommits } from './leftCommits';
import { parseRawDiff } from './parsers/diffTree';
import { parseStagedEntries } from './parsers/lsFiles';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { commitTree } from './snapshots';
import { treeWithEntries, withTemporaryIndex } from './temporaryIndex';

/** Where an administration lies, and what keeps the rest of its worktree. */
interface LeftAdministration {
  readonly gitDir: string;
  /** Of the worktree. */
  readonly name: string;
  readonly keptCommit: string;
}

/** Names all that only a worktree's administration holds, before it goes; its folder may be gone. */
export async function keepLeft(
  git: Git,
  { root, commonDir }: Pick<RepositoryFacts, 'root' | 'commonDir'>,
  left: LeftAdministration,
): Promise<void> {
  await keepLeftCommits(git, { ...left, cwd: root });
  await keepLeftStaged(git, commonDir, left);
}

/**
 * Keeps what was staged in a worktree and edited again since: neither its HEAD nor the kept commit holds it, only the
 * index, which is about to go. It gets a commit of ours on top of the kept one, named as `keepLeftCommits` names them.
 */
export async function keepLeftStaged(
  git: Git,
  commonDir: string,
  { gitDir, name, keptCommit }: LeftAdministration,
): Promise<void> {
  // Only the index is asked, whatever became of the folder.
  const checkout = { workTree: gitDir, gitDir, commonDir };
  const place = inCheckout(checkout);
  try {
    const staged = await stagedOnly(git, checkout, keptCommit);
    if (staged.length === 0) return;
    const tree = await treeWithEntries({ git, checkout }, keptCommit, staged);
    const message = `What was staged in the worktree ${name} when it went\n`;
    const commit = await commitTree(git, place, { tree, parents: [keptCommit], message });
    await keepCommits(git, place.cwd, name, [commit]);
  } catch (error) {
    // An index that git cannot read, or objects that are gone: then there is nothing that could be named.
    if (kindOf(error) === undefined) throw error;
  }
}

/** Entries of the index that neither HEAD nor `keptCommit` has so. In a conflict, its commits hold what stands there. */
async function stagedOnly(git: Git, checkout: Checkout, keptCommit: string): Promise<readonly IndexEntry[]> {
  return withTemporaryIndex({ git, checkout }, async (index) => {
    const differing = async (from: string): Promise<string[]> => {
      const args = ['diff-index', '--cached', '--raw', '--no-abbrev', '--no-renames', '-z', from, '--'];
      return parseRawDiff((await index.run({ args })).stdout).map(({ path }) => path);
    };
    const head = ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'];
    // On a branch without a commit all of the index is staged.
    const isUnborn = (await index.run({ args: head, okCodes: [0, 1, 128] })).exitCode !== 0;
    const left = isUnborn ? undefined : new Set(await differing('HEAD'));
    if (left?.size === 0) return [];
    const wanted = new Set((await differing(keptCommit)).filter((path) => left?.has(path) ?? true));
    if (wanted.size === 0) return [];
    const { stdout } = await index.run({ args: ['ls-files', '--stage', '-z'] });
    return [...parseStagedEntries(stdout, wanted)].map(([path, entry]) => ({ path, ...entry }));
  });
}
