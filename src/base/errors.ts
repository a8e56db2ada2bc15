/**
 * Every failure the product can name. The table in `cli/messages.ts` words them for people; `exitCodeOf`
 * there maps them to exit codes. Nothing matches on message text.
 */
export type ErrorCode =
  // arguments and look-ups
  | 'badArguments'
  | 'notARepository'
  | 'unknownId'
  | 'ambiguousId'
  | 'unknownAgent'
  | 'unknownBase'
  // the state of the repository or board forbids it
  | 'unbornBranch'
  | 'branchInUse'
  | 'conflict'
  | 'stale'
  | 'newerStore'
  | 'wrongState'
  | 'noIdentity'
  | 'signingFailed'
  // the machine
  | 'gitMissing'
  | 'gitTooOld'
  | 'gitFailed'
  | 'gitLocked'
  | 'diskFull'
  | 'readOnly'
  | 'lockTimeout'
  | 'commandFailed'
  | 'commandNotFound'
  // worktrees
  | 'worktreeFailed'
  | 'worktreeNotIsolated'
  | 'worktreeMissing'
  | 'setup'
  // the model
  | 'noCredentials'
  | 'wrongKey'
  | 'forbidden'
  | 'unknownModel'
  | 'badRequest'
  | 'requestTooLarge'
  | 'rateLimited'
  | 'overloaded'
  | 'serverError'
  | 'unreachable'
  | 'stalled'
  | 'cutStream'
  | 'notTheApi'
  // state on disk
  | 'corruptFile'
  // the rest
  | 'notADemoObjective'
  | 'cancelled'
  | 'internal';

/** Facts for a log or a message: never a secret. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** A typed failure. Expected outcomes are values, not this; cancellation is an AbortSignal, not this. */
export class TributaryError extends Error {
  override readonly name = 'TributaryError';
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: ErrorDetails } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** `error` as a TributaryError; whatever is not one yet becomes `diskFull`, `readOnly` or `internal`. */
export function toTributaryError(error: unknown): TributaryError {
  if (error instanceof TributaryError) return error;
  const errno = errnoOf(error);
  const message = messageOf(error);
  if (errno === 'ENOSPC' || errno === 'EDQUOT')
    return new TributaryError('diskFull', message, { cause: error });
  if (errno === 'EROFS' || errno === 'EACCES' || errno === 'EPERM') {
    return new TributaryError('readOnly', message, { cause: error });
  }
  return new TributaryError('internal', message, { cause: error });
}

/** The `code` of a Node system error (`ENOENT`...), if it is one. */
export function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** A readable message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Closes every switch on a union: a new member is then a compile error. */
export function assertNever(value: never): never {
  throw new TributaryError('internal', `unexpected value ${JSON.stringify(value)}`);
}

/** Whether it says that nothing was done, so that what was begun for it can be taken back. */
export function wasRefused({ details }: TributaryError): boolean {
  return details['wasRefused'] === true;
}
