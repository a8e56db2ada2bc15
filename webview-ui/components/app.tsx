import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RunId } from '../../src/model/ids';
import { windowSize } from '../../src/protocol/transcriptApi';
import { finalText } from '../finalText';
import type { Host } from '../ipc';
import { type ListRow, listRows } from '../listRows';
import { RowBuilder } from '../rows';
import type { PageState } from '../state';
import type { PageStore } from '../store';
import type { ViewState } from '../viewState';
import { t } from '../words';
import { type PageContext, PageProvider } from './context';
import { FindBar } from './findBar';
import { Footer } from './followUp';
import { Header } from './header';
import { useRerender } from './hooks';
import { type ListHandle, RowList } from './rowList';
import { useFind, useFindKey, useReveal } from './seeking';

export interface AppProps {
  readonly store: PageStore;
  readonly host: Host;
  readonly view: ViewState;
  readonly onView: (view: ViewState) => void;
  /** Where a `[call N]` to be shown is put, until it is. */
  readonly reveal: { call: number | undefined };
}

export function App({ store, host, view, onView, reveal }: AppProps): JSX.Element {
  const state = useStore(store);
  const kept = useView(view, onView, state.runId);
  const builder = useRef(new RowBuilder());
  const rows = useMemo(() => listRows(state, builder.current), [state]);
  const list = useRef<ListHandle | undefined>(undefined);
  const earlier = useEarlier(store, host);
  const [notice, say] = useNotice();
  const sight = useSight();
  const find = useFind({
    store,
    host,
    rows,
    list,
    earlier: earlier.until,
    open: (key) => kept.setOpen(key, true),
  });
  const { facts, runId } = state;
  useFindKey(find.open);
  useReveal({ reveal, rows, list, state, earlier: earlier.until, open: (key) => kept.setOpen(key, true) });

  const page = useMemo<PageContext | undefined>(() => {
    if (facts === undefined || runId === undefined) return undefined;
    return {
      host,
      runId,
      isOpen: kept.isOpen,
      setOpen: (key, isOpen) => {
        list.current?.hold();
        kept.setOpen(key, isOpen);
      },
      copy: (text) => {
        host.copy({ text });
        say(t('Copied'));
      },
      loadWhole: (index) => void loadWhole(store, host, runId, index),
      now: () => Date.now() + store.clockOffsetMs,
      hasEnded: facts.run.end !== undefined,
      waiting: new Set(facts.waiting.map(({ id }) => id)),
      setInSight: sight.set,
    };
  }, [facts, runId, kept.view.folds]);

  if (page === undefined || facts === undefined || store.isMissing) {
    const text = store.isMissing ? t('This task is not in this window any more.') : t('Loading…');
    return <p class="loading-page">{text}</p>;
  }
  return (
    <PageProvider value={page}>
      <div class="page">
        <Header facts={facts} onFind={find.open} />
        <main class="main">
          {find.state !== undefined && (
            <FindBar
              find={find.state}
              onQuery={find.setQuery}
              onStep={find.step}
              onClose={() => {
                find.close();
                list.current?.focus();
              }}
            />
          )}
          <RowList
            key={runId}
            state={state}
            facts={facts}
            rows={rows}
            query={find.state?.query ?? ''}
            anchor={kept.view.anchor}
            onAnchor={kept.setAnchor}
            onNearTop={() => void earlier.load()}
            isLoading={earlier.isLoading}
            handle={list}
          />
        </main>
        <Footer
          facts={facts}
          draft={kept.view.draft}
          onDraft={kept.setDraft}
          onLeave={() => list.current?.focus()}
          inSight={sight.all}
          onShow={({ id, runId: asking }) => {
            if (asking !== runId) host.showRun({ runId: asking });
            else list.current?.goTo(questionPosition(rows, id));
          }}
        />
        <div class="sr-only" aria-live="polite">
          <Announcement state={state} />
        </div>
        <div class={`notice${notice === '' ? '' : ' notice-shown'}`} role="status">
          {notice}
        </div>
      </div>
    </PageProvider>
  );
}

/** Reads out a final answer that came while one was looking on; nothing of what was there before. */
function Announcement({ state }: { readonly state: PageState }): JSX.Element {
  const since = useRef(state.revision);
  const runId = useRef(state.runId);
  if (runId.current !== state.runId) {
    runId.current = state.runId;
    since.current = state.revision;
  }
  return <>{finalText(state.entries, since.current)}</>;
}

