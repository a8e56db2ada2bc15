import * as vscode from 'vscode';
import type { Base } from '../model/packet';
import { clip, plainLine } from '../model/plainText';
import type { RunEnd, RunKind } from '../model/run';
import type { SetupCommand } from '../model/setup';
import type { Usage } from '../model/usage';
import type { VerdictWord } from '../model/verdict';
import type { Activity } from './activity';
import { firstLine, shortReason } from './messages';
import type { Counts, Judged, Stage, TaskStatus, Times } from './taskStatus';

const shownLength = 80;

/** Text from a model, a file or a user as part of a row: one line, nothing hidden, not too long. */
export function shown(text: string, length = shownLength): string {
  return clip(plainLine(text), length);
}

/** A base as its chooser knows it. */
export function baseName({ ref, uncommitted }: Base): string {
  if (uncommitted === undefined) return ref;
  return uncommitted.files === 1
    ? vscode.l10n.t('{0} with uncommitted changes in 1 file', ref)
    : vscode.l10n.t('{0} with uncommitted changes in {1} files', ref, uncommitted.files);
}

export function activityText(activity: Activity): string {
  switch (activity.kind) {
    case 'queued':
      return vscode.l10n.t('waiting for a slot');
    case 'worktree':
      return vscode.l10n.t('preparing its worktree');
    case 'settingUp':
      return vscode.l10n.t('set-up: {0}', shown(activity.command));
    case 'thinking':
      return vscode.l10n.t('thinking');
    case 'reading':
      return vscode.l10n.t('reading {0}', shown(activity.path));
    case 'editing':
      return vscode.l10n.t('editing {0}', shown(activity.path));
    case 'searching':
      return vscode.l10n.t('searching {0}', shown(activity.pattern));
    case 'running':
      return vscode.l10n.t('running {0}', shown(activity.command));
    case 'planning':
      return vscode.l10n.t('planning');
    case 'comparing':
      return vscode.l10n.t('looking at the difference');
    case 'reporting':
      return vscode.l10n.t('reporting {0}', shown(activity.title));
    case 'tool':
      return shown(activity.name);
    case 'asking':
      return vscode.l10n.t('waiting for you: {0}', shown(activity.command));
    case 'retrying':
      return vscode.l10n.t('retrying in {0}: {1}', durationText(activity.waitMs), shortReason(activity.code));
  }
}

/** A set-up command, how it ended, and of one that failed the end of what it printed. */
export function setupCommandText(done: SetupCommand): string {
  const { command, exitCode, output } = done;
  const end = `${shown(command)} (${setupEndText(done)})`;
  return exitCode === 0 || output === '' ? end : `${end}: ${plainLine(output.slice(-160))}`;
}

/** How a set-up command ended, and after what time. */
export function setupEndText({ exitCode, reason, durationMs }: SetupCommand): string {
  const time = durationText(durationMs);
  if (reason === 'timeout') return vscode.l10n.t('took too long and was ended after {0}', time);
  if (exitCode === null) return vscode.l10n.t('ended before its time, after {0}', time);
  return exitCode === 0
    ? vscode.l10n.t('succeeded after {0}', time)
    : vscode.l10n.t('failed with exit code {0} after {1}', exitCode, time);
}

/** What the row of a Task says behind its objective. */
export function statusText(status: TaskStatus): string {
  switch (status.kind) {
    case 'live':
      return liveText(status.stage, status.activity);
    case 'between':
      return vscode.l10n.t('going on');
    case 'waiting':
      return vscode.l10n.t('waiting to start');
    case 'ending':
      return vscode.l10n.t('finishing');
    case 'answered':
      return vscode.l10n.t('answered');
    case 'ready':
      return [...unresolvedTexts(status.unresolved), readyText(status.files, status.judged)].join(' · ');
    case 'cut':
      return cutText(status.state, status.end);
    case 'ended':
      return endedText(status.state);
  }
}

function liveText(stage: Stage, activity: Activity | undefined): string {
  // What waits for the user comes first, whatever the Run is for.
  if (activity?.kind === 'asking') return activityText(activity);
  // Its Worktree stands already: the host's own checks come first.
  const isBeginning = activity?.kind === 'worktree' && stage !== 'working';
  const doing = activity === undefined || isBeginning ? undefined : activityText(activity);
  switch (stage) {
    case 'working':
      return doing ?? vscode.l10n.t('running in another process');
    case 'verifying':
      return doing === undefined ? vscode.l10n.t('verifying') : vscode.l10n.t('verifying: {0}', doing);
    case 'fixing':
      return doing === undefined ? vscode.l10n.t('fixing') : vscode.l10n.t('fixing: {0}', doing);
  }
}

function unresolvedTexts(files = 0): string[] {
  if (files === 0) return [];
  return [files === 1 ? vscode.l10n.t('1 file to resolve') : vscode.l10n.t('{0} files to resolve', files)];
}

/** The Verdict first: a narrow side bar cuts the end. */
function readyText(files: number | undefined, judged: Judged | undefined): string {
  const ready =
    files === undefined
      ? vscode.l10n.t('ready')
      : files === 0
        ? vscode.l10n.t('nothing changed')
        : files === 1
          ? vscode.l10n.t('ready: 1 file')
          : vscode.l10n.t('ready: {0} files', files);
  if (judged === undefined) return ready;
  // What was found wrong is not called ready; it can still be accepted.
  if (judged.verdict === 'FAIL')
    return [judgedText(judged), ...(files === undefined ? [] : [filesText(files)])].join(' · ');
  return `${judgedText(judged)} · ${ready}`;
}

