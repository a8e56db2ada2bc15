import type { ComponentChildren, JSX } from 'preact';
import type { IconName } from '../iconPaths';
import { inlineParts } from '../inlineCode';
import { safeLine } from '../safeText';
import { t } from '../words';
import { usePage } from './context';
import { Icon } from './icons';

interface ButtonProps {
  readonly icon?: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly kind?: 'plain' | 'primary' | 'secondary' | 'danger';
  /** The label is for screen readers and the tooltip only. */
  readonly isIconOnly?: boolean;
  readonly isDisabled?: boolean;
}

export function Button(props: ButtonProps): JSX.Element {
  const { icon, label, onClick, kind = 'secondary', isIconOnly = false, isDisabled = false } = props;
  return (
    <button
      type="button"
      class={`button button-${kind}${isIconOnly ? ' button-icon' : ''}`}
      title={label}
      aria-label={label}
      disabled={isDisabled}
      onClick={onClick}
    >
      {icon !== undefined && <Icon name={icon} />}
      {!isIconOnly && <span class="button-text">{label}</span>}
    </button>
  );
}

export function CopyButton({
  text,
  label,
}: {
  readonly text: () => string;
  readonly label?: string;
}): JSX.Element {
  const { copy } = usePage();
  return (
    <Button icon="copy" kind="plain" isIconOnly label={label ?? t('Copy')} onClick={() => copy(text())} />
  );
}

/** A line of others' words, its code between backticks as code. */
export function Words({ text }: { readonly text: string }): JSX.Element {
  return (
    <>
      {inlineParts(safeLine(text)).map((part, number) =>
        part.isCode ? <code key={number}>{part.text}</code> : part.text,
      )}
    </>
  );
}

interface FileLinkProps {
  readonly path: string;
  readonly line?: number | undefined;
  readonly endLine?: number | undefined;
}

/** A place in a file that opens on a click. */
export function FileLink({ path, line, endLine }: FileLinkProps): JSX.Element {
  const { host } = usePage();
  const range =
    line === undefined ? '' : `:${line}${endLine === undefined || endLine === line ? '' : `-${endLine}`}`;
  const text = `${safeLine(path)}${range}`;
  return (
    <button
      type="button"
      class="link path"
      title={t('Open {0}', text)}
      onClick={(event) => {
        event.stopPropagation();
        host.openFile({
          path,
          ...(line === undefined ? {} : { line }),
          ...(endLine === undefined ? {} : { endLine }),
        });
      }}
    >
      {text}
    </button>
  );
}

interface FoldProps {
  readonly rowKey: string;
  readonly byDefault?: boolean;
  readonly summary: ComponentChildren;
  readonly label: string;
  readonly children: () => ComponentChildren;
}

/** A line that unfolds; what is inside is made only then. */
export function Fold({ rowKey, byDefault = false, summary, label, children }: FoldProps): JSX.Element {
  const { isOpen, setOpen } = usePage();
  const open = isOpen(rowKey, byDefault);
  return (
    <div class={`fold${open ? ' fold-open' : ''}`}>
      <div class="fold-line">
        <button
          type="button"
          class="fold-toggle"
          aria-expanded={open}
          aria-label={label}
          data-fold={rowKey}
          onClick={() => setOpen(rowKey, !open)}
        >
          <Icon name="chevron" />
        </button>
        {/* biome-ignore lint/a11y/useKeyWithClickEvents: the button before it does the same by keyboard */}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: a larger target for the mouse only */}
        <div class="fold-summary" onClick={() => setOpen(rowKey, !open)}>
          {summary}
        </div>
      </div>
      {open && <div class="fold-body">{children()}</div>}
    </div>
  );
}
