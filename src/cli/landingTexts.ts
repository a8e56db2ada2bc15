import { areLeft } from '../model/conflictReason';
import type { Hunk } from '../model/hunks';
import type { LandingMode } from '../model/landing';
import { plainLine, plainText } from '../model/plainText';
import { type Task, verdictOn } from '../model/task';
import type { AcceptOutcome, LandingPlan, PlannedBranch } from '../tasks/taskApi';
import { type Described, describe } from './messages';
import { taskData } from './records';
import type { Outcome } from './report';
import { conflictText, landingPathText } from './texts';

interface How {
  readonly mode: LandingMode;
  readonly skipGate: boolean;
}

/** What a Landing would do, before it does it; `hunks` are those of the Task, where some are left out. */
export function planText(plan: LandingPlan, how: How, hunks: readonly Hunk[]): string {
  const { task, paths, branch, leftOut } = plan;
  const isWritten = how.mode !== 'keepBranch';
  return [
    `${plainLine(task.slug)} (${judgedText(plan)}) would write:`,
    ...paths.map((path) => `  ${landingPathText(path)}`),
    ...(paths.length === 0 ? ['  nothing'] : []),
    ...(branch === undefined ? [] : branchLines(branch, isWritten)),
    ...gateLines(plan, how),
    ...(leftOut === undefined ? [] : ['Left out, as you rejected it:']),
    ...(leftOut?.paths ?? []).map((path) => `  ${plainLine(path)}`),
    ...(leftOut?.modes ?? []).map((path) => `  ${plainLine(path)}: its mode`),
    ...(leftOut?.hunks ?? []).map((hunk) => `  ${hunkPlace(hunk, hunks)}`),
  ].join('\n');
}

function hunkPlace(id: string, hunks: readonly Hunk[]): string {
  const found = hunks.find((hunk) => hunk.id === id);
  return found === undefined ? `hunk ${id}` : `${plainLine(found.path)}: hunk ${id} at line ${lineOf(found)}`;
}

/** In the Task's file; of lines it removed, where they stood. */
function lineOf({ oldStart, newStart, newLines }: Hunk): number {
  return newLines === 0 ? oldStart : newStart;
}

function judgedText({ task, tree }: LandingPlan): string {
  const judgement = verdictOn(task, tree);
  if (judgement === undefined) return 'not verified';
  const { verdict, isCurrent } = judgement;
  if (!isCurrent) return `changed since its VERDICT: ${verdict.verdict}, so not verified as it is`;
  const findings = verdict.findings.length;
  return `VERDICT: ${verdict.verdict}${findings === 0 ? '' : `, ${findings} ${findings === 1 ? 'finding' : 'findings'}`}`;
}

function branchLines({ ref, head, commits }: PlannedBranch, isWritten: boolean): string[] {
  const at = head.slice(0, 12);
  const where = ref === undefined ? `the detached HEAD (${at})` : `${branchName(ref)} (${at})`;
  if (commits.length === 0) return [`and commit nothing on ${where}: it has all of it`];
  const words = {
    commit: '',
    replayed: " (the agent's)",
    task: ' (what is merged)',
    merge: ' (merge)',
  } as const;
  return [
    isWritten ? `and commit on ${where}:` : `and leave on ${branchName(ref ?? '')}:`,
    ...commits.map(({ kind, subject }) => `  ${plainLine(subject)}${words[kind]}`),
  ];
}

function gateLines({ task, gate }: LandingPlan, { skipGate }: How): string[] {
  if (gate === undefined || gate === 'none') return [];
  const commands = task.packet.acceptanceTests.map((test) => plainLine(test.command)).join(', ');
  if (skipGate) return [`Not tested (--no-gate): ${commands}`];
  if (gate === 'passed') return [`Passed on exactly this tree already: ${commands}`];
  return [`To be run on the merged files first: ${commands}`];
}

export function conflicting(
  task: Task,
  conflicts: LandingPlan['conflicts'],
  mode: LandingMode = 'apply',
): Outcome {
  return {
    exitCode: 3,
    data: { outcome: 'conflict', task: taskData(task), conflicts },
    error: { ...conflictError(task, conflicts), ...onUncommitted(task, conflicts, mode) },
  };
}

