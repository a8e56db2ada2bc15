import type { BranchLandings } from '../git/branchLandings';
import type { LandingMode } from '../model/landing';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import type { LandingGate } from './gate';
import { expectNotKept, type LandingAim, subjectOf } from './landingModes';
import type { AcceptOptions } from './taskApi';
import type { WorktreeKeeper } from './worktreeKeeper';

export interface AimsDeps {
  readonly branches: BranchLandings;
  readonly keeper: WorktreeKeeper;
  readonly gate: LandingGate;
}

/** Turns what a user wishes into what a Landing aims at. */
export class Aims {
  private readonly deps: AimsDeps;

  constructor(deps: AimsDeps) {
    this.deps = deps;
  }

  /** `isAll`: of the whole change. The agent's own commits do not lead to a part, so they are left out of its history. */
  of(task: Task, wish: Omit<AcceptOptions, 'expected' | 'selection'>, isAll = true): LandingAim {
    return {
      mode: expectNotKept(modeOf(wish)),
      message: messageOf(task, wish),
      objective: subjectOf(task.packet.objective),
      line: async () => {
        const { tip, ...line } = await this.lineOf(task);
        return isAll && tip !== undefined ? { ...line, tip } : line;
      },
      gate: async (tree) =>
        wish.skipGate === true ? undefined : this.deps.gate.judge(task, tree, wish.signal),
      signal: wish.signal,
    };
  }

  /** Where the agent's own commits lie. */
  async lineOf(task: Task): ReturnType<BranchLandings['lineOf']> {
    const { base } = task.packet.repository;
    return this.deps.branches.lineOf({
      from: baseOf(task),
      // A base of ours holds what the user has not committed: none of it goes onto their branch.
      on: task.movedBases.at(-1)?.head ?? base.uncommitted?.on,
      recordedTip: task.snapshot?.headCommit,
      worktreePath: await this.standing(task),
    });
  }

  private async standing(task: Task): Promise<string | undefined> {
    const { branch, worktreePath } = task;
    if (branch === undefined || worktreePath === undefined) return undefined;
    const isThere = await this.deps.keeper.isRegistered({ ...task, branch, worktreePath });
    return isThere ? worktreePath : undefined;
  }
}

/** How a Task lands where nobody says otherwise. */
export function modeOf({ mode }: { readonly mode?: LandingMode | undefined }): LandingMode {
  return mode ?? 'apply';
}

/** The message of the commit that a Landing makes. */
export function messageOf(task: Task, { message }: { readonly message?: string | undefined }): string {
  return message === undefined || message.trim() === '' ? subjectOf(task.packet.objective) : message;
}
