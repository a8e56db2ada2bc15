import { entrySchema, type TranscriptEntry } from '../../model/transcript';
import { entryBudget, type PageEntry } from '../../protocol/transcriptApi';

/** An entry as the page gets it: no more than `budget` characters of text. */
export function shortenEntry(entry: TranscriptEntry, index: number, budget = entryBudget): PageEntry {
  const left = { characters: budget, isShortened: false };
  if (!isLong(entry, budget)) return { index, entry, isShortened: false };
  // The id and the kind come first in an entry, so that they are never what is cut.
  const parsed = entrySchema.safeParse(shortened(entry, left));
  return parsed.success
    ? { index, entry: parsed.data, isShortened: left.isShortened }
    : { index, entry, isShortened: false };
}

function isLong(entry: TranscriptEntry, budget: number): boolean {
  let left = budget;
  const count = (value: unknown): void => {
    if (left < 0) return;
    if (typeof value === 'string') left -= value.length;
    else if (typeof value === 'object' && value !== null)
      for (const [name, item] of Object.entries(value)) {
        left -= name.length;
        count(item);
      }
  };
  count(entry);
  return left < 0;
}

/** Items of a list, or fields of an object, that are kept however little is left: their text is empty then. */
const mostItems = 500;

function shortened(value: unknown, left: { characters: number; isShortened: boolean }): unknown {
  if (typeof value === 'string') {
    if (value.length <= left.characters) {
      left.characters -= value.length;
      return value;
    }
    const kept = value.slice(0, Math.max(0, left.characters));
    left.characters = 0;
    left.isShortened = true;
    // Half of a surrogate pair would show as a fault.
    return kept.replace(/[\ud800-\udbff]$/, '');
  }
  if (Array.isArray(value)) {
    if (value.length > mostItems) left.isShortened = true;
    return value.slice(0, mostItems).map((item) => shortened(item, left));
  }
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value);
  if (fields.length > mostItems) left.isShortened = true;
  return Object.fromEntries(
    fields.slice(0, mostItems).map(([name, item]) => [
      name,
      // Short words such as ids, kinds and paths say what an entry is: they are always whole.
      typeof item === 'string' && item.length <= 200 ? item : shortened(item, left),
    ]),
  );
}
