import type { Repository } from '../git/repository';
import { baseOf } from '../model/movedBase';
import type { Run } from '../model/run';
import type { Settings } from '../model/settings';
import type { Task } from '../model/task';
import type { Verdict } from '../model/verdict';
import type { Endings } from './endings';
import type { FinishedRun, RunRoad, RunSpec } from './runRoad';
import type { Settled, VerifyWhen } from './taskApi';
import { unresolvedIn } from './unresolved';
import { mendable, type Verification } from './verification';

export interface SettlingDeps {
  readonly repository: Repository;
  readonly road: RunRoad;
  readonly endings: Endings;
  readonly verification: Verification;
  readonly settings: () => Settings;
}

/** What follows from what: a Run, its verification, a fix, the end of a Task in which nothing changed. */
export class Settling {
  private readonly deps: SettlingDeps;

  constructor(deps: SettlingDeps) {
    this.deps = deps;
  }

  /** An author's Run and what follows from it: a verification, or the Task's end when nothing changed. */
  async author(task: Task, spec: RunSpec, when: VerifyWhen, signal: AbortSignal): Promise<Settled> {
    const finished = await this.deps.road.run(task, spec, signal);
    if (finished.run.status.state !== 'completed')
      return { task: await this.withoutEmptyWorktree(finished), runs: [finished.run] };
    if (await this.isUnchanged(finished.task)) return this.unchanged(finished, signal);
    // What a Run that was cut off had changed before is verified with what its resume did.
    const goesOn = spec.kind === 'resume' || spec.kind === 'retry';
    const isJudged = task.verdicts.some((verdict) => verdict.tree === finished.task.snapshot?.tree);
    const isNew = finished.task.snapshot?.tree !== task.snapshot?.tree || (goesOn && !isJudged);
    if (isNew || when === 'always') return this.afterChange(finished, when, signal);
    return { task: finished.task, runs: [finished.run] };
  }

  /** Nothing to accept. What the user said must hold is asked all the same: a Run that says done may be wrong. */
  private async unchanged({ task, run }: FinishedRun, signal: AbortSignal): Promise<Settled> {
    if (task.packet.acceptanceTests.length === 0 || task.branch === undefined) {
      return { task: await this.deps.endings.close(task), runs: [run] };
    }
    const { verdict, task: judged } = await this.deps.verification.byHost(task, run.id, signal);
    return { task: await this.deps.endings.close(judged), runs: [run], verdict };
  }

  /** Whether nothing differs from the base: nothing was ever done, or all of it was taken back. */
  private async isUnchanged(task: Task): Promise<boolean> {
    if (task.snapshot === undefined) return true;
    return task.snapshot.tree === (await this.deps.repository.treeOf(baseOf(task)));
  }

  private async holdsMarkers(task: Task): Promise<boolean> {
    const tree = task.snapshot?.tree;
    if (tree === undefined || task.unresolved.length === 0) return false;
    return (await unresolvedIn(this.deps.repository, task, tree)).some(({ kind }) => kind === 'markers');
  }

  private async afterChange(finished: FinishedRun, when: VerifyWhen, signal: AbortSignal): Promise<Settled> {
    const { task, run } = finished;
    // Files that hold both sides of a conflict are nothing to judge.
    if (await this.holdsMarkers(task)) return { task, runs: [run] };
    if (when !== 'never') return this.judged(task, [run], signal);
    if (task.packet.acceptanceTests.length === 0) return { task, runs: [run] };
    const verified = await this.deps.verification.byHost(task, run.id, signal);
    return { task: verified.task, runs: [run], verdict: verified.verdict };
  }

  /** A verification and its Verdict. `before`: the Runs of this call so far. */
  async judged(task: Task, before: readonly Run[], signal: AbortSignal): Promise<Settled> {
    const verified = await this.deps.verification.byAgent(task, signal);
    return { task: verified.task, runs: [...before, ...verified.runs], verdict: verified.verdict };
  }

  /** A fix Run, then a verification, until nothing is left to mend or the rounds are used up. */
  async fixRounds(task: Task, first: string, signal: AbortSignal): Promise<Settled> {
    const rounds = Math.max(1, this.deps.settings().verify.fixRounds);
    const runs: Run[] = [];
    let current = task;
    let verdict: Verdict | undefined;
    let instruction: string | undefined = first;
    for (let round = 0; round < rounds && instruction !== undefined; round += 1) {
      const agent = authorRuns(current).at(-1)?.agent ?? current.agent;
      const finished = await this.deps.road.run(current, { kind: 'fix', agent, instruction }, signal);
      runs.push(finished.run);
      if (finished.run.status.state !== 'completed') return { task: finished.task, runs };
      const settled = await this.judged(finished.task, [], signal);
      runs.push(...settled.runs);
      current = settled.task;
      verdict = settled.verdict;
      instruction = mendable(current);
    }
    return { task: current, runs, ...(verdict === undefined ? {} : { verdict }) };
  }

  /** A first Run that failed before its first answer leaves no Worktree behind; a resume makes it again. */
  private async withoutEmptyWorktree(finished: FinishedRun): Promise<Task> {
    const { task, outcome } = finished;
    if (
      outcome.state !== 'failed' ||
      outcome.turns > 0 ||
      task.branch === undefined ||
      task.snapshot !== undefined
    )
      return task;
    return this.deps.endings.putAway(task);
  }
}

/** The Runs that write for the Task: verifications are not among them. */
export function authorRuns(task: Task): readonly Run[] {
  return task.runs.filter(isAuthor);
}

/** Whether the Run writes for its Task, rather than judging it. */
export function isAuthor(run: Run): boolean {
  return run.kind !== 'verify' && run.kind !== 'review';
}
