import { textOf } from '../model/messages';
import type { TranscriptEntry } from '../model/transcript';

/** Whether an entry holds `query`, ignoring case; the same for the page and for its host. */
export function holds(entry: TranscriptEntry, query: string): boolean {
  const wanted = query.toLowerCase();
  return textsOf(entry).some((text) => text.toLowerCase().includes(wanted));
}

/** What of an entry the page shows as text. */
function textsOf(entry: TranscriptEntry): readonly string[] {
  switch (entry.type) {
    case 'message':
      return entry.content.flatMap((block) =>
        block.type === 'tool_use' ? [] : strings(block, ['text', 'thinking']),
      );
    case 'message.cut':
      return [entry.partialText];
    case 'user':
      return [textOf(entry.content)];
    case 'tool.started':
      return [entry.name, ...strings(entry.input)];
    case 'tool.ended':
      return [typeof entry.content === 'string' ? entry.content : textOf(entry.content)];
    case 'question':
      return [entry.command];
    case 'retry':
      return [entry.message];
    case 'note':
      return [entry.text];
    default:
      return [];
  }
}

/** Every string in a value; of an object only these fields, where they are given. */
function strings(value: unknown, fields?: readonly string[]): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap((item) => strings(item));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) =>
    fields === undefined || fields.includes(name) ? strings(item) : [],
  );
}
