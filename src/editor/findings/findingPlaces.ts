import type { FileChange } from '../../model/changes';
import { openFindings, type Task } from '../../model/task';
import type { Finding } from '../../model/verdict';

/** An open Finding and where it is to be shown. */
export interface PlacedFinding {
  readonly finding: Finding;
  /** Relative to the root of Worktree or checkout. */
  readonly path: string;
  readonly line: number;
  readonly endLine: number;
  /** Columns count from 1; absent: the whole line. */
  readonly column?: number | undefined;
  readonly endColumn?: number | undefined;
  /** `false`: it names no place, and stands on the first changed file. */
  readonly isLocated: boolean;
}

/** The open Findings of a Task that is still open. `files`: what it changed; while unknown, those without a place wait. */
export function placedFindings(task: Task, files: readonly FileChange[] | undefined): PlacedFinding[] {
  if (task.state !== 'open') return [];
  const first = files?.find((file) => file.status !== 'deleted')?.path ?? files?.[0]?.path;
  return openFindings(task).flatMap((finding): PlacedFinding[] => {
    const { location } = finding;
    if (location !== undefined) {
      const { path, line, endLine = line, column, endColumn } = location;
      return [{ finding, path, line, endLine, column, endColumn, isLocated: true }];
    }
    if (first === undefined) return [];
    return [{ finding, path: first, line: 1, endLine: 1, isLocated: false }];
  });
}
