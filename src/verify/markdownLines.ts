/** One line of an answer, with what Markdown makes of it. */
export interface MarkdownLine {
  readonly text: string;
  /** Inside a fence, an HTML comment or a raw HTML block: shown, not said. */
  readonly isShown: boolean;
  /** True when one reading of the Markdown has it inside a fence and another has not. */
  readonly isDoubtful: boolean;
}

interface Block {
  readonly isEnd: (line: string) => boolean;
  /** Columns of the opening line's content; 0 for blocks that only their own end closes. */
  readonly indent: number;
  readonly quoteDepth: number;
}

/**
 * Splits an answer into lines and marks those that only show something. Where a fence inside a list may
 * have ended with the item or not, the line is marked doubtful: nobody may build a verdict on it.
 */
export function markdownLines(text: string): MarkdownLine[] {
  const lines = text.split(/\r\n|\n|\r/);
  const strict = shownLines(lines, false);
  const byIndent = shownLines(lines, true);
  return lines.map((line, index) => {
    const isFirst = strict[index] === true;
    const isSecond = byIndent[index] === true;
    return { text: line, isShown: isFirst && isSecond, isDoubtful: isFirst !== isSecond };
  });
}

function shownLines(lines: readonly string[], doesDedentEnd: boolean): boolean[] {
  let open: Block | undefined;
  return lines.map((line) => {
    if (open !== undefined && isLeft(open, line, doesDedentEnd)) open = undefined;
    if (open !== undefined) {
      if (open.isEnd(line)) open = undefined;
      return true;
    }
    open = opening(line);
    return open !== undefined;
  });
}

/** A block inside a quote ends with the quote; one inside a list item may end with the item. */
function isLeft(block: Block, line: string, doesDedentEnd: boolean): boolean {
  if (quoteDepthOf(line) < block.quoteDepth) return true;
  return doesDedentEnd && block.indent > 0 && line.trim() !== '' && indentOf(line) < block.indent;
}

const containers = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*/;

function opening(line: string): Block | undefined {
  const prefix = containers.exec(line)?.[0] ?? '';
  const content = line.slice(prefix.length);
  const indent = prefix.includes('>') ? 0 : prefix.length;
  const quoteDepth = quoteDepthOf(line);
  const fence = /^(`{3,})[^`]*$|^(~{3,})/.exec(content);
  const marks = fence?.[1] ?? fence?.[2];
  if (marks !== undefined) return { isEnd: fenceEnd(marks, indent), indent, quoteDepth };
  const html = /^<(?:(!--)|(pre|script|style|textarea)(?=[\s>]|$))/i.exec(content);
  if (html === null) return undefined;
  const end = html[1] === undefined ? `</${(html[2] ?? '').toLowerCase()}>` : '-->';
  // A block that closes on its own line opens nothing.
  if (content.toLowerCase().includes(end)) return undefined;
  return { isEnd: (later) => later.toLowerCase().includes(end), indent: 0, quoteDepth };
}

function fenceEnd(marks: string, indent: number): (line: string) => boolean {
  const closing = new RegExp(`^[ \\t>]*${marks[0] === '~' ? '~' : '`'}{${marks.length},}[ \\t]*$`);
  // Four columns deeper than its opening it is content, not an end.
  return (line) => closing.test(line) && indentOf(line) <= indent + 3;
}

function quoteDepthOf(line: string): number {
  return (/^(?:[ ]{0,3}>[ ]?)*/.exec(line)?.[0] ?? '').split('>').length - 1;
}

function indentOf(line: string): number {
  return (/^[ \t]*/.exec(line)?.[0] ?? '').replaceAll('\t', '    ').length;
}