function filesText(files: number): string {
  return files === 1 ? vscode.l10n.t('1 file') : vscode.l10n.t('{0} files', files);
}

export function judgedText({ verdict, findings }: Judged): string {
  if (findings === 0) return verdictText(verdict);
  return findings === 1
    ? vscode.l10n.t('{0}, 1 finding', verdictText(verdict))
    : vscode.l10n.t('{0}, {1} findings', verdictText(verdict), findings);
}

/** The three words are the product's own and are not translated. */
export function verdictText(verdict: VerdictWord): string {
  return verdict === 'none' ? vscode.l10n.t('no verdict') : verdict;
}

export function cutText(
  state: 'failed' | 'stopped' | 'interrupted',
  { reason, message }: Pick<RunEnd, 'reason' | 'message'>,
): string {
  switch (state) {
    case 'failed':
      // Which command it was counts more than that it was one of the set-up.
      if (reason === 'setup') return vscode.l10n.t('set-up failed: {0}', shown(firstLine(message)));
      return vscode.l10n.t('failed: {0}', shortReason(reason));
    case 'stopped':
      return vscode.l10n.t('stopped');
    case 'interrupted':
      return vscode.l10n.t('interrupted');
  }
}

export function endedText(state: 'accepted' | 'discarded' | 'closed'): string {
  switch (state) {
    case 'accepted':
      return vscode.l10n.t('accepted');
    case 'discarded':
      return vscode.l10n.t('discarded');
    case 'closed':
      return vscode.l10n.t('closed, nothing to accept');
  }
}

export function runKindText(kind: RunKind): string {
  switch (kind) {
    case 'first':
      return vscode.l10n.t('first run');
    case 'followUp':
      return vscode.l10n.t('follow-up');
    case 'fix':
      return vscode.l10n.t('fix');
    case 'verify':
      return vscode.l10n.t('verification');
    case 'review':
      return vscode.l10n.t('review');
    case 'retry':
      return vscode.l10n.t('retry');
    case 'resume':
      return vscode.l10n.t('resumed');
    case 'child':
      return vscode.l10n.t('child');
  }
}

/** An icon for each state: its shape says it, its colour only helps. */
export function statusIcon(status: TaskStatus): vscode.ThemeIcon {
  switch (status.kind) {
    case 'live':
      if (status.activity?.kind === 'asking') return icon('bell-dot', 'charts.yellow');
      if (status.activity?.kind === 'queued') return icon('clock', 'charts.blue');
      return icon('loading~spin', 'charts.blue');
    case 'between':
    case 'ending':
      return icon('loading~spin', 'charts.blue');
    case 'waiting':
      return icon('clock', 'charts.blue');
    case 'answered':
      return icon('comment', 'charts.blue');
    case 'ready':
      return status.unresolved === undefined ? readyIcon(status.judged) : icon('warning', 'charts.yellow');
    case 'cut':
      return status.state === 'failed'
        ? icon('error', 'charts.red')
        : icon(status.state === 'stopped' ? 'debug-stop' : 'debug-pause', 'charts.yellow');
    case 'ended':
      return icon(
        { accepted: 'check-all', discarded: 'trash', closed: 'circle-slash' }[status.state],
        'disabledForeground',
      );
  }
}

function readyIcon(judged: Judged | undefined): vscode.ThemeIcon {
  return judged === undefined ? icon('git-pull-request', 'charts.green') : verdictIcon(judged.verdict);
}

export function verdictIcon(verdict: VerdictWord): vscode.ThemeIcon {
  if (verdict === 'PASS') return icon('pass', 'charts.green');
  return verdict === 'FAIL' ? icon('bug', 'charts.red') : icon('question', 'charts.yellow');
}

export function icon(id: string, colour: string): vscode.ThemeIcon {
  return new vscode.ThemeIcon(id, new vscode.ThemeColor(colour));
}

export function durationText(ms: number): string {
  if (ms < 60_000) return vscode.l10n.t('{0} s', Math.round(ms / 1_000));
  if (ms < 3_600_000)
    return vscode.l10n.t('{0} min {1} s', Math.floor(ms / 60_000), Math.round((ms % 60_000) / 1_000));
  return vscode.l10n.t('{0} h {1} min', Math.floor(ms / 3_600_000), Math.round((ms % 3_600_000) / 60_000));
}

/** The time at work; that of waiting beside it, where there was any to speak of. */
export function timesText({ workedMs, waitedMs }: Times): string {
  const worked = durationText(workedMs);
  return waitedMs < 1_000 ? worked : vscode.l10n.t('{0}, waited {1}', worked, durationText(waitedMs));
}

export function usageText({ requests, input, output, cacheRead, cacheWrite }: Usage): string {
  const all = input + cacheRead + cacheWrite;
  const share = all === 0 ? 0 : Math.round((100 * cacheRead) / all);
  return vscode.l10n.t(
    '{0} requests, {1} tokens in ({2} % from cache), {3} out',
    requests,
    all,
    share,
    output,
  );
}

/** What the badge's tooltip says: only what there is. */
export function badgeText({ ready, waiting }: Counts): string {
  return [
    ...(ready === 0 ? [] : [vscode.l10n.t('{0} ready', ready)]),
    ...(waiting === 0 ? [] : [vscode.l10n.t('{0} waiting for you', waiting)]),
  ].join(', ');
}
