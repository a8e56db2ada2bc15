import * as vscode from 'vscode';
import type { Unresolved } from '../model/movedBase';
import type { Overlap } from '../model/overlap';
import { plainLine } from '../model/plainText';
import type { Run } from '../model/run';
import { openAlarms, type Task } from '../model/task';
import type { VerdictWord } from '../model/verdict';
import type { PermissionQuestion } from '../tasks/permission';
import { isLive } from '../tasks/runMachine';
import type { Activity } from './activity';
import type { RowMark } from './rowMarks';
import { hasSetup, isSetupFailed } from './setupOutput';
import { canAccept, canResume, canUndo, isAtRest, judgedOf, type TaskStatus, timesOf } from './taskStatus';
import {
  activityText,
  baseName,
  cutText,
  icon,
  judgedText,
  runKindText,
  setupCommandText,
  shown,
  statusIcon,
  statusText,
  timesText,
  usageText,
  verdictIcon,
  verdictText,
} from './taskWords';
import { alarmHead, alarmLines, alarmsText, conflictsText, cutOffText, warningMark } from './warningWords';

/** Of a side bar as wide as the editor makes it, half is left for what goes on. */
const labelLength = 24;

/** What a row shows: plain data, so that two states of it can be compared. */
export interface RowContent {
  readonly label: string;
  readonly description: string;
  readonly icon: vscode.ThemeIcon;
  readonly mark?: RowMark | undefined;
  /** Words that `when` clauses of menus look for. */
  readonly context: readonly string[];
  /** What a screen reader says. */
  readonly spoken: string;
}

/** Of what is there no more, until the editor has heard of it. */
export function goneRow(): RowContent {
  return { label: '', description: '', icon: new vscode.ThemeIcon('blank'), context: [], spoken: '' };
}

/** What is known of a Task's row beside its record. */
export interface KnownOfTask {
  readonly questions: number;
  /** Of this Task with others and with the checkout. */
  readonly conflicts: readonly Overlap[];
}

export function taskRow(task: Task, status: TaskStatus, known: KnownOfTask): RowContent {
  const [alarms, conflicts] = [alarmsText(openAlarms(task)), conflictsText(known.conflicts)];
  const description = [alarms, statusText(status), conflicts]
    .filter((text) => text !== undefined)
    .join(' · ');

  return {
    // Short, so that a narrow side bar has room for what goes on; tooltip and screen readers have all of it.
    label: shown(task.packet.objective, labelLength),
    description,
    icon: alarms === undefined ? statusIcon(status) : icon('alert', 'list.errorForeground'),
    mark: warningMark(alarms, conflicts),
    context: [
      ...taskContext(task, known.questions),
      ...(alarms === undefined ? [] : ['alarmed']),
      ...(conflicts === undefined ? [] : ['conflicting']),
    ],
    spoken: `${shown(task.packet.objective, 300)}, ${description}`,
  };
}

/** The words menus decide by; see `view/item/context` in the manifest. */
export function taskContext(task: Task, questions: number): string[] {
  const flags: readonly (readonly [string, boolean])[] = [
    ['task', true],
    ['live', task.runs.some(isLive)],
    ['asking', questions > 0],
    ['acceptable', canAccept(task)],
    ['changed', task.snapshot !== undefined],
    ['unresolved', canAccept(task) && task.unresolved.length > 0],
    ['resumable', canResume(task)],
    ['fixable', canAccept(task) && (judgedOf(task)?.findings ?? 0) > 0],
    ['setUp', hasSetup(task)],
    ['setUpFailed', isSetupFailed(task)],
    ['discardable', isAtRest(task) && task.state === 'open'],
    ['undoable', canUndo(task)],
    [
      'restorable',
      isAtRest(task) &&
        task.expiredAt === undefined &&
        (task.state === 'discarded' || task.state === 'closed'),
    ],
    ['standing', task.state === 'open' && task.worktreePath !== undefined],
  ];
  return flags.filter(([, isSet]) => isSet).map(([word]) => word);
}

/** What is known of a Run beside its record. */
export interface KnownOfRun {
  readonly activity: Activity | undefined;
  /** What it came to, if it judged. */
  readonly verdict: VerdictWord | undefined;
}

export function runRow(run: Run, known: KnownOfRun): RowContent {
  const label = runLabel(run);
  const description = runText(run, known);
  return {
    label,
    description,
    icon: runIcon(run, known),
    context: isLive(run) ? ['run', 'live'] : ['run'],
    spoken: `${label}, ${description}`,
  };
}

/** The first Run goes by its agent's name, a verification by what it is. */
function runLabel(run: Run): string {
  if (run.kind === 'first') return shown(run.agent);
  return run.kind === 'verify' ? runKindText(run.kind) : `${runKindText(run.kind)}: ${shown(run.agent)}`;
}

function runText(run: Run, { activity, verdict }: KnownOfRun): string {
  const { status } = run;
  switch (status.state) {
    case 'created':
      return vscode.l10n.t('waiting for a slot');
    case 'running':
      if (activity === undefined) return vscode.l10n.t('running in another process');
      // Its question has a row of its own.
      return activity.kind === 'asking' ? vscode.l10n.t('waiting for you') : activityText(activity);
    case 'completed': {
      const times = timesText(timesOf(run, new Date()) ?? { workedMs: 0, waitedMs: 0 });
      return verdict === undefined ? times : `${verdictText(verdict)} · ${times}`;
    }
    case 'failed':
    case 'stopped':
    case 'interrupted':
      return cutText(status.state, status.end);
  }
}

