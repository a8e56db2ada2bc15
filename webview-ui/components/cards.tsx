import type { ComponentChildren, JSX } from 'preact';
import type { Answer } from '../../src/model/answer';
import type { RunId } from '../../src/model/ids';
import type { Check, Finding, Verdict } from '../../src/model/verdict';
import type { Facts } from '../../src/protocol/transcriptApi';
import type { IconName } from '../iconPaths';
import { safeLine } from '../safeText';
import { durationText, stateText, t, verdictText } from '../words';
import { usePage } from './context';
import { Icon } from './icons';
import { Button, CopyButton, FileLink, Words } from './small';
import { Markdown, TextBlock } from './textBlocks';

export function AnswerCard({
  answer,
  text,
}: {
  readonly answer: Answer;
  readonly text: string;
}): JSX.Element {
  return (
    <section class="card answer">
      <div class="card-head">
        <h2>{t('Answer')}</h2>
        <CopyButton text={() => text} label={t('Copy the answer')} />
      </div>
      {answer.missing.length > 0 && (
        <p class="remark">{t('Sections that are missing: {0}', answer.missing.join(', '))}</p>
      )}
      {answer.summary === '' ? <Markdown text={text} /> : <Markdown text={answer.summary} />}
      <Places
        title={t('Changes')}
        isNone={answer.changes.length === 0}
        missing={answer.missing.includes('CHANGES')}
      >
        {answer.changes.map(({ path, note }) => (
          <li key={`${path} ${note}`}>
            <FileLink path={path} />{' '}
            <span class="note-text">
              <Words text={note} />
            </span>
          </li>
        ))}
      </Places>
      <Places
        title={t('Evidence')}
        isNone={answer.evidence.length === 0}
        missing={answer.missing.includes('EVIDENCE')}
      >
        {answer.evidence.map(({ path, line, endLine, note }) => (
          <li key={`${path} ${line} ${note}`}>
            <FileLink path={path} line={line} endLine={endLine} />{' '}
            <span class="note-text">
              <Words text={note} />
            </span>
          </li>
        ))}
      </Places>
      <Places
        title={t('Risks')}
        isNone={answer.risks.length === 0}
        missing={answer.missing.includes('RISKS')}
      >
        {answer.risks.map((risk) => (
          <li key={risk}>
            <Words text={risk} />
          </li>
        ))}
      </Places>
      <Places
        title={t('Blockers')}
        isNone={answer.blockers.length === 0}
        missing={answer.missing.includes('BLOCKERS')}
      >
        {answer.blockers.map((blocker) => (
          <li key={blocker}>
            <Words text={blocker} />
          </li>
        ))}
      </Places>
    </section>
  );
}

interface PlacesProps {
  readonly title: string;
  readonly isNone: boolean;
  readonly missing: boolean;
  readonly children: ComponentChildren;
}

function Places({ title, isNone, missing, children }: PlacesProps): JSX.Element | null {
  if (missing) return null;
  return (
    <section class={`places${isNone ? ' places-none' : ''}`}>
      <h3>{title}</h3>
      {isNone ? <span class="dim">{t('None.')}</span> : <ul>{children}</ul>}
    </section>
  );
}

export const verdictIcons: Readonly<Record<Verdict['verdict'], IconName>> = {
  PASS: 'check',
  FAIL: 'cross',
  PARTIAL: 'warning',
  none: 'question',
};

/** What the Run came to, if it judged and came to its end. */
export function verdictOf({ runs }: Facts, runId: RunId): Verdict['verdict'] | undefined {
  const run = runs.find(({ id }) => id === runId);
  return run?.state === 'completed' ? run.verdict : undefined;
}

/** The state of a Run in a word; of one that judged, the Verdict. */
export function outcomeText(
  facts: Facts,
  { id, state }: Pick<Facts['runs'][number], 'id' | 'state'>,
): string {
  const verdict = verdictOf(facts, id);
  return verdict === undefined ? stateText(state) : verdictText(verdict);
}