function useStore(store: PageStore): PageState {
  const rerender = useRerender();
  // At once: what comes before the first paint must not be missed.
  useLayoutEffect(() => store.subscribe(rerender), [store]);
  return store.state;
}

interface KeptView {
  readonly view: ViewState;
  readonly isOpen: (key: string, byDefault: boolean) => boolean;
  readonly setOpen: (key: string, isOpen: boolean) => void;
  readonly setAnchor: (anchor: ViewState['anchor']) => void;
  readonly setDraft: (draft: string) => void;
}

/** Folds, place and draft, kept by the editor. Those of another Run begin anew, but not the draft. */
function useView(first: ViewState, onView: (view: ViewState) => void, runId: RunId | undefined): KeptView {
  const current = useRef(first);
  const rerender = useRerender();
  const change = (changes: Partial<ViewState>): void => {
    current.current = { ...current.current, ...changes };
    onView(current.current);
  };
  if (runId !== undefined && current.current.runId !== runId) {
    const { anchor: _, ...rest } = current.current;
    const isOther = current.current.runId !== undefined;
    current.current = { ...(isOther ? { ...rest, folds: {} } : current.current), runId };
    onView(current.current);
  }
  return {
    view: current.current,
    isOpen: (key, byDefault) => current.current.folds[key] ?? byDefault,
    setOpen: (key, isOpen) => {
      change({ folds: { ...current.current.folds, [key]: isOpen } });
      rerender();
    },
    setAnchor: (anchor) => {
      const { anchor: _, ...rest } = current.current;
      current.current = anchor === undefined ? rest : { ...rest, anchor };
      onView(current.current);
    },
    setDraft: (draft) => {
      change({ draft });
      rerender();
    },
  };
}

interface Earlier {
  readonly isLoading: boolean;
  readonly load: () => Promise<void>;
  /** Loads until the entry at `index` is here. */
  readonly until: (index: number) => Promise<void>;
}

function useEarlier(store: PageStore, host: Host): Earlier {
  const [isLoading, setLoading] = useState(false);
  const busy = useRef<Promise<void> | undefined>(undefined);
  const loadOnce = async (count: number): Promise<void> => {
    const { runId, from } = store.state;
    if (runId === undefined || from === 0) return;
    setLoading(true);
    try {
      const entries = await host.earlier({ runId, before: from, count });
      store.dispatch({ type: 'earlier', runId, entries });
    } catch (error) {
      console.warn(`earlier entries: ${String(error)}`);
    } finally {
      setLoading(false);
    }
  };
  const load = (count = windowSize): Promise<void> => {
    busy.current ??= loadOnce(count).finally(() => {
      busy.current = undefined;
    });
    return busy.current;
  };
  return {
    isLoading,
    load,
    until: async (index) => {
      for (let last = -1; store.state.from > index && store.state.from !== last; ) {
        last = store.state.from;
        await load(2_000);
      }
    },
  };
}

async function loadWhole(store: PageStore, host: Host, runId: RunId, index: number): Promise<void> {
  try {
    store.dispatch({ type: 'whole', runId, entry: await host.wholeEntry({ runId, index }) });
  } catch (error) {
    console.warn(`whole entry: ${String(error)}`);
  }
}

/** Where a question stands; the end while its row is still on its way. */
function questionPosition(rows: readonly ListRow[], questionId: string): number {
  const position = rows.findIndex((row) => row.kind === 'question' && row.questionId === questionId);
  return position < 0 ? rows.length - 1 : position;
}

interface Sight {
  readonly all: ReadonlySet<string>;
  readonly set: PageContext['setInSight'];
}

/** Which questions are in sight, told by their cards. */
function useSight(): Sight {
  const [all, setAll] = useState<ReadonlySet<string>>(new Set());
  return {
    all,
    set: (id, isInSight) =>
      setAll((known) => {
        if (known.has(id) === isInSight) return known;
        const others = [...known].filter((one) => one !== id);
        return new Set(isInSight ? [...others, id] : others);
      }),
  };
}

/** A word to the user that goes away by itself. */
function useNotice(): [string, (text: string) => void] {
  const [notice, setNotice] = useState('');
  useEffect(() => {
    if (notice === '') return undefined;
    const timer = setTimeout(() => setNotice(''), 2_000);
    return () => clearTimeout(timer);
  }, [notice]);
  return [notice, setNotice];
}
