import { resolve } from 'node:path';
import { type ErrorCode, TributaryError } from '../base/errors';

/** What only this layer needs to know about a failure beyond its code. */
export type GitFailureKind =
  /** Another git holds a lock file; it passes. */
  | 'locked'
  /** A file changed or went away while git read it; a second look helps. */
  | 'moving'
  | 'refExists'
  | 'refMoved'
  | 'notGit'
  | 'dubiousOwnership'
  | 'noWorkTree'
  | 'unknownRevision'
  | 'alreadyLocked'
  | 'notAWorktree'
  | 'other';

/** One message of git, recognised by its words, and what it means here. */
interface Row {
  readonly pattern: RegExp;
  readonly code: ErrorCode;
  readonly kind: GitFailureKind;
}

/** The one place that reads git's messages (always English: our git runs with `LC_ALL=C`). First match wins. */
const rows: readonly Row[] = [
  { pattern: /No space left on device|Disk quota exceeded/i, code: 'diskFull', kind: 'other' },
  { pattern: /Unable to create '[\s\S]*\.lock': File exists/, code: 'gitLocked', kind: 'locked' },
  { pattern: /could not lock config file [\s\S]*: File exists/, code: 'gitLocked', kind: 'locked' },
  { pattern: /Read-only file system/, code: 'readOnly', kind: 'other' },
  { pattern: /detected dubious ownership/, code: 'notARepository', kind: 'dubiousOwnership' },
  { pattern: /not a git repository/i, code: 'notARepository', kind: 'notGit' },
  { pattern: /must be run in a work tree/, code: 'notARepository', kind: 'noWorkTree' },
  { pattern: /cannot lock ref [\s\S]*reference already exists/, code: 'branchInUse', kind: 'refExists' },
  { pattern: /cannot lock ref [\s\S]* exists; cannot create/, code: 'branchInUse', kind: 'refExists' },
  { pattern: /cannot lock ref [\s\S]* is at [\s\S]* but expected /, code: 'stale', kind: 'refMoved' },
  { pattern: /cannot lock ref [\s\S]*unable to resolve reference/, code: 'stale', kind: 'refMoved' },
  { pattern: /is already (checked out|used by worktree) at/, code: 'branchInUse', kind: 'refExists' },
  { pattern: /is already locked/, code: 'worktreeFailed', kind: 'alreadyLocked' },
  { pattern: /is not a working tree/, code: 'worktreeMissing', kind: 'notAWorktree' },
  {
    pattern:
      /unknown revision|bad revision|Needed a single revision|no such path|does not exist in|Not a valid object name/i,
    code: 'unknownBase',
    kind: 'unknownRevision',
  },
  {
    pattern:
      /failed to stat|unable to stat|short read|: No such file or directory|does not exist and --remove not passed|Unable to process path|unable to index file/,
    code: 'gitFailed',
    kind: 'moving',
  },
  { pattern: /Permission denied/, code: 'readOnly', kind: 'other' },
  // git does not say why a file it had opened could not be written to its end: the space, or a quota, ran out.
  {
    pattern: /unable to write (file|[\s\S]*object)|write error|wrote only \d+ of/i,
    code: 'diskFull',
    kind: 'other',
  },
];

/** What git said when it failed, as a typed failure. `details`: the command, its exit code, its words, the kind. */
export function gitFailure(
  args: readonly string[],
  exitCode: number | null,
  stderr: string,
  cwd = '/',
): TributaryError {
  const row = rows.find(({ pattern }) => pattern.test(stderr));
  const command = args.find((argument) => !argument.startsWith('-')) ?? '';
  const said = stderr.trim().split('\n').at(-1) ?? '';
  const lockFile = row?.kind === 'locked' ? lockFileOf(stderr, cwd) : undefined;
  if (lockFile !== undefined) {
    return new TributaryError('gitLocked', `git ${command} waited for another git, which holds ${lockFile}`, {
      details: { command: ['git', ...args], exitCode, stderr, kind: 'locked', lockFile },
    });
  }
  return new TributaryError(
    row?.code ?? 'gitFailed',
    `git ${command} failed: ${said || `exit code ${exitCode}`}`,
    {
      details: { command: ['git', ...args], exitCode, stderr, kind: row?.kind ?? 'other' },
    },
  );
}

/** The file whose being there keeps git from going on. */
function lockFileOf(stderr: string, cwd: string): string | undefined {
  const config = /could not lock config file ([\s\S]*): File exists/.exec(stderr)?.[1];
  const other = /Unable to create '([\s\S]*\.lock)': File exists/.exec(stderr)?.[1];
  const named = config === undefined ? other : `${config}.lock`;
  return named === undefined ? undefined : resolve(cwd, named);
}

/** The kind of a failure of git; `undefined` for any other error. */
export function kindOf(error: unknown): GitFailureKind | undefined {
  if (!(error instanceof TributaryError)) return undefined;
  const kind = error.details['kind'];
  return kinds.find((known) => known === kind);
}

const kinds: readonly GitFailureKind[] = [...new Set(rows.map((row) => row.kind)), 'other'];

/** git could not be started at all. */
export function gitNotStarted(startError: string | undefined, cwd: string): TributaryError {
  if (startError === 'CWD_MISSING') {
    return new TributaryError('worktreeMissing', `there is no folder ${cwd}`, { details: { path: cwd } });
  }
  if (startError === 'ENOENT') {
    return new TributaryError('gitMissing', 'git was not found on the PATH', { details: { startError } });
  }
  return new TributaryError('gitFailed', `git could not be started: ${startError ?? 'unknown reason'}`, {
    details: { startError, cwd },
  });
}
