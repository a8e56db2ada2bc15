import { TributaryError } from '../base/errors';
import type { Changes } from '../git/changes';
import type { ContentDrivers } from '../git/contentDrivers';
import type { MergeIns, PreparedMerge } from '../git/mergeIn';
import type { Repository } from '../git/repository';
import type { FileChange } from '../model/changes';
import type { RunId } from '../model/ids';
import { baseOf, type MovedBase, nextMovedBase } from '../model/movedBase';
import type { Task } from '../model/task';
import { expectState } from './endings';
import type { MergeInOutcome, Settled } from './taskApi';
import type { TaskRecords } from './taskRecords';
import { unresolvedIn } from './unresolved';
import type { TaskWithWorktree, WorktreeKeeper } from './worktreeKeeper';

export interface MergingInDeps {
  readonly records: TaskRecords;
  readonly keeper: WorktreeKeeper;
  readonly repository: Repository;
  readonly changes: Changes;
  readonly mergeIns: MergeIns;
  readonly drivers: ContentDrivers;
}

/**
 * Brings what the user's checkout holds into a Task's Worktree, where conflicts are resolved: by an agent or by hand.
 * The Task's ChangeSet counts from that state on; the checkout is only read.
 */
export class MergingIn {
  private readonly deps: MergingInDeps;

  constructor(deps: MergingInDeps) {
    this.deps = deps;
  }

  /** `isMeant`: where an earlier merge kept the Task's side and it stands unchanged, that is the user's decision. */
  async into(asked: Task, { isMeant }: { readonly isMeant: boolean }): Promise<MergeInOutcome> {
    expectState(asked, ['open'], 'merge-in');
    const runId = asked.runs.at(-1)?.id;
    if (runId === undefined) throw withoutRun(asked);
    const { keeper, records } = this.deps;
    const lock = await keeper.writerLock(asked);
    try {
      const current = await records.load(asked.id);
      expectState(current, ['open'], 'merge-in');
      return await this.deps.drivers.during(current.drivers, async () => {
        const ready = await keeper.ensure(current, runId, new AbortController().signal);
        try {
          return await this.merge(ready, runId, isMeant);
        } finally {
          await keeper.release(ready);
        }
      });
    } finally {
      await lock.release();
    }
  }

  /** What an author is told who is to resolve what a merge left: the files and what both sides wanted. */
  async instruction(task: Task): Promise<string> {
    const moved = task.movedBases.at(-1);
    const theirs =
      moved === undefined ? [] : (await this.deps.changes.changeSet(moved.from, moved.tree)).files;
    const of = (kind: 'markers' | 'kept'): string[] =>
      task.unresolved.filter((one) => one.kind === kind).map(({ path, message }) => `- ${path} (${message})`);
    return [
      "The user's checkout changed while you worked. What it holds now was merged into this worktree, and some of it conflicts with your change.",
      `Your task, whose intent has to stay: ${task.packet.objective}`,
      `What the user's side changed meanwhile, whose intent has to stay as well:\n${statOf(theirs)}`,
      section('Files with conflict markers; resolve every one and leave no marker:', of('markers')),
      section(
        "Files where only your side stands because no text can hold both; decide what is right, and bring the user's change in where it still makes sense:",
        of('kept'),
      ),
      moved === undefined
        ? ''
        : `The user's version of a file: git show ${moved.commit}:PATH. Before both: git show ${moved.from}:PATH. Keep what both sides wanted; change nothing else.`,
    ]
      .filter((part) => part !== '')
      .join('\n\n');
  }

  /** After an author went over what was left: what it let stand it means so, but for markers. */
  async decided(settled: Settled): Promise<Settled> {
    const author = settled.runs.find((run) => run.kind !== 'verify');
    if (author?.status.state !== 'completed') return settled;
    const current = await this.deps.records.load(settled.task.id);
    const tree = current.snapshot?.tree;
    if (tree === undefined || current.unresolved.length === 0) return settled;
    const left = (await unresolvedIn(this.deps.repository, current, tree)).filter(isMarked);
    const task = await this.deps.records.change(current.id, (now) => ({ ...now, unresolved: [...left] }), {
      type: 'task.changed',
      state: current.state,
    });
    return { ...settled, task };
  }

