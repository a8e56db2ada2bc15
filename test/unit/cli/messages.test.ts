import assert from 'node:assert/strict';
import { type ErrorCode, TributaryError } from '../../../src/base/errors';
import { describe as describeCode, describeError, exitCodeOf, isErrorCode } from '../../../src/cli/messages';

/** Every code with its exit code, once more by hand: the contract. A missing one does not compile. */
const exitCodes: Readonly<Record<ErrorCode, number>> = {
  badArguments: 2,
  notARepository: 2,
  unknownId: 2,
  ambiguousId: 2,
  unknownAgent: 2,
  unknownBase: 2,
  unbornBranch: 3,
  branchInUse: 3,
  conflict: 3,
  stale: 3,
  newerStore: 3,
  wrongState: 1,
  noIdentity: 3,
  signingFailed: 1,
  gitMissing: 1,
  gitTooOld: 1,
  gitFailed: 1,
  gitLocked: 1,
  diskFull: 1,
  readOnly: 1,
  lockTimeout: 1,
  commandFailed: 1,
  commandNotFound: 1,
  worktreeFailed: 1,
  worktreeNotIsolated: 1,
  worktreeMissing: 1,
  setup: 1,
  noCredentials: 1,
  wrongKey: 1,
  forbidden: 1,
  unknownModel: 1,
  badRequest: 1,
  requestTooLarge: 1,
  rateLimited: 1,
  overloaded: 1,
  serverError: 1,
  unreachable: 1,
  stalled: 1,
  cutStream: 1,
  notTheApi: 1,
  corruptFile: 1,
  notADemoObjective: 1,
  cancelled: 130,
  internal: 1,
};

const endReasons = [
  ...['limit', 'maxTokens', 'refusal', 'contextFull', 'emptyAnswer'],
  ...['user', 'budget', 'shutdown', 'crash'],
];

describe('messages', () => {
  for (const [code, exitCode] of Object.entries(exitCodes)) {
    it(`${code} has plain words, a hint, and exit code ${exitCode}`, () => {
      assert.ok(isErrorCode(code));
      assert.equal(exitCodeOf(code), exitCode);
      checkWords(code);
    });
  }

  for (const reason of endReasons)
    it(`a Run's end by ${reason} has plain words and a hint`, () => checkWords(reason));

  it('a reason of a later version still has words', () => checkWords('somethingNew'));

  it('adds what the failing part said', () => {
    assert.equal(
      describeCode('unknownBase', 'no branch, tag or commit "mian"').message,
      'The base does not name a commit: no branch, tag or commit "mian"',
    );
  });

  it('names the Task in the hint where it is known', () => {
    assert.equal(
      describeCode('stalled', '', 'fix-it').hint,
      'The work so far is kept. Wait a little, then "tributary resume fix-it".',
    );
  });

  it('lets the failing part give a better hint', () => {
    const error = new TributaryError('badArguments', 'x', { details: { hint: 'Do this.' } });
    assert.equal(describeError(error).hint, 'Do this.');
  });
});

function checkWords(code: string): void {
  const { message, hint } = describeCode(code, '');
  assert.match(message, /^[A-Z].{5,}\.$/);
  assert.match(hint, /^["A-Z].{10,}\.$/);
}
