import type { ForeignSetup } from '../model/foreignSetup';
import type { RunCommand } from '../process/runCommand';
import { type BranchLandings, GitBranchLandings } from './branchLandings';
import { type Care, GitCare } from './care';
import { type Changes, GitChanges } from './changes';
import { type ContentDrivers, GitContentDrivers } from './contentDrivers';
import { type Drift, GitDrift } from './drift';
import { findForeignSetups } from './foreignSetups';
import { SimpleGitClient } from './gitClient';
import { GitHunks, type Hunks } from './hunks';
import { LastLooks } from './lastLook';
import { GitMergeIns, type MergeIns } from './mergeIn';
import { GitMerges, type Merges } from './merges';
import { GitOverlaps, type Overlaps } from './overlaps';
import { makeGit } from './plumbing';
import { GitProvision, type Provision } from './provision';
import { GitRepository, type Repository, type RepositoryFacts } from './repository';
import { GitScratchCheckouts, type ScratchCheckouts } from './scratchCheckouts';
import { GitSnapshots, type Snapshots } from './snapshots';
import { GitUncommitted, type Uncommitted } from './uncommitted';
import { makeUserGit } from './userGit';
import { GitUserIndexes, type UserIndexes } from './userIndexes';
import type { WithGitLock } from './worktreeMaking';
import { GitWorktrees, type Worktrees } from './worktrees';

export interface GitProcessDeps {
  readonly runCommand: RunCommand;
  /** The environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Everything git does for one repository. */
export interface RepositoryGit {
  readonly repository: Repository;
  readonly worktrees: Worktrees;
  readonly snapshots: Snapshots;
  readonly changes: Changes;
  readonly hunks: Hunks;
  readonly merges: Merges;
  readonly mergeIns: MergeIns;
  readonly overlaps: Overlaps;
  readonly branches: BranchLandings;
  readonly scratchCheckouts: ScratchCheckouts;
  readonly indexes: UserIndexes;
  readonly uncommitted: Uncommitted;
  readonly provision: Provision;
  readonly drivers: ContentDrivers;
  readonly drift: Drift;
  readonly care: Care;
  readonly foreignSetups: () => Promise<readonly ForeignSetup[]>;
}

/** The git layer of one opened repository. `withGitLock` serialises git writes across processes. */
export function createGit(
  facts: RepositoryFacts,
  deps: GitProcessDeps & { readonly withGitLock: WithGitLock },
): RepositoryGit {
  const unguarded = makeGit(deps);
  const drivers = new GitContentDrivers({ git: unguarded, facts, env: deps.env });
  const git = drivers.guarding(unguarded);
  const looks = new LastLooks(git);
  const client = new SimpleGitClient({ root: facts.root, env: deps.env });
  const changes = new GitChanges({ git, facts });
  return {
    repository: new GitRepository({ git, facts }),
    worktrees: new GitWorktrees({ git, client, looks, facts, withGitLock: deps.withGitLock }),
    snapshots: new GitSnapshots({ git, facts, looks }),
    changes,
    hunks: new GitHunks({ git, facts, changes }),
    merges: new GitMerges({ git, facts }),
    mergeIns: new GitMergeIns({ git, facts }),
    overlaps: new GitOverlaps({ git, facts }),
    branches: new GitBranchLandings({ git, userGit: makeUserGit(deps), facts }),
    scratchCheckouts: new GitScratchCheckouts({ git, facts, withGitLock: deps.withGitLock }),
    indexes: new GitUserIndexes({ git, facts }),
    uncommitted: new GitUncommitted({ git, facts }),
    provision: new GitProvision({ git, facts }),
    drivers,
    drift: new GitDrift({ git, facts }),
    care: new GitCare({ git, facts, withGitLock: deps.withGitLock }),
    foreignSetups: () => findForeignSetups(facts),
  };
}
