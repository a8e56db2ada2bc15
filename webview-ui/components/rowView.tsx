import type { JSX } from 'preact';
import type { Facts, LiveMessage, LiveOutput } from '../../src/protocol/transcriptApi';
import { elapsedOf, elapsedText } from '../elapsed';
import type { ListRow } from '../listRows';
import type { RowOf } from '../rows';
import { safe, safeLine } from '../safeText';
import {
  durationText,
  reasonText,
  runKindText,
  stateText,
  t,
  timeText,
  usageText,
  verdictText,
} from '../words';
import { AnswerCard, outcomeText, VerdictCard, verdictIcons, verdictOf } from './cards';
import { usePage } from './context';
import { useTicking } from './hooks';
import { Icon } from './icons';
import { QuestionCard } from './question';
import { Button, CopyButton, Fold } from './small';
import { Markdown, TextBlock } from './textBlocks';
import { ToolCall } from './toolCall';

export interface RowProps {
  readonly row: ListRow;
  readonly facts: Facts;
  readonly live: LiveMessage | undefined;
  readonly outputs: ReadonlyMap<string, LiveOutput>;
}

export function RowView({ row, facts, live, outputs }: RowProps): JSX.Element {
  switch (row.kind) {
    case 'user':
      return <UserMessage row={row} />;
    case 'thinking':
      return <Thinking row={row} />;
    case 'text':
      return <AssistantText row={row} />;
    case 'answer':
      return <AnswerCard answer={row.answer} text={row.text} />;
    case 'tool':
      return <ToolCall row={row} live={outputs.get(row.toolUseId)} />;
    case 'question':
      return <QuestionCard row={row} />;
    case 'retry':
      return <Retry row={row} />;
    case 'cut':
      return <Cut row={row} />;
    case 'state':
      return <Line icon="info" text={joined(t('Run {0}', stateText(row.state)), reasonText(row.reason))} />;
    case 'note':
      return (
        <Line icon="note" text={row.code === 'refusal' ? t('The model refused to answer.') : row.text} />
      );
    case 'live':
      return <Live live={live} />;
    case 'preparing':
      return (
        <div class="line">
          <span class="spinner" />
          {row.state === 'created' ? t('Waiting for a free slot…') : t('Preparing the worktree…')}
        </div>
      );
    case 'end':
      return <End facts={facts} />;
    case 'verdict':
      return facts.verdict === undefined ? <div /> : <VerdictCard facts={facts} verdict={facts.verdict} />;
    case 'problems':
      return <Problems problems={facts.run.problems} />;
    case 'newer':
      return <Newer facts={facts} />;
  }
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join(': ');
}

function Line({ icon, text }: { readonly icon: 'info' | 'note'; readonly text: string }): JSX.Element {
  return (
    <div class="line">
      <Icon name={icon} />
      <span class="wrap">{safe(text)}</span>
    </div>
  );
}

function UserMessage({ row }: { readonly row: RowOf<'user'> }): JSX.Element {
  const { loadWhole } = usePage();
  const text = row.texts.join('\n\n');
  if (row.origin === 'instruction') {
    return (
      <Fold
        rowKey={row.key}
        label={t('What the agent was told')}
        summary={
          <>
            <Icon name="user" />
            <span class="dim">{t('What the agent was told')}</span>
          </>
        }
      >
        {() => (
          <TextBlock
            text={text}
            shortened={row.isShortened ? [row.index] : []}
            label={t('What the agent was told')}
          />
        )}
      </Fold>
    );
  }
  const who = row.origin === 'user' ? t('You') : row.origin === 'host' ? t('Tributary') : t('Resumed');
  return (
    <section class={`message message-${row.origin}`}>
      <div class="message-head">
        <Icon name={row.origin === 'user' ? 'user' : 'info'} />
        <h2>{who}</h2>
        <span class="dim time">{timeText(row.at)}</span>
        <CopyButton text={() => text} label={t('Copy the message')} />
      </div>
      <div class="wrap message-text" dir="auto">
        {safe(text)}
      </div>
      {row.isShortened && <Button kind="plain" label={t('Show all')} onClick={() => loadWhole(row.index)} />}
    </section>
  );
}

function Thinking({ row }: { readonly row: RowOf<'thinking'> }): JSX.Element {
  if (row.isHidden) {
    return (
      <div class="line dim">
        <Icon name="thinking" />
        {t('Thinking that the model keeps to itself')}
      </div>
    );
  }
  return (
    <Fold
      rowKey={row.key}
      label={t('Thinking')}
      summary={
        <>
          <Icon name="thinking" />
          <span class="dim">{t('Thinking')}</span>
          <span class="preview dim">{safeLine(row.text.slice(0, 300))}</span>
        </>
      }
    >
      {() => (
        <div class="thinking wrap" dir="auto">
          <TextBlock text={row.text} shortened={row.isShortened ? [row.index] : []} label={t('Thinking')} />
        </div>
      )}
    </Fold>
  );
}

