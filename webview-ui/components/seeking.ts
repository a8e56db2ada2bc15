import { useEffect, useRef, useState } from 'preact/hooks';
import { holds } from '../../src/protocol/searchText';
import type { Host } from '../ipc';
import { type ListRow, rowOfEntry } from '../listRows';
import type { PageState } from '../state';
import type { PageStore } from '../store';
import type { FindState } from './findBar';
import type { ListHandle } from './rowList';

export interface Seeking {
  readonly rows: readonly ListRow[];
  readonly list: { readonly current: ListHandle | undefined };
  readonly earlier: (index: number) => Promise<void>;
  readonly open: (key: string) => void;
}

export interface Finding {
  readonly state: FindState | undefined;
  readonly open: () => void;
  readonly close: () => void;
  readonly setQuery: (query: string) => void;
  readonly step: (by: 1 | -1) => void;
}

export function useFind({
  store,
  host,
  rows,
  list,
  earlier,
  open,
}: Seeking & { store: PageStore; host: Host }): Finding {
  const [state, setState] = useState<FindState | undefined>(undefined);
  const [target, setTarget] = useState<number | undefined>(undefined);
  useGoTo({ target, rows, list, open, onDone: () => setTarget(undefined) });
  const goTo = (index: number | undefined): void => {
    if (index !== undefined) void earlier(index).then(() => setTarget(index));
  };
  const query = state?.query ?? '';
  useEffect(() => {
    if (query === '') return undefined;
    let isStale = false;
    const timer = setTimeout(() => {
      void hitsOf(store, host, query).then((hits) => {
        if (isStale) return;
        // From the end on, as one reads: the newest first.
        const position = Math.max(0, hits.length - 1);
        setState({ query, hits, position });
        goTo(hits[position]);
      });
    }, 150);
    return () => {
      isStale = true;
      clearTimeout(timer);
    };
  }, [query]);
  return {
    state,
    open: () => setState((known) => known ?? { query: '', hits: undefined, position: 0 }),
    close: () => setState(undefined),
    setQuery: (next) => setState({ query: next, hits: undefined, position: 0 }),
    step: (by) => {
      const hits = state?.hits ?? [];
      if (state === undefined || hits.length === 0) return;
      const position = (state.position + by + hits.length) % hits.length;
      setState({ ...state, position });
      goTo(hits[position]);
    },
  };
}

/** Here when everything is here; else the host looks. */
async function hitsOf(store: PageStore, host: Host, query: string): Promise<readonly number[]> {
  const { runId, from, entries } = store.state;
  if (runId === undefined) return [];
  const isHere = from === 0 && entries.every(({ isShortened }) => !isShortened);
  if (isHere) return entries.filter(({ entry }) => holds(entry, query)).map(({ index }) => index);
  try {
    return await host.find({ runId, query });
  } catch (error) {
    console.warn(`find: ${String(error)}`);
    return [];
  }
}

/** Ctrl+F, or Cmd+F, wherever the focus is. */
export function useFindKey(open: () => void): void {
  const latest = useRef(open);
  latest.current = open;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'f' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      event.preventDefault();
      latest.current();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
}

interface Target extends Omit<Seeking, 'earlier'> {
  readonly target: number | undefined;
  readonly onDone: () => void;
}

/** Unfolds the row of an entry and scrolls to it, once it is there. */
function useGoTo({ target, rows, list, open, onDone }: Target): void {
  useEffect(() => {
    if (target === undefined) return;
    const position = rowOfEntry(rows, target);
    const row = rows[position];
    if (row === undefined) return;
    if (row.kind === 'tool' || row.kind === 'thinking' || row.kind === 'user') open(row.key);
    list.current?.toRow(position);
    onDone();
  }, [target, rows]);
}

export function useReveal({
  reveal,
  rows,
  list,
  state,
  earlier,
  open,
}: Seeking & { readonly reveal: { call: number | undefined }; readonly state: PageState }): void {
  useEffect(() => {
    const { call } = reveal;
    if (call === undefined || state.runId === undefined) return;
    const position = rows.findIndex((row) => row.kind === 'tool' && row.call === call);
    const row = rows[position];
    if (row !== undefined) {
      reveal.call = undefined;
      open(row.key);
      list.current?.toRow(position);
    } else if (state.from > 0) {
      void earlier(state.from - 1);
    }
  });
}