function runIcon(run: Run, { activity, verdict }: KnownOfRun): vscode.ThemeIcon {
  switch (run.status.state) {
    case 'created':
      return icon('clock', 'charts.blue');
    case 'running':
      return activity?.kind === 'asking'
        ? icon('bell-dot', 'charts.yellow')
        : icon('loading~spin', 'charts.blue');
    case 'completed':
      return verdict === undefined ? new vscode.ThemeIcon('check') : verdictIcon(verdict);
    case 'failed':
      return icon('error', 'charts.red');
    case 'stopped':
      return icon('debug-stop', 'charts.yellow');
    case 'interrupted':
      return icon('debug-pause', 'charts.yellow');
  }
}

export function questionRow(question: PermissionQuestion): RowContent {
  const label = vscode.l10n.t('waiting for you: {0}', shown(question.command));
  return {
    label,
    description: shown(question.agent),
    icon: icon('bell-dot', 'charts.yellow'),
    context: ['question'],
    spoken: vscode.l10n.t('{0} wants to run {1}', shown(question.agent), plainLine(question.command)),
  };
}

export function repositoryRow(label: string, tasks: number): RowContent {
  const description = tasks === 1 ? vscode.l10n.t('1 Task') : vscode.l10n.t('{0} Tasks', tasks);
  return {
    label,
    description,
    icon: new vscode.ThemeIcon('repo'),
    context: ['repository'],
    spoken: `${label}, ${description}`,
  };
}

/** What the tooltip of a Task says beside its record and state. */
export interface KnownOfTooltip {
  readonly conflicts: readonly string[];
  readonly unresolved: readonly Unresolved[];
}

/** Objective, state, base, Verdict, usage, time: as Markdown in which nothing of theirs is markup. */
export function taskTooltip(
  task: Task,
  status: TaskStatus,
  { conflicts, unresolved }: KnownOfTooltip,
): vscode.MarkdownString {
  const { base } = task.packet.repository;
  const behind =
    base.behind === undefined || base.behind === 0
      ? ''
      : vscode.l10n.t(', {0} behind its upstream', base.behind);
  const judged = judgedOf(task);
  const first = task.runs[0];
  const rows: readonly (readonly [string, string | undefined])[] = [
    ...openAlarms(task).map(
      (alarm) => [vscode.l10n.t('Alarm'), [alarmHead(alarm), ...alarmLines(alarm)].join(' ')] as const,
    ),
    ...conflicts.map((conflict) => [vscode.l10n.t('Conflict'), conflict] as const),
    [vscode.l10n.t('State'), statusText(status)],
    [vscode.l10n.t('Cut off'), task.cutOff && cutOffText(task.cutOff)],
    [vscode.l10n.t('Agent'), task.agent],
    [vscode.l10n.t('Base'), `${baseName(base)} (${base.commit.slice(0, 10)})${behind}`],
    [vscode.l10n.t('Branch'), task.branch?.replace(/^refs\/heads\//, '')],
    [vscode.l10n.t('Worktree'), task.state === 'open' ? task.worktreePath : undefined],
    ...(task.setup?.commands ?? []).map((done) => [vscode.l10n.t('Set-up'), setupCommandText(done)] as const),
    [vscode.l10n.t('Verdict'), judged === undefined ? undefined : judgedText(judged)],
    ...unresolved.map(({ path }) => [vscode.l10n.t('To resolve'), path] as const),
    [vscode.l10n.t('Started'), first === undefined ? undefined : new Date(first.createdAt).toLocaleString()],
    ...task.runs.map((run) => [runKindText(run.kind), runSummary(run)] as const),
  ];
  const markdown = new vscode.MarkdownString();
  markdown.appendMarkdown('**').appendText(shown(task.packet.objective, 400)).appendMarkdown('**\n\n');
  for (const [name, value] of rows) {
    if (value === undefined) continue;
    markdown
      .appendMarkdown('- ')
      .appendText(`${name}: ${shown(value, 300)}`)
      .appendMarkdown('\n');
  }
  return markdown;
}

export function runTooltip(run: Run): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  markdown.appendMarkdown('**').appendText(runLabel(run)).appendMarkdown('**\n\n');
  const rows = [
    `${vscode.l10n.t('Model')}: ${shown(run.model)}`,
    runSummary(run),
    ...('end' in run.status && run.status.end.message !== '' ? [shown(run.status.end.message, 400)] : []),
    ...(run.answer === undefined ? [] : [shown(run.answer.summary, 600)]),
  ];
  for (const row of rows) markdown.appendMarkdown('- ').appendText(row).appendMarkdown('\n');
  return markdown;
}

function runSummary(run: Run): string {
  const times = timesOf(run, new Date());
  return [
    ...(times === undefined ? [] : [timesText(times)]),
    ...(run.waitedMs === undefined || run.waitedMs < 1_000
      ? []
      : [vscode.l10n.t('the time it waited for you is not counted')]),
    usageText(run.usage),
  ].join(', ');
}
