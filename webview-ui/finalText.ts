import { textOf } from '../src/model/messages';
import type { PageEntry } from '../src/protocol/transcriptApi';
import { safeLine } from './safeText';

const longest = 600;

/** The text of the newest message that ended a turn, if it came at or after `since`. */
export function finalText(entries: readonly PageEntry[], since: number): string {
  for (let position = entries.length - 1; position >= 0; position -= 1) {
    const one = entries[position];
    if (one === undefined || one.index < since) return '';
    if (one.entry.type === 'message' && one.entry.stopReason === 'end_turn')
      return safeLine(textOf(one.entry.content)).slice(0, longest);
  }
  return '';
}
