import { defaultRangeExtractor, type Range } from '@tanstack/virtual-core';
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Facts } from '../../src/protocol/transcriptApi';
import { highlight } from '../highlight';
import { type ListRow, newsPosition } from '../listRows';
import type { PageState } from '../state';
import type { ViewState } from '../viewState';
import { t } from '../words';
import { Icon } from './icons';
import { rowLabel } from './rowLabel';
import { RowView } from './rowView';
import { endThreshold, type List, useVirtualizer } from './virtualizer';

/** Rows from the top within which earlier ones are asked for. */
const nearTop = 30;

/** Milliseconds a row that is folded or unfolded keeps its place, wherever the end goes. */
const holdMs = 400;

/** Milliseconds the list takes at most to be where it was told to go. */
const settleMs = 500;

/** What others may do with the list. */
export interface ListHandle {
  focus(): void;
  toRow(position: number): void;
  /** Brings a row into sight and gives it the focus. */
  goTo(position: number): void;
  /** A row is about to be folded or unfolded. */
  hold(): void;
}

interface Current<T> {
  readonly current: T;
}

interface Refs {
  readonly scroller: Current<HTMLElement | null>;
  readonly heldUntil: Current<number>;
  readonly quietUntil: { current: number };
}

interface Props {
  readonly state: PageState;
  readonly facts: Facts;
  readonly rows: readonly ListRow[];
  readonly query: string;
  readonly anchor: ViewState['anchor'];
  readonly onAnchor: (anchor: ViewState['anchor']) => void;
  readonly onNearTop: () => void;
  readonly isLoading: boolean;
  readonly handle: { current: ListHandle | undefined };
}

export function RowList(props: Props): JSX.Element {
  const { state, facts, rows, query, handle, isLoading } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const heldUntil = useRef(0);
  const quietUntil = useRef(performance.now() + settleMs);
  const [activeKey, setActiveKey] = useState<string | undefined>(undefined);
  const wantsFocus = useRef<string | undefined>(undefined);
  const found = rows.findIndex(({ key }) => key === activeKey);
  const active = found >= 0 ? found : rows.length - 1;
  const list = useVirtualizer(
    {
      count: rows.length,
      getScrollElement: () => scroller.current,
      estimateSize: (index) => estimated(rows[index]),
      getItemKey: (index) => rows[index]?.key ?? index,
      // The row that has the focus stays in the document, wherever it is scrolled to.
      rangeExtractor: (range) => withActive(range, active),
    },
    { isHeld: isHeld(heldUntil), followsEnd: newsPosition(rows, facts) < 0 },
  );
  const items = list.getVirtualItems();
  const isAtEnd = useAnchor(list, { scroller, heldUntil, quietUntil }, props);
  const unseen = useUnseen(state.revision, isAtEnd);

  const focusRow = (position: number): void => {
    const row = rows[Math.max(0, Math.min(position, rows.length - 1))];
    if (row === undefined) return;
    setActiveKey(row.key);
    quietUntil.current = performance.now() + settleMs;
    list.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    const element = elementOf(scroller.current, row.key);
    if (element === undefined) wantsFocus.current = row.key;
    else element.focus({ preventScroll: true });
  };
  handle.current = {
    focus: () => focusRow(active),
    goTo: focusRow,
    hold: () => {
      heldUntil.current = performance.now() + holdMs;
    },
    toRow: (position) => {
      setActiveKey(rows[position]?.key);
      quietUntil.current = performance.now() + settleMs;
      list.scrollToIndex(position, { align: 'center' });
    },
  };

  useLayoutEffect(() => {
    if (wantsFocus.current === undefined) return;
    const element = elementOf(scroller.current, wantsFocus.current);
    if (element === undefined) return;
    element.focus({ preventScroll: true });
    wantsFocus.current = undefined;
  });
  useEffect(() => highlight(scroller.current, query));
  const first = items[0]?.index ?? 0;
  useEffect(() => {
    if (first > nearTop || state.from === 0 || isLoading) return undefined;
    // While the list goes to a row by its position, nothing may come before it: the position would be another row's.
    const timer = setTimeout(props.onNearTop, Math.max(0, quietUntil.current - performance.now()));
    return () => clearTimeout(timer);
  });

  const onKeyDown = (event: KeyboardEvent): void => {
    const isOnRow = event.target instanceof HTMLElement && event.target.matches('.row');
    if (event.key === 'Escape' && !isOnRow) {
      event.preventDefault();
      focusRow(active);
    }
    if (!isOnRow || event.ctrlKey || event.metaKey || event.altKey) return;
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      focusRow(move(active, rows.length));
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      event.target.querySelector<HTMLButtonElement>('[data-fold]')?.click();
    }
  };

  return (
    <div class="list-frame">
      {isLoading && <div class="loading">{t('Loading what came before…')}</div>}
      <div
        class="list"
        role="feed"
        aria-label={t('Transcript')}
        aria-busy={isLoading}
        ref={scroller}
        onKeyDown={onKeyDown}
      >
        <div class="list-space" style={{ height: `${list.getTotalSize()}px` }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            return (
              <article
                key={key}
                class={`row row-${row.kind}`}
                data-key={row.key}
                data-index={index}
                aria-label={rowLabel(row, facts)}
                aria-posinset={index + 1}
                aria-setsize={state.from > 0 ? -1 : rows.length}
                tabIndex={index === active ? 0 : -1}
                style={{ transform: `translateY(${start}px)` }}
                ref={(element) => list.measureElement(element)}
                onFocusIn={() => setActiveKey(row.key)}
              >
                <RowView row={row} facts={facts} live={state.live} outputs={state.outputs} />
              </article>
            );
          })}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" class="button button-primary to-latest" onClick={() => list.scrollToEnd()}>
          <Icon name="down" />
          <span>{unseen > 0 ? t('Jump to latest ({0} new)', unseen) : t('Jump to latest')}</span>
        </button>
      )}
    </div>
  );
}