export function VerdictCard({
  facts,
  verdict,
}: {
  readonly facts: Facts;
  readonly verdict: Verdict;
}): JSX.Element {
  const { host, runId } = usePage();
  const open = verdict.findings.filter(({ id }) => !facts.dismissed.includes(id));
  const canFix =
    !facts.isBusy && facts.task.state === 'open' && verdict.verdict !== 'PASS' && open.length > 0;
  return (
    <section class={`card verdict verdict-${verdict.verdict}`}>
      <div class="card-head">
        <h2>
          <Icon name={verdictIcons[verdict.verdict]} />
          {verdict.verdict === 'none' ? t('Verdict: none given') : t('Verdict: {0}', verdict.verdict)}
        </h2>
        {canFix && (
          <Button
            icon="tool"
            label={open.length === 1 ? t('Fix the finding') : t('Fix {0} findings', open.length)}
            onClick={() => host.fix({})}
          />
        )}
        {verdict.runId !== runId && facts.runs.some(({ id }) => id === verdict.runId) && (
          <Button
            kind="plain"
            label={t('Show the verification')}
            onClick={() => {
              const run = facts.runs.find(({ id }) => id === verdict.runId);
              if (run !== undefined) host.showRun({ runId: run.id });
            }}
          />
        )}
      </div>
      {verdict.reasons.map((reason) => (
        <p key={reason} class="remark">
          <Words text={reason} />
        </p>
      ))}
      {verdict.stated !== undefined && verdict.stated !== verdict.verdict && (
        <p class="remark">{t('The verifier itself said: {0}', verdict.stated)}</p>
      )}
      {verdict.findings.length > 0 && <h3>{t('Findings')}</h3>}
      <ul class="findings">
        {verdict.findings.map((finding) => (
          <FindingItem
            key={finding.id}
            finding={finding}
            isDismissed={!open.includes(finding)}
            canFix={canFix}
          />
        ))}
      </ul>
      <h3>{t('Checks')}</h3>
      {verdict.checks.length === 0 ? (
        <p class="dim">{t('No check was run.')}</p>
      ) : (
        <ul class="checks">
          {verdict.checks.map((check, number) => (
            <CheckItem key={number} check={check} verdict={verdict} facts={facts} />
          ))}
        </ul>
      )}
      <p class="dim tree">
        {t('Holds for the tree')} <code>{verdict.tree.slice(0, 12)}</code>
      </p>
    </section>
  );
}

interface FindingProps {
  readonly finding: Finding;
  readonly isDismissed: boolean;
  readonly canFix: boolean;
}

function FindingItem({ finding, isDismissed, canFix }: FindingProps): JSX.Element {
  const { host } = usePage();
  const { location, severity } = finding;
  return (
    <li class={`finding finding-${severity}${isDismissed ? ' finding-dismissed' : ''}`}>
      <div class="finding-head">
        <Icon name={severity} label={severity} />
        {location !== undefined && (
          <FileLink path={location.path} line={location.line} endLine={location.endLine} />
        )}
        <span class="finding-title">
          <Words text={finding.title} />
        </span>
        {isDismissed && <span class="badge">{t('dismissed')}</span>}
        {canFix && !isDismissed && (
          <Button kind="plain" label={t('Fix')} onClick={() => host.fix({ findingId: finding.id })} />
        )}
      </div>
      {finding.detail !== '' && <FindingDetail finding={finding} />}
    </li>
  );
}

/** Lines of a Finding's detail that are seen before it is unfolded. */
const detailLines = 5;

/** What a Check put out is the host's to tell, as it was printed; a verifier's own words are prose. */
function FindingDetail({ finding }: { readonly finding: Finding }): JSX.Element {
  const isOutput = finding.source === 'host';
  return (
    <div class={`finding-detail ${isOutput ? 'finding-output' : 'finding-prose'}`}>
      <TextBlock
        text={finding.detail.trimEnd()}
        lines={detailLines}
        isTerminal={isOutput}
        label={t('Details of: {0}', safeLine(finding.title))}
      />
    </div>
  );
}

interface CheckProps {
  readonly check: Check;
  readonly verdict: Verdict;
  readonly facts: Facts;
}

function CheckItem({ check, verdict, facts }: CheckProps): JSX.Element {
  const { host } = usePage();
  const icon = check.result === 'pass' ? 'check' : check.result === 'fail' ? 'cross' : 'more';
  const run = facts.runs.find(({ id }) => id === verdict.runId);
  const result = check.result === 'pass' ? t('passed') : check.result === 'fail' ? t('failed') : t('skipped');
  return (
    <li class={`check check-${check.result}`}>
      <div class="check-head">
        <Icon name={icon} label={result} />
        <code class="check-command">{safeLine(check.command)}</code>
        <span class="check-facts">
          {check.exitCode === null ? t('no exit code') : t('exit {0}', check.exitCode)}
          {check.durationMs === undefined ? '' : ` · ${durationText(check.durationMs)}`}
        </span>
        <Evidence check={check} />
        {check.call !== undefined && run !== undefined && (
          <Button
            kind="plain"
            label={t('Show call {0}', check.call)}
            onClick={() =>
              host.showRun({ runId: run.id, ...(check.call === undefined ? {} : { call: check.call }) })
            }
          />
        )}
      </div>
      {check.title !== '' && check.title !== check.command && (
        <div class="dim">
          <Words text={check.title} />
        </div>
      )}
    </li>
  );
}

function Evidence({ check }: { readonly check: Check }): JSX.Element {
  switch (check.evidence) {
    case 'host':
      return <span class="badge">{t('run by Tributary')}</span>;
    case 'bound':
      return <span class="badge">{check.isOwn ? t('observed · own check') : t('observed')}</span>;
    case 'unobserved':
      return <span class="badge badge-warning">{t('claimed, not observed')}</span>;
  }
}
