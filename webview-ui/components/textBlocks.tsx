import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { countsOf, type DiffLine, lineDiff } from '../lineDiff';
import { renderMarkdown } from '../markdown';
import { firstLines, safe } from '../safeText';
import { terminalSpans } from '../terminalText';
import { t } from '../words';
import { usePage } from './context';
import { Button } from './small';

/** Lines shown at first, of what somebody unfolded. */
const shownLines = 40;
/** From so many lines on, a text is scrolled in a box of its own, drawn only where it is seen. */
const windowedLines = 1_500;
/** Longer Markdown is shown as plain text: it is data, not prose. */
const longestMarkdown = 200_000;

interface TextProps {
  readonly text: string;
  /** Entries of which only a part is here. */
  readonly shortened?: readonly number[];
  readonly isTerminal?: boolean;
  readonly label: string;
  /** Lines shown at first. */
  readonly lines?: number;
}

/** Text as it is: the first lines, then all of them on demand. */
export function TextBlock(props: TextProps): JSX.Element {
  const { text, shortened = [], isTerminal = false, label, lines = shownLines } = props;
  const { loadWhole } = usePage();
  const [isWhole, setWhole] = useState(false);
  const normal = useMemo(() => text.replace(/\r\n/g, '\n'), [text]);
  const first = useMemo(() => firstLines(normal, lines), [normal, lines]);
  const total = first.total;
  const showAll = (): void => {
    for (const index of shortened) loadWhole(index);
    setWhole(true);
  };
  const isPart = !isWhole && (first.isCut || shortened.length > 0);
  if (isWhole && total > windowedLines)
    return <WindowedText text={normal} isTerminal={isTerminal} label={label} />;
  const shown = isWhole ? normal : first.lines.join('\n');
  return (
    <div class="text-block">
      <pre class="mono wrap">{isTerminal ? <Terminal text={shown} /> : safe(shown)}</pre>
      {isPart && (
        <Button
          kind="plain"
          label={shortened.length > 0 ? t('Show all') : t('Show all ({0} lines)', total)}
          onClick={showAll}
        />
      )}
    </div>
  );
}

export function Terminal({ text }: { readonly text: string }): JSX.Element {
  const spans = useMemo(() => terminalSpans(text), [text]);
  return (
    <>
      {spans.map((span, number) =>
        span.classes === '' ? (
          span.text
        ) : (
          <span key={number} class={span.classes}>
            {span.text}
          </span>
        ),
      )}
    </>
  );
}

const lineHeight = 18;
const boxLines = 30;

/** A giant text in a box that draws only the lines in view. Lines do not wrap here. */
function WindowedText({
  text,
  isTerminal,
  label,
}: Required<Omit<TextProps, 'shortened' | 'lines'>>): JSX.Element {
  const lines = useMemo(() => text.split('\n'), [text]);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / lineHeight) - 20);
  const shown = lines
    .slice(first, first + boxLines + 40)
    .map((line) => line.slice(0, 20_000))
    .join('\n');
  return (
    // biome-ignore lint/a11y/useSemanticElements: a named region inside an article
    <div
      class="windowed mono"
      role="region"
      aria-label={t('{0}, {1} lines', label, lines.length)}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by keyboard
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="windowed-space" style={{ height: `${lines.length * lineHeight}px` }}>
        <pre style={{ transform: `translateY(${first * lineHeight}px)` }}>
          {isTerminal ? <Terminal text={shown} /> : safe(shown)}
        </pre>
      </div>
    </div>
  );
}

export function Markdown({ text }: { readonly text: string }): JSX.Element {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (text.length <= longestMarkdown) ref.current?.replaceChildren(renderMarkdown(text));
  }, [text]);
  if (text.length > longestMarkdown) return <TextBlock text={text} label={t('Text')} />;
  return <div class="markdown" dir="auto" ref={ref} />;
}

/** Old and new text as removed and added lines, told apart by sign and colour. */
export function DiffBlock({
  before,
  after,
}: {
  readonly before: string;
  readonly after: string;
}): JSX.Element {
  const lines = useMemo(() => lineDiff(before, after), [before, after]);
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? lines.slice(0, 5_000) : lines.slice(0, 60);
  const { added, removed } = countsOf(lines);
  return (
    <div class="diff">
      <div class="sr-only">{t('{0} lines added, {1} removed', added, removed)}</div>
      <pre class="mono wrap">
        {shown.map((line, number) => (
          <DiffRow key={number} line={line} />
        ))}
      </pre>
      {shown.length < lines.length && !isWhole && (
        <Button kind="plain" label={t('Show all ({0} lines)', lines.length)} onClick={() => setWhole(true)} />
      )}
    </div>
  );
}

const signs: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '-', gap: '⋯' };

function DiffRow({ line }: { readonly line: DiffLine }): JSX.Element {
  const text = line.kind === 'gap' ? t('{0} equal lines', line.text) : safe(line.text.slice(0, 4_000));
  return (
    <span class={`diff-line diff-${line.kind}`}>
      <span class="diff-sign">{signs[line.kind]}</span>
      <span class="diff-text">{`${text}\n`}</span>
    </span>
  );
}

/** A heading and what belongs to it. */
export function Part({
  title,
  actions,
  children,
}: {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="part">
      <div class="part-head">
        <div class="part-title">{title}</div>
        {actions}
      </div>
      {children}
    </section>
  );
}
