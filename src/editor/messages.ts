import * as vscode from 'vscode';
import type { ErrorCode, TributaryError } from '../base/errors';
import { plainLine } from '../model/plainText';

/** What can be done about a failure, as a button. */
export type Remedy = 'setKey' | 'openDemo' | 'openSettings' | 'showLog' | 'showSetup' | 'resume' | 'commit';

interface Words {
  /** What happened, without a full stop. */
  readonly text: string;
  /** What to do about it; a whole sentence. */
  readonly hint: string;
  readonly remedies: readonly Remedy[];
}

/** A Run's own ways to end that are no ErrorCode. */
type EndReason =
  | 'limit'
  | 'maxTokens'
  | 'refusal'
  | 'contextFull'
  | 'emptyAnswer'
  | 'user'
  | 'budget'
  | 'shutdown'
  | 'crash'
  | 'interrupted';

function words(text: string, hint: string, ...remedies: readonly Remedy[]): Words {
  return { text, hint, remedies };
}

const kept = (): string => vscode.l10n.t('The work so far is kept.');
const later = (): string => vscode.l10n.t('The work so far is kept. Wait a little, then resume the Task.');

const errorWords: Readonly<Record<ErrorCode, () => Words>> = {
  badArguments: () =>
    words(vscode.l10n.t('This cannot be understood'), vscode.l10n.t('Correct it and try again.')),
  notARepository: () =>
    words(
      vscode.l10n.t('This folder is not in a git repository'),
      vscode.l10n.t('Open a folder of a git repository.'),
    ),
  unknownId: () =>
    words(vscode.l10n.t('There is no such Task'), vscode.l10n.t('It may have been removed meanwhile.')),
  ambiguousId: () =>
    words(
      vscode.l10n.t('More than one Task is meant by that'),
      vscode.l10n.t('Choose one in the Tasks view.'),
    ),
  unknownAgent: () =>
    words(vscode.l10n.t('There is no such agent'), vscode.l10n.t('Choose one that is offered.')),
  unknownBase: () =>
    words(
      vscode.l10n.t('The base names no commit'),
      vscode.l10n.t('Choose a branch, tag or commit that git knows.'),
    ),
  unbornBranch: () =>
    words(
      vscode.l10n.t('This repository has no commit yet, so there is nothing a worktree could start from'),
      vscode.l10n.t('Make a first commit, then try again.'),
      'commit',
    ),
  branchInUse: () =>
    words(
      vscode.l10n.t('The branch this needs is in use elsewhere'),
      vscode.l10n.t('Check out another branch there first.'),
    ),
  conflict: () =>
    words(
      vscode.l10n.t('The change conflicts with what is in your checkout; nothing was written'),
      vscode.l10n.t('Change the named files so that they agree, or ask the agent in a follow-up.'),
    ),
  stale: () =>
    words(
      vscode.l10n.t('Files changed after they were looked at; nothing was written'),
      vscode.l10n.t('Look at it again.'),
    ),
  newerStore: () =>
    words(
      vscode.l10n.t('The records of this repository were written by a newer Tributary'),
      vscode.l10n.t('Update Tributary; this version only reads them.'),
    ),
  wrongState: () =>
    words(
      vscode.l10n.t('That is not possible with the Task as it is now'),
      vscode.l10n.t('Its row in the Tasks view says how it stands, and its menu what can be done.'),
    ),
  noIdentity: () =>
    words(
      vscode.l10n.t('Your name is not known to git, so it cannot make a commit for you; nothing was written'),
      vscode.l10n.t('Set user.name and user.email in the settings of git, then try again.'),
    ),
  signingFailed: () =>
    words(
      vscode.l10n.t('The commit could not be signed; nothing was written'),
      vscode.l10n.t('Check the settings of git that say how commits are signed.'),
    ),
  gitMissing: () =>
    words(
      vscode.l10n.t('No git was found'),
      vscode.l10n.t('Install git 2.38 or newer and make sure it is on the PATH.'),
      'showLog',
    ),
  gitTooOld: () =>
    words(vscode.l10n.t('This git is too old'), vscode.l10n.t('Install git 2.38 or newer.'), 'showLog'),
  gitFailed: () =>
    words(vscode.l10n.t('A git command failed'), vscode.l10n.t("Git's own words are in the log."), 'showLog'),
  gitLocked: () =>
    words(
      vscode.l10n.t('Another git command holds a lock for too long'),
      vscode.l10n.t('Wait for it. If none is at work, delete the lock file that the log names.'),
      'showLog',
    ),
  diskFull: () =>
    words(
      vscode.l10n.t('The disk is full'),
      vscode.l10n.t('Make room, then try again. Nothing written is lost.'),
    ),
  readOnly: () =>
    words(
      vscode.l10n.t('A file or folder cannot be written or read'),
      vscode.l10n.t('Check the rights on the named path.'),
    ),
  lockTimeout: () =>
    words(
      vscode.l10n.t('Another process held a lock for too long'),
      vscode.l10n.t('Wait for it or end it, then try again.'),
    ),
  commandFailed: () =>
    words(
      vscode.l10n.t('A command that had to succeed failed'),
      vscode.l10n.t('The log says why.'),
      'showLog',
    ),
  commandNotFound: () =>
    words(
      vscode.l10n.t('A program that is needed was not found'),
      vscode.l10n.t('Install it, or correct the PATH.'),
      'showLog',
    ),
  worktreeFailed: () =>
    words(
      vscode.l10n.t('The worktree could not be made; nothing was left behind'),
      vscode.l10n.t('The log says why.'),
      'showLog',
    ),
  worktreeNotIsolated: () =>
    words(
      vscode.l10n.t('The new worktree would not have been isolated from your checkout, so nothing ran in it'),
      vscode.l10n.t('Look for core.worktree in the shared git configuration.'),
      'showLog',
    ),
  setup: () =>
    words(
      vscode.l10n.t('Setting up the worktree failed'),
      vscode.l10n.t('Nothing was left behind. Set it right and resume, or start anew with other commands.'),
      'showSetup',
      'resume',
    ),
  worktreeMissing: () =>
    words(
      vscode.l10n.t('The worktree of the Task is not there any more'),
      vscode.l10n.t(
        'Its newest snapshot is kept; it can be reviewed and accepted. Where folders were moved, Doctor connects them again.',
      ),
    ),
  noCredentials: () =>
    words(
      vscode.l10n.t('There is no key for the model'),
      vscode.l10n.t('Set one, or try the offline demo.'),
      'setKey',
      'openDemo',
    ),
  wrongKey: () =>
    words(
      vscode.l10n.t('The model server does not accept the key'),
      vscode.l10n.t('Check the key and the base URL.'),
      'setKey',
    ),
  forbidden: () =>
    words(
      vscode.l10n.t('The key may not do that'),
      vscode.l10n.t('Use another key or another model.'),
      'setKey',
      'openSettings',
    ),
  unknownModel: () =>
    words(
      vscode.l10n.t('The model server does not know the model'),
      vscode.l10n.t('Name one it has in the settings.'),
      'openSettings',
    ),
  badRequest: () =>
    words(
      vscode.l10n.t('The model server refused the request as malformed'),
      vscode.l10n.t('The log has its words.'),
      'showLog',
    ),
  requestTooLarge: () =>
    words(
      vscode.l10n.t('The request was larger than the model server takes'),
      vscode.l10n.t('Start a smaller Task.'),
    ),
  rateLimited: () =>
    words(vscode.l10n.t('The model server said "too many requests" until the end'), later(), 'resume'),
  overloaded: () => words(vscode.l10n.t('The model server stayed overloaded'), later(), 'resume'),
  serverError: () => words(vscode.l10n.t('The model server kept failing'), later(), 'resume'),
  unreachable: () =>
    words(
      vscode.l10n.t('The model server could not be reached'),
      vscode.l10n.t('Check the network and the base URL, then resume the Task.'),
      'resume',
      'openSettings',
    ),
  stalled: () => words(vscode.l10n.t('The model server went silent'), later(), 'resume'),
  cutStream: () => words(vscode.l10n.t("The model's answer kept breaking off"), later(), 'resume'),
  notTheApi: () =>
    words(
      vscode.l10n.t('What answered is not the Messages API'),
      vscode.l10n.t('Check the base URL; a proxy or a login page may be in between.'),
      'openSettings',
    ),
  corruptFile: () =>
    words(
      vscode.l10n.t('A record on disk cannot be read; it was kept'),
      vscode.l10n.t('The log names the file.'),
      'showLog',
    ),
  notADemoObjective: () =>
    words(
      vscode.l10n.t('The offline demo knows only its own objectives'),
      vscode.l10n.t('Use the one it offers, or set a key and choose the provider "anthropic".'),
      'setKey',
    ),
  cancelled: () => words(vscode.l10n.t('Stopped'), kept()),
  internal: () =>
    words(
      vscode.l10n.t('Something went wrong inside Tributary'),
      vscode.l10n.t('Your checkout is only ever written by Accept and Undo. Please report it with the log.'),
      'showLog',
    ),
};

