import type { Repository } from '../git/repository';
import type { Conflict } from '../model/landing';
import { holdsMarkers, type Unresolved } from '../model/movedBase';
import type { Task } from '../model/task';

/** The conflicts of the last merge into the Worktree that nobody has resolved in `tree`. */
export async function unresolvedIn(
  repository: Pick<Repository, 'readFiles'>,
  task: Pick<Task, 'movedBases' | 'unresolved'>,
  tree: string,
): Promise<readonly Unresolved[]> {
  const left = task.movedBases.at(-1)?.result;
  // A path with a line break cannot be asked for here: it counts as resolved.
  const asked = task.unresolved.filter(({ path }) => !path.includes('\n'));
  if (left === undefined || asked.length === 0) return [];
  const paths = asked.map(({ path }) => path);
  const [now, then] = await Promise.all([
    repository.readFiles(tree, paths),
    repository.readFiles(left, paths),
  ]);
  return asked.filter(({ kind }, index) => {
    const content = now[index];
    if (kind === 'markers') return content !== undefined && holdsMarkers(content);
    const before = then[index];
    return content === undefined || before === undefined ? content === before : content.equals(before);
  });
}

/** The same as what keeps a Task from landing. */
export async function conflictsLeft(
  ...[repository, task, tree]: Parameters<typeof unresolvedIn>
): Promise<Conflict[]> {
  return (await unresolvedIn(repository, task, tree)).map(({ path, kind }) => ({
    path,
    kind,
    message:
      kind === 'markers'
        ? 'it still holds the conflict markers of the merge into the worktree'
        : "the worktree has the Task's side of a conflict with your checkout, and nobody has looked at it",
  }));
}
