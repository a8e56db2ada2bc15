import type { Location, Severity } from '../model/verdict';
import { markdownLines } from './markdownLines';
import { exactPath, locate, parsePlace, resolvePath, type TreePaths, type WrittenPlace } from './references';

/** A remark read out of prose. `location` is absent when it names no place that exists. */
export interface ProseFinding {
  readonly location?: Location;
  readonly severity: Severity;
  readonly title: string;
  readonly detail: string;
}

const severityWords: Readonly<Record<string, Severity>> = {
  error: 'error',
  critical: 'error',
  blocker: 'error',
  blocking: 'error',
  severe: 'error',
  high: 'error',
  major: 'error',
  bug: 'error',
  p0: 'error',
  p1: 'error',
  warning: 'warning',
  warn: 'warning',
  medium: 'warning',
  moderate: 'warning',
  p2: 'warning',
  info: 'info',
  note: 'info',
  low: 'info',
  minor: 'info',
  nit: 'info',
  trivial: 'info',
  suggestion: 'info',
  p3: 'info',
};
const severityWord = `(${Object.keys(severityWords).join('|')})`;

/** Longest title and detail, in characters; the answer itself keeps the rest. */
const longestTitle = 200;
const longestDetail = 2_000;
/** Lines and findings looked at; text beyond is no honest answer. */
const mostLines = 5_000;
const mostFindings = 200;
const longestLine = 2_000;

/**
 * Reads findings out of an answer, for agents that do not report by tool. A finding is a line outside
 * fences that leads with a severity word and names a place, or a list item under a heading `Findings`,
 * `Issues`, `Problems` or `Bugs`. What stands under CHANGES or EVIDENCE is proof, not a remark.
 */
export function parseFindings(text: string, tree: TreePaths): ProseFinding[] {
  const found = new Map<string, ProseFinding>();
  for (const item of itemsOf(text)) {
    const finding = findingOf(item, tree);
    if (finding === undefined) continue;
    const { path, line } = finding.location ?? {};
    const key = JSON.stringify([path, line, finding.title]);
    if (!found.has(key)) found.set(key, finding);
    if (found.size >= mostFindings) break;
  }
  return [...found.values()];
}

interface Item {
  readonly first: string;
  readonly all: string;
  /** Under a heading of findings, and a list item. */
  readonly isListed: boolean;
}

function itemsOf(text: string): Item[] {
  const items: { first: string; lines: string[]; isListed: boolean }[] = [];
  let section: 'findings' | 'proof' | 'other' = 'other';
  let isOpen = false;
  for (const line of markdownLines(text).slice(0, mostLines)) {
    if (line.isShown) {
      if (isOpen) items.at(-1)?.lines.push(line.text);
      continue;
    }
    const heading = headingOf(line.text);
    if (heading !== undefined) section = heading;
    if (heading !== undefined || line.text.trim() === '') {
      isOpen = false;
      continue;
    }
    const bullet = /^ {0,3}(?:[-*+]|\d{1,3}[.)])\s+(.*)$/.exec(line.text);
    if (bullet === null && isOpen && /^\s/.test(line.text)) {
      items.at(-1)?.lines.push(line.text);
    } else if (section !== 'proof') {
      const first = (bullet?.[1] ?? line.text.trim()).slice(0, longestLine);
      items.push({ first, lines: [first], isListed: bullet !== null && section === 'findings' });
      isOpen = true;
    } else {
      isOpen = false;
    }
  }
  return items.map(({ first, lines, isListed }) => ({ first, all: lines.join('\n'), isListed }));
}