const endWords: Readonly<Record<EndReason, () => Words>> = {
  limit: () => words(vscode.l10n.t('A limit of the Task was reached'), kept(), 'resume'),
  maxTokens: () =>
    words(
      vscode.l10n.t("The model's answer was longer than it may be and was cut"),
      kept(),
      'resume',
      'openSettings',
    ),
  refusal: () =>
    words(
      vscode.l10n.t('The model refused to go on'),
      vscode.l10n.t('Word the objective differently, or use another model.'),
    ),
  contextFull: () =>
    words(
      vscode.l10n.t('The conversation no longer fits the model'),
      vscode.l10n.t('Accept what is there, or start a smaller Task.'),
    ),
  emptyAnswer: () => words(vscode.l10n.t('The model answered with nothing'), kept(), 'resume'),
  user: () => words(vscode.l10n.t('Stopped'), kept(), 'resume'),
  budget: () => words(vscode.l10n.t('Stopped: the budget is used up'), kept(), 'resume'),
  shutdown: () => words(vscode.l10n.t('Interrupted: the window was closed'), kept(), 'resume'),
  crash: () => words(vscode.l10n.t('Interrupted: the process that ran it is gone'), kept(), 'resume'),
  interrupted: () => words(vscode.l10n.t('Interrupted'), kept(), 'resume'),
};

