import { TributaryError } from '../base/errors';
import type { BranchLandings, BranchPlan, HookFailure, TaskLine } from '../git/branchLandings';
import type { MergePreview, Merges } from '../git/merges';
import type { UserIndexes } from '../git/userIndexes';
import {
  type LandedBranch,
  type LandingMode,
  type LandingRecord,
  type PlannedCommit,
  pathsOf,
} from '../model/landing';
import type { GateFailure } from './gate';
import type { LandingPart } from './landing';
import type { PlannedBranch } from './taskApi';

/** How a part of a Task lands. */
export interface LandingAim {
  readonly mode: Exclude<LandingMode, 'keepBranch'>;
  /** Of the commit. */
  readonly message: string;
  /** Of the commit that a merge brings in. */
  readonly objective: string;
  /** The agent's own commits; asked for only where they count. */
  readonly line: () => Promise<TaskLine>;
  /** Asked before anything is written, with the tree that would land; `undefined` lets it pass. */
  readonly gate: (tree: string) => Promise<GateFailure | undefined>;
  /** Ends gate and hooks. */
  readonly signal?: AbortSignal | undefined;
}

export interface PlannedLanding {
  readonly preview: MergePreview;
  /** The tree that acceptance tests judge: of the working tree, or of the newest commit. */
  readonly tree: string;
  readonly branch?: BranchPlan;
}

/** What can be journalled, or why it cannot. */
export type ReadyLanding =
  | { readonly kind: 'ready'; readonly preview: MergePreview; readonly branch?: LandedBranch }
  | { readonly kind: 'conflict'; readonly preview: MergePreview }
  | { readonly kind: 'hookFailed'; readonly failure: HookFailure }
  | { readonly kind: 'gateFailed'; readonly failure: GateFailure }
  | { readonly kind: 'stale'; readonly paths: readonly string[]; readonly isHeadMoved: boolean };

/** Why the commits of a Landing cannot be taken back. */
export type MovedOn = {
  readonly commit: string;
  readonly ref?: string;
  /** `onTop`: commits came after it; `elsewhere`: another branch is checked out; `gone`: the branch lost it. */
  readonly why: 'onTop' | 'elsewhere' | 'gone';
  /** What `git revert` is to be told for all of its commits. */
  readonly revert: readonly string[];
};

/** Everything by which the modes of a Landing differ: commits, index and branch. Files are `Landing`'s. */
export interface LandingModes {
  /** Nothing is written. */
  plan(checkout: string, part: LandingPart, aim: LandingAim): Promise<PlannedLanding>;
  /** Makes the commits, hooks of the user included, and looks once more at all that the plan saw. */
  ready(checkout: string, planned: PlannedLanding, aim: LandingAim): Promise<ReadyLanding>;
  /**
   * Keeps in the journal what `back` needs, and the commits from a `git gc` in the time before a branch holds them;
   * `name`: the Task's.
   */
  keep(
    checkout: string,
    directory: string,
    branch: (LandedBranch & { readonly name: string }) | undefined,
  ): Promise<void>;
  /** Index, then branch, to where the Landing leads. Answers what stands in the way; then neither was written. */
  forward(record: LandingRecord, directory: string): Promise<readonly string[]>;
  /** Index, then branch, to where they were. As `forward`. */
  back(record: LandingRecord, directory: string): Promise<readonly string[]>;
  /**
   * As these two, of one that was cut off: what the user changed in the index since is left. Answers whether HEAD was
   * still where it should be; if not, nothing was written.
   */
  settle(record: LandingRecord, directory: string, to: 'before' | 'after'): Promise<boolean>;
  /** Where the branch stands: on either side of the Landing, or on neither. */
  standing(record: LandingRecord): Promise<'before' | 'after' | 'neither'>;
  /** Where it stands on neither: whether the Landing's branch holds its commit, or HEAD what it wrote. */
  isHeld(record: LandingRecord): Promise<boolean>;
  /** The index alone to where it was, whatever HEAD; what the user changed in it since is left. */
  unstage(record: LandingRecord, directory: string): Promise<void>;
  /** Why it stands on neither side. */
  movedOn(record: LandingRecord): Promise<MovedOn | undefined>;
  /** Whether the user took its commits back: HEAD holds nothing of what landed, whatever came on top. */
  isTakenBack(record: LandingRecord): Promise<boolean>;
  /** Clears up after a killed `forward` or `back`. */
  sweep(record: LandingRecord, directory: string): Promise<void>;
  /** The user's `post-commit`; called once, after the Landing stands. */
  landed(record: LandingRecord, signal?: AbortSignal): Promise<void>;
}

