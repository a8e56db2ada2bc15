import { TributaryError } from '../base/errors';
import type { Hunks } from '../git/hunks';
import type { LandingMode, LandingSelection } from '../model/landing';
import { withoutRejected } from '../model/marks';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import type { LandingPart } from './landing';

/** A part of a Task as a wish and the user's marks cut it. */
export interface PlannedPart extends LandingPart {
  /** What the ChangeSet counts from. */
  readonly changeBase: string;
  /** Set where only a part was wished for: the Task stays open then. */
  readonly selection?: LandingSelection;
  readonly mode: LandingMode;
  /** The whole change: the agent's own commits lead to it. */
  readonly isAll: boolean;
  /** What the user rejected, and what therefore does not land. */
  readonly leftOut: LandingSelection;
}

const nothing: LandingSelection = { paths: [], hunks: [] };

/** Decides which trees a Landing merges: what landed before, the wish and the marks each have their say. */
export class LandingParts {
  private readonly hunks: Hunks;

  constructor(deps: { hunks: Hunks }) {
    this.hunks = deps.hunks;
  }

  /**
   * The part of `tree` that lands for a selection, or all that nobody rejected. Its base holds what landed before where
   * it lands now (in the files, or by commits): what the user took back of that by hand stays taken back.
   */
  async partOf(
    task: Task,
    tree: string,
    { mode, selection }: { mode: LandingMode; selection?: LandingSelection | undefined },
  ): Promise<PlannedPart> {
    const changeBase = baseOf(task);
    const base = (await this.landed(task, mode)) ?? changeBase;
    const common = { base, changeBase, tree, mode };
    if (selection !== undefined) {
      const theirs = await this.treeOf(task, tree, selection);
      return { ...common, theirs, selection, isAll: false, leftOut: nothing };
    }
    const { taken, leftOut } = await this.taken(task, tree);
    if (leftOut.paths.length + leftOut.hunks.length === 0)
      return { ...common, theirs: tree, isAll: true, leftOut };
    if (taken.paths.length + taken.hunks.length === 0) throw allRejected(task);
    return { ...common, theirs: await this.treeOf(task, tree, taken), isAll: false, leftOut };
  }

  /** What the ChangeSet counts from, with what standing Landings brought, where any did; `commit` and the like: by commits. */
  async landed(task: Task, mode: LandingMode = 'apply'): Promise<string | undefined> {
    let landed: string | undefined;
    for (const { part, undoneAt } of task.landings) {
      // A base that moved on since holds the checkout, and with it what had landed there.
      if (part?.base !== baseOf(task) || undoneAt !== undefined) continue;
      if (mode !== 'apply' && (part.mode ?? 'apply') === 'apply') continue;
      const { tree: theirs, selection } = part;
      landed = await this.hunks.treeOf({ base: baseOf(task), landed, theirs, selection });
    }
    return landed;
  }

  private async treeOf(task: Task, theirs: string, selection: LandingSelection): Promise<string> {
    const landed = await this.landed(task);
    return this.hunks.treeOf({ base: baseOf(task), landed, theirs, selection });
  }

  private async taken(task: Task, tree: string): Promise<ReturnType<typeof withoutRejected>> {
    const hasRejected = task.marks.some(({ mark }) => mark === 'reject');
    return withoutRejected(hasRejected ? await this.hunks.list(baseOf(task), tree) : [], task.marks);
  }
}

function allRejected(task: Task): TributaryError {
  return new TributaryError(
    'wrongState',
    `all that task ${task.slug} changed is rejected; there is nothing to accept`,
    {
      details: { taskId: task.id },
    },
  );
}
