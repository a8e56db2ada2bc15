import type { ErrorCode, TributaryError } from '../base/errors';

/** 0 done, 1 failed, 2 wrong call, 3 the state of repository or board forbids it, 130 stopped. */
export type ExitCode = 0 | 1 | 2 | 3 | 130;

interface Words {
  /** What happened, without a full stop. */
  readonly text: string;
  /** What to do about it, as whole sentences. */
  readonly hint: string;
  readonly exitCode: ExitCode;
  /** The part that failed says it better: its words stand alone, where it has any. */
  readonly isSaidByDetail?: true;
}

/** A Run's own ways to end that are no ErrorCode; see `runEndSchema`. */
type EndReason =
  | 'limit'
  | 'maxTokens'
  | 'refusal'
  | 'contextFull'
  | 'emptyAnswer'
  | 'user'
  | 'budget'
  | 'shutdown'
  | 'crash';

const resumeHint = 'The work so far is kept. Go on with "tributary resume TASK".';
const laterHint = 'The work so far is kept. Wait a little, then "tributary resume TASK".';

const errorWords: Readonly<Record<ErrorCode, Words>> = {
  badArguments: {
    text: 'The command cannot be understood',
    hint: 'See "tributary help COMMAND".',
    exitCode: 2,
  },
  notARepository: {
    text: 'This folder is not in a git repository',
    hint: 'Change to a repository, name one with --repo DIR, or make one with "git init".',
    exitCode: 2,
    isSaidByDetail: true,
  },
  unknownId: {
    text: 'There is no such Task or Run',
    hint: '"tributary list" shows the Tasks of this repository.',
    exitCode: 2,
    isSaidByDetail: true,
  },
  ambiguousId: {
    text: 'More than one Task or Run is meant by that',
    hint: 'Give more characters of the id, or the slug from "tributary list".',
    exitCode: 2,
    isSaidByDetail: true,
  },
  unknownAgent: {
    text: 'There is no such agent',
    hint: 'Leave --agent out to start "general", or name an agent that the message lists.',
    exitCode: 2,
    isSaidByDetail: true,
  },
  unknownBase: {
    text: 'The base does not name a commit',
    hint: 'Give --base a branch, tag or commit that "git rev-parse" knows; fetch it first if it is remote.',
    exitCode: 2,
  },
  unbornBranch: {
    text: 'This repository has no commit yet, so there is nothing a worktree could start from',
    hint: 'Make a first commit, even an empty one: git commit --allow-empty -m "Start".',
    exitCode: 3,
  },
  branchInUse: {
    text: 'The branch this needs is in use elsewhere',
    hint: 'Check out another branch where it is in use, or remove that worktree, then try again.',
    exitCode: 3,
  },
  conflict: {
    text: 'The change conflicts with what is in your checkout; nothing was written',
    hint: 'Have the agent resolve them with "tributary resolve TASK", or bring your files into its worktree with "tributary merge-in TASK" and resolve them there.',
    exitCode: 3,
  },
  stale: {
    text: 'Files changed after they were looked at; nothing was written',
    hint: 'Run the command again: it looks at the files as they are now.',
    exitCode: 3,
  },
  newerStore: {
    text: 'The records of this repository were written by a newer Tributary',
    hint: 'Update Tributary; this version only reads them.',
    exitCode: 3,
  },
  wrongState: {
    text: 'The Task is not in a state where that is possible',
    hint: '"tributary show TASK" says its state and what can be done next.',
    exitCode: 1,
    isSaidByDetail: true,
  },
  noIdentity: {
    text: 'Your name is not known to git, so it cannot make a commit for you; nothing was written',
    hint: 'Set your name and address: git config user.name "Your Name" and git config user.email you@example.com. Or accept without a commit: "tributary accept TASK --mode apply".',
    exitCode: 3,
  },
  signingFailed: {
    text: 'The commit could not be signed; nothing was written',
    hint: 'Your commit.gpgSign is on: check gpg.program, gpg.format and user.signingKey, and that the key can be used without a prompt.',
    exitCode: 1,
  },
  gitMissing: {
    text: 'No git was found',
    hint: 'Install git 2.38 or newer and make sure it is on the PATH.',
    exitCode: 1,
  },
  gitTooOld: {
    text: 'This git is too old',
    hint: 'Install git 2.38 or newer; "git --version" shows which one is found on the PATH.',
    exitCode: 1,
  },
  gitFailed: {
    text: 'A git command failed',
    hint: "Git's own words are above; set them right and try again.",
    exitCode: 1,
  },
  gitLocked: {
    text: 'Another git command holds a lock for too long',
    hint: 'Wait for the git command or editor that is at work there. If none is, a git that was killed left the named file: delete it and try again.',
    exitCode: 1,
  },
  diskFull: {
    text: 'The disk is full',
    hint: 'Make room, then give the command again; a Task that had begun goes on by "tributary resume". What was written before is kept.',
    exitCode: 1,
  },
  readOnly: {
    text: 'A file or folder cannot be written or read',
    hint: 'Check the rights on the path that is named, and who owns it.',
    exitCode: 1,
  },
  lockTimeout: {
    text: 'Another process held a lock for too long',
    hint: 'Wait for the named process or end it, then try again.',
    exitCode: 1,
  },
  commandFailed: {
    text: 'A command that had to succeed failed',
    hint: 'Its output says why.',
    exitCode: 1,
  },
  commandNotFound: {
    text: 'A program that is needed was not found',
    hint: 'Install it, or correct the PATH.',
    exitCode: 1,
  },
  worktreeFailed: {
    text: 'The worktree could not be made or taken away',
    hint: 'The reason is above. Nothing ran anywhere else, and nothing was deleted; try again once it is set right. "tributary doctor" says what is wrong with worktrees.',
    exitCode: 1,
    isSaidByDetail: true,
  },
  worktreeNotIsolated: {
    text: 'The new worktree would not have been isolated from your checkout, so nothing ran in it',
    hint: 'Look for core.worktree in the shared configuration: git config --show-origin --get-all core.worktree.',
    exitCode: 1,
  },
  setup: {
    text: 'Setting up the worktree failed',
    hint: 'Its output says why. Nothing was left behind: set it right, then "tributary resume TASK", or start anew with other commands.',
    exitCode: 1,
  },
  worktreeMissing: {
    text: 'The worktree of the Task is not there any more',
    hint: 'Its newest snapshot is kept: "tributary diff TASK" shows it. "tributary doctor" says what became of the folder, and with --fix connects it again, or lets the next command make a new one.',
    exitCode: 1,
  },
  noCredentials: {
    text: 'There is no key for the model',
    hint: 'Set ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN). Without one, "--demo" plays the objective of the sample repository that "npm start -- --terminal" makes, and nothing else.',
    exitCode: 1,
  },
  wrongKey: {
    text: 'The model server does not accept the key',
    hint: 'Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN (if both are set, the token is used) and ANTHROPIC_BASE_URL.',
    exitCode: 1,
  },
  forbidden: {
    text: 'The key may not do that',
    hint: 'Use a key with access to this model, or name another model with --model.',
    exitCode: 1,
  },
  unknownModel: {
    text: 'The model server does not know the model',
    hint: 'Name one it has with --model or ANTHROPIC_MODEL.',
    exitCode: 1,
  },
  badRequest: {
    text: 'The model server refused the request as malformed',
    hint: 'Its words are above. If a gateway is in between (ANTHROPIC_BASE_URL), check what it supports.',
    exitCode: 1,
  },
  requestTooLarge: {
    text: 'The request was larger than the model server takes',
    hint: 'Give the Task a narrower --scope or a smaller objective.',
    exitCode: 1,
  },
  rateLimited: {
    text: 'The model server said "too many requests" until the end',
    hint: laterHint,
    exitCode: 1,
  },
  overloaded: { text: 'The model server stayed overloaded', hint: laterHint, exitCode: 1 },
  serverError: { text: 'The model server kept failing', hint: laterHint, exitCode: 1 },
  unreachable: {
    text: 'The model server could not be reached',
    hint: 'Check the network and ANTHROPIC_BASE_URL, then "tributary resume TASK".',
    exitCode: 1,
  },
  stalled: { text: 'The model server went silent', hint: laterHint, exitCode: 1 },
  cutStream: { text: "The model's answer kept breaking off", hint: laterHint, exitCode: 1 },
  notTheApi: {
    text: 'What answered is not the Messages API',
    hint: 'Check ANTHROPIC_BASE_URL; a proxy or a login page may be in between.',
    exitCode: 1,
  },
  corruptFile: {
    text: 'A record on disk cannot be read; it was kept, not deleted',
    hint: 'The path is above. The other Tasks are not affected. "tributary doctor" lists what cannot be read.',
    exitCode: 1,
  },
  notADemoObjective: {
    text: 'The offline demo knows only its own objectives',
    hint: 'Use one of them as it is written, or set a key and leave --demo out.',
    exitCode: 1,
  },
  cancelled: { text: 'Stopped', hint: '"tributary list" shows what there is to go on with.', exitCode: 130 },
  internal: {
    text: 'Something went wrong inside Tributary',
    hint: 'Please report it with the text above. Your checkout is only ever written by "accept" and "undo".',
    exitCode: 1,
  },
};

