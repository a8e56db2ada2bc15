import type { RunId } from '../src/model/ids';
import { joinPieces, lengthOf, withoutStart } from '../src/protocol/pieces';
import {
  type Facts,
  type LiveMessage,
  type LiveOutput,
  liveBudget,
  type PageAppend,
  type PageEntry,
  type PageSnapshot,
  type PageStream,
} from '../src/protocol/transcriptApi';

/** What the page knows of the shown Run. Its entries are those of the file from `from` to `revision`, without a gap. */
export interface PageState {
  readonly runId: RunId | undefined;
  readonly from: number;
  readonly revision: number;
  readonly entries: readonly PageEntry[];
  readonly facts: Facts | undefined;
  readonly live: LiveMessage | undefined;
  /** By the id of the tool call. */
  readonly outputs: ReadonlyMap<string, LiveOutput>;
  /** Something is missing that only a snapshot can bring. */
  readonly needsSnapshot: boolean;
}

export type PageAction =
  | { readonly type: 'snapshot'; readonly snapshot: PageSnapshot }
  | { readonly type: 'append'; readonly append: PageAppend }
  | { readonly type: 'stream'; readonly stream: PageStream }
  | { readonly type: 'facts'; readonly runId: RunId; readonly facts: Facts }
  | { readonly type: 'earlier'; readonly runId: RunId; readonly entries: readonly PageEntry[] }
  | { readonly type: 'whole'; readonly runId: RunId; readonly entry: PageEntry };

export const emptyState: PageState = {
  runId: undefined,
  from: 0,
  revision: 0,
  entries: [],
  facts: undefined,
  live: undefined,
  outputs: new Map(),
  needsSnapshot: true,
};

/** Messages may come twice, late or in another order: what is known already changes nothing. */
export function reduce(state: PageState, action: PageAction): PageState {
  switch (action.type) {
    case 'snapshot':
      return takeSnapshot(state, action.snapshot);
    case 'append':
      return takeAppend(state, action.append);
    case 'stream':
      return takeStream(state, action.stream);
    case 'facts':
      return action.runId === state.runId ? withFacts(state, action.facts) : state;
    case 'earlier':
      return action.runId === state.runId ? takeEarlier(state, action.entries) : state;
    case 'whole':
      return action.runId === state.runId ? takeWhole(state, action.entry) : state;
  }
}

function takeSnapshot(state: PageState, snapshot: PageSnapshot): PageState {
  const { runId, revision, entries, facts } = snapshot;
  if (!isRow(entries, revision)) return state;
  if (runId !== state.runId) {
    // Of two Runs the host switched to, the one with the later facts is shown.
    if (state.facts !== undefined && facts.serial < state.facts.serial) return state;
    const fresh = { ...emptyState, runId, facts, from: revision - entries.length, revision, entries };
    return withStream({ ...fresh, needsSnapshot: false }, snapshot, true);
  }
  const known = withFacts({ ...state, needsSnapshot: false }, facts);
  if (revision < state.revision) return { ...state, facts: known.facts };
  return withStream(merge(known, entries, revision), snapshot, true);
}

function takeAppend(state: PageState, { runId, revision, entries }: PageAppend): PageState {
  if (runId !== state.runId) return state.runId === undefined ? { ...state, needsSnapshot: true } : state;
  if (!isRow(entries, revision) || revision <= state.revision) return state;
  if (revision - entries.length > state.revision) return { ...state, needsSnapshot: true };
  return merge(state, entries, revision);
}

function takeStream(state: PageState, stream: PageStream): PageState {
  if (stream.runId !== state.runId) return state;
  return withStream(state, stream, false);
}

/** Indices without a gap, the last one just below `revision`. */
function isRow(entries: readonly PageEntry[], revision: number): boolean {
  return entries.every(({ index }, position) => index === revision - entries.length + position);
}

/** Adds entries that end at `revision`; where they leave a gap behind what is known, they replace it. */
function merge(state: PageState, entries: readonly PageEntry[], revision: number): PageState {
  const from = revision - entries.length;
  const before = from < state.from ? entries.slice(0, state.from - from) : [];
  const touches = from <= state.revision && revision >= state.from;
  const next: PageState = touches
    ? {
        ...state,
        from: Math.min(from, state.from),
        revision: Math.max(revision, state.revision),
        entries:
          revision <= state.revision && before.length === 0
            ? state.entries
            : [...before, ...state.entries, ...entries.slice(Math.max(0, state.revision - from))],
      }
    : { ...state, from, revision, entries };
  return withoutEnded(next, touches ? state.revision : from);
}

