import { TributaryError } from '../base/errors';
import type { Check, Finding, Verdict, VerdictWord } from '../model/verdict';
import { bindEvidence, type Evidence } from './evidence';
import { parseFindings } from './findings';
import { parseVerdict } from './grammar';
import { locate, parsePlace, type TreePaths } from './references';
import { headAndTail } from './shorten';
import type { JudgeInput } from './verifier';

type VerifierInput = NonNullable<JudgeInput['verifier']>;
type NewFinding = Omit<Finding, 'id'>;

/**
 * Turns what a verifier stated and what was seen into a Verdict. Facts can only lower what was stated:
 * nothing makes a PASS out of another word. Throws `internal` when there is nothing to judge by.
 */
export function judge(input: JudgeInput): Verdict {
  return input.verifier === undefined ? judgeHostChecks(input) : judgeVerifier(input, input.verifier);
}

function judgeHostChecks(input: JudgeInput): Verdict {
  if (input.hostChecks.length === 0) {
    throw new TributaryError('internal', 'a verdict needs a verifier or at least one check');
  }
  const failed = input.hostChecks.filter((check) => check.result === 'fail');
  const skipped = input.hostChecks.filter((check) => check.result === 'skip');
  const verdict = failed.length > 0 ? 'FAIL' : skipped.length > 0 ? 'PARTIAL' : 'PASS';
  const reasons = [...failed.map(failedReason), ...skipped.map(skippedReason)];
  return assembled(input, {
    verdict,
    checks: input.hostChecks,
    findings: failed.map(acceptanceFinding),
    reasons,
  });
}

function judgeVerifier(input: JudgeInput, verifier: VerifierInput): Verdict {
  const stated = parseVerdict(verifier.answer);
  const suite = [...input.suiteCommands, ...input.hostChecks.map((check) => check.command)];
  const evidence = bindEvidence(verifier, suite);
  const checks = [...input.hostChecks, ...evidence.checks];
  const remarks = verifierFindings(input, verifier);
  const failedHere = input.hostChecks.filter((check) => check.result === 'fail');
  const findings = [
    ...remarks,
    ...failedHere.map(acceptanceFinding),
    ...failureFindings(evidence, remarks),
    ...unobservedFindings(evidence, verifier, stated),
  ];
  const decided = decide({ input, verifier, stated, evidence, remarks });
  if (decided.verdict === 'FAIL' && findings.length === 0) findings.push(bareFailure(verifier.answer));
  return assembled(input, { ...decided, stated, checks, findings });
}

interface Facts {
  readonly input: JudgeInput;
  readonly verifier: VerifierInput;
  readonly stated: VerdictWord;
  readonly evidence: Evidence;
  readonly remarks: readonly NewFinding[];
}

function decide(facts: Facts): { verdict: VerdictWord; reasons: string[] } {
  const { input, verifier, stated, evidence } = facts;
  if (verifier.tampered.length > 0) {
    const paths = verifier.tampered.map((path) => JSON.stringify(path)).join(', ');
    return {
      verdict: 'none',
      reasons: [`Void: the verifier changed or deleted files of the tree it judged: ${paths}.`],
    };
  }
  const failedHere = input.hostChecks.filter((check) => check.result === 'fail').map(failedReason);
  if (failedHere.length > 0) return { verdict: 'FAIL', reasons: failedHere };
  if (stated === 'none') {
    return { verdict: 'none', reasons: ['The last line of the answer states no verdict.'] };
  }
  const failed = evidence.checks.filter(isBoundFailure).map(failedReason);
  if (stated === 'FAIL') return { verdict: 'FAIL', reasons: [] };
  if (failed.length > 0) return { verdict: 'FAIL', reasons: failed };
  if (stated === 'PARTIAL') return { verdict: 'PARTIAL', reasons: [] };
  const lacking = lackingForPass(facts);
  return { verdict: lacking.length > 0 ? 'PARTIAL' : 'PASS', reasons: lacking };
}

/** Why a stated PASS does not stand, one sentence each; empty: it stands. */
function lackingForPass({ input, verifier, evidence, remarks }: Facts): string[] {
  const reasons: string[] = [];
  if (verifier.commands.length === 0) reasons.push('No command was run.');
  const unobserved = evidence.checks.filter((check) => isUnobserved(check));
  reasons.push(...unobserved.map((check) => `Claimed, not observed: ${quoted(check.command)}.`));
  reasons.push(
    ...evidence.unexplained.map(
      (command) =>
        `Call ${command.call}, ${quoted(command.command)}, ended with ${exitWords(command.exitCode)} and no check explains it.`,
    ),
  );
  const skipped = [...input.hostChecks, ...evidence.checks].filter((check) => check.result === 'skip');
  reasons.push(...skipped.map(skippedReason));
  if (!evidence.checks.some(isOwnPass)) {
    reasons.push(
      "No check of the verifier's own was observed beside the project's suite and the acceptance tests.",
    );
  }
  const errors = remarks.filter((finding) => finding.severity === 'error');
  reasons.push(...errors.map((finding) => `An error was reported: ${finding.title}.`));
  return reasons;
}

