import type { TaskId } from '../model/ids';
import { isConflict, type Overlap } from '../model/overlap';
import { type Task, verdictOn } from '../model/task';
import { isLive } from './runMachine';

/**
 * The order in which Tasks are best landed: fewest conflicts first, then those whose Runs are over, then those that
 * passed, then the one that is done longest, then the older one.
 */
export function landingOrder(tasks: readonly Task[], overlaps: readonly Overlap[]): TaskId[] {
  const conflicts = overlaps.filter(isConflict);
  const ranked = tasks.map((task) => ({
    id: task.id,
    rank: [
      conflicts.filter(({ a, b }) => a === task.id || b === task.id).length,
      task.runs.some(isLive) ? 1 : 0,
      passed(task) ? 0 : 1,
    ],
    text: [endOf(task), task.createdAt, task.id],
  }));
  return ranked
    .toSorted((one, other) => compare(one.rank, other.rank) || compareText(one.text, other.text))
    .map(({ id }) => id);
}

function passed(task: Task): boolean {
  const judgement = verdictOn(task);
  return judgement?.isCurrent === true && judgement.verdict.verdict === 'PASS';
}

function endOf(task: Task): string {
  const status = task.runs.at(-1)?.status;
  return status !== undefined && 'end' in status ? status.end.at : '';
}

function compare(one: readonly number[], other: readonly number[]): number {
  return one.map((value, index) => value - (other[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}

function compareText(one: readonly string[], other: readonly string[]): number {
  const differing = one.findIndex((value, index) => value !== other[index]);
  if (differing < 0) return 0;
  return (one[differing] ?? '') < (other[differing] ?? '') ? -1 : 1;
}
