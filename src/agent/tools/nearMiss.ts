/** A sentence that helps to mend an `old_string` that was not found; empty when nothing comes close. */
export function nearMiss(text: string, wanted: string): string {
  const lines = text.split('\n');
  const wantedLines = wanted.replace(/\n$/, '').split('\n');
  if (wantedLines.every((line) => /^\s*\d+\t/.test(line))) {
    return 'It seems to hold the line numbers that Read shows: leave them out.';
  }
  const blank = findRun(lines, wantedLines, (line) => line.replace(/\s+/g, ' ').trim());
  if (blank !== undefined) {
    return `Lines ${blank + 1}-${blank + wantedLines.length} differ from it only in blanks or indentation.`;
  }
  const first = wantedLines.find((line) => line.trim().length > 3)?.trim();
  const at = first === undefined ? -1 : lines.findIndex((line) => line.trim() === first);
  return at === -1 ? 'Read the file again and copy the text.' : differingLine(lines, wantedLines, at);
}

function differingLine(lines: readonly string[], wanted: readonly string[], at: number): string {
  const start = at - wanted.findIndex((line) => line.trim() === lines[at]?.trim());
  const offset = wanted.findIndex((line, index) => line.trim() !== lines[start + index]?.trim());
  const actual = lines[start + offset]?.replace(/\r$/, '').slice(0, 200);
  const said = actual === undefined ? 'the file ends' : `the file has: ${actual}`;
  return `Line ${at + 1} matches its text, but at line ${start + offset + 1} ${said}`;
}

/** Index in `lines` where all of `wanted` stand in a row after both went through `fold`. */
function findRun(
  lines: readonly string[],
  wanted: readonly string[],
  fold: (line: string) => string,
): number | undefined {
  const folded = lines.map(fold);
  const target = wanted.map(fold);
  for (let index = 0; index + target.length <= folded.length; index++) {
    if (target.every((line, offset) => line === folded[index + offset])) return index;
  }
  return undefined;
}