const endWords: Readonly<Record<EndReason, Words>> = {
  limit: { text: 'A limit of the Task was reached', hint: resumeHint, exitCode: 1 },
  maxTokens: {
    text: "The model's answer was longer than it may be and was cut",
    hint: resumeHint,
    exitCode: 1,
  },
  refusal: {
    text: 'The model refused to go on',
    hint: 'Word the objective differently, or name another model with --model.',
    exitCode: 1,
  },
  contextFull: {
    text: 'The conversation no longer fits the model',
    hint: 'The work so far is kept: accept it, or start a smaller Task.',
    exitCode: 1,
  },
  emptyAnswer: { text: 'The model answered with nothing', hint: resumeHint, exitCode: 1 },
  user: { text: 'Stopped', hint: resumeHint, exitCode: 130 },
  budget: { text: 'Stopped: the budget is used up', hint: resumeHint, exitCode: 130 },
  shutdown: { text: 'Interrupted: this process was told to end', hint: resumeHint, exitCode: 1 },
  crash: { text: 'Interrupted: the process that ran it is gone', hint: resumeHint, exitCode: 1 },
};

function wordsOf(code: string): Words {
  if (isErrorCode(code)) return errorWords[code];
  if (isEndReason(code)) return endWords[code];
  return { text: 'The Run failed', hint: '"tributary show RUN" shows what happened.', exitCode: 1 };
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorWords, code);
}

function isEndReason(code: string): code is EndReason {
  return Object.hasOwn(endWords, code);
}

/** The exit code of a call that ended with this error. */
export function exitCodeOf(code: ErrorCode): ExitCode {
  return errorWords[code].exitCode;
}

/** What is printed of an error, by people's view and JSON alike. */
export interface Described {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

/**
 * An error, or a Run's end, in plain words. `code` is an ErrorCode or an end's reason; `detail` is what the
 * part that failed had to say; `target` stands in for TASK in the hint.
 */
export function describe(code: string, detail: string, target?: string): Described {
  const { text, hint, isSaidByDetail } = wordsOf(code);
  const said = detail.trim();
  const isSilent = said === '' || said === code;
  const message = isSilent ? `${text}.` : isSaidByDetail ? sentence(said) : `${text}: ${said}`;
  return { code, message, hint: target === undefined ? hint : hint.replaceAll('TASK', target) };
}

/** Begins like a sentence. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function describeError(error: TributaryError, target?: string): Described {
  const { hint, ...described } = describe(error.code, error.message, target);
  const own = error.details['hint'];
  return { ...described, hint: typeof own === 'string' && own !== '' ? own : hint };
}
