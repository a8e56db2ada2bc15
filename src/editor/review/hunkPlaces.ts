import type { Hunk } from '../../model/hunks';
import type { MarkedFile, MarkedHunk } from '../../tasks/taskApi';

/** Which side of a comparison a line is on. */
export type Side = 'base' | 'task';

/** Lines of a side, counted from 1. Where a hunk has no lines on a side, the line it stands behind. */
export interface LineRange {
  readonly start: number;
  readonly end: number;
}

export function rangeOf(hunk: Hunk, side: Side): LineRange {
  const { start, lines } =
    side === 'task'
      ? { start: hunk.newStart, lines: hunk.newLines }
      : { start: hunk.oldStart, lines: hunk.oldLines };
  return { start: Math.max(1, start), end: Math.max(1, start, start + lines - 1) };
}

/** The hunk that holds the line, or, where lines were taken out beside it, that hunk. */
export function hunkAt(
  { hunks }: Pick<MarkedFile, 'hunks'>,
  { side, line }: { readonly side: Side; readonly line: number },
): MarkedHunk | undefined {
  const inside = hunks.find((hunk) => {
    const { start, end } = rangeOf(hunk, side);
    return start <= line && line <= end;
  });
  // Between the line it stands behind and the next one is where its lines are missing.
  return inside ?? hunks.find((hunk) => isEmptyOn(hunk, side) && rangeOf(hunk, side).start + 1 === line);
}

function isEmptyOn(hunk: Hunk, side: Side): boolean {
  return (side === 'task' ? hunk.newLines : hunk.oldLines) === 0;
}

/** A hunk, or a file that changes as a whole. */
export interface Stop {
  readonly file: MarkedFile;
  readonly hunk?: MarkedHunk;
}

/** Where one is in a Task's change. */
export interface Position {
  readonly path: string;
  readonly side: Side;
  readonly line: number;
}

/** The next or previous stop of the Task, around its end too; without a position the first or last. */
export function stopBeside(
  files: readonly MarkedFile[],
  at: Position | undefined,
  step: 1 | -1,
): Stop | undefined {
  const stops = files.flatMap((file): Stop[] =>
    file.hunks.length === 0 ? [{ file }] : file.hunks.map((hunk) => ({ file, hunk })),
  );
  const fileIndex = files.findIndex((file) => file.path === at?.path);
  if (at === undefined || fileIndex === -1) return stops.at(step === 1 ? 0 : -1);
  const isBehind = ({ file, hunk }: Stop): boolean => {
    const index = files.indexOf(file);
    if (index !== fileIndex || hunk === undefined) return index > fileIndex;
    return rangeOf(hunk, at.side).start > at.line;
  };
  const isBefore = ({ file, hunk }: Stop): boolean => {
    const index = files.indexOf(file);
    if (index !== fileIndex || hunk === undefined) return index < fileIndex;
    return rangeOf(hunk, at.side).end < at.line;
  };
  return step === 1 ? (stops.find(isBehind) ?? stops[0]) : (stops.findLast(isBefore) ?? stops.at(-1));
}
