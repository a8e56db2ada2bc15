import type { Base } from '../model/packet';

/** Where a repository is; every path absolute and real (symlinks resolved). */
export interface RepositoryFacts {
  /** Top level of the checkout that was opened. */
  readonly root: string;
  /** `git rev-parse --git-common-dir`: one per repository, whatever worktree was opened. */
  readonly commonDir: string;
  readonly gitDir: string;
  /** Top level of the main worktree; absent for a bare repository. */
  readonly mainRoot?: string;
  readonly objectFormat: 'sha1' | 'sha256';
  readonly gitVersion: string;
}

/**
 * Opens repositories and resolves what a user names.
 * `open` throws `gitMissing`, `gitTooOld` (below 2.38), `notARepository`.
 */
export interface Repositories {
  open(directory: string, signal?: AbortSignal): Promise<RepositoryFacts>;
}

/** Questions about one repository; reads only, with optional locks off. */
export interface Repository {
  readonly facts: RepositoryFacts;
  /** HEAD of the opened checkout. Throws `unbornBranch`. */
  head(signal?: AbortSignal): Promise<{ commit: string; ref?: string }>;
  /** `ref` (default `HEAD`) as a commit, with how far it is behind its upstream. Throws `unknownBase`, `unbornBranch`. */
  resolveBase(ref?: string, signal?: AbortSignal): Promise<Base>;
  /** The tree of a commit. */
  treeOf(commit: string): Promise<string>;
  /** The bytes of a file in a commit or tree; `undefined` when there is none. */
  readFile(treeish: string, path: string): Promise<Buffer | undefined>;
  /** Every path in a commit or tree. */
  listFiles(treeish: string): Promise<readonly string[]>;
  /** A full ref name (`refs/heads/...`) to its commit; `undefined` when it does not exist. */
  resolveRef(ref: string): Promise<string | undefined>;
}
