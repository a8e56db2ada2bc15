import { visibleText } from '../src/model/plainText';

/** Text of models, tools and files as it is shown: nothing hidden or reordered, line ends as one newline. */
export function safe(text: string): string {
  return visibleText(text.replace(/\r\n/g, '\n'));
}

/** The same in one line. */
export function safeLine(text: string): string {
  return safe(text).replace(/\s+/g, ' ').trim();
}

/** A line of more characters is shown in part. */
export const longLine = 2_000;

/** Lines that are shown at first, and how many there are. Lines that are too long are cut. */
export function firstLines(
  text: string,
  count: number,
): { readonly lines: readonly string[]; readonly total: number; readonly isCut: boolean } {
  const lines: string[] = [];
  let isCut = false;
  let start = 0;
  while (lines.length < count && start <= text.length) {
    const end = indexOrEnd(text, start);
    isCut ||= end - start > longLine;
    lines.push(text.slice(start, Math.min(end, start + longLine)) + (end - start > longLine ? '…' : ''));
    start = end + 1;
  }
  let total = lines.length;
  while (start <= text.length) {
    total += 1;
    start = indexOrEnd(text, start) + 1;
  }
  return { lines, total, isCut: isCut || total > lines.length };
}

function indexOrEnd(text: string, from: number): number {
  const found = text.indexOf('\n', from);
  return found < 0 ? text.length : found;
}
