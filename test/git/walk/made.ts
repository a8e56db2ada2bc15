import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { TempRepo } from '../support/tempRepo';
import { blobOf, blobsBelow, reachable } from './witness';

/** All bytes that ever stood in a Worktree when somebody looked, by the name that git gives them. */
export class Made {
  private readonly repo: TempRepo;
  /** Where each was seen: the folder of the Worktree first. */
  private readonly places = new Map<string, Set<string>>();

  constructor(repo: TempRepo) {
    this.repo = repo;
  }

  /** Remembers what stands in Worktrees. */
  async sample(): Promise<void> {
    for (const [path, blob] of await blobsBelow(`${this.repo.root}.worktrees`)) {
      const isLink = path.split('/').length === 2 && path.endsWith('/.git');
      // git writes the index of a repository inside anew when it looks at it.
      const isIndex = path.endsWith('/.git/index');
      if (isLink || isIndex || path.startsWith('.')) continue;
      const places = this.places.get(blob) ?? new Set();
      this.places.set(blob, places.add(path));
    }
  }

  /** What stood in a Worktree may go now: it was kept its time. */
  mayGo(worktreePath: string): void {
    const folder = `${basename(worktreePath)}/`;
    for (const [blob, places] of this.places) {
      for (const path of places) if (path.startsWith(folder)) places.delete(path);
      if (places.size === 0) this.places.delete(blob);
    }
  }

  /** What stands at `path` is about to be overwritten by hand, and is gone by hand then. */
  async overwritten(worktreePath: string, path: string): Promise<void> {
    const content = await readFile(join(worktreePath, path)).catch(() => undefined);
    if (content !== undefined) this.places.delete(blobOf(content));
  }

  async nothingLost(said: string): Promise<void> {
    const lost = await this.lost();
    assert.deepEqual(
      lost.map(([blob, paths]) => [blob, ...paths]),
      [],
      `lost: ${said}`,
    );
  }

  /** Somebody deleted files on purpose: what stands nowhere now is theirs to miss. */
  async forgetLost(): Promise<void> {
    for (const [blob] of await this.lost()) this.places.delete(blob);
  }

  /** What is not in the checkout, in a Worktree, set aside, or behind a ref. */
  private async lost(): Promise<readonly (readonly [string, ReadonlySet<string>])[]> {
    const { root } = this.repo;
    const places = [`${root}.worktrees`, join(root, '.git', 'tributary'), root];
    const found = new Set<string>();
    for (const place of places) for (const blob of (await blobsBelow(place)).values()) found.add(blob);
    const absent = [...this.places].filter(([blob]) => !found.has(blob));
    if (absent.length === 0) return [];
    const objects = await reachable(root);
    return absent.filter(([blob]) => !objects.has(blob));
  }
}
