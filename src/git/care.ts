import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { unlessMissing } from './checkouts';
import { leftRefsOf } from './leftCommits';
import {
  deadTemporaryFolders,
  type FolderSize,
  foldersIn,
  isSameDisk,
  placeOfTrash,
  removeTemporaryFolder,
  sizeOfFolder,
} from './leftFolders';
import {
  coreWorktreeHazard,
  deleteOwnRefs,
  listOwnRefs,
  listSnapshots,
  missingObjects,
  nameAgain,
  type OwnRef,
  type RecordedSnapshot,
} from './ownRefs';
import { decodePath } from './parsers/pathBytes';
import type { Git } from './plumbing';
import {
  forget,
  ownRegistrations,
  type Registration,
  reattach,
  registerAgain,
  type Standing,
  standingAt,
} from './registrations';
import type { RepositoryFacts } from './repository';
import type { WithGitLock } from './worktreeMaking';
import { isBranchOfOurs } from './worktreeMark';
import { anchorOf, defaultRoots } from './worktreeRoots';

export type { FolderSize, OwnRef, RecordedSnapshot, Registration, Standing };

/** What lies in a folder that Worktrees are made in. */
export interface RootContents {
  readonly root: string;
  readonly places: readonly string[];
  readonly trash: readonly { readonly path: string; readonly of: string }[];
}

/** What looks after Worktrees and refs of ours: finds what is wrong with them, and mends it one by one. */
export interface Care {
  /** Worktrees of ours that the repository names. Reads only, as all but the last group. */
  registrations(): Promise<readonly Registration[]>;
  standingAt(path: string): Promise<Standing>;
  /** The folders Worktrees go to without a setting, and `root`, with what lies in them. */
  rootContents(root: string): Promise<readonly RootContents[]>;
  /** Whether a Worktree there would lie in one of those without a setting. */
  isInDefaultRoot(path: string): boolean;
  /** The place of `path` in another root. */
  placeIn(root: string, path: string): string;
  isFree(path: string): Promise<boolean>;
  size(path: string, signal?: AbortSignal): Promise<FolderSize>;
  refs(prefix?: string): Promise<readonly OwnRef[]>;
  /** Those of commits that the Worktree of this name left. */
  leftRefs(name: string): Promise<readonly OwnRef[]>;
  snapshots(taskId: string): Promise<readonly RecordedSnapshot[]>;
  missing(objects: readonly string[]): Promise<ReadonlySet<string>>;
  deadTemporaryFolders(isAlive: (pid: number) => Promise<boolean>, now: Date): Promise<readonly string[]>;
  /** Branches that are called as ours are. */
  branches(): Promise<readonly string[]>;
  /** Whether git, asked in a worktree, answers for that worktree. */
  resolvesToItself(path: string): Promise<boolean>;
  /** Whether Worktrees in `root` would lie on the file system of the repository. */
  isOnDiskOfRepository(root: string): Promise<boolean>;
  coreWorktreeHazard(): Promise<string | undefined>;

  reattach(registration: Registration, path: string): Promise<void>;
  registerAgain(request: { path: string; id: string; branch: string; commit: string }): Promise<void>;
  forget(registration: Registration, asideDirectory: string | undefined): Promise<void>;
  deleteRefs(refs: readonly Pick<OwnRef, 'ref' | 'commit'>[]): Promise<void>;
  nameAgain(ref: string, commit: string): Promise<void>;
  removeTemporaryFolder(path: string): Promise<void>;
}

export class GitCare implements Care {
  private readonly git: Git;
  private readonly facts: RepositoryFacts;
  private readonly withGitLock: WithGitLock;

  constructor(deps: { git: Git; facts: RepositoryFacts; withGitLock: WithGitLock }) {
    this.git = deps.git;
    this.facts = deps.facts;
    this.withGitLock = deps.withGitLock;
  }

  registrations(): Promise<readonly Registration[]> {
    return ownRegistrations(this.facts);
  }

  standingAt(path: string): Promise<Standing> {
    return standingAt(this.facts, path);
  }

  async rootContents(root: string): Promise<readonly RootContents[]> {
    const roots = [...new Set([root, ...defaultRoots(this.facts)])];
    return Promise.all(
      roots.map(async (at) => {
        const { places, trash } = await foldersIn(at);
        return { root: at, places, trash: trash.map((path) => ({ path, of: placeOfTrash(at, path) })) };
      }),
    );
  }

  isInDefaultRoot(path: string): boolean {
    return defaultRoots(this.facts).includes(dirname(path));
  }

  placeIn(root: string, path: string): string {
    return join(root, basename(path));
  }

  async isFree(path: string): Promise<boolean> {
    return (await lstat(path).catch(unlessMissing)) === undefined;
  }

  size(path: string, signal?: AbortSignal): Promise<FolderSize> {
    return sizeOfFolder(path, signal);
  }

  refs(prefix?: string): Promise<readonly OwnRef[]> {
    return listOwnRefs(this.git, this.facts, prefix);
  }

  leftRefs(name: string): Promise<readonly OwnRef[]> {
    return this.refs(leftRefsOf(name));
  }

  snapshots(taskId: string): Promise<readonly RecordedSnapshot[]> {
    return listSnapshots(this.git, this.facts, taskId);
  }

  missing(objects: readonly string[]): Promise<ReadonlySet<string>> {
    return missingObjects(this.git, this.facts, objects);
  }

  deadTemporaryFolders(isAlive: (pid: number) => Promise<boolean>, now: Date): Promise<readonly string[]> {
    return deadTemporaryFolders(isAlive, now);
  }

  async branches(): Promise<readonly string[]> {
    return (await listOwnRefs(this.git, this.facts, 'refs/heads'))
      .map(({ ref }) => ref)
      .filter(isBranchOfOurs);
  }

  async resolvesToItself(path: string): Promise<boolean> {
    const args = ['rev-parse', '--path-format=absolute', '--show-toplevel'];
    const output = await this.git({ cwd: path, args, okCodes: [0, 128] });
    return output.exitCode === 0 && decodePath(output.stdout) === `${path}\n`;
  }

  isOnDiskOfRepository(root: string): Promise<boolean> {
    return isSameDisk(root, anchorOf(this.facts));
  }

  coreWorktreeHazard(): Promise<string | undefined> {
    return coreWorktreeHazard(this.git, this.facts);
  }

  reattach(registration: Registration, path: string): Promise<void> {
    return this.withGitLock(() => reattach(registration, path), {});
  }

  registerAgain(request: { path: string; id: string; branch: string; commit: string }): Promise<void> {
    return this.withGitLock(() => registerAgain({ git: this.git, facts: this.facts }, request), {});
  }

  forget(registration: Registration, asideDirectory: string | undefined): Promise<void> {
    return this.withGitLock(
      () => forget({ git: this.git, facts: this.facts }, registration, asideDirectory),
      {},
    );
  }

  deleteRefs(refs: readonly Pick<OwnRef, 'ref' | 'commit'>[]): Promise<void> {
    return this.withGitLock(() => deleteOwnRefs(this.git, this.facts, refs), {});
  }

  nameAgain(ref: string, commit: string): Promise<void> {
    return this.withGitLock(() => nameAgain(this.git, this.facts, ref, commit), {});
  }

  removeTemporaryFolder(path: string): Promise<void> {
    return removeTemporaryFolder(path);
  }
}
