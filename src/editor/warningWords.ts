import * as vscode from 'vscode';
import type { Alarm, DriftChange } from '../model/alarm';
import type { CutOff } from '../model/cutOff';
import type { TaskId } from '../model/ids';
import type { Overlap } from '../model/overlap';
import { visibleName } from './plainWords';
import type { RowMark } from './rowMarks';
import { shown } from './taskWords';

const shownPaths = 5;

/** What a row says of conflicts: with how many Tasks, and whether with the checkout. */
export function conflictsText(overlaps: readonly Overlap[]): string | undefined {
  const ofCheckout = overlaps.some(({ b }) => b === 'checkout');
  const tasks = overlaps.filter(({ b }) => b !== 'checkout').length;
  if (ofCheckout && tasks === 0) return vscode.l10n.t('conflicts with your checkout');
  if (tasks === 0) return undefined;
  const others =
    tasks === 1
      ? vscode.l10n.t('conflicts with another Task')
      : vscode.l10n.t('conflicts with {0} Tasks', tasks);
  return ofCheckout ? vscode.l10n.t('{0} and with your checkout', others) : others;
}

/** One line for each of the conflicts: with what, in which files. */
export function conflictLines(
  taskId: TaskId,
  overlaps: readonly Overlap[],
  nameOf: (id: TaskId) => string,
): string[] {
  return overlaps.map(({ a, b, paths }) => {
    const other = a === taskId ? b : a;
    const files = filesText(paths.filter(({ kind }) => kind === 'conflict').map(({ path }) => path));
    return other === 'checkout'
      ? vscode.l10n.t('your checkout, in {0}', files)
      : vscode.l10n.t('"{0}", in {1}', nameOf(other), files);
  });
}

/** Names of files, the first few of many. */
export function filesText(paths: readonly string[]): string {
  const names = paths.slice(0, shownPaths).map(visibleName).join(', ');
  const more = paths.length - shownPaths;
  return more > 0 ? vscode.l10n.t('{0} and {1} more', names, more) : names;
}

/** What a row says of alarms. */
export function alarmsText(alarms: readonly Alarm[]): string | undefined {
  if (alarms.length === 0) return undefined;
  return alarms.length === 1 ? vscode.l10n.t('alarm') : vscode.l10n.t('{0} alarms', alarms.length);
}

/** What happened, without a claim of who did it: the user works in the same repository. */
export function alarmHead({ command }: Pick<Alarm, 'command'>): string {
  return command === undefined
    ? vscode.l10n.t('Changed outside the worktree since the Task began:')
    : vscode.l10n.t('Changed outside the worktree while this ran: {0}', shown(command, 200));
}

/** What changed, a line for each. */
export function alarmLines({ changes, more }: Pick<Alarm, 'changes' | 'more'>): string[] {
  return [...changes.map(changeText), ...(more === undefined ? [] : [vscode.l10n.t('and {0} more', more)])];
}

function changeText({ kind, name, before, after }: DriftChange): string {
  const what = visibleName(name);
  const [old, now] = [valueText(before), valueText(after)];
  switch (kind) {
    case 'head':
      return vscode.l10n.t('HEAD of {0}: {1} → {2}', what, old, now);
    case 'ref':
      return `${what}: ${old} → ${now}`;
    case 'stash':
      return vscode.l10n.t('the stash: {0} → {1}', old, now);
    case 'index':
      return vscode.l10n.t('what is staged in {0}', what);
    case 'config':
      return vscode.l10n.t('the configuration file {0}', what);
    case 'hook':
      return vscode.l10n.t('the hook {0}', what);
    case 'driver':
      return vscode.l10n.t('{0}, which git would run: it is off for this Task', what);
  }
}

/** Object names as people write them. */
function valueText(value: string | undefined): string {
  if (value === undefined) return vscode.l10n.t('none');
  return /^[0-9a-f]{40,64}$/.test(value) ? value.slice(0, 12) : visibleName(value);
}

/** The mark at the end of a row; an alarm counts more than a conflict. */
export function warningMark(alarms: string | undefined, conflicts: string | undefined): RowMark | undefined {
  const tooltip = [alarms, conflicts].filter((text) => text !== undefined).join(', ');
  if (alarms !== undefined)
    return { badge: conflicts === undefined ? '!' : '!C', tooltip, colour: 'list.errorForeground' };
  return conflicts === undefined ? undefined : { badge: 'C', tooltip, colour: 'list.warningForeground' };
}

/** What became of an accept or undo that was cut off while its files were edited. */
export function cutOffText({ verb, stands, paths }: CutOff): string {
  const files = paths.join(', ');
  const began =
    verb === 'accept'
      ? vscode.l10n.t('Accepting was cut off, and these files were edited meanwhile and left so: {0}.', files)
      : vscode.l10n.t('Undoing was cut off, and these files were edited meanwhile and left so: {0}.', files);
  const rest = stands
    ? vscode.l10n.t('All else is as accepted.')
    : vscode.l10n.t('All else is as before it was accepted.');
  return `${began} ${rest}`;
}
