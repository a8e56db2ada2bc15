import * as l10n from '@vscode/l10n';
import type { Usage } from '../src/model/usage';

/** English until the editor's own language comes with the page. */
export function useLanguage(bundle: string | undefined): void {
  if (bundle !== undefined && bundle !== '') l10n.config({ contents: bundle });
}

/** A text of the page in the editor's language. */
export const t = l10n.t;

export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return clockText(ms);
}

/** `m:ss` or `h:mm:ss`. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  const pad = (value: number): string => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3_600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(seconds % 60)}` : `${minutes}:${pad(seconds % 60)}`;
}

/** `1,234` up to 9,999, then `12.3k`, `4.5M`. */
export function countText(count: number): string {
  if (count < 10_000) return count.toLocaleString();
  if (count < 1_000_000) return `${(count / 1_000).toFixed(1)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

export function usageText(usage: Usage): string {
  const sent = usage.input + usage.cacheRead + usage.cacheWrite;
  const share = sent === 0 ? 0 : Math.round((usage.cacheRead / sent) * 100);
  return [
    usage.requests === 1 ? t('1 request') : t('{0} requests', usage.requests),
    t('{0} tokens in', countText(sent)),
    t('{0} out', countText(usage.output)),
    ...(usage.cacheRead > 0 ? [t('{0}% from cache', share)] : []),
    ...(usage.cacheWrite > 0 ? [t('{0} to cache', countText(usage.cacheWrite))] : []),
  ].join(' · ');
}

/** The time of day, in the user's way. */
export function timeText(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? '' : time.toLocaleTimeString();
}

export function runKindText(kind: string): string {
  switch (kind) {
    case 'first':
      return t('first');
    case 'followUp':
      return t('follow-up');
    case 'fix':
      return t('fix');
    case 'verify':
      return t('verification');
    case 'review':
      return t('review');
    case 'retry':
      return t('retry');
    case 'resume':
      return t('resumed');
    case 'child':
      return t('child');
    default:
      return kind;
  }
}

export function stateText(state: string): string {
  switch (state) {
    case 'created':
      return t('waiting for a slot');
    case 'running':
      return t('running');
    case 'completed':
      return t('completed');
    case 'failed':
      return t('failed');
    case 'stopped':
      return t('stopped');
    case 'interrupted':
      return t('interrupted');
    default:
      return state;
  }
}

/** The three words are the product's own and are not translated. */
export function verdictText(verdict: string): string {
  return verdict === 'none' ? t('no verdict') : verdict;
}

/** Why something was cut or ended: codes of the core in words; one we have no words for stays as it is. */
export function reasonText(code: string): string {
  switch (code) {
    case 'user':
      return t('stopped by you');
    case 'shutdown':
      return t('the editor was closed or reloaded');
    case 'crash':
    case 'killed':
      return t('the process that ran it was killed');
    case 'timeout':
      return t('its time was used up');
    case 'budget':
      return t('its budget was used up');
    case 'limit':
      return t('a limit was reached');
    case 'maxTokens':
      return t('the answer was cut at its token limit');
    case 'refusal':
      return t('the model refused to answer');
    case 'contextFull':
      return t('the conversation no longer fits the model');
    case 'emptyAnswer':
      return t('the model gave no answer');
    case 'setup':
      return t('it could not be set up');
    case 'rateLimited':
      return t('too many requests');
    case 'overloaded':
      return t('the model is overloaded');
    case 'serverError':
      return t('the server failed');
    case 'unreachable':
      return t('the server cannot be reached');
    case 'stalled':
      return t('the model fell silent');
    case 'cutStream':
      return t('the answer broke off');
    case 'wrongKey':
      return t('the key was refused');
    case 'noCredentials':
      return t('there is no API key');
    default:
      return code;
  }
}
