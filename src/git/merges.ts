import type { Conflict, LandedFolder, LandedSide, LandingPath } from '../model/landing';
import { readStanding, type StandingSide, sweepTemporary, writeSide } from './checkoutFiles';
import { putFolders, readFolders } from './checkoutFolders';
import { locateCheckout } from './checkouts';
import { previewMerge } from './mergePreview';
import { stageLanding } from './mergeStaging';
import { parseStagedEntries } from './parsers/lsFiles';
import type { Git } from './plumbing';
import type { RepositoryFacts } from './repository';
import { whyUnsafe } from './safePath';
import { recordStanding } from './standing';
import { stageUndo } from './undoStaging';
import { withSteadyIndex } from './workTreeState';

export interface MergePreview {
  readonly ours: string;
  readonly merged: string;
  readonly paths: readonly LandingPath[];
  readonly conflicts: readonly Conflict[];
}

/** How a Landing would be taken back from files that were edited since. */
export interface StagedUndo {
  /** What there is to write: the file as it is now, and as it is to be. */
  readonly paths: ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>;
  /** Those of them that keep edits made since. */
  readonly merged: readonly string[];
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
  /**
   * Merges the way back of a Landing with what was edited since, file by file: bytes go to `before` and `after` in
   * `directory` as with `stage`, n the index in the answer's `paths`. `landed` is the Landing's own folder.
   */
  stageUndo(request: {
    checkout: string;
    paths: ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>;
    landed: string;
    directory?: string;
  }): Promise<StagedUndo>;
  /**
   * What stands at `path` now, raw; below a symlink, nothing. Throws `stale` for a path that leaves the checkout, and
   * for a file that is written at this moment.
   */
  standing(checkout: string, path: string): Promise<StandingSide>;
  /**
   * Puts `side` at `path` through a temporary file beside it and a rename; content from `contentFile`.
   * Parents are made when missing, and removed when they became empty; a parent that is a link is refused. What was
   * written since the look that had the stamp `over` is left: throws `stale`.
   */
  putSide(
    checkout: string,
    path: string,
    side: LandedSide,
    from: { readonly contentFile: string; readonly over?: string | undefined },
  ): Promise<void>;
  /** The folders that stand at and above `paths` now; none that is reached through a link. */
  foldersOf(checkout: string, paths: readonly string[]): Promise<readonly LandedFolder[]>;
  /** Makes those of `folders` again that are missing, with their modes; what stands there is left. */
  putFolders(checkout: string, folders: readonly LandedFolder[]): Promise<void>;
  /** Removes the temporary files that a killed `putSide` left beside these paths. Nobody else may be writing. */
  sweep(checkout: string, paths: readonly string[]): Promise<void>;
}

export class GitMerges implements Merges {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;

  constructor(deps: { git: Git; facts: RepositoryFacts }) {
    this.git = deps.git;
    this.facts = deps.facts;
  }

  async preview(request: Parameters<Merges['preview']>[0]): Promise<MergePreview> {
    const checkout = await locateCheckout(this.facts, request.checkout);
    return previewMerge(this.git, checkout, { ...request, signal: request.signal });
  }

  async stalePaths(path: string, paths: readonly LandingPath[]): Promise<readonly string[]> {
    if (paths.length === 0) return [];
    const checkout = await locateCheckout(this.facts, path);
    const safe = paths.map((one) => one.path).filter((one) => whyUnsafe(one) === undefined);
    const { entries, odd } = await withSteadyIndex({ git: this.git, checkout }, async (index) => {
      // As the preview did it, from the same index, so that the same bytes give the same blobs.
      const special = await index.specialEntries();
      await index.reveal(special);
      const standing = await recordStanding(index, safe, special);
      const listed = await index.run({ args: ['ls-files', '--stage', '-z'] });
      return {
        entries: parseStagedEntries(listed.stdout, new Set(safe)),
        odd: new Set(safe.filter((one) => ['special', 'submodule'].includes(standing.get(one)?.kind ?? ''))),
      };
    });
    return paths
      .filter(({ path: one, before }) => {
        const entry = entries.get(one);
        if (odd.has(one) || !safe.includes(one)) return true;
        if (before === 'absent' || entry === undefined)
          return (before === 'absent') !== (entry === undefined);
        return entry.mode !== before.mode || entry.blob !== before.blob;
      })
      .map((one) => one.path);
  }

  async stage(
    request: Parameters<Merges['stage']>[0],
  ): Promise<ReadonlyArray<{ path: string; before: LandedSide; after: LandedSide }>> {
    return stageLanding(this.git, await locateCheckout(this.facts, request.checkout), request);
  }

  standing(checkout: string, path: string): Promise<StandingSide> {
    return readStanding(checkout, path);
  }

  async stageUndo({ checkout, ...request }: Parameters<Merges['stageUndo']>[0]): Promise<StagedUndo> {
    return stageUndo(this.git, await locateCheckout(this.facts, checkout), request);
  }

  putSide(
    checkout: string,
    path: string,
    side: LandedSide,
    from: { readonly contentFile: string; readonly over?: string | undefined },
  ): Promise<void> {
    return writeSide(checkout, path, { side, ...from });
  }

  foldersOf(checkout: string, paths: readonly string[]): Promise<readonly LandedFolder[]> {
    return readFolders(checkout, paths);
  }

  putFolders(checkout: string, folders: readonly LandedFolder[]): Promise<void> {
    return putFolders(checkout, folders);
  }

  sweep(checkout: string, paths: readonly string[]): Promise<void> {
    return sweepTemporary(checkout, paths);
  }
}
