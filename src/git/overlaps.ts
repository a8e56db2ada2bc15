import { type Checkout, inCheckout, locateCheckout } from './checkouts';
import { fixedDate } from './mergePreview';
import { nameDiffOf } from './parsers/diffTree';
import { parseMergeTree } from './parsers/mergeTree';
import { splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { whyUnsafe } from './safePath';
import { commitTree } from './snapshots';
import { recordStanding } from './standing';
import { recordTracked, withSteadyIndex } from './workTreeState';

/** A change: a tree and the commit it counts from. */
export interface ChangeSide {
  readonly base: string;
  readonly tree: string;
}

/** What two changes have to do with each other; objects are written, nothing else. */
export interface Overlaps {
  /** The user's checkout as a tree: tracked files as they stand, and untracked ones at `paths`. */
  checkoutTree(paths: readonly string[]): Promise<string>;
  /** Every path that differs, a rename as two. */
  changedPaths(side: ChangeSide): Promise<readonly string[]>;
  /** The paths on which git cannot merge the two without help. */
  conflicts(one: ChangeSide, other: ChangeSide): Promise<readonly string[]>;
}

export class GitOverlaps implements Overlaps {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly wrapped = new Map<string, Promise<string>>();

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
  }

  async checkoutTree(paths: readonly string[]): Promise<string> {
    const checkout = await this.checkout();
    const safe = paths.filter((path) => whyUnsafe(path) === undefined);
    return withSteadyIndex({ git: this.git, checkout }, async (index) => {
      await recordStanding(index, safe, await recordTracked(index));
      return index.writeTree();
    });
  }

  async changedPaths({ base, tree }: ChangeSide): Promise<readonly string[]> {
    const args = nameDiffOf(`${base}^{tree}`, tree);
    return splitPaths((await this.git({ cwd: this.facts.root, args })).stdout);
  }

  async conflicts(one: ChangeSide, other: ChangeSide): Promise<readonly string[]> {
    const place = inCheckout(await this.checkout());
    const [left, right] = await Promise.all([this.wrap(one), this.wrap(other)]);
    const options = ['--write-tree', '-z', '--messages', '--allow-unrelated-histories'];
    const args = ['merge-tree', ...options, left, right];
    const { stdout } = await this.git({ ...place, args, okCodes: [0, 1] });
    const names = new Map([left, right].map((commit) => [commit, commit]));
    return [...new Set(parseMergeTree(stdout, names).conflicts.map(({ path }) => path))];
  }

  /** `merge-tree` takes commits: each side is one on its base, the same object whenever it is made. */
  private wrap({ base, tree }: ChangeSide): Promise<string> {
    const key = `${base} ${tree}`;
    const known = this.wrapped.get(key);
    if (known !== undefined) return known;
    const env = { GIT_AUTHOR_DATE: fixedDate, GIT_COMMITTER_DATE: fixedDate };
    const place = { cwd: this.facts.root, env };
    const made = commitTree(this.git, place, { tree, parents: [base], message: 'overlap' });
    this.wrapped.set(key, made);
    made.catch(() => this.wrapped.delete(key));
    return made;
  }

  private checkout(): Promise<Checkout> {
    return locateCheckout(this.facts, this.facts.root);
  }
}
