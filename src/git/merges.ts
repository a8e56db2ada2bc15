import type { Conflict, LandedSide, LandingPath } from '../model/landing';

export interface MergePreview {
  readonly ours: string;
  readonly merged: string;
  readonly paths: readonly LandingPath[];
  readonly conflicts: readonly Conflict[];
}

/**
 * Three-way merges in the object store, and the only code that writes files of the user's checkout. Index,
 * HEAD, refs and stash of the checkout are read, never written.
 */
export interface Merges {
  /**
   * The merge of base, the checkout's working tree as it stands (dirty, untracked and hidden files on the
   * touched paths included) and `theirs`.
   */
  preview(request: {
    checkout: string;
    base: string;
    theirs: string;
    signal?: AbortSignal;
  }): Promise<MergePreview>;
  /** Paths whose file in the checkout is no longer what `paths[].before` says. */
  stalePaths(checkout: string, paths: readonly LandingPath[]): Promise<readonly string[]>;
  /**
   * Puts the bytes that stand in the checkout into `<directory>/before/<n>` and the bytes that will stand
   * there (filters and line endings applied) into `<directory>/after/<n>`; n is the index in `paths`.
   */
  stage(request: {
    checkout: string;
    merged: string;
    paths: readonly LandingPath[];
    directory: string;
  }): Promise<ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>>;
  /** What stands at `path` now, raw. Throws `stale` if a parent is a symlink or the path leaves the checkout. */
  sideOf(checkout: string, path: string): Promise<LandedSide>;
  /**
   * Puts `side` at `path` through a temporary file beside it and a rename; content from `contentFile`.
   * Parents are made when missing, and removed when they became empty; a parent that is a link is refused.
   */
  putSide(checkout: string, path: string, side: LandedSide, contentFile: string): Promise<void>;
}
