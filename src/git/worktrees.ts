/** How git sees a worktree: one record of `git worktree list --porcelain -z`. */
export interface ListedWorktree {
  readonly path: string;
  readonly head?: string;
  /** Full ref name; absent when detached or bare. */
  readonly branch?: string;
  readonly isBare: boolean;
  readonly lockReason?: string;
  readonly prunableReason?: string;
}

export interface CreateWorktree {
  readonly path: string;
  /** Full ref name of a branch that is created here; it must not exist. */
  readonly branch: string;
  readonly commit: string;
  /** Written as the reason of `git worktree lock`. */
  readonly lockReason: string;
  readonly signal?: AbortSignal;
}

export interface RebuildWorktree {
  readonly path: string;
  readonly branch: string;
  /** Where the branch, if it is gone, is created again. */
  readonly headCommit: string;
  /** The files to bring back: tracked and untracked. */
  readonly tree: string;
  /** What `remove` set aside; moved back after the files, where nothing stands in the way. */
  readonly asideDirectory?: string;
  readonly lockReason: string;
  readonly signal?: AbortSignal;
}

/**
 * Creates and removes linked worktrees; touches git and folders only. Registration and removal run under the
 * repository's git lock, checkouts beside each other. Whatever fails leaves nothing behind.
 */
export interface Worktrees {
  /** The folder new Worktrees go to: the setting, the sibling `<repo>.worktrees`, else `<repo>/.worktrees`. */
  chooseRoot(setting?: string): Promise<{ root: string; isInside: boolean }>;
  /**
   * The first of `<slug>`, `<slug>-2`... whose folder and branch are both free, with the full branch name
   * (`tributary/<slug>`, or `tributary-<slug>` where a branch `tributary` exists).
   */
  chooseName(
    root: string,
    slug: string,
    isTaken: (slug: string) => boolean,
  ): Promise<{ slug: string; path: string; branch: string }>;
  /** Throws `branchInUse`, `worktreeFailed`, `worktreeNotIsolated` (it does not resolve to itself), `diskFull`. */
  create(request: CreateWorktree): Promise<void>;
  /** Brings a removed Worktree back, files as in `tree`. Throws as `create`; `branchInUse` when the branch is checked out elsewhere or has moved. */
  rebuild(request: RebuildWorktree): Promise<void>;
  /**
   * Removes a Worktree that the caller has proven to be ours and has taken a Snapshot of. `asideDirectory`
   * receives ignored files and nested repositories (moved, never copied over, never deleted). The branch goes
   * only if its tip is `keptCommit` or an ancestor of it and no other worktree has it checked out and no
   * remote-tracking branch holds it. Answers whether something was set aside.
   */
  remove(request: {
    path: string;
    branch: string;
    keptCommit: string;
    asideDirectory: string;
    signal?: AbortSignal;
  }): Promise<{ hasAside: boolean }>;
  /** `git worktree lock`/`unlock`; locking a locked one or unlocking an unlocked one is no error. */
  setLock(path: string, reason: string | undefined): Promise<void>;
  list(): Promise<readonly ListedWorktree[]>;
}