/** Live text whose message or tool has ended by now goes: the entry has it. */
function withoutEnded(state: PageState, since: number): PageState {
  const { live } = state;
  const ended = new Set<string>();
  for (const { entry } of state.entries.slice(Math.max(0, since - state.from)))
    if (entry.type === 'tool.ended') ended.add(entry.toolUseId);
  const outputs =
    [...state.outputs.keys()].some((id) => ended.has(id)) === false
      ? state.outputs
      : new Map([...state.outputs].filter(([id]) => !ended.has(id)));
  return { ...state, outputs, live: live !== undefined && isOver(state, live.message) ? undefined : live };
}

/** Whether the message that began at `index` has ended, or another one has begun since. */
function isOver(state: PageState, index: number): boolean {
  if (index < state.from) return true;
  return state.entries
    .slice(Math.max(0, index - state.from + 1))
    .some(({ entry }) => entry.type.startsWith('message') || entry.type === 'state');
}

function withStream(
  state: PageState,
  { live, outputs }: Pick<PageStream, 'live' | 'outputs'>,
  isWhole: boolean,
): PageState {
  let next = live === undefined ? state : withLive(state, live, isWhole);
  if (outputs.length > 0) {
    const all = new Map(next.outputs);
    for (const output of outputs)
      if (!hasEnded(next, output.toolUseId))
        all.set(output.toolUseId, joined(all.get(output.toolUseId), output));
    next = { ...next, outputs: all };
  }
  return next;
}

function withLive(state: PageState, more: LiveMessage, isWhole: boolean): PageState {
  const { live } = state;
  if (more.message < state.revision && isOver(state, more.message)) return state;
  if (live !== undefined && more.message < live.message) return state;
  if (live === undefined || more.message > live.message) {
    return more.offset === 0 || isWhole
      ? { ...state, live: trimmed(more) }
      : { ...state, needsSnapshot: true };
  }
  const end = live.offset + lengthOf(live.pieces);
  if (more.offset > end)
    return isWhole ? { ...state, live: trimmed(more) } : { ...state, needsSnapshot: true };
  const fresh = withoutStart(more.pieces, end - more.offset);
  return fresh.length === 0
    ? state
    : { ...state, live: trimmed({ ...live, pieces: joinPieces(live.pieces, fresh) }) };
}

function hasEnded(state: PageState, toolUseId: string): boolean {
  // Newest first: a tool that streams is near the end, and a model may use an id again.
  for (let position = state.entries.length - 1; position >= 0; position -= 1) {
    const entry = state.entries[position]?.entry;
    if (entry?.type === 'tool.started' && entry.toolUseId === toolUseId) return false;
    if (entry?.type === 'tool.ended' && entry.toolUseId === toolUseId) return true;
  }
  return false;
}

/** Output that goes on where the known one ends; after a gap only the new part is shown. */
function joined(known: LiveOutput | undefined, more: LiveOutput): LiveOutput {
  if (known === undefined) return more;
  const end = known.offset + known.text.length;
  if (more.offset > end) return more;
  const text = known.text + more.text.slice(end - more.offset);
  const excess = Math.max(0, text.length - liveBudget);
  return { ...known, offset: known.offset + excess, text: text.slice(excess) };
}

function trimmed(live: LiveMessage): LiveMessage {
  const excess = lengthOf(live.pieces) - liveBudget;
  if (excess <= 0) return live;
  return { ...live, offset: live.offset + excess, pieces: withoutStart(live.pieces, excess) };
}

function withFacts(state: PageState, facts: Facts): PageState {
  return state.facts !== undefined && facts.serial <= state.facts.serial ? state : { ...state, facts };
}

function takeEarlier(state: PageState, entries: readonly PageEntry[]): PageState {
  const last = entries.at(-1);
  if (last === undefined || !isRow(entries, last.index + 1) || last.index + 1 < state.from) return state;
  const before = entries.filter(({ index }) => index < state.from);
  if (before.length === 0) return state;
  return { ...state, from: state.from - before.length, entries: [...before, ...state.entries] };
}

function takeWhole(state: PageState, whole: PageEntry): PageState {
  const position = whole.index - state.from;
  if (state.entries[position]?.isShortened !== true) return state;
  return { ...state, entries: state.entries.with(position, whole) };
}
