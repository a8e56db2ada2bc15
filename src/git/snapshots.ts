/** A full state of a Worktree: what `take` recorded. */
export interface TakenSnapshot {
  readonly ref: string;
  readonly commit: string;
  readonly tree: string;
  readonly headCommit: string;
  /** The branch the Worktree's HEAD is on; absent when detached. */
  readonly headRef?: string;
}

/**
 * Records and restores a Worktree's files (tracked and untracked, not ignored) through a temporary index;
 * branch, index, stash and hooks are never touched.
 */
export interface Snapshots {
  /** The tree of what stands in the Worktree now; objects are written, no ref. */
  treeOf(worktreePath: string, signal?: AbortSignal): Promise<string>;
  /**
   * Commits `tree` (default: as `treeOf`) under `refs/tributary/<taskId>/<number>`. Parents: the Worktree's
   * HEAD commit first, so that the agent's own commits stay reachable, then `previous` if given.
   */
  take(request: {
    worktreePath: string;
    taskId: string;
    number: number;
    message: string;
    tree?: string;
    previous?: string;
    signal?: AbortSignal;
  }): Promise<TakenSnapshot>;
  /**
   * Makes the Worktree's files equal `tree`: changed and deleted files come back, files that `tree` does not
   * have are removed (ignored ones stay). Index and branch stay. Answers the paths that were put right.
   */
  restoreFiles(
    worktreePath: string,
    tree: string,
    signal?: AbortSignal,
  ): Promise<{ restored: string[]; removed: string[] }>;
}
