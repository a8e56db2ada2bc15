import type { JSX } from 'preact';
import { type IconName, iconPaths } from '../iconPaths';

/** Decoration only: what it means is said in words beside it. */
export function Icon({ name, label }: { readonly name: IconName; readonly label?: string }): JSX.Element {
  return (
    // biome-ignore lint/a11y/noSvgWithoutTitle: hidden from screen readers, or named by its label
    <svg
      class={`icon icon-${name}`}
      viewBox="0 0 16 16"
      width="16"
      height="16"
      {...(label === undefined
        ? { 'aria-hidden': 'true' as const }
        : { role: 'img' as const, 'aria-label': label })}
    >
      <path d={iconPaths[name]} />
    </svg>
  );
}
