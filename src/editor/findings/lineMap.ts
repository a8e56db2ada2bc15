import { diffArrays } from 'diff';

/** Where lines of an old text are in a new one. Lines count from 1. */
export interface MappedLines {
  readonly line: number;
  readonly endLine: number;
  /** Whether all of the lines are there as they were. */
  readonly isSame: boolean;
}

/** Texts over this many lines together are not compared: the diff would hold the editor up. */
const maxLines = 40_000;

/**
 * Maps lines between two versions of a file. Lines that were changed or removed are put where they would stand;
 * `isSame` says so. Line ends do not count as a difference.
 */
export function mapLines(
  oldText: string,
  newText: string,
  lines: { readonly line: number; readonly endLine?: number | undefined },
): MappedLines {
  const [oldLines, newLines] = [linesOf(oldText), linesOf(newText)];
  const first = clamp(lines.line, oldLines.length);
  const last = Math.max(first, clamp(lines.endLine ?? first, oldLines.length));
  if (oldLines.length + newLines.length > maxLines)
    return { ...within(first, last, newLines.length), isSame: false };
  const places = placesOf(oldLines, newLines);
  const range = Array.from({ length: last - first + 1 }, (_, index) => places[first - 1 + index]);
  const known = range.filter((place) => place?.isKept === true).map((place) => place?.line ?? 1);
  const fallback = range[0]?.line ?? 1;
  const start = known[0] ?? fallback;
  const end = known.at(-1) ?? start;
  const isSame = known.length === range.length && end - start === last - first;
  return { ...within(start, end, newLines.length), isSame };
}

interface Place {
  readonly line: number;
  readonly isKept: boolean;
}

/** For each old line, where it stands now, or would. */
function placesOf(oldLines: readonly string[], newLines: readonly string[]): Place[] {
  const places: Place[] = [];
  let next = 1;
  for (const { value, added, removed } of diffArrays([...oldLines], [...newLines])) {
    if (added) next += value.length;
    else if (removed) for (const _ of value) places.push({ line: next, isKept: false });
    else for (const _ of value) places.push({ line: next++, isKept: true });
  }
  return places;
}

function linesOf(text: string): string[] {
  return text.split(/\r\n|\r|\n/);
}

function clamp(line: number, count: number): number {
  return Math.min(Math.max(1, line), Math.max(1, count));
}

function within(line: number, endLine: number, count: number): { line: number; endLine: number } {
  const start = clamp(line, count);
  return { line: start, endLine: Math.max(start, clamp(endLine, count)) };
}