function wordsOf(code: string): Words {
  if (isErrorCode(code)) return errorWords[code]();
  if (isEndReason(code)) return endWords[code]();
  return words(vscode.l10n.t('The Run failed'), vscode.l10n.t('Its transcript shows what happened.'));
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorWords, code);
}

function isEndReason(code: string): code is EndReason {
  return Object.hasOwn(endWords, code);
}

/** What is shown of a failure. */
export interface Described {
  /** One paragraph: what happened, in whose words, what to do. */
  readonly message: string;
  readonly remedies: readonly Remedy[];
}

/** A Run's end or an error's code in plain words; `detail` is what the part that failed had to say. */
export function describe(code: string, detail: string): Described {
  const { text, hint, remedies } = wordsOf(code);
  // Below its first line stands what the command printed, which a button shows as it is.
  const said = plainLine(code === 'setup' ? firstLine(detail) : detail);
  const what = said === '' || said === code ? `${text}.` : `${text}: ${said.replace(/\.$/, '')}.`;
  return { message: [what, hint].filter((part) => part !== '').join(' '), remedies };
}

export function describeError(error: TributaryError): Described {
  return describe(error.code, error.message);
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}

/** A few words for a row: why a Run ended the way it did. */
export function shortReason(code: string): string {
  return wordsOf(code).text;
}

export function remedyTitle(remedy: Remedy): string {
  switch (remedy) {
    case 'setKey':
      return vscode.l10n.t('Set API Key');
    case 'openDemo':
      return vscode.l10n.t('Try the Demo');
    case 'openSettings':
      return vscode.l10n.t('Open Settings');
    case 'showLog':
      return vscode.l10n.t('Show Log');
    case 'showSetup':
      return vscode.l10n.t('Show Set-up Output');
    case 'resume':
      return vscode.l10n.t('Resume');
    case 'commit':
      return vscode.l10n.t('Open Source Control');
  }
}
