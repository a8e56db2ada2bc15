import { diffLines } from 'diff';

/** One line of a difference. `gap`: so many equal lines are left out. */
export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed' | 'gap';
  readonly text: string;
}

/** Equal lines shown before and after a change. */
const contextLines = 3;
/** Beyond so many differences the old text is shown as removed and the new one as added. */
const mostEdits = 2_000;

/** The lines that differ, with a little of what is around them. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const changes =
    diffLines(before, after, { maxEditLength: mostEdits }) ??
    [
      { value: before, added: false, removed: true },
      { value: after, added: true, removed: false },
    ].filter(({ value }) => value !== '');
  const lines = changes.flatMap(({ value, added, removed }) =>
    linesOf(value).map((text): DiffLine => ({ kind: added ? 'added' : removed ? 'removed' : 'same', text })),
  );
  return withoutMiddles(lines);
}

export function countsOf(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  return {
    added: lines.filter(({ kind }) => kind === 'added').length,
    removed: lines.filter(({ kind }) => kind === 'removed').length,
  };
}

function linesOf(text: string): string[] {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Long stretches of equal lines become a gap. */
function withoutMiddles(lines: readonly DiffLine[]): DiffLine[] {
  const result: DiffLine[] = [];
  for (let start = 0; start < lines.length; ) {
    let end = start;
    while (end < lines.length && (lines[end]?.kind === 'same') === (lines[start]?.kind === 'same')) end += 1;
    const stretch = lines.slice(start, end);
    const head = start === 0 ? 0 : contextLines;
    const tail = end === lines.length ? 0 : contextLines;
    if (stretch[0]?.kind === 'same' && stretch.length > head + tail + 1) {
      result.push(...stretch.slice(0, head));
      result.push({ kind: 'gap', text: String(stretch.length - head - tail) });
      result.push(...stretch.slice(stretch.length - tail));
    } else {
      result.push(...stretch);
    }
    start = end;
  }
  return result;
}
