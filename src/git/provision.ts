import { lstat, readlink, symlink } from 'node:fs/promises';
import { throwIfCancelled } from '../base/async';
import { errnoOf, messageOf } from '../base/errors';
import type { Provided, SetupPlan, Sharing } from '../model/setup';
import { makeParents, standingParent } from './checkoutFiles';
import { type Checkout, locateCheckout, unlessMissing } from './checkouts';
import { ignoredAmong, wantedFiles } from './ignoredFiles';
import { decodePath, encodePath, fileAt } from './parsers/pathBytes';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { whyUnsafe } from './safePath';
import { recordLinks } from './sharedLinks';
import { parentOf } from './temporaryIndex';
import { type CopyWays, canPlace, copyTree, copyWays, orElse, type TreeCopy } from './treeCopy';

export interface ProvideRequest {
  readonly worktreePath: string;
  readonly plan: Pick<SetupPlan, 'link' | 'clone' | 'include'>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Gives a worktree what it wants of the opened checkout's ignored files. Only what git ignores there and in the
 * worktree, so that none of it is ever recorded; nothing that stands is overwritten; the checkout is only read.
 */
export interface Provision {
  /** What could not be had is told in the answer; only a full disk, git itself and an abort are thrown. */
  provide(request: ProvideRequest): Promise<Provided>;
}

type Skipped = Provided['skipped'][number];

export class GitProvision implements Provision {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly ways: CopyWays;

  constructor(deps: { git: Git; facts: RepositoryFacts; ways?: CopyWays }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.ways = deps.ways ?? copyWays;
  }

  async provide({ worktreePath, plan, signal }: ProvideRequest): Promise<Provided> {
    const checkout = await locateCheckout(this.facts, this.facts.root);
    const worktree = await locateCheckout(this.facts, worktreePath);
    const from = { git: this.git, checkout, signal };
    const to = { git: this.git, checkout: worktree, signal };
    const files = await wantedFiles(from, plan.include);
    const wanted = wantedFolders(plan);
    const folders = [...wanted.keys()];
    if (folders.length === 0 && files.length === 0) return { copied: 0, shared: [], skipped: [] };
    const here = await ignoredAmong(from, await reachable(checkout.workTree, folders));
    const there = await ignoredAmong(to, await reachable(worktree.workTree, [...folders, ...files]));
    const job = new Provisioning(checkout.workTree, worktree, this.ways);
    for (const [folder, share] of wanted) {
      const path = folder.slice(0, -1);
      if (await job.isSharedAlready(path)) continue;
      if (!(await job.isFolder(path))) job.skip(path, 'there is no such folder in the checkout');
      else if (!here.has(folder)) job.skip(path, 'git does not ignore it in the checkout');
      else if (!there.has(folder)) job.skip(path, notIgnored);
      else await job[share](path);
    }
    for (const file of files) {
      throwIfCancelled(signal);
      if (folders.some((folder) => file.startsWith(folder))) continue;
      if (there.has(file)) await job.copy(file.replace(/\/$/, ''));
      else job.skip(file.replace(/\/$/, ''), notIgnored);
    }
    return job.end();
  }
}

const notIgnored = 'git does not ignore it at the base, or a link or file is in the way';

/** Each with a slash at its end. A folder that is to be both is linked. */
function wantedFolders({ link, clone }: ProvideRequest['plan']): Map<string, 'link' | 'clone'> {
  const named = (folder: string): string => `${folder.replace(/\/+$/, '')}/`;
  return new Map([
    ...clone.map((folder) => [named(folder), 'clone'] as const),
    ...link.map((folder) => [named(folder), 'link'] as const),
  ]);
}

/** Without what lies below a link or file: git does not answer for such paths. */
async function reachable(root: string, paths: readonly string[]): Promise<string[]> {
  const parents = new Map<string, boolean>();
  const clear: string[] = [];
  for (const path of paths) {
    const inner = path.endsWith('/') ? `${path}x` : path;
    const parent = parentOf(inner);
    const known = parents.get(parent) ?? ['folder', 'missing'].includes(await standingParent(root, inner));
    parents.set(parent, known);
    if (known) clear.push(path);
  }
  return clear;
}

/** One worktree that is being provided for. */
class Provisioning {
  private readonly root: string;
  private readonly worktree: Checkout;
  private readonly ways: CopyWays;
  private copied = 0;
  private readonly shared: Array<{ path: string; how: Sharing }> = [];
  private readonly skipped: Skipped[] = [];

  constructor(root: string, worktree: Checkout, ways: CopyWays) {
    this.root = root;
    this.worktree = worktree;
    this.ways = ways;
  }

  skip(path: string, why: string): void {
    this.skipped.push({ path, why });
  }

  /** An ignored file, or a folder of nothing else, as a copy of its own. */
  async copy(path: string): Promise<void> {
    if (!(await this.hasParents(path))) return;
    const done = await copyTree(this.by('copy', false), path);
    this.copied += done.files;
    this.skipped.push(...done.skipped);
  }

  async clone(path: string): Promise<void> {
    if (!(await this.hasParents(path))) return;
    // It came back with the worktree.
    if ((await lstat(fileAt(this.worktree.workTree, path)).catch(unlessMissing))?.isDirectory()) return;
    for (const way of ['copyOnWrite', 'hardLink'] as const) {
      const copy = this.by(way, true);
      if ((await canPlace(copy, path)) === false) continue;
      const done = await copyTree({ ...copy, place: orElse(copy.place, this.ways.copy) }, path);
      this.skipped.push(...done.skipped);
      this.shared.push({ path, how: way === 'hardLink' ? 'hardLinks' : way });
      return;
    }
    await this.link(path);
  }

  async link(path: string): Promise<void> {
    if (!(await this.hasParents(path))) return;
    try {
      await symlink(encodePath(`${this.root}/${path}`), fileAt(this.worktree.workTree, path));
      this.shared.push({ path, how: 'link' });
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw error;
      this.skip(path, 'something stands there already');
    }
  }

  /** Whether a link of ours stands there: it came back with the worktree. */
  async isSharedAlready(path: string): Promise<boolean> {
    const place = fileAt(this.worktree.workTree, path);
    if (!(await lstat(place).catch(unlessMissing))?.isSymbolicLink()) return false;
    if (decodePath(await readlink(place, { encoding: 'buffer' })) !== `${this.root}/${path}`) return false;
    this.shared.push({ path, how: 'link' });
    return true;
  }

  async isFolder(path: string): Promise<boolean> {
    return (await lstat(fileAt(this.root, path)).catch(unlessMissing))?.isDirectory() ?? false;
  }

  async end(): Promise<Provided> {
    const links = this.shared.filter(({ how }) => how === 'link').map(({ path }) => path);
    if (links.length > 0) await recordLinks(this.worktree, links);
    return { copied: this.copied, shared: this.shared, skipped: this.skipped };
  }

  private by(way: keyof CopyWays, entersRepositories: boolean): TreeCopy {
    return { from: this.root, to: this.worktree.workTree, place: this.ways[way], entersRepositories };
  }

  /** Whether its parents stand, or could be made, as real folders: nothing is put below a link. */
  private async hasParents(path: string): Promise<boolean> {
    const why = whyUnsafe(path);
    if (why !== undefined) {
      this.skip(path, why);
      return false;
    }
    try {
      await makeParents(this.worktree.workTree, path);
      return true;
    } catch (error) {
      this.skip(path, messageOf(error));
      return false;
    }
  }
}
