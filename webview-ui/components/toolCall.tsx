import type { JSX } from 'preact';
import type { LiveOutput } from '../../src/protocol/transcriptApi';
import type { RowOf } from '../rows';
import { firstLines, safeLine } from '../safeText';
import { rawField, todosOf, toolLine } from '../toolLine';
import { durationText, t } from '../words';
import { usePage } from './context';
import { useTicking } from './hooks';
import { Icon } from './icons';
import { Button, CopyButton, FileLink, Fold } from './small';
import { DiffBlock, Part, Terminal, TextBlock } from './textBlocks';

type Row = RowOf<'tool'>;

/** Lines of a running command's output that are seen while it is folded. */
const tailLines = 8;

export function ToolCall({
  row,
  live,
}: {
  readonly row: Row;
  readonly live: LiveOutput | undefined;
}): JSX.Element {
  const { isOpen, hasEnded } = usePage();
  const line = toolLine(row.name, row.input);
  const label = `${line.verb} ${line.subject}`.trim();
  const isLive = row.state === 'open' && !hasEnded;
  return (
    <div class={`tool tool-${row.state}`}>
      <Fold
        rowKey={row.key}
        label={t('Details of: {0}', label)}
        summary={
          <>
            <Icon name={line.icon} />
            <span class="tool-verb">{line.verb}</span>
            <span class="tool-subject" title={line.subject}>
              {line.path === undefined ? <code>{line.subject}</code> : <FileLink path={line.path} />}
            </span>
            <Outcome row={row} isLive={isLive} />
          </>
        }
      >
        {() => <Details row={row} live={live} />}
      </Fold>
      {isLive && live !== undefined && !isOpen(row.key, false) && <Tail text={live.text} />}
      {row.state === 'failed' && typeof row.exitCode !== 'number' && !isOpen(row.key, false) && (
        <FirstWords text={row.result ?? ''} />
      )}
    </div>
  );
}

const outcomeIcons = { done: 'check', failed: 'cross', stopped: 'stop' } as const;

function Outcome({ row, isLive }: { readonly row: Row; readonly isLive: boolean }): JSX.Element {
  const { now } = usePage();
  useTicking(isLive, 1_000);
  const took = row.durationMs !== undefined && row.durationMs >= 1_000 ? durationText(row.durationMs) : '';
  if (row.state === 'open') {
    const since = isLive && row.startedAt !== undefined ? now() - Date.parse(row.startedAt) : 0;
    return (
      <span class="outcome">
        {isLive ? <span class="spinner" /> : null}
        {isLive ? (since >= 1_000 ? durationText(Math.floor(since / 1_000) * 1_000) : '') : t('no result')}
      </span>
    );
  }
  const exit = typeof row.exitCode === 'number' ? t('exit {0}', row.exitCode) : '';
  const word =
    row.state === 'stopped' ? t('stopped') : exit !== '' ? exit : row.state === 'failed' ? t('failed') : '';
  return (
    <span class={`outcome outcome-${row.state}`}>
      <Icon name={outcomeIcons[row.state]} />
      {[word, took].filter((text) => text !== '').join(' · ')}
      {row.state === 'done' && word === '' && <span class="sr-only">{t('done')}</span>}
    </span>
  );
}

function Tail({ text }: { readonly text: string }): JSX.Element {
  const lines = text.trimEnd().split('\n');
  const shown = lines.slice(-tailLines).map((line) => line.slice(-500));
  return (
    <pre class="mono tail">
      <Terminal text={shown.join('\n')} />
    </pre>
  );
}

/** Why a call failed, without unfolding it. Output of a command says that seldom in its first line. */
function FirstWords({ text }: { readonly text: string }): JSX.Element | null {
  const said = firstLines(text, 20)
    .lines.map((line) => safeLine(line))
    .find((line) => line !== '' && !/^\[call \d+\]$/.test(line));
  return said === undefined ? null : <div class="tool-error">{said.slice(0, 300)}</div>;
}

function Details({ row, live }: { readonly row: Row; readonly live: LiveOutput | undefined }): JSX.Element {
  const { host, runId } = usePage();
  return (
    <>
      <Input row={row} />
      {row.result !== undefined && (
        <Part
          title={t('Result')}
          actions={
            <>
              {row.hasOutputFile && row.endedIndex !== undefined && (
                <Button
                  kind="plain"
                  icon="open"
                  label={t('Open the full output')}
                  onClick={() => host.openOutput({ runId, index: row.endedIndex ?? 0 })}
                />
              )}
              <CopyButton text={() => row.result ?? ''} label={t('Copy the result')} />
            </>
          }
        >
          <TextBlock
            text={row.result === '' ? t('(empty)') : row.result}
            shortened={row.shortened.filter((index) => index === row.endedIndex)}
            isTerminal={row.name === 'Bash'}
            label={t('Result')}
          />
        </Part>
      )}
      {row.result === undefined && live !== undefined && (
        <Part title={t('Output so far')}>
          <TextBlock text={live.text.slice(-20_000)} isTerminal label={t('Output so far')} />
        </Part>
      )}
    </>
  );
}

/** What the model asked for, in the form that suits the tool. */
function Input({ row }: { readonly row: Row }): JSX.Element | null {
  const { name, input } = row;
  const shortened = row.shortened.filter((index) => index !== row.endedIndex);
  if (input === undefined) return null;
  const text = (key: string): string => rawField(input, key);
  const path = text('file_path');
  switch (name) {
    case 'Edit':
      return (
        <Part
          title={t('Change')}
          actions={<CopyButton text={() => text('new_string')} label={t('Copy the new text')} />}
        >
          {path !== '' && <FileLink path={path} />}
          <DiffBlock before={text('old_string')} after={text('new_string')} />
        </Part>
      );
    case 'Write':
      return (
        <Part
          title={t('Content')}
          actions={<CopyButton text={() => text('content')} label={t('Copy the content')} />}
        >
          {path !== '' && <FileLink path={path} />}
          <DiffBlock before="" after={text('content')} />
        </Part>
      );
    case 'Bash':
      return (
        <Part
          title={t('Command')}
          actions={<CopyButton text={() => text('command')} label={t('Copy the command')} />}
        >
          <TextBlock text={text('command')} shortened={shortened} label={t('Command')} />
        </Part>
      );
    case 'TodoWrite':
      return (
        <ul class="todos">
          {todosOf(input).map((todo, number) => (
            <li key={number} class={`todo-${todo.status === 'completed' ? 'done' : 'open'}`}>
              <Icon
                name={
                  todo.status === 'completed' ? 'check' : todo.status === 'in_progress' ? 'chevron' : 'more'
                }
              />
              <span>{safeLine(todo.text)}</span>
              <span class="sr-only">{safeLine(todo.status)}</span>
            </li>
          ))}
        </ul>
      );
    default: {
      const json = JSON.stringify(input, undefined, 2) ?? '';
      return (
        <Part title={t('Input')} actions={<CopyButton text={() => json} label={t('Copy the input')} />}>
          <TextBlock text={json} shortened={shortened} label={t('Input')} />
        </Part>
      );
    }
  }
}
