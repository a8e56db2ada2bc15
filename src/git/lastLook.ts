import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Checkout, caseSettings, inCheckout, unlessMissing } from './checkouts';
import { parseStatus } from './parsers/statusV2';
import type { Git } from './plumbing';
import { sharedLinks } from './sharedLinks';
import { statusCommand, type TemporaryIndex } from './temporaryIndex';

interface Look {
  /** Tells whether the checkout's own index, and what git reads beside it, are still those of this look. */
  readonly around: string;
  readonly tree: string;
}

/**
 * Remembers how linked worktrees looked when they were last recorded, each as an index in its administration
 * directory, so that a look at one in which nothing has changed costs a single git. In memory only: what another
 * process left there is never trusted.
 */
export class LastLooks {
  private readonly git: Git;
  private readonly looks = new Map<string, Look>();

  constructor(git: Git) {
    this.git = git;
  }

  /** The tree of the last look if nothing changed since; `undefined`: look anew. */
  async unchanged(checkout: Checkout, signal?: AbortSignal): Promise<string | undefined> {
    const last = this.looks.get(checkout.gitDir);
    if (last === undefined || last.around !== (await aroundOf(checkout))) return undefined;
    const { stdout } = await this.git({
      ...inCheckout(checkout, keptAt(checkout)),
      args: statusCommand.args,
      config: [...(await caseSettings(checkout.workTree)), ...(statusCommand.config ?? [])],
      signal,
    });
    const { modified, deleted, untracked } = parseStatus(stdout);
    const changed = [...modified, ...deleted, ...untracked];
    if (changed.length === 0) return last.tree;
    const links = await sharedLinks(checkout);
    return changed.every((path) => links.has(path)) ? last.tree : undefined;
  }

  /** Begins a look; what it answers is called with the index that came out of it, if that holds all there is. */
  async begin(checkout: Checkout): Promise<(index: TemporaryIndex, tree: string) => Promise<void>> {
    this.looks.delete(checkout.gitDir);
    const around = await aroundOf(checkout);
    return async (index, tree) => {
      // The main worktree is the user's: nothing is written there.
      if (checkout.gitDir === checkout.commonDir) return;
      await index.copyTo(keptAt(checkout));
      this.looks.set(checkout.gitDir, { around, tree });
    };
  }
}

function keptAt(checkout: Checkout): string {
  return join(checkout.gitDir, 'tributary-index');
}

/** Files that decide, beside those of the checkout itself, what a look finds. */
async function aroundOf({ gitDir, commonDir }: Checkout): Promise<string> {
  const shared = ['config', 'info/exclude', 'info/attributes'].map((name) => join(commonDir, name));
  const own = ['index', 'config.worktree'].map((name) => join(gitDir, name));
  const stamps = [...own, ...shared].map(async (path) => {
    const found = await stat(path, { bigint: true }).catch(unlessMissing);
    return found && [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ');
  });
  return (await Promise.all(stamps)).join('\n');
}