  private async merge(ready: TaskWithWorktree, runId: RunId, isMeant: boolean): Promise<MergeInOutcome> {
    const { keeper, repository, mergeIns } = this.deps;
    const task = await keeper.snapshot(ready, { runId, turn: 0 });
    const base = baseOf(task);
    const theirs = task.snapshot?.tree ?? (await repository.treeOf(base));
    const { root } = task.packet.repository;
    const merge = await mergeIns.prepare({
      checkout: root,
      worktreePath: task.worktreePath,
      base,
      theirs,
    });
    const standing = await unresolvedIn(repository, task, theirs);
    const before = standing.filter(
      (one) => (isMarked(one) || !isMeant) && !merge.conflicts.some(({ path }) => path === one.path),
    );
    const unresolved = [...before, ...merge.conflicts];
    const isNew = merge.ours !== (await repository.treeOf(base));
    const saved = isNew
      ? await this.moved(task, merge, { runId, theirs, unresolved })
      : await this.deps.records.change(task.id, (now) => ({ ...now, unresolved }));
    return { kind: isNew ? 'merged' : 'upToDate', task: saved, paths: merge.paths, conflicts: unresolved };
  }

  /** Files first: whatever goes wrong before the record stands, the Worktree is put back as it was. */
  private async moved(
    task: TaskWithWorktree,
    merge: PreparedMerge,
    by: { readonly runId: RunId; readonly theirs: string; readonly unresolved: Task['unresolved'] },
  ): Promise<Task> {
    const { keeper, records, mergeIns } = this.deps;
    const { worktreePath, branch } = task;
    const { ours: tree, head, result } = merge;
    const from = baseOf(task);
    const number = nextMovedBase(task);
    const named = { taskId: task.id, number, worktreePath, base: from, head, tree };
    const commit = await mergeIns.keepBase(named);
    const moved: MovedBase = {
      commit,
      tree,
      at: records.now(),
      head,
      from,
      result,
      snapshots: task.snapshotCount,
    };
    const { runId, unresolved } = by;
    await keeper.guardTree(task, by.theirs, { base: commit, tree: result });
    const saved = await this.written(task, { theirs: by.theirs, result }, () =>
      records.change(task.id, (now) => ({ ...now, movedBases: [...now.movedBases, moved], unresolved }), {
        type: 'task.changed',
        state: task.state,
      }),
    );
    await mergeIns.moveHead({ worktreePath, branch, commit, tree: result });
    // Also where no file differs: it holds the commit that the branch stands on now.
    return keeper.snapshot({ ...saved, branch, worktreePath }, { runId, turn: 0, always: true });
  }

  private async written(
    task: TaskWithWorktree,
    { theirs, result }: { theirs: string; result: string },
    recorded: () => Promise<Task>,
  ): Promise<Task> {
    const { keeper } = this.deps;
    try {
      await keeper.putFiles(task, { tree: result, recorded: theirs });
      return await recorded();
    } catch (error) {
      await keeper.putFiles(task, { tree: theirs, recorded: result });
      throw error;
    }
  }
}

function isMarked({ kind }: Task['unresolved'][number]): boolean {
  return kind === 'markers';
}

function withoutRun(task: Task): TributaryError {
  return new TributaryError('wrongState', `task ${task.slug} has not begun yet: there is nothing to merge`, {
    details: { taskId: task.id, verb: 'merge-in' },
  });
}

function section(title: string, rows: readonly string[]): string {
  return rows.length === 0 ? '' : `${title}\n${rows.join('\n')}`;
}

const mostFiles = 40;

/** What changed in one line a file, as `git diff --stat` would say it. */
function statOf(files: readonly FileChange[]): string {
  if (files.length === 0) return '- nothing';
  const lines = files
    .slice(0, mostFiles)
    .map(({ path, status, isBinary, added, removed }) =>
      isBinary ? `- ${path}: ${status}, binary` : `- ${path}: ${status}, +${added} -${removed}`,
    );
  const more = files.length > mostFiles ? [`- and ${files.length - mostFiles} more`] : [];
  return [...lines, ...more].join('\n');
}
