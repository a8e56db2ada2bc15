import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TributaryError } from '../base/errors';
import { removeTree } from '../base/removeTree';
import { findAdminDirectory, inCheckout, locateCheckout, realParent, unlessMissing } from './checkouts';
import { trashPrefix } from './leavingFolder';
import { commitTree, headOf } from './snapshots';
import { checkOutHead, deregister, type MakingDeps, makeWorktree } from './worktreeMaking';
import { headIn } from './worktreeMark';
import { putInTrash } from './worktreeRemoval';

/** Every scratch checkout is called so, and nothing else is: whoever finds one knows whose it is. */
export const scratchPrefix = '.tributary-scratch-';

/**
 * Checkouts of a tree for commands of the host: made and removed as Worktrees are, but on no branch, and with nothing
 * in them that anybody would miss.
 */
export interface ScratchCheckouts {
  /** Where one with this name would stand. */
  pathIn(root: string, name: string): string;
  /** Checks `tree` out, as a commit of ours on top of the opened checkout's HEAD. Throws as `Worktrees.create`. */
  create(request: { path: string; tree: string; lockReason: string; signal?: AbortSignal }): Promise<void>;
  /** Removes one, whole or half made; none there is no error. */
  remove(path: string): Promise<void>;
  /** Those that stand in `root`, or were being removed. */
  leftIn(root: string): Promise<readonly string[]>;
}

export class GitScratchCheckouts implements ScratchCheckouts {
  private readonly deps: MakingDeps;

  constructor(deps: MakingDeps) {
    this.deps = deps;
  }

  pathIn(root: string, name: string): string {
    return join(root, `${scratchPrefix}${name}`);
  }

  async create({ path, tree, lockReason, signal }: Parameters<ScratchCheckouts['create']>[0]): Promise<void> {
    const { git, facts } = this.deps;
    const opened = await locateCheckout(facts, facts.root);
    const { commit: head } = await headOf(git, opened, signal);
    const parents = head === undefined ? [] : [head];
    const message = 'Tributary: a tree that is being tested';
    const commit = await commitTree(git, { ...inCheckout(opened), signal }, { tree, parents, message });
    const request = { path, commit, lockReason, mayReuseBranch: false, signal };
    await makeWorktree(this.deps, request, (checkout) => checkOutHead(git, checkout, signal));
  }

  async remove(named: string): Promise<void> {
    const { git, facts, withGitLock } = this.deps;
    const path = await realParent(named);
    if (!basename(path).startsWith(scratchPrefix)) {
      throw new TributaryError('internal', `${path} is no scratch checkout`);
    }
    const trash = join(dirname(path), `${trashPrefix}${basename(path)}`);
    // Nothing but these is called so and stands on no branch.
    const isOurs = async (gitDir: string): Promise<boolean> => (await headIn(gitDir)) === undefined;
    await withGitLock(() => putInTrash(facts, { path, root: dirname(path), isOurs }, trash), {});
    if ((await findAdminDirectory(facts.commonDir, path)) !== undefined)
      await withGitLock(() => deregister(git, facts, path), {});
    await removeTree(trash);
  }

  async leftIn(root: string): Promise<readonly string[]> {
    const names = (await readdir(root).catch(unlessMissing)) ?? [];
    const plain = names.map((name) => (name.startsWith(trashPrefix) ? name.slice(trashPrefix.length) : name));
    return [...new Set(plain.filter((name) => name.startsWith(scratchPrefix)))].map((name) =>
      join(root, name),
    );
  }
}
