import type { JSX } from 'preact';
import { safeLine } from '../safeText';
import { t } from '../words';

/** Messages that are kept and that no Run has been told yet. */
export function Unsent({ texts }: { readonly texts: readonly string[] }): JSX.Element | null {
  if (texts.length === 0) return null;
  return (
    <section class="hint" aria-label={t('Not sent yet')}>
      {texts.map((text, index) => (
        <p key={index}>
          <span class="badge">{t('Not sent yet')}</span> {safeLine(text)}
        </p>
      ))}
    </section>
  );
}