function isOwnPass(check: Check): boolean {
  return check.isOwn && check.evidence === 'bound' && check.result === 'pass' && check.exitCode !== null;
}

function isBoundFailure(check: Check): boolean {
  return check.evidence === 'bound' && check.result === 'fail';
}

/** A skipped check claims nothing that could have been seen. */
function isUnobserved(check: Check): boolean {
  return check.evidence === 'unobserved' && check.result !== 'skip';
}

function verifierFindings(input: JudgeInput, verifier: VerifierInput): NewFinding[] {
  const tree: TreePaths = { files: input.files, root: input.worktreeRoot };
  if (verifier.findings.length === 0) {
    return parseFindings(verifier.answer, tree).map((finding) => ({ ...finding, source: 'verifier' }));
  }
  return verifier.findings.map(({ path, line, endLine, ...claim }) => {
    const location =
      path === undefined
        ? undefined
        : (locate(
            { path, ...(line === undefined ? {} : { line }), ...(endLine === undefined ? {} : { endLine }) },
            tree,
          ) ?? locate({ ...parsePlace(path), path: parsePlace(path)?.path ?? path }, tree));
    // A place that does not exist is still told, in words.
    const isPhantom = path !== undefined && location === undefined;
    const written = isPhantom
      ? ` (at ${path}${line === undefined ? '' : `:${line}`}, which is not in the tree)`
      : '';
    return {
      ...(location === undefined ? {} : { location }),
      severity: claim.severity,
      title: claim.title,
      detail: claim.detail + written,
      ...(claim.call === undefined ? {} : { call: claim.call }),
      source: 'verifier',
    };
  });
}

/** A failed check without any error reported still needs something that a fix can start from. */
function failureFindings(evidence: Evidence, remarks: readonly NewFinding[]): NewFinding[] {
  if (remarks.some((finding) => finding.severity === 'error')) return [];
  return evidence.checks.filter(isBoundFailure).map((check) => ({
    severity: 'error',
    title: `Check failed: ${check.title} (${quoted(check.command)}, ${exitWords(check.exitCode)})`,
    detail: check.observed,
    ...(check.call === undefined ? {} : { call: check.call }),
    source: 'host',
  }));
}

function unobservedFindings(evidence: Evidence, verifier: VerifierInput, stated: VerdictWord): NewFinding[] {
  const claimed = evidence.checks
    .filter(isUnobserved)
    .map((check) =>
      notObserved(`${check.title} (${quoted(check.command)}, ${exitWords(check.exitCode)})`, check.observed),
    );
  if (stated !== 'PASS') return claimed;
  const failed = evidence.unexplained.map((command) => ({
    ...notObserved(
      `PASS, while ${quoted(command.command)} ended with ${exitWords(command.exitCode)} and no check explains it`,
      headAndTail(command.output),
    ),
    call: command.call,
  }));
  const idle = verifier.commands.length === 0 && claimed.length === 0;
  return [...claimed, ...failed, ...(idle ? [notObserved('PASS, with no command run', '')] : [])];
}

function notObserved(what: string, detail: string): NewFinding {
  return { severity: 'warning', title: `claimed, not observed: ${what}`, detail, source: 'host' };
}

function acceptanceFinding(check: Check): NewFinding {
  const title = `Acceptance test failed: ${quoted(check.command)} (${exitWords(check.exitCode)})`;
  return { severity: 'error', title, detail: check.observed, source: 'host' };
}

function bareFailure(answer: string): NewFinding {
  return {
    severity: 'error',
    title: 'FAIL was given without a finding',
    detail: headAndTail(answer),
    source: 'verifier',
  };
}

function failedReason(check: Check): string {
  const kind = check.evidence === 'host' ? 'An acceptance test failed' : 'A check failed';
  return `${kind}: ${quoted(check.command)} (${exitWords(check.exitCode)}).`;
}

function skippedReason(check: Check): string {
  return `Could not be checked: ${check.title}.`;
}

function exitWords(exitCode: number | null): string {
  return exitCode === null ? 'no exit code' : `exit code ${exitCode}`;
}

/** A command on one line, short enough for a title. */
function quoted(command: string): string {
  const line = command.trim().replace(/\s+/g, ' ');
  return `\`${line.length > 120 ? `${line.slice(0, 119)}…` : line}\``;
}

interface Judgement {
  readonly verdict: VerdictWord;
  readonly stated?: VerdictWord;
  readonly checks: readonly Check[];
  readonly findings: readonly NewFinding[];
  readonly reasons: readonly string[];
}

function assembled(input: JudgeInput, { findings, checks, reasons, ...words }: Judgement): Verdict {
  return {
    ...words,
    runId: input.runId,
    tree: input.tree,
    at: input.at,
    checks: [...checks],
    findings: findings.map((finding, index) => ({ id: `f${index + 1}`, ...finding })),
    reasons: [...reasons],
  };
}
