import * as vscode from 'vscode';
import type { LandingMode, LandingPath, PlannedCommit } from '../../model/landing';
import { plainLine } from '../../model/plainText';
import { currentVerdict, openFindings, type Task } from '../../model/task';
import type { LandingPlan, PlannedBranch } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { linesText } from '../review/reviewRows';
import { judgedOf } from '../taskStatus';
import { judgedText, shown } from '../taskWords';
import type { Target } from './targets';

const shownPaths = 20;

/** How it lands, and what is left out because it was rejected. */
export interface PlanWords {
  readonly mode: LandingMode;
  readonly rejected: readonly string[];
}

/** What the user decides on: the Verdict, every file with what happens to it, commits, tests, what is left out. */
export function planText(plan: LandingPlan, { mode, rejected }: PlanWords): string {
  const { task, paths, branch } = plan;
  return [
    verdictLine(task),
    '',
    ...(mode === 'keepBranch' ? keptLines() : writtenLines(task, paths)),
    ...(branch === undefined ? [] : ['', ...branchLines(branch, mode)]),
    ...gateLines(plan),
    ...(rejected.length === 0 ? [] : ['', vscode.l10n.t('Left out, as you rejected it:'), ...cut(rejected)]),
  ].join('\n');
}

function verdictLine(task: Task): string {
  const judged = judgedOf(task);
  if (judged !== undefined)
    return vscode.l10n.t('Verdict: {0}.', judgedText({ ...judged, findings: openFindings(task).length }));
  return currentVerdict(task) === undefined
    ? vscode.l10n.t('Not verified.')
    : vscode.l10n.t('Changed since it was verified.');
}

function writtenLines(task: Task, paths: readonly LandingPath[]): string[] {
  if (paths.length === 0)
    return [vscode.l10n.t('Nothing would be written: your checkout has all of it already.')];
  const root = vscode.l10n.t('Written into {0}:', plainLine(task.packet.repository.root));
  return [root, ...cut(paths.map(pathText))];
}

function keptLines(): string[] {
  return [vscode.l10n.t('Nothing is written. The Task is closed and its branch stays.')];
}

function cut(lines: readonly string[]): string[] {
  const more = lines.length - shownPaths;
  return [...lines.slice(0, shownPaths), ...(more > 0 ? [vscode.l10n.t('… and {0} more', more)] : [])];
}

/** `A`, `M` or `D` and the path. */
function pathText({ path, before, after }: LandingPath): string {
  const letter = before === 'absent' ? 'A' : after === 'absent' ? 'D' : 'M';
  return `${letter}  ${visibleName(path)}`;
}

function branchLines({ ref, head, commits }: PlannedBranch, mode: LandingMode): string[] {
  const where = `${refsText(ref)} (${head.slice(0, 12)})`;
  if (commits.length === 0) return [vscode.l10n.t('Nothing to commit: {0} has all of it.', where)];
  const title =
    mode === 'keepBranch' ? vscode.l10n.t('Left on {0}:', where) : vscode.l10n.t('Committed on {0}:', where);
  return [title, ...cut(commits.map(commitText))];
}

function commitText({ kind, subject }: PlannedCommit): string {
  const text = shown(subject, 100);
  switch (kind) {
    case 'commit':
      return text;
    case 'replayed':
      return vscode.l10n.t('{0} (by the agent)', text);
    case 'task':
      return vscode.l10n.t('{0} (what is merged)', text);
    case 'merge':
      return vscode.l10n.t('{0} (merge)', text);
  }
}

/** A branch as people call it. */
export function refsText(ref: string | undefined): string {
  return ref === undefined
    ? vscode.l10n.t('the detached HEAD')
    : plainLine(ref.replace(/^refs\/heads\//, ''));
}

function gateLines({ task, gate }: LandingPlan): string[] {
  if (gate === undefined || gate === 'none') return [];
  const commands = task.packet.acceptanceTests.map(({ command }) => shown(command)).join(', ');
  return [
    '',
    gate === 'passed'
      ? vscode.l10n.t('Passed on exactly these files: {0}', commands)
      : vscode.l10n.t('Run on the merged files first: {0}', commands),
  ];
}

/** What the user rejected and a plan therefore leaves out: files by their path, hunks by path and lines. */
export async function rejectedTexts(
  { board, task }: Target,
  { leftOut }: LandingPlan,
): Promise<readonly string[]> {
  if (leftOut === undefined) return [];
  const { files } = leftOut.hunks.length === 0 ? { files: [] } : await board.core.tasks.hunks(task.id);
  const hunks = files.flatMap((file) => file.hunks);
  return [
    ...leftOut.paths.map(visibleName),
    ...leftOut.hunks.map((id) => {
      const hunk = hunks.find((one) => one.id === id);
      return hunk === undefined ? id : `${visibleName(hunk.path)}:${linesText(hunk)}`;
    }),
  ];
}
