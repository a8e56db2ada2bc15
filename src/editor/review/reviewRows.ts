import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { Task } from '../../model/task';
import type { MarkedFile, MarkedHunk } from '../../tasks/taskApi';
import { visibleName } from '../plainWords';
import { canAccept } from '../taskStatus';
import { icon, shown } from '../taskWords';
import type { RowContent } from '../treeItems';
import { rangeOf } from './hunkPlaces';

/** A row of the review: what a tree shows of it, and its checkbox. */
export interface ReviewRow extends RowContent {
  /** Absent: it cannot be marked now. */
  readonly isReviewed?: boolean;
}

type Marks = Pick<MarkedHunk, 'decision' | 'isReviewed' | 'isLanded'>;

export function fileRow(task: Task, file: MarkedFile): ReviewRow {
  const { path, hunks } = file;
  const folder = posix.dirname(path);
  const description = [
    ...(folder === '.' ? [] : [visibleName(folder)]),
    countsText(file),
    ...marksTexts(file),
    ...partTexts(file),
  ].join(' · ');
  const isAllRejected = hunks.length > 0 && hunks.every((hunk) => hunk.decision === 'reject');
  const isAllLanded = file.isLanded || (hunks.length > 0 && hunks.every((hunk) => hunk.isLanded));
  const seen: Marks = {
    isReviewed: file.isReviewed,
    isLanded: isAllLanded,
    ...(isAllRejected ? { decision: 'reject' } : decisionOf(file)),
  };
  return {
    label: visibleName(posix.basename(path)),
    description,
    icon: iconOf(seen, statusIcons[file.status]),
    context: ['file', ...contextOf(task, seen)],
    spoken: [
      visibleName(path),
      statusText(file),
      countsText(file),
      ...spokenMarks(file),
      ...partTexts(file),
    ].join(', '),
    ...reviewedOf(task, file),
  };
}

export function hunkRow(task: Task, hunk: MarkedHunk): ReviewRow {
  const lines = linesText(hunk);
  const first = shown(hunk.firstLine.replace(/^([+-])\s*/, '$1 '), 120);
  const isRemoved = hunk.newLines === 0;
  const plain = isRemoved ? 'diff-removed' : hunk.oldLines === 0 ? 'diff-added' : 'diff-modified';
  const words = linesWords(hunk);
  const what = isRemoved ? vscode.l10n.t('{0}, removed', words) : words;
  return {
    label: `${lines}  ${first}`,
    description: marksTexts(hunk).join(' · '),
    icon: iconOf(hunk, plain),
    context: ['hunk', ...contextOf(task, hunk)],
    spoken: [what, first, ...spokenMarks(hunk)].join(', '),
    ...reviewedOf(task, hunk),
  };
}

/** The lines as the Task has them; those of the base where they were taken out. */
export function linesText(hunk: MarkedHunk): string {
  const { start, end } = rangeOf(hunk, hunk.newLines === 0 ? 'base' : 'task');
  return start === end ? String(start) : `${start}–${end}`;
}

/** The same as words: one line is no lines. */
export function linesWords(hunk: MarkedHunk): string {
  const { start, end } = rangeOf(hunk, hunk.newLines === 0 ? 'base' : 'task');
  return start === end ? vscode.l10n.t('line {0}', start) : vscode.l10n.t('lines {0} to {1}', start, end);
}

/** What can be marked: a Task that is open and not about to end. */
function isOpen(task: Task): boolean {
  return task.state === 'open' && task.pending === undefined;
}

function reviewedOf(task: Task, { isReviewed }: Marks): Pick<ReviewRow, 'isReviewed'> {
  return isOpen(task) ? { isReviewed } : {};
}

function decisionOf({ decision }: Pick<MarkedHunk, 'decision'>): Pick<MarkedHunk, 'decision'> {
  return decision === undefined ? {} : { decision };
}

/** The words menus decide by; see `view/item/context` in the manifest. */
function contextOf(task: Task, { decision, isReviewed, isLanded }: Marks): string[] {
  if (!isOpen(task)) return [];
  const isRejected = decision === 'reject';
  return [
    isReviewed ? 'reviewed' : 'unreviewed',
    ...(isRejected ? ['rejected'] : isLanded ? ['landed'] : ['rejectable']),
    ...(canAccept(task) && !isRejected && !isLanded ? ['landable'] : []),
  ];
}

/** The shape says it, the colour only helps. */
function iconOf({ decision, isLanded }: Marks, plain: string): vscode.ThemeIcon {
  if (isLanded) return icon('check-all', 'charts.green');
  if (decision === 'reject') return icon('circle-slash', 'charts.red');
  return decision === 'accept' ? icon('check', 'charts.green') : new vscode.ThemeIcon(plain);
}

const statusIcons: Readonly<Record<MarkedFile['status'], string>> = {
  added: 'diff-added',
  modified: 'diff-modified',
  deleted: 'diff-removed',
  renamed: 'diff-renamed',
  typeChanged: 'diff-modified',
};

function statusText({ status }: MarkedFile): string {
  switch (status) {
    case 'added':
      return vscode.l10n.t('added');
    case 'modified':
      return vscode.l10n.t('modified');
    case 'deleted':
      return vscode.l10n.t('deleted');
    case 'renamed':
      return vscode.l10n.t('renamed');
    case 'typeChanged':
      return vscode.l10n.t('changed in kind');
  }
}

function countsText({ isBinary, added, removed }: MarkedFile): string {
  return isBinary ? vscode.l10n.t('binary') : `+${added} −${removed}`;
}

function marksTexts({ decision, isLanded }: Marks): string[] {
  return [
    ...(isLanded ? [vscode.l10n.t('landed')] : []),
    ...(decision === 'reject' ? [vscode.l10n.t('rejected')] : []),
    ...(decision === 'accept' && !isLanded ? [vscode.l10n.t('to accept')] : []),
  ];
}

function spokenMarks(marks: Marks): string[] {
  return [...marksTexts(marks), ...(marks.isReviewed ? [vscode.l10n.t('reviewed')] : [])];
}

/** What holds for some of its hunks only. */
function partTexts({ decision, isLanded, hunks }: MarkedFile): string[] {
  const rejected = hunks.filter((hunk) => hunk.decision === 'reject').length;
  const landed = hunks.filter((hunk) => hunk.isLanded).length;
  return [
    ...(landed === 0 || isLanded ? [] : [vscode.l10n.t('{0} of {1} landed', landed, hunks.length)]),
    ...(rejected === 0 || (decision === 'reject' && rejected === hunks.length)
      ? []
      : [vscode.l10n.t('{0} of {1} rejected', rejected, hunks.length)]),
  ];
}