/** The section a line opens: a Markdown heading, a bold line, or `WORD:` alone or in capitals. */
function headingOf(line: string): 'findings' | 'proof' | 'other' | undefined {
  const bare = line.replace(/^[\s#*_]+|[\s*_]+$/g, '');
  const isMarked = /^\s{0,3}#{1,6}\s/.test(line) || /^\s*(\*\*|__).+\1:?\s*$/.test(line);
  const name = /^([A-Za-z][A-Za-z ]{0,40}?)[*_]*:/.exec(bare)?.[1] ?? (isMarked ? bare : undefined);
  if (name === undefined) return undefined;
  const word = name.trim().toLowerCase();
  if (/^(?:\w+ )?(?:findings|issues|problems|bugs)(?: found)?$/.test(word)) return 'findings';
  if (/^(?:changes|evidence|evidence and checks)$/.test(word)) return 'proof';
  if (/^(?:summary|risks|blockers|verdict|checks)$/.test(word)) return 'other';
  return isMarked && !startsWithSeverity(bare) ? 'other' : undefined;
}

const leadingTag = new RegExp(`^[\\s*_\`\\[(]*${severityWord}(?=[\\s*_\`\\])]*[:\\-—–\\])]|[*_\`]+\\s)`, 'i');
// What may stand between a place and its severity: `src/x.ts:3: error`, `src/x.ts:3 [high]`, `src/x.ts:3 — low:`.
const trailingTag = new RegExp(
  `^[\\s*_\`"':)\\]—–-]*[\\[(*_]*${severityWord}(?=[\\s*_\`]*[:\\])—–-]|[*_\`]+)`,
  'i',
);

function startsWithSeverity(text: string): boolean {
  return leadingTag.test(text);
}

function findingOf(item: Item, tree: TreePaths): ProseFinding | undefined {
  if (/^[*_]*(?:none|no (?:findings|issues|problems|bugs))\b[^:]*$/i.test(item.first.trim()))
    return undefined;
  const place = findPlace(item.first, tree);
  const lead = leadingTag.exec(item.first);
  const trail = place && trailingTag.exec(item.first.slice(place.end));
  const word = (lead?.[1] ?? trail?.[1])?.toLowerCase();
  if (!item.isListed && (word === undefined || place === undefined)) return undefined;
  return {
    ...(place?.location === undefined ? {} : { location: place.location }),
    severity: (word === undefined ? undefined : severityWords[word]) ?? 'warning',
    title: titleOf(item.first, lead?.[0].length ?? 0, place, trail?.[0].length ?? 0),
    detail: item.all.slice(0, longestDetail),
  };
}

/** The line without its severity and, where the place is real, without the place. */
function titleOf(line: string, leadEnd: number, place: FoundPlace | undefined, trailLength: number): string {
  const trim = (text: string): string => text.replace(/^[\s:,;.\-—–*_`)\]]+|[\s:,;\-—–*_`([]+$/g, '');
  if (place?.location === undefined) return trim(line.slice(leadEnd)).slice(0, longestTitle) || line.trim();
  const before = trim(line.slice(leadEnd, Math.max(leadEnd, place.start)));
  const after = trim(line.slice(place.end + trailLength));
  const title = [before, after].filter((part) => part !== '').join(' — ');
  return (title || line.trim()).slice(0, longestTitle);
}

interface FoundPlace {
  readonly start: number;
  readonly end: number;
  readonly location?: Location;
}

/** The first real place in a line; else the first that looks like one, without a location. */
function findPlace(line: string, tree: TreePaths): FoundPlace | undefined {
  const wrapped = [...linksIn(line, tree), ...quotedIn(line, tree)];
  // A word inside a link or quotation is part of that path: `"my file.ts:3"` must not become `file.ts:3`.
  const words = wordsIn(line, tree).filter(
    (word) => !wrapped.some((outer) => word.start < outer.end && word.end > outer.start),
  );
  const candidates = [...wrapped, ...words];
  candidates.sort((a, b) => a.start - b.start || b.end - a.end);
  return candidates.find((found) => found.location !== undefined) ?? candidates[0];
}

/** `[text](path#L3)`: the target is the path; when the text names another real file, neither is believed. */
function linksIn(line: string, tree: TreePaths): FoundPlace[] {
  return [...line.matchAll(/\[([^\]\n]*)\]\(<?([^)>\n]*(?:\([^)\n]*\)[^)>\n]*)?)>?\)/g)].flatMap((link) => {
    const [whole, text = '', target = ''] = link;
    const bounds = { start: link.index, end: link.index + whole.length };
    if (/^[a-z][a-z+.-]+:\/\//i.test(target) && !target.startsWith('file://')) return [];
    const label = placeOf(text.replace(/^[`*_]+|[`*_]+$/g, ''));
    const aimed = placeOf(target.replace(/^<|>$/g, ''));
    if (aimed === undefined) return [];
    const path = resolvePath(aimed.path, tree);
    const named = label && resolvePath(label.path, tree);
    if (named !== undefined && path !== undefined && named !== path) return [bounds];
    const location = locate(aimed.line === undefined ? { ...label, path: aimed.path } : aimed, tree);
    return [location === undefined ? bounds : { ...bounds, location }];
  });
}

/** In backticks or quotes a path may hold spaces. */
function quotedIn(line: string, tree: TreePaths): FoundPlace[] {
  return [...line.matchAll(/(`+|"|')([^`"'\n]+)\1/g)].flatMap((quoted) => {
    const content = (quoted[2] ?? '').trim();
    const place = /:\s/.test(content) ? undefined : placeOf(content);
    if (place === undefined) return [];
    const end = quoted.index + quoted[0].length;
    return found({ start: quoted.index, end }, line, place, tree);
  });
}

function wordsIn(line: string, tree: TreePaths): FoundPlace[] {
  const words = [...line.replace(/(\(\d+,) (?=\d+\))/g, '$1\0').matchAll(/\S+/g)];
  return words.flatMap((word, index) => {
    const end = word.index + word[0].length;
    // A path with spaces goes before its last word alone: that could be another real file.
    for (let first = Math.max(0, index - 5); first < index; first += 1) {
      const start = words[first]?.index ?? 0;
      const place = placeOf(unwrapped(line.slice(start, end)));
      if (place !== undefined && exactPath(place.path, tree) !== undefined)
        return found({ start, end }, line, place, tree);
    }
    const raw = word[0].replace('\0', ' ');
    const asWritten = placeOf(raw);
    const isReal = asWritten !== undefined && exactPath(asWritten.path, tree) !== undefined;
    const place = isReal ? asWritten : placeOf(unwrapped(raw));
    return place === undefined ? [] : found({ start: word.index, end }, line, place, tree);
  });
}

/** Adds the line number of `path, line 3` and `path lines 3-7`, then holds the place against the tree. */
function found(
  bounds: { start: number; end: number },
  line: string,
  written: WrittenPlace,
  tree: TreePaths,
): FoundPlace[] {
  let { end } = bounds;
  let place = written;
  const after = /^["'`)\],]*\s*(?:\(|at |on )?\s*lines? (\d{1,9})(?:\s?(?:-|–|to)\s?(\d{1,9}))?\)?/i.exec(
    line.slice(end),
  );
  if (place.line === undefined && after !== null) {
    end += after[0].length;
    place = { ...place, line: Number(after[1]), ...(after[2] ? { endLine: Number(after[2]) } : {}) };
  }
  const location = locate(place, tree);
  // `localhost:80` and `12:30` name no file; `Makefile:3` does when there is one.
  if (location === undefined && !hasPathShape(place.path)) return [];
  return [{ start: bounds.start, end, ...(location === undefined ? {} : { location }) }];
}

/** Takes the punctuation off that prose puts around a path; an underscore only where both ends have it. */
function unwrapped(word: string): string {
  let text = word.replace(/^[[({<"'`*“‘（【]+/, '');
  for (;;) {
    const next = text.replace(/[.,;:!?"'`*>}\]”’。，；：）】]$/, '');
    const isCall = /\(\d+(?:[,–-] ?\d+)?\)$/.test(next);
    const closed = next.endsWith(')') && !isCall ? next.slice(0, -1) : next;
    if (closed === text) break;
    text = closed;
  }
  return /^(_+)([^_].*)\1$/.exec(text)?.[2] ?? text;
}

/** A word that names a place: it has a line, or at least looks like a path with a file name at its end. */
function placeOf(text: string): WrittenPlace | undefined {
  if (text === '' || (/:\/\//.test(text) && !text.startsWith('file://'))) return undefined;
  const place = parsePlace(text);
  if (place !== undefined) return /^\d+$|^[A-Za-z]$|\s$/.test(place.path) ? undefined : place;
  return /[\\/]/.test(text) && /\.[A-Za-z]\w{0,9}$/.test(text) ? { path: text } : undefined;
}

function hasPathShape(path: string): boolean {
  return /[\\/]/.test(path) || /\.[A-Za-z]\w{0,9}$/.test(path);
}
