import type { Check } from '../model/verdict';
import { parseClaims, type TextClaim } from './claims';
import { isOwnCheck, sameText } from './commands';
import { headAndTail } from './shorten';
import type { ClaimedCheck, JudgeInput, ObservedCommand } from './verifier';

type VerifierInput = NonNullable<JudgeInput['verifier']>;

/** What the claims come to once each was looked for in the transcript. */
export interface Evidence {
  readonly checks: readonly Check[];
  /** Commands that failed and that no bound check speaks of. */
  readonly unexplained: readonly ObservedCommand[];
}

/**
 * Binds each claimed check to a command the Run really ran: by its call number where that call ran this
 * very command, else by exact text, latest first. The exit code must be the one claimed. What cannot be
 * bound is `unobserved`. Without checks reported by tool, those the answer lists are taken.
 */
export function bindEvidence(verifier: VerifierInput, suite: readonly string[]): Evidence {
  const claims: readonly (ClaimedCheck | TextClaim)[] =
    verifier.checks.length > 0 ? verifier.checks : parseClaims(verifier.answer, verifier.commands);
  const checks = claims.map((claim) => bind(claim, verifier.commands, suite));
  const spokenOf = new Set(
    checks.flatMap((check) => (check.evidence === 'bound' && isExplanation(check) ? [check.call] : [])),
  );
  const unexplained = verifier.commands.filter(
    (command) => command.exitCode !== 0 && !spokenOf.has(command.call),
  );
  return { checks, unexplained };
}

/** A command that never ended by itself proves nothing, whatever a passing or skipped check says of it. */
function isExplanation(check: Check): boolean {
  return check.result === 'fail' || (check.result === 'pass' && check.exitCode !== null);
}

function bind(
  claim: ClaimedCheck | TextClaim,
  commands: readonly ObservedCommand[],
  suite: readonly string[],
): Check {
  const command = commandOf(claim, commands);
  const isTrue =
    command !== undefined && (claim.exitCode === undefined || claim.exitCode === command.exitCode);
  const observed = 'observed' in claim ? claim.observed : '';
  if (!isTrue) {
    return {
      source: 'verifier',
      title: claim.title,
      command: claim.command,
      exitCode: claim.exitCode ?? null,
      observed: headAndTail(observed),
      result: claim.result ?? (claim.exitCode === 0 ? 'pass' : 'fail'),
      evidence: 'unobserved',
      isOwn: false,
    };
  }
  return {
    source: 'verifier',
    title: claim.title,
    command: command.command,
    exitCode: command.exitCode,
    // The output as it was, not as it was told.
    observed: headAndTail(command.output === '' ? observed : command.output),
    result: claim.result ?? (command.exitCode === 0 ? 'pass' : 'fail'),
    call: command.call,
    evidence: 'bound',
    isOwn: isOwnCheck(command.command, suite),
  };
}

function commandOf(
  claim: ClaimedCheck | TextClaim,
  commands: readonly ObservedCommand[],
): ObservedCommand | undefined {
  const text = sameText(claim.command);
  const isSame = (command: ObservedCommand): boolean => sameText(command.command) === text;
  const call = 'call' in claim ? claim.call : undefined;
  const numbered = commands.find((command) => command.call === call && isSame(command));
  return numbered ?? commands.findLast(isSame);
}
