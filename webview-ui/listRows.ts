import type { Facts } from '../src/protocol/transcriptApi';
import { currentFinal } from './finalAnswer';
import type { Row, RowBuilder } from './rows';
import type { PageState } from './state';

/** What the list shows: rows of entries, and what stands after them. */
export type ListRow =
  | Row
  | { readonly kind: 'live'; readonly key: string }
  | { readonly kind: 'preparing'; readonly key: string; readonly state: 'created' | 'running' }
  | { readonly kind: 'end'; readonly key: string }
  | { readonly kind: 'verdict'; readonly key: string }
  | { readonly kind: 'problems'; readonly key: string }
  | { readonly kind: 'newer'; readonly key: string };

export function listRows(state: PageState, builder: RowBuilder): readonly ListRow[] {
  const { facts } = state;
  const rows = builder.build(state.entries);
  if (facts === undefined) return [];
  const { run } = facts;
  const hasEnded = run.end !== undefined;
  const after: ListRow[] = [];
  if (!hasEnded && run.state === 'created')
    after.push({ kind: 'preparing', key: 'preparing', state: 'created' });
  else if (!hasEnded && builder.hasOpenMessage) after.push({ kind: 'live', key: 'live' });
  else if (!hasEnded && rows.length === 0)
    after.push({ kind: 'preparing', key: 'preparing', state: 'running' });
  if (hasEnded && builder.hasOpenMessage) {
    const at = builder.openMessageAt ?? '';
    const index = state.revision - 1;
    after.push({ kind: 'cut', text: '', reason: 'killed', key: 'cut', index, at, isShortened: false });
  }
  if (run.problems.length > 0) after.push({ kind: 'problems', key: 'problems' });
  if (hasEnded) after.push({ kind: 'end', key: 'end' });
  if (facts.verdict !== undefined) after.push({ kind: 'verdict', key: 'verdict' });
  if (facts.runs.at(-1)?.id !== run.id) after.push({ kind: 'newer', key: 'newer' });
  return [...currentFinal(withoutEnd(rows, hasEnded), builder, run.answer), ...after];
}

/** The row that tells what a Run that has ended came to: its answer, of a verification the Verdict; -1: none. */
export function newsPosition(rows: readonly ListRow[], { run }: Facts): number {
  if (run.end === undefined) return -1;
  const kind = run.kind === 'verify' ? 'verdict' : 'answer';
  return rows.findLastIndex((row) => row.kind === kind);
}

/** The last state change is told by the row at the end. */
function withoutEnd(rows: readonly Row[], hasEnded: boolean): readonly Row[] {
  return hasEnded && rows.at(-1)?.kind === 'state' ? rows.slice(0, -1) : rows;
}

/** The position of the row that shows the entry at `index`: its own first one, else the nearest before; -1: none. */
export function rowOfEntry(rows: readonly ListRow[], index: number): number {
  let best = -1;
  let bestIndex = -1;
  for (const [position, row] of rows.entries()) {
    if (!('index' in row)) continue;
    if (row.kind === 'tool' && row.endedIndex === index) return position;
    if (row.index <= index && row.index > bestIndex) {
      best = position;
      bestIndex = row.index;
    }
  }
  return best;
}
