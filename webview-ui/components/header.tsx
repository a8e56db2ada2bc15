import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import type { Facts } from '../../src/protocol/transcriptApi';
import { elapsedOf, elapsedText } from '../elapsed';
import { safe, safeLine } from '../safeText';
import { clockText, runKindText, t, usageText } from '../words';
import { outcomeText, verdictIcons, verdictOf } from './cards';
import { usePage } from './context';
import { useTicking } from './hooks';
import { Icon } from './icons';
import { Button } from './small';

export function Header({
  facts,
  onFind,
}: {
  readonly facts: Facts;
  readonly onFind: () => void;
}): JSX.Element {
  const { host, runId } = usePage();
  const { run, task } = facts;
  const isLive = run.end === undefined;
  const verdict = verdictOf(facts, runId);
  const isWaiting = isLive && run.waitingSince !== undefined;
  return (
    <header class="header">
      <div class="header-top">
        <h1 title={safe(task.objective)}>{safe(task.objective)}</h1>
        <div class="header-buttons">
          {isLive && (
            <Button kind="danger" icon="stop" label={t('Stop')} onClick={() => host.stop({ runId })} />
          )}
          {!isLive && canResume(facts) && (
            <Button icon="retry" label={t('Resume')} onClick={() => host.resume({})} />
          )}
          {!facts.isBusy && task.state === 'open' && task.hasChanges && (
            <Button icon="diff" label={t('Review')} onClick={() => host.openReview({})} />
          )}
          <Button icon="search" kind="plain" isIconOnly label={t('Find (Ctrl+F)')} onClick={onFind} />
          <More facts={facts} />
        </div>
      </div>
      <div class="facts">
        <span class={`badge state state-${verdict ?? run.state}`}>
          {isLive && !isWaiting && <span class="spinner" />}
          {verdict !== undefined && <Icon name={verdictIcons[verdict]} />}
          {isWaiting ? t('waiting for you') : outcomeText(facts, run)}
        </span>
        <Elapsed facts={facts} />
        <span>{safeLine(run.agent)}</span>
        {run.isDemo ? (
          <span class="badge badge-warning">{t('Demo model, scripted')}</span>
        ) : (
          <span class="model">{safeLine(run.model)}</span>
        )}
        <span class="dim usage">{usageText(run.usage)}</span>
        <RunPicker facts={facts} />
      </div>
    </header>
  );
}

function canResume({ isBusy, task, run, runs }: Facts): boolean {
  return !isBusy && task.state === 'open' && run.state !== 'completed' && runs.at(-1)?.id === run.id;
}

function Elapsed({ facts }: { readonly facts: Facts }): JSX.Element | null {
  const { now } = usePage();
  const elapsed = elapsedOf(facts.run, now());
  useTicking(elapsed !== undefined && facts.run.end === undefined, 1_000);
  if (elapsed === undefined) return null;
  return (
    <span class="elapsed" title={t('Time at work; waiting for you is not counted')}>
      {elapsedText(elapsed, clockText)}
    </span>
  );
}

function RunPicker({ facts }: { readonly facts: Facts }): JSX.Element | null {
  const { host, runId } = usePage();
  if (facts.runs.length < 2) return null;
  return (
    <label class="run-picker">
      <span class="sr-only">{t('Run of this task')}</span>
      <select
        value={runId}
        onChange={(event) => {
          const run = facts.runs.find(({ id }) => id === event.currentTarget.value);
          if (run !== undefined) host.showRun({ runId: run.id });
        }}
      >
        {facts.runs.map((run, number) => (
          <option key={run.id} value={run.id}>
            {[`${number + 1}. ${runKindText(run.kind)}`, safeLine(run.agent), outcomeText(facts, run)].join(
              ' · ',
            )}
          </option>
        ))}
      </select>
    </label>
  );
}

function More({ facts }: { readonly facts: Facts }): JSX.Element {
  const { host, runId } = usePage();
  const ref = useRef<HTMLDetailsElement>(null);
  const close = (): void => {
    if (ref.current !== null) ref.current.open = false;
  };
  const choose = (action: () => void) => (): void => {
    close();
    action();
  };
  const { parentRunId } = facts.run;
  const canVerify = !facts.isBusy && facts.task.state === 'open' && facts.task.hasChanges;
  return (
    <details
      class="menu"
      ref={ref}
      onFocusOut={(event) => {
        if (!(event.relatedTarget instanceof Node) || !event.currentTarget.contains(event.relatedTarget))
          close();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
        ref.current?.querySelector('summary')?.focus();
      }}
    >
      <summary class="button button-plain button-icon" title={t('More')} aria-label={t('More')}>
        <span aria-hidden="true">⋯</span>
      </summary>
      <div class="menu-items">
        {canVerify && (
          <Button kind="plain" icon="shield" label={t('Verify')} onClick={choose(() => host.verify({}))} />
        )}
        {parentRunId !== undefined && (
          <Button
            kind="plain"
            icon="open"
            label={t('Show the parent run')}
            onClick={choose(() => host.showRun({ runId: parentRunId }))}
          />
        )}
        <Button
          kind="plain"
          icon="file"
          label={t('Export as Markdown…')}
          onClick={choose(() => host.exportAs({ runId, format: 'markdown' }))}
        />
        <Button
          kind="plain"
          icon="file"
          label={t('Export as JSON…')}
          onClick={choose(() => host.exportAs({ runId, format: 'json' }))}
        />
      </div>
    </details>
  );
}