/** What `forward` and `back` answer when HEAD is not where it should be. */
export const movedHead = 'HEAD';

export interface LandingModesDeps {
  readonly merges: Merges;
  readonly branches: BranchLandings;
  readonly indexes: UserIndexes;
}

/** `LandingModes` over git. */
export class GitLandingModes implements LandingModes {
  private readonly deps: LandingModesDeps;

  constructor(deps: LandingModesDeps) {
    this.deps = deps;
  }

  async plan(checkout: string, { base, theirs }: LandingPart, aim: LandingAim): Promise<PlannedLanding> {
    const { merges, branches, indexes } = this.deps;
    const { mode } = aim;
    if (mode === 'apply') {
      const preview = await merges.preview({ checkout, base, theirs });
      return { preview, tree: preview.merged };
    }
    await branches.expectIdentity(checkout);
    const line = await aim.line();
    const { plan, head, conflicts } = await branches.plan(checkout, { mode, base, theirs, line });
    if (plan === undefined)
      return { preview: { ours: head, merged: head, paths: [], conflicts }, tree: head };
    const preview = await merges.preview({ checkout, base: head, theirs: plan.tree });
    const index = await indexes.plan(checkout, { head, tree: plan.tree });
    const all = { ...preview, conflicts: [...preview.conflicts, ...index.conflicts] };
    return { preview: all, tree: plan.tree, branch: plan };
  }

  async ready(checkout: string, planned: PlannedLanding, aim: LandingAim): Promise<ReadyLanding> {
    const { branch } = planned;
    if (branch === undefined) return { kind: 'ready', preview: planned.preview };
    const { merges, branches, indexes } = this.deps;
    const messages = { last: aim.message, second: aim.objective };
    const made = await branches.make(checkout, branch, messages, aim.signal);
    if (made.kind === 'hookFailed') return made;
    const { commit, tree } = made;
    // There was nothing to commit.
    if (commit === branch.head) return { kind: 'ready', preview: planned.preview };
    const isAsPlanned = tree === branch.tree;
    const failure = isAsPlanned ? undefined : await aim.gate(tree);
    if (failure !== undefined) return { kind: 'gateFailed', failure };
    const { head, ref } = branch;
    const preview = await merges.preview({ checkout, base: head, theirs: tree });
    const index = await indexes.plan(checkout, { head, tree });
    const conflicts = [...preview.conflicts, ...index.conflicts];
    if (conflicts.length > 0) return { kind: 'conflict', preview: { ...preview, conflicts } };
    const now = await branches.headOf(checkout);
    if (now.commit !== head || now.ref !== ref) return { kind: 'stale', paths: [], isHeadMoved: true };
    // Hooks took their time. Where one of them changed the commit, what it made of it is what lands.
    const unseen = isAsPlanned ? unseenPaths(preview.paths, planned.preview.paths) : [];
    if (unseen.length > 0) return { kind: 'stale', paths: unseen, isHeadMoved: false };
    const place = ref === undefined ? {} : { ref };
    return {
      kind: 'ready',
      preview,
      branch: { ...place, from: head, to: commit, index: [...index.changes] },
    };
  }

  async keep(
    checkout: string,
    directory: string,
    branch: Parameters<LandingModes['keep']>[2],
  ): Promise<void> {
    if (branch === undefined) return;
    await this.deps.branches.hold(branch.name, branch.to);
    await this.deps.indexes.keep(checkout, directory);
  }

  async forward(record: LandingRecord, directory: string): Promise<readonly string[]> {
    return this.bring(record, directory, 'after');
  }

  async back(record: LandingRecord, directory: string): Promise<readonly string[]> {
    return this.bring(record, directory, 'before');
  }

  async settle(record: LandingRecord, directory: string, to: 'before' | 'after'): Promise<boolean> {
    return !(await this.bring(record, directory, to, true)).includes(movedHead);
  }

  async standing({ checkout, branch }: LandingRecord): Promise<'before' | 'after' | 'neither'> {
    if (branch === undefined) return 'before';
    const { commit, ref } = await this.deps.branches.headOf(checkout);
    if (ref !== branch.ref) return 'neither';
    if (commit === branch.to) return 'after';
    return commit === branch.from ? 'before' : 'neither';
  }

  async isHeld(record: LandingRecord): Promise<boolean> {
    const { checkout, branch } = record;
    if (branch === undefined) return false;
    const { branches } = this.deps;
    if (await branches.holds(checkout, branch.to, branch.ref)) return true;
    return branches.holdsFiles(checkout, branch.to, pathsOf(record));
  }

