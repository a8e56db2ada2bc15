import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../words';
import { Button } from './small';

export interface FindState {
  readonly query: string;
  /** Entries that match; absent while they are looked for. */
  readonly hits: readonly number[] | undefined;
  readonly position: number;
}

interface Props {
  readonly find: FindState;
  readonly onQuery: (query: string) => void;
  readonly onStep: (by: 1 | -1) => void;
  readonly onClose: () => void;
}

export function FindBar({ find, onQuery, onStep, onClose }: Props): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    input.current?.focus();
    input.current?.select();
  }, []);
  return (
    <search class="find">
      <input
        ref={input}
        type="text"
        value={find.query}
        aria-label={t('Find in the transcript')}
        placeholder={t('Find in the transcript')}
        onInput={(event) => onQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') {
            event.preventDefault();
            onStep(event.shiftKey ? -1 : 1);
          } else if (event.key === 'Escape') {
            event.preventDefault();
            onClose();
          }
        }}
      />
      <span class="find-count" role="status">
        {countText(find)}
      </span>
      <Button kind="plain" label={t('Previous')} onClick={() => onStep(-1)} isDisabled={!hasHits(find)} />
      <Button kind="plain" label={t('Next')} onClick={() => onStep(1)} isDisabled={!hasHits(find)} />
      <Button kind="plain" icon="cross" isIconOnly label={t('Close')} onClick={onClose} />
    </search>
  );
}

function hasHits({ hits }: FindState): boolean {
  return hits !== undefined && hits.length > 0;
}

function countText({ query, hits, position }: FindState): string {
  if (query === '') return '';
  if (hits === undefined) return t('Searching…');
  return hits.length === 0 ? t('No results') : t('{0} of {1}', position + 1, hits.length);
}
