import type { Answer } from '../../model/answer';

const sectionNames = ['SUMMARY', 'CHANGES', 'EVIDENCE', 'RISKS', 'BLOCKERS'] as const;
type SectionName = (typeof sectionNames)[number];

/** A heading: the name with a colon, or dressed as a Markdown heading, or bold; what follows on its line counts. */
const heading = new RegExp(
  `^\\s{0,3}(?:>\\s?)?(#{1,6}\\s+)?([*_]{0,3})(${sectionNames.join('|')})\\s*(:?)\\s*([*_]{0,3})\\s*(:?)\\s*(.*)$`,
  'i',
);
const fence = /^\s*(?:```|~~~)/;
const verdictLine = /^[\s>#*_`]*VERDICT\s*:/i;
const bullet = /^\s*(?:[-*+•]|\d+[.)])\s+/;
const none = /^(?:none|n\/a|nothing|-|no (?:changes|evidence|risks|blockers))[.!]?$/i;

/** Reads the five sections out of a final answer. Never throws; a section that is not there is in `missing`. */
export function parseAnswer(text: string): Answer {
  const sections = sectionsOf(text);
  const items = (name: SectionName): string[] => itemsOf(sections.get(name) ?? []);
  return {
    summary: (sections.get('SUMMARY') ?? []).join('\n').trim(),
    changes: items('CHANGES').flatMap((item) => changeOf(item) ?? []),
    evidence: items('EVIDENCE').flatMap((item) => evidenceOf(item) ?? []),
    risks: items('RISKS'),
    blockers: items('BLOCKERS'),
    missing: sectionNames.filter((name) => !sections.has(name)),
  };
}

/** The one request to mend the form; `undefined` when nothing is missing. */
export function mendRequest(text: string): string | undefined {
  const { missing } = parseAnswer(text);
  if (missing.length === 0) return undefined;
  return (
    `Your last message lacks: ${missing.join(', ')}. Send it again, whole, with all five sections ` +
    `(${sectionNames.join(', ')}), each on its own line with a colon, and \`None.\` where there is nothing to say. ` +
    'If your role ends with a verdict line, end with it again. Do not do any further work.'
  );
}

/** The lines of each section. One that occurs twice counts where it stands last. */
function sectionsOf(text: string): Map<SectionName, string[]> {
  const sections = new Map<SectionName, string[]>();
  let current: string[] | undefined;
  let isFenced = false;
  for (const line of text.split(/\r?\n/)) {
    if (fence.test(line)) isFenced = !isFenced;
    const found = isFenced ? undefined : headingOf(line);
    if (found !== undefined) {
      current = found.rest === '' ? [] : [found.rest];
      sections.set(found.name, current);
    } else if (!isFenced && verdictLine.test(line)) {
      current = undefined;
    } else {
      current?.push(line);
    }
  }
  return sections;
}

function headingOf(line: string): { name: SectionName; rest: string } | undefined {
  const match = heading.exec(line);
  if (match === null) return undefined;
  const [, hashes, opening, word = '', colon, , secondColon, rest = ''] = match;
  const hasColon = colon === ':' || secondColon === ':';
  const isDressed = hashes !== undefined || opening !== '';
  // A bare word at the beginning of a sentence is no heading.
  const isAlone = rest === '' && word === word.toUpperCase();
  if (!hasColon && !(isDressed && rest === '') && !isAlone) return undefined;
  const name = sectionNames.find((known) => known === word.toUpperCase());
  return name === undefined ? undefined : { name, rest: rest.trim() };
}

/** Bullets, or paragraphs where there are none; continuation lines belong to the item above. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  let isOpen = false;
  for (const line of lines) {
    if (line.trim() === '') {
      isOpen = false;
    } else if (bullet.test(line) || !isOpen) {
      items.push(line.replace(bullet, '').trim());
      isOpen = true;
    } else {
      items[items.length - 1] = `${items.at(-1) ?? ''} ${line.trim()}`;
    }
  }
  return items.filter((item) => !none.test(undressed(item)) && item !== '');
}

/** Without Markdown's marks around it. By hand: a pattern for the end would be slow on long hostile text. */
function undressed(text: string, marks = '*_` \t'): string {
  let first = 0;
  let end = text.length;
  while (first < end && marks.includes(text.charAt(first))) first += 1;
  while (end > first && marks.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(first, end);
}

/** A path at the beginning of an item: in backticks, as a link's target, or up to a separator. */
function pathAndNote(item: string): { path: string; note: string } | undefined {
  const quoted = /^[*_]{0,2}`([^`]+)`[*_]{0,2}(.*)$/s.exec(item);
  const linked = /^[*_]{0,2}\[[^\]]*\]\(([^)\s]+)\)[*_]{0,2}(.*)$/s.exec(item);
  const bold = /^\*\*([^*]+)\*\*(.*)$/s.exec(item);
  const plain = /^(\S+?)(:?\s.*|:?)$/s.exec(item);
  const spaced = /^([^:]*[\w)]\.\w+(?::\d+(?:[-–]\d+)?)?)(:\s.*|\s[-–—]\s.*)$/s.exec(item);
  const match = quoted ?? linked ?? bold ?? spaced ?? plain;
  if (match === null) return undefined;
  const [, path = '', rest = ''] = match;
  // Not underscores: `__init__.py` is a path.
  const clean = undressed(path, '*` \t').replace(/:$/, '');
  if (clean === '' || !/[\w]/.test(clean)) return undefined;
  return { path: clean, note: rest.replace(/^[\s:,*–—-]+/, '').trim() };
}

function changeOf(item: string): Answer['changes'][number] | undefined {
  const found = pathAndNote(item);
  // A line number says where to look, not which file changed.
  return found && { path: splitLines(found.path).path, note: found.note };
}

function evidenceOf(item: string): Answer['evidence'][number] | undefined {
  const found = pathAndNote(item);
  if (found === undefined) return undefined;
  const direct = splitLines(found.path);
  if (direct.line !== undefined) return { ...direct, note: found.note };
  // The range may stand outside the backticks.
  const behind = /^(?:lines?\s*)?(\d+)(?:\s*[-–]\s*(\d+))?(?=[\s:,.)–—-]|$)/i.exec(found.note);
  if (behind === null) return { path: direct.path, note: found.note };
  const note = found.note.slice(behind[0].length).replace(/^[\s:,.)–—-]+/, '');
  return { path: direct.path, ...lineRange(behind[1], behind[2]), note };
}

function splitLines(path: string): { path: string; line?: number; endLine?: number } {
  const match = /^(.+?)(?::|#L)(\d+)(?:(?::\d+)?[-–]L?(\d+))?(?::\d+)?$/.exec(path);
  if (match === null) return { path };
  return { path: match[1] ?? path, ...lineRange(match[2], match[3]) };
}

function lineRange(first: string | undefined, last: string | undefined): { line?: number; endLine?: number } {
  const line = Number(first);
  if (!Number.isInteger(line) || line < 1) return {};
  const endLine = Number(last);
  return last === undefined || endLine < line ? { line } : { line, endLine };
}
