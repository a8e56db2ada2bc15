import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useRerender } from './hooks';

type Options = Pick<
  VirtualizerOptions<HTMLDivElement, HTMLElement>,
  'count' | 'getScrollElement' | 'estimateSize' | 'getItemKey' | 'rangeExtractor'
>;
export type List = Virtualizer<HTMLDivElement, HTMLElement>;

/** Pixels from the end within which one counts as being there. */
export const endThreshold = 48;
/** A distance from the end that nobody has. */
const nowhere = -1;

export interface Following {
  readonly isHeld: boolean;
  readonly followsEnd: boolean;
}

/**
 * A list of which only the visible part is drawn. What comes before does not move what is read; what grows while one
 * is at the end keeps the end in view while `followsEnd`, unless `isHeld`.
 */
export function useVirtualizer(options: Options, { isHeld, followsEnd }: Following): List {
  const rerender = useRerender();
  const latest = useRef(rerender);
  latest.current = rerender;
  const ref = useRef<List | undefined>(undefined);
  const all: VirtualizerOptions<HTMLDivElement, HTMLElement> = {
    ...options,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    overscan: 8,
    anchorTo: isHeld ? 'start' : 'end',
    scrollEndThreshold: followsEnd ? endThreshold : nowhere,
    onChange: () => latest.current(),
  };
  if (ref.current === undefined) ref.current = new Virtualizer(all);
  const list = ref.current;
  list.setOptions(all);
  useLayoutEffect(() => list._didMount(), [list]);
  useLayoutEffect(() => list._willUpdate());
  return list;
}
