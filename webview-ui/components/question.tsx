import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Facts } from '../../src/protocol/transcriptApi';
import type { RowOf } from '../rows';
import { safe, safeLine } from '../safeText';
import { t } from '../words';
import { usePage } from './context';
import { Icon } from './icons';
import { Button } from './small';

/** A question where it was asked: with its buttons while it waits, later with its answer. */
export function QuestionCard({ row }: { readonly row: RowOf<'question'> }): JSX.Element {
  const { waiting } = usePage();
  if (row.answer !== undefined) return <Answered row={row} answer={row.answer} />;
  return (
    <section class="card question">
      <h2>
        <Icon name="question" />
        {t('The agent asks to run a command')}
      </h2>
      <pre class="mono wrap command">{safe(row.command)}</pre>
      {waiting.has(row.questionId) ? (
        <AnswerButtons questionId={row.questionId} />
      ) : (
        <p class="dim">{t('It cannot be answered here: it waits elsewhere, or the run has ended.')}</p>
      )}
    </section>
  );
}

interface AnsweredProps {
  readonly row: RowOf<'question'>;
  readonly answer: NonNullable<RowOf<'question'>['answer']>;
}

function Answered({ row, answer: { isAllowed, by } }: AnsweredProps): JSX.Element {
  const who = by === 'user' ? t('you') : safeLine(by);
  const denied = by === 'stop' ? t('Not answered, since the run was stopped') : t('Not allowed by {0}', who);
  return (
    <div class={`line question-${isAllowed ? 'allowed' : 'denied'}`}>
      <Icon name="shield" />
      <span class="wrap">
        {isAllowed ? t('Allowed by {0}', who) : denied}
        {row.command === '' ? '' : ': '}
        <code>{safeLine(row.command).slice(0, 500)}</code>
      </span>
    </div>
  );
}

function AnswerButtons({ questionId }: { readonly questionId: string }): JSX.Element {
  const { host, setInSight } = usePage();
  const ref = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (ref.current === null) return undefined;
    const watch = new IntersectionObserver((seen) => {
      setInSight(questionId, seen.at(-1)?.isIntersecting === true);
    });
    watch.observe(ref.current);
    return () => {
      watch.disconnect();
      setInSight(questionId, false);
    };
  }, [questionId]);
  return (
    <div class="buttons" ref={ref}>
      <Button
        kind="primary"
        icon="check"
        label={t('Allow')}
        onClick={() => host.answer({ questionId, isAllowed: true })}
      />
      <Button icon="cross" label={t('Deny')} onClick={() => host.answer({ questionId, isAllowed: false })} />
      <Button
        kind="plain"
        label={t('Allow All in This Repository…')}
        onClick={() => host.allowAll({ questionId })}
      />
    </div>
  );
}

export type Waiting = Facts['waiting'][number];

interface WaitingLineProps {
  readonly waiting: readonly Waiting[];
  /** Ids of questions whose buttons are in sight. */
  readonly inSight: ReadonlySet<string>;
  readonly onShow: (question: Waiting) => void;
}

/** Leads to a question that waits out of sight; nothing where it is seen. */
export function WaitingLine({ waiting, inSight, onShow }: WaitingLineProps): JSX.Element | null {
  const hidden = waiting.filter(({ id }) => !inSight.has(id));
  const [question] = hidden;
  if (question === undefined) return null;
  return (
    <section class="waiting" aria-label={t('Waiting for you')}>
      <Icon name="question" />
      <span class="waiting-text">
        {t('{0} waits for you: {1}', safeLine(question.agent), safeLine(question.command))}
      </span>
      {hidden.length > 1 && <span class="badge">{hidden.length}</span>}
      <Button label={t('Show the question')} onClick={() => onShow(question)} />
    </section>
  );
}