  async isTakenBack(record: LandingRecord): Promise<boolean> {
    const { checkout, branch } = record;
    if (branch === undefined || record.paths.length === 0) return false;
    const { branches } = this.deps;
    if (await branches.holdsFiles(checkout, branch.from, pathsOf(record))) return true;
    return branches.isTakenBack(checkout, branch);
  }

  async unstage({ checkout, branch }: LandingRecord, directory: string): Promise<void> {
    if (branch !== undefined)
      await this.deps.indexes.write(checkout, {
        changes: branch.index,
        to: 'before',
        directory,
        leavesOthers: true,
      });
  }

  async movedOn(record: LandingRecord): Promise<MovedOn | undefined> {
    const { branch, checkout } = record;
    if (branch === undefined || (await this.standing(record)) === 'after') return undefined;
    const { ref } = await this.deps.branches.headOf(checkout);
    const place = branch.ref === undefined ? {} : { ref: branch.ref };
    const common = { commit: branch.to, ...place, revert: revertArguments(record.mode, branch) };
    if (await this.deps.branches.holds(checkout, branch.to)) return { ...common, why: 'onTop' };
    return { ...common, why: ref === branch.ref ? 'gone' : 'elsewhere' };
  }

  async sweep({ checkout, branch }: LandingRecord, directory: string): Promise<void> {
    if (branch !== undefined) await this.deps.indexes.sweep(checkout, directory);
  }

  async landed({ checkout, branch }: LandingRecord, signal?: AbortSignal): Promise<void> {
    if (branch !== undefined) await this.deps.branches.afterCommit(checkout, signal);
  }

  private async bring(
    record: LandingRecord,
    directory: string,
    to: 'before' | 'after',
    leavesOthers = false,
  ): Promise<readonly string[]> {
    const { checkout, branch } = record;
    if (branch === undefined) return [];
    const { indexes, branches } = this.deps;
    const other = to === 'before' ? 'after' : 'before';
    const standing = await this.standing(record);
    if (standing === 'neither') return [movedHead];
    const request = { changes: branch.index, directory, leavesOthers };
    const strange = await indexes.write(checkout, { ...request, to });
    if (strange.length > 0 || standing === to) return strange;
    const [from, target] = to === 'after' ? [branch.from, branch.to] : [branch.to, branch.from];
    const place = branch.ref === undefined ? {} : { ref: branch.ref };
    const why = to === 'after' ? `commit (tributary): ${record.mode ?? 'apply'}` : 'tributary: undo';
    if (await branches.move(checkout, { ...place, from, to: target, why })) return [];
    await indexes.write(checkout, { ...request, to: other });
    return [movedHead];
  }
}

/** What of a plan's branch people and surfaces see. */
export function plannedBranch(
  { branch }: PlannedLanding,
  { mode, message, objective }: Pick<LandingAim, 'mode' | 'message' | 'objective'>,
): PlannedBranch | undefined {
  if (branch === undefined) return undefined;
  const { head, ref, row, second } = branch;
  const replayed = [...row.replayed, ...(second?.replayed ?? [])];
  const commits: PlannedCommit[] = replayed.map(({ text }) => ({ kind: 'replayed', subject: text.subject }));
  if (second?.rest !== undefined) commits.push({ kind: 'task', subject: subjectOf(objective) });
  if (row.rest !== undefined)
    commits.push({ kind: mode === 'merge' ? 'merge' : 'commit', subject: subjectOf(message) });
  return { head, ...(ref === undefined ? {} : { ref }), commits };
}

/** First line. */
export function subjectOf(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

/** Paths that one of two previews would write otherwise than the other. */
export function unseenPaths(now: MergePreview['paths'], seen: MergePreview['paths']): string[] {
  const entryText = (entry: MergePreview['paths'][number]['before']): string =>
    entry === 'absent' ? entry : `${entry.mode} ${entry.blob}`;
  const lookOf = ({ before, after }: MergePreview['paths'][number]): string =>
    `${entryText(before)} ${entryText(after)}`;
  const then = new Map(seen.map((one) => [one.path, lookOf(one)]));
  const here = new Map(now.map((one) => [one.path, lookOf(one)]));
  return [...new Set([...here.keys(), ...then.keys()])].filter((path) => here.get(path) !== then.get(path));
}

/** A Landing mode that this Landing is not for. */
export function expectNotKept(mode: LandingMode): LandingAim['mode'] {
  if (mode !== 'keepBranch') return mode;
  throw new TributaryError('internal', 'a branch that is kept lands nowhere');
}

function revertArguments(mode: LandingRecord['mode'], { from, to }: LandedBranch): readonly string[] {
  if (mode === 'merge') return ['-m', '1', to];
  return mode === 'rebase' ? [`${from}..${to}`] : [to];
}
