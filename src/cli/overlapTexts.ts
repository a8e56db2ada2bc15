import { toTributaryError } from '../base/errors';
import type { TaskId } from '../model/ids';
import { stillUnresolved, type Unresolved } from '../model/movedBase';
import { type BoardOverlaps, isConflict, type Overlap } from '../model/overlap';
import { plainLine } from '../model/plainText';
import type { Task } from '../model/task';
import { isLive } from '../tasks/runMachine';
import { describeError } from './messages';
import type { VerbContext } from './verbContext';

/** Named in a row; the rest is counted. */
const mostPaths = 3;

/** `undefined`, and said, where it cannot be found out: what else there is to show is worth showing. */
export async function overlapsOf({ tasks, report }: VerbContext): Promise<BoardOverlaps | undefined> {
  try {
    return await tasks.overlaps();
  } catch (error) {
    report.warn(describeError(toTributaryError(error)).message);
    return undefined;
  }
}

/** Every conflict of the board, a row each. */
export function conflictRows(tasks: readonly Task[], found: BoardOverlaps | undefined): string[] {
  const conflicts = (found?.overlaps ?? []).filter(isConflict);
  if (conflicts.length === 0) return [];
  return [
    '',
    ...conflicts.map((one) => `${nameOf(one.a, tasks)} conflicts with ${sideText(one, tasks)}`),
    'See: tributary conflicts',
  ];
}

interface TaskConflicts {
  /** Where the Task meets others, for scripts. */
  readonly overlaps: readonly Overlap[];
  /** What conflicts, a row each. */
  readonly conflicts: readonly string[];
  /** Whether something is there to resolve in its worktree, or would be after a merge. */
  readonly isStuck: boolean;
}

/** What `show` says of a Task's conflicts; they are looked for only where it can be accepted. */
export async function conflictsOf(task: Task, context: VerbContext): Promise<TaskConflicts> {
  if (task.state !== 'open' || task.snapshot === undefined)
    return { overlaps: [], conflicts: [], isStuck: false };
  const [found, left] = await Promise.all([overlapsOf(context), unresolvedOf(task, context)]);
  const overlaps = (found?.overlaps ?? []).filter(({ a, b }) => a === task.id || b === task.id);
  const stuck = overlaps.filter(isConflict);
  const { tasks } = stuck.length === 0 ? { tasks: [] } : await context.tasks.list();
  const rows = stuck.map((one) => `with ${sideText(one.b === task.id ? { ...one, b: one.a } : one, tasks)}`);
  const meetsCheckout = stuck.some(({ b }) => b === 'checkout');
  return {
    overlaps,
    conflicts: [...unresolvedRows({ unresolved: left }), ...rows],
    isStuck: left.length > 0 || meetsCheckout,
  };
}

/** What of the last merge is still to be resolved. */
async function unresolvedOf(task: Task, { tasks }: VerbContext): Promise<readonly Unresolved[]> {
  if (task.unresolved.length === 0 || task.runs.some(isLive)) return task.unresolved;
  return stillUnresolved(task.unresolved, (await tasks.preview(task.id)).conflicts);
}

/** What the last merge of the checkout left to be resolved. */
export function unresolvedRows({ unresolved }: { readonly unresolved: readonly Unresolved[] }): string[] {
  return unresolved.map(({ path, kind, message }) => {
    const left = kind === 'markers' ? 'conflict markers' : "the Task's side stands";
    const said = message.replace(/^CONFLICT \([^)]*\): /, '');
    // That there is a conflict in the file is all that git says of most.
    const more = said === '' || said.startsWith('Merge conflict in ') ? '' : ` (${plainLine(said)})`;
    return `${plainLine(path)}: ${left}${more}`;
  });
}

/** A Task or the checkout as people call it. */
export function nameOf(id: TaskId | 'checkout', tasks: readonly Task[]): string {
  if (id === 'checkout') return 'your checkout';
  return plainLine(tasks.find((task) => task.id === id)?.slug ?? id);
}

function sideText({ b, paths }: Overlap, tasks: readonly Task[]): string {
  const files = paths.filter(({ kind }) => kind === 'conflict').map(({ path }) => plainLine(path));
  const more = files.length > mostPaths ? [`${files.length - mostPaths} more`] : [];
  return `${nameOf(b, tasks)}: ${[...files.slice(0, mostPaths), ...more].join(', ')}`;
}