const moves: Readonly<Record<string, ((from: number, count: number) => number) | undefined>> = {
  ArrowDown: (from) => from + 1,
  j: (from) => from + 1,
  ArrowUp: (from) => from - 1,
  k: (from) => from - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

function withActive(range: Range, active: number): number[] {
  const indices = defaultRangeExtractor(range);
  return active < 0 || active >= range.count || indices.includes(active)
    ? indices
    : [...indices, active].sort((a, b) => a - b);
}

/** Not by selector: keys come from files. */
function elementOf(root: HTMLElement | null, key: string): HTMLElement | undefined {
  const elements = root?.querySelectorAll<HTMLElement>('.row') ?? [];
  return [...elements].find((element) => element.dataset['key'] === key);
}

/**
 * Goes where one was once the rows are there, keeps note of where one is, and stays at the end while one is there and
 * the Run lives; once it has ended, at what it came to. Answers whether one is at the end.
 */
function useAnchor(list: List, { scroller, heldUntil, quietUntil }: Refs, props: Props): boolean {
  const { state, facts, rows, anchor, onAnchor, onNearTop } = props;
  const isRestored = useRef(false);
  const sticks = useRef(true);
  const lastSize = useRef('');
  const toldKey = useRef<string | undefined>(undefined);
  const news = newsPosition(rows, facts);
  const newsKey = rows[news]?.key;
  const hasNews = newsKey !== undefined && newsKey !== toldKey.current;
  /** To where one reads first: the news of a Run that has ended, else the end. */
  const toNews = (): void => {
    toldKey.current = newsKey;
    quietUntil.current = performance.now() + settleMs;
    if (newsKey === undefined) list.scrollToEnd();
    else list.scrollToIndex(news, { align: 'start' });
  };
  useLayoutEffect(() => {
    const element = scroller.current;
    // Only scrolling decides: that the list grows does not mean that one has left its end.
    const onScroll = (): void => {
      if (element !== null && isRestored.current) sticks.current = distanceFromEnd(element) <= endThreshold;
    };
    // Before the list's own listener, which renders at once.
    element?.addEventListener('scroll', onScroll, { capture: true });
    return () => element?.removeEventListener('scroll', onScroll, { capture: true });
  }, []);
  useLayoutEffect(() => {
    if (isRestored.current && scroller.current !== null) {
      const { scrollHeight, clientHeight } = scroller.current;
      const distance = distanceFromEnd(scroller.current);
      const size = `${scrollHeight} ${clientHeight}`;
      // Only what grew moves the end. Where it stands still, somebody is scrolling and the event is yet to come.
      const hasGrown = size !== lastSize.current;
      lastSize.current = size;
      if (isHeld(heldUntil)) sticks.current = distance <= endThreshold;
      // Not when it is there already: each call renders again.
      else if (sticks.current && hasNews) toNews();
      // What comes behind the news is not gone to.
      else if (sticks.current && newsKey === undefined && hasGrown && distance > 1) list.scrollToEnd();
      return;
    }
    if (rows.length === 0) return;
    const position = anchor === undefined ? -1 : rows.findIndex(({ key }) => key === anchor.key);
    if (anchor !== undefined && position < 0 && anchor.index < state.from) {
      onNearTop();
      return;
    }
    sticks.current = anchor === undefined || position < 0;
    if (anchor === undefined || sticks.current) {
      toNews();
    } else {
      quietUntil.current = performance.now() + settleMs;
      list.scrollToIndex(position, { align: 'start' });
    }
    isRestored.current = true;
  });
  const offset = list.scrollOffset ?? 0;
  useEffect(() => {
    if (!isRestored.current) return undefined;
    const timer = setTimeout(() => {
      const top = list.getVirtualItemForOffset(offset);
      const row = top === undefined ? undefined : rows[top.index];
      if (sticks.current || top === undefined || row === undefined) onAnchor(undefined);
      else onAnchor({ key: row.key, index: 'index' in row ? row.index : 0 });
    }, 150);
    return () => clearTimeout(timer);
  }, [offset, rows.length]);
  return sticks.current;
}

function isHeld({ current }: Current<number>): boolean {
  return performance.now() < current;
}

function distanceFromEnd(element: HTMLElement): number {
  return element.scrollHeight - element.scrollTop - element.clientHeight;
}

/** How many entries came since one was at the end. */
function useUnseen(revision: number, isAtEnd: boolean): number {
  const seen = useRef(revision);
  if (isAtEnd) seen.current = revision;
  return Math.max(0, revision - seen.current);
}

/** Pixels; the real height is measured once the row is drawn. */
function estimated(row: ListRow | undefined): number {
  switch (row?.kind) {
    case 'text':
    case 'answer':
      return 40 + 20 * Math.ceil(row.text.length / 90);
    case 'user':
      return row.origin === 'instruction' ? 30 : 70;
    case 'question':
      return row.answer === undefined ? 130 : 30;
    case 'verdict':
      return 220;
    default:
      return 30;
  }
}
