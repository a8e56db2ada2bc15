import * as vscode from 'vscode';
import type { DiskSize, SweptItem, WorktreeReport } from '../tasks/housekeepingApi';

const dayMs = 24 * 60 * 60 * 1_000;

/** `1.2 MB`; `>1.2 MB` where not all of it could be counted. */
export function sizeText({ bytes, isWhole }: DiskSize): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit += 1) value /= 1_000;
  const text = unit === 0 || value >= 100 ? Math.round(value).toString() : value.toFixed(1);
  return `${isWhole ? '' : '>'}${text} ${units[unit] ?? ''}`;
}

/** What several take together. */
export function totalSize(items: readonly { readonly size?: DiskSize }[]): DiskSize {
  return {
    bytes: items.reduce((sum, { size }) => sum + (size?.bytes ?? 0), 0),
    isWhole: items.every(({ size }) => size?.isWhole ?? true),
  };
}

/** How long ago something was. */
export function agoText(at: string, now = Date.now()): string {
  const days = Math.floor((now - Date.parse(at)) / dayMs);
  if (days < 1) return vscode.l10n.t('used today');
  return days === 1 ? vscode.l10n.t('used yesterday') : vscode.l10n.t('used {0} days ago', days);
}

/** What is to know of a Worktree in a few words: its Task's state, what is special, how big, how old. */
export function worktreeText(one: WorktreeReport): string {
  return [
    one.taskState === undefined ? vscode.l10n.t('no Task') : taskStateText(one.taskState),
    ...(one.isChanged === undefined
      ? []
      : [one.isChanged ? vscode.l10n.t('changed') : vscode.l10n.t('unchanged')]),
    ...(one.stands === 'whole' ? [] : [standsText(one.stands)]),
    ...(one.heldBy === undefined ? [] : [heldText(one.heldBy)]),
    ...(one.openedAt === undefined ? [] : [vscode.l10n.t('opened by you')]),
    ...(one.size === undefined ? [] : [sizeText(one.size)]),
    ...(one.lastUsedAt === undefined ? [] : [agoText(one.lastUsedAt)]),
  ].join(' · ');
}

function taskStateText(state: NonNullable<WorktreeReport['taskState']>): string {
  switch (state) {
    case 'open':
      return vscode.l10n.t('open');
    case 'accepted':
      return vscode.l10n.t('accepted');
    case 'discarded':
      return vscode.l10n.t('discarded');
    case 'closed':
      return vscode.l10n.t('closed');
  }
}

function standsText(stands: Exclude<WorktreeReport['stands'], 'whole'>): string {
  switch (stands) {
    case 'gone':
      return vscode.l10n.t('its folder is gone');
    case 'file':
    case 'link':
    case 'stranger':
      return vscode.l10n.t('something else stands in its place');
    case 'forgotten':
      return vscode.l10n.t('git has forgotten it');
    case 'elsewhere':
      return vscode.l10n.t('it belongs to another repository');
  }
}

function heldText({ pid }: NonNullable<WorktreeReport['heldBy']>): string {
  return pid === undefined ? vscode.l10n.t('in use') : vscode.l10n.t('in use by process {0}', pid);
}

/** What a sweep would take, or took, as a count of each. */
export function sweptText(items: readonly SweptItem[]): string {
  const worktrees = items.filter(({ kind }) => kind === 'worktree').length;
  const kept = items.length - worktrees;
  return [
    ...(worktrees === 0
      ? []
      : [worktrees === 1 ? vscode.l10n.t('1 worktree') : vscode.l10n.t('{0} worktrees', worktrees)]),
    ...(kept === 0
      ? []
      : [
          kept === 1
            ? vscode.l10n.t('what was kept of 1 ended Task')
            : vscode.l10n.t('what was kept of {0} ended Tasks', kept),
        ]),
  ].join(', ');
}
