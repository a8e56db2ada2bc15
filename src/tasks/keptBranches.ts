import type { BranchLandings } from '../git/branchLandings';
import type { PendingEnding } from '../model/task';
import { type Aims, messageOf } from './aims';
import { subjectOf } from './landingModes';
import type { AcceptOptions, LandingPlan } from './taskApi';
import type { TaskWithWorktree } from './worktreeKeeper';

export interface KeptBranchesDeps {
  readonly branches: BranchLandings;
  readonly aims: Aims;
}

export type KeptBranch = NonNullable<PendingEnding['kept']>;

/** A Task's branch that is left to the user with the whole change on it: nothing of the checkout is written. */
export class KeptBranches {
  private readonly deps: KeptBranchesDeps;

  constructor(deps: KeptBranchesDeps) {
    this.deps = deps;
  }

  /** What would be kept. */
  async plan(task: TaskWithWorktree, tree: string, wish: AcceptOptions): Promise<LandingPlan> {
    const line = await this.deps.aims.lineOf(task);
    const subject = subjectOf(messageOf(task, wish));
    const branch = {
      ref: task.branch,
      head: line.tip ?? line.from,
      commits: [{ kind: 'commit', subject }],
    } as const;
    return { task, tree, paths: [], conflicts: [], branch };
  }

  /** The commit that holds the Snapshot, on top of the agent's own; the branch does not stand there yet. Throws `noIdentity`. */
  async make(task: TaskWithWorktree, tree: string, wish: AcceptOptions): Promise<KeptBranch> {
    const line = await this.deps.aims.lineOf(task);
    const message = messageOf(task, wish);
    const kept = await this.deps.branches.makeKept({ branch: task.branch, line, tree, message });
    await this.deps.branches.hold(task.slug, kept.to);
    return kept;
  }

  /** `false`: somebody moved the branch meanwhile. Once done it stays done. */
  async move(branch: string, kept: KeptBranch): Promise<boolean> {
    return this.deps.branches.moveKept(branch, kept);
  }
}
