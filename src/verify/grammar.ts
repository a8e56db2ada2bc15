import type { VerdictWord } from '../model/verdict';
import { type MarkdownLine, markdownLines } from './markdownLines';

type StatedWord = Exclude<VerdictWord, 'none'>;

/**
 * Reads the verdict out of a final answer: its last non-blank line, once Markdown dressing is stripped,
 * must be exactly `VERDICT: PASS`, `FAIL` or `PARTIAL`, upper case, nothing after it, not even a full stop.
 * Whatever could be a template, a quotation, a code sample or a contradiction is `none`, never a guess.
 */
export function parseVerdict(text: string): VerdictWord {
  const lines = markdownLines(text);
  const lastIndex = lines.findLastIndex((line) => line.text.trim() !== '');
  const last = lines[lastIndex];
  if (last === undefined || last.isShown || last.isDoubtful) return 'none';
  const stated = exactVerdict(last.text);
  if (stated === undefined) return 'none';
  const before = lines.slice(0, lastIndex);
  if (isQuotation(stated, before) || endsInNegation(before)) return 'none';
  return before.some((line) => contradicts(line, stated.word)) ? 'none' : stated.word;
}

interface Stated {
  readonly word: StatedWord;
  readonly isQuoted: boolean;
  readonly isCode: boolean;
}

/** Longest line that can still be a verdict in its dressing. */
const longestLine = 120;

function exactVerdict(line: string): Stated | undefined {
  if (line.length > longestLine) return undefined;
  const bare = withoutContainers(line);
  if (bare === undefined) return undefined;
  const word = verdictWithin(bare.text);
  return word && { word, isQuoted: bare.isQuoted, isCode: bare.text.includes('`') };
}

/** Takes off quote marks, list bullets and heading marks; `undefined` for an indented code line. */
function withoutContainers(line: string): { text: string; isQuoted: boolean } | undefined {
  let text = line;
  let isQuoted = false;
  for (;;) {
    // Four columns make a code block, which shows the format instead of using it.
    if (/^(?: {4}| {0,3}\t)/.test(text)) return undefined;
    const marker = /^ {0,3}(?:(>) ?|(?:[-*+]|\d{1,9}[.)]|#{1,6}) )/.exec(text);
    if (marker === null) break;
    isQuoted ||= marker[1] !== undefined;
    text = text.slice(marker[0].length);
  }
  return { text: text.replace(/[ \t]+#+[ \t]*$/, '').replace(/^ +|[ \t]+$/g, ''), isQuoted };
}

const mark = '\\*{1,3}|_{1,3}|`';
const dressed = new RegExp(
  `^(?<key>${mark}|)VERDICT(?:\\k<key>[ \\t]*:|[ \\t]*:[ \\t]*\\k<key>)[ \\t]*(?<value>${mark}|)(?<word>PASS|FAIL|PARTIAL)\\k<value>$`,
);
const wrapped = new RegExp(`^(${mark})[ \\t]*(.+?)[ \\t]*\\1$`);

/** Emphasis and code marks count only in pairs: `PASS*` with a footnote star is not a plain PASS. */
function verdictWithin(text: string): StatedWord | undefined {
  let inner = text;
  for (let depth = 0; depth < 4; depth += 1) {
    const word = dressed.exec(inner)?.groups?.['word'];
    if (word === 'PASS' || word === 'FAIL' || word === 'PARTIAL') return word;
    const content = wrapped.exec(inner)?.[2];
    if (content === undefined) return undefined;
    inner = content;
  }
  return undefined;
}

/** A quote counts when it is that one line alone; a quote or code that a colon introduces is an example. */
function isQuotation(stated: Stated, before: readonly MarkdownLine[]): boolean {
  if (!stated.isQuoted && !stated.isCode) return false;
  const isContinued = stated.isQuoted && (before.at(-1)?.text.trim() ?? '') !== '';
  return isContinued || /:[*_]*$/.test(lastText(before));
}

function endsInNegation(before: readonly MarkdownLine[]): boolean {
  return /(?:\b(?:not|never|cannot)|n['’]t)[\s:,"'*_`]*$/i.test(lastText(before));
}

function lastText(lines: readonly MarkdownLine[]): string {
  return (lines.findLast((line) => line.text.trim() !== '')?.text ?? '').trim();
}

/** True for an earlier line that states another verdict; a line that lists the choices states none. */
function contradicts(line: MarkdownLine, word: StatedWord): boolean {
  if (line.isShown) return false;
  const said = /^[\s>#*_`+\-\d.)]*VERDICT[*_`]*\s*:[\s*_`]*(PASS|FAIL|PARTIAL)\b(?!\s*(?:[|/,]|or\b))/i.exec(
    line.text.slice(0, longestLine),
  );
  return said !== null && said[1]?.toUpperCase() !== word;
}