function AssistantText({ row }: { readonly row: RowOf<'text'> }): JSX.Element {
  const { loadWhole } = usePage();
  return (
    <section class="assistant">
      <Markdown text={row.text} />
      <div class="hover-actions">
        <CopyButton text={() => row.text} label={t('Copy as Markdown')} />
      </div>
      {row.isShortened && <Button kind="plain" label={t('Show all')} onClick={() => loadWhole(row.index)} />}
    </section>
  );
}

function Retry({ row }: { readonly row: RowOf<'retry'> }): JSX.Element {
  const { now, hasEnded } = usePage();
  const left = Date.parse(row.until) - now();
  const isWaiting = row.isWaiting && !hasEnded && left > 0;
  useTicking(isWaiting, 250);
  const why = joined(reasonText(row.code), safeLine(row.message).slice(0, 300));
  return (
    <div class="line warning">
      <Icon name="retry" />
      <span class="wrap">
        {isWaiting
          ? t('Retry {0} in {1} s', row.attempt, Math.ceil(left / 1_000))
          : t('Retry {0}', row.attempt)}
        {' · '}
        {why}
      </span>
    </div>
  );
}

function Cut({ row }: { readonly row: RowOf<'cut'> }): JSX.Element {
  return (
    <section class="cut">
      {row.text.trim() !== '' && <Markdown text={row.text} />}
      <div class="line warning">
        <Icon name="warning" />
        {t('The answer was cut off here: {0}', reasonText(row.reason))}
      </div>
    </section>
  );
}

function Live({ live }: { readonly live: LiveMessage | undefined }): JSX.Element {
  if (live === undefined || live.pieces.length === 0) {
    return (
      <div class="line dim">
        <span class="spinner" />
        {t('Thinking…')}
      </div>
    );
  }
  return (
    <section class="live">
      {live.offset > 0 && <p class="dim">…</p>}
      {live.pieces.map((piece, number) =>
        piece.kind === 'thinking' ? (
          <div key={number} class="line dim live-thinking">
            <Icon name="thinking" />
            <span class="preview">{safeLine(piece.text.slice(-300))}</span>
          </div>
        ) : (
          <Markdown key={number} text={piece.text} />
        ),
      )}
      <span class="cursor" aria-hidden="true" />
    </section>
  );
}

function End({ facts }: { readonly facts: Facts }): JSX.Element {
  const { now } = usePage();
  const { run } = facts;
  const { end } = run;
  const reason = run.state === 'completed' || end === undefined ? '' : reasonText(end.reason);
  const message = run.state === 'failed' && end !== undefined ? safeLine(end.message) : '';
  const elapsed = elapsedOf(run, now());
  const took = end === undefined || elapsed === undefined ? '' : elapsedText(elapsed, durationText);
  const verdict = verdictOf(facts, run.id);
  return (
    <div class={`line end ${verdict === undefined ? `end-${run.state}` : `end-${verdict}`}`}>
      <Icon
        name={
          verdict === undefined ? (run.state === 'completed' ? 'check' : 'warning') : verdictIcons[verdict]
        }
      />
      <span class="wrap">
        <strong>
          {joined(t('Run {0}', stateText(run.state)), verdict === undefined ? '' : verdictText(verdict))}
        </strong>
        {[reason, message === reason ? '' : message, took, usageText(run.usage)]
          .filter((text) => text !== '')
          .map((text) => ` · ${text}`)
          .join('')}
      </span>
    </div>
  );
}

function Problems({ problems }: { readonly problems: readonly string[] }): JSX.Element {
  return (
    <div class="line warning">
      <Icon name="warning" />
      <span class="wrap">
        {t('Parts of this transcript could not be read: {0}', problems.slice(0, 5).map(safeLine).join('; '))}
        {problems.length > 5 ? '…' : ''}
      </span>
    </div>
  );
}

/** A later Run of the Task: what came after this one. */
function Newer({ facts }: { readonly facts: Facts }): JSX.Element {
  const { host, runId } = usePage();
  const position = facts.runs.findIndex(({ id }) => id === runId);
  const next = facts.runs[position + 1];
  if (next === undefined) return <div />;
  return (
    <div class="line newer">
      <Icon name="chevron" />
      <span>{t('Next: {0} run, {1}', runKindText(next.kind), outcomeText(facts, next))}</span>
      <Button label={t('Show it')} onClick={() => host.showRun({ runId: next.id })} />
    </div>
  );
}