/** The way on where the change stands on edits that HEAD does not hold: no merge into the worktree mends that. */
function onUncommitted(
  task: Task,
  conflicts: LandingPlan['conflicts'],
  mode: LandingMode,
): { readonly hint?: string } {
  const isOnThem = task.packet.repository.base.uncommitted !== undefined && task.movedBases.length === 0;
  if (mode === 'apply' || !isOnThem || areLeft(conflicts)) return {};
  const slug = plainLine(task.slug);
  return {
    hint: `The Task began with your uncommitted changes, which HEAD does not hold: commit them, then accept again; or bring the change into your working tree beside them: tributary accept ${slug}`,
  };
}

/** Names the files, why they conflict, and the way on. */
export function conflictError(task: Task, conflicts: LandingPlan['conflicts']): Described {
  const files = conflicts.map(conflictText).join('\n');
  const error = describe('conflict', files, task.slug);
  if (!areLeft(conflicts)) return error;
  const slug = plainLine(task.slug);
  const place = plainLine(task.worktreePath ?? 'its worktree');
  return {
    ...error,
    message: `What the last merge-in left in the worktree is not resolved yet; nothing was written: ${files}`,
    hint: `Resolve it in ${place}, or have the agent do it with "tributary resolve ${slug}"; then accept again.`,
  };
}

export function landedOutcome(
  { task, paths, commit, ref }: Extract<AcceptOutcome, { kind: 'landed' }>,
  { mode, skipGate }: How,
): Outcome {
  const slug = plainLine(task.slug);
  const isPart = task.state === 'open';
  const count = `${paths.length} ${paths.length === 1 ? 'path' : 'paths'} written`;
  const on = ref === undefined ? 'the detached HEAD' : branchName(ref);
  const made = commit === undefined ? '' : `, ${commit.slice(0, 12)} committed on ${on}`;
  const isUntested = skipGate && task.packet.acceptanceTests.length > 0;
  const note = isUntested ? 'Its acceptance tests did not run (--no-gate).\n' : '';
  const gate = task.packet.acceptanceTests.length === 0 ? 'none' : skipGate ? 'skipped' : 'passed';
  return {
    exitCode: 0,
    data: { outcome: 'landed', mode, task: taskData(task), paths, commit, ref, gate },
    text: `Accepted ${isPart ? 'a part of ' : ''}${slug}: ${count}${made}.\n${note}${isPart ? 'The Task stays open with the rest.\n' : ''}Take it back with: tributary undo ${slug}\n`,
  };
}

export function keptOutcome({ task, ref, commit }: Extract<AcceptOutcome, { kind: 'kept' }>): Outcome {
  const slug = plainLine(task.slug);
  const name = branchName(ref);
  return {
    exitCode: 0,
    data: { outcome: 'kept', mode: 'keepBranch', task: taskData(task), ref, commit },
    text: `Kept the branch of ${slug}: ${name} at ${commit.slice(0, 12)}; your checkout is as it was.\nGo on with: git switch ${name}, or bring the Task back: tributary restore ${slug}\n`,
  };
}

export function hookRefusal({
  task,
  hook,
  exitCode,
  output,
}: Extract<AcceptOutcome, { kind: 'hookFailed' }>): Outcome {
  const how = exitCode === null ? 'did not end by itself' : `ended with ${exitCode}`;
  return {
    exitCode: 1,
    data: { outcome: 'hookFailed', task: taskData(task), hook, hookExitCode: exitCode, output },
    error: {
      code: 'hookFailed',
      message: `Your ${hook} hook ${how}; nothing was written.\n${plainText(output)}`.trimEnd(),
      hint: `Mend what it names ("tributary show ${plainLine(task.slug)}" says how to go on), or accept without a commit.`,
    },
  };
}

export function gateRefusal({
  task,
  command,
  exitCode,
  output,
}: Extract<AcceptOutcome, { kind: 'gateFailed' }>): Outcome {
  const how = exitCode === null ? 'did not end by itself' : `ended with ${exitCode}`;
  return {
    exitCode: 1,
    data: { outcome: 'gateFailed', task: taskData(task), command, commandExitCode: exitCode, output },
    error: {
      code: 'gateFailed',
      message:
        `${plainLine(command)} ${how} on the merged files; nothing was written.\n${plainText(output)}`.trimEnd(),
      hint: 'Have it mended by a follow-up or by hand, or land it all the same with --no-gate.',
    },
  };
}

function branchName(ref: string): string {
  return plainLine(ref.replace(/^refs\/heads\//, ''));
}
