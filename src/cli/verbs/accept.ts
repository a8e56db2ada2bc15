import { plainLine } from '../../model/plainText';
import { type Task, verdictOn } from '../../model/task';
import type { LandingPlan } from '../../tasks/taskApi';
import type { AcceptCommand } from '../arguments';
import { describe } from '../messages';
import { taskData } from '../records';
import type { Outcome } from '../report';
import { conflictText, landingPathText } from '../texts';
import { taskOf, type VerbRunner } from '../verbContext';

export const accept: VerbRunner<AcceptCommand> = async ({ target, isDryRun }, context) => {
  const { tasks, report, interruption } = context;
  const { id } = await taskOf(target, context);
  const plan = await tasks.preview(id);
  report.say(planText(plan));
  if (plan.conflicts.length > 0) return conflicting(plan.task, plan.conflicts);
  if (isDryRun) {
    const text = 'No conflict. Nothing was written (--dry-run).\n';
    return { exitCode: 0, data: { outcome: 'preview', task: taskData(plan.task), paths: plan.paths }, text };
  }
  interruption.begin('files');
  const outcome = await tasks.accept(id);
  switch (outcome.kind) {
    case 'conflict':
      return conflicting(outcome.task, outcome.conflicts);
    case 'stale':
      return staleOutcome(outcome.task, outcome.paths);
    case 'landed': {
      const slug = plainLine(outcome.task.slug);
      return {
        exitCode: 0,
        data: { outcome: 'landed', task: taskData(outcome.task), paths: outcome.paths },
        text: `Accepted ${slug}: ${outcome.paths.length} ${outcome.paths.length === 1 ? 'path' : 'paths'} written.\nTake it back with: tributary undo ${slug}\n`,
      };
    }
  }
};

function planText({ task, tree, paths, conflicts }: LandingPlan): string {
  const judgement = verdictOn(task, tree);
  const verdict = judgement?.verdict;
  const findings = verdict?.findings.length ?? 0;
  const judged =
    verdict === undefined
      ? 'not verified'
      : judgement?.isCurrent === false
        ? `changed since its VERDICT: ${verdict.verdict}, so not verified as it is`
        : `VERDICT: ${verdict.verdict}${findings === 0 ? '' : `, ${findings} ${findings === 1 ? 'finding' : 'findings'}`}`;
  return [
    `${plainLine(task.slug)} (${judged}) would write:`,
    ...paths.map((path) => `  ${landingPathText(path)}`),
    ...(paths.length === 0 ? ['  nothing'] : []),
    ...(conflicts.length === 0 ? [] : ['Conflicts:']),
    ...conflicts.map((conflict) => `  ${conflictText(conflict)}`),
  ].join('\n');
}

function conflicting(task: Task, conflicts: LandingPlan['conflicts']): Outcome {
  return {
    exitCode: 3,
    data: { outcome: 'conflict', task: taskData(task), conflicts },
    error: describe('conflict', conflicts.map(conflictText).join('\n'), task.slug),
  };
}

/** Files changed between looking and writing; also what `undo` meets when they were edited after landing. */
export function staleOutcome(task: Task, paths: readonly string[]): Outcome {
  return {
    exitCode: 3,
    data: { outcome: 'stale', task: taskData(task), paths },
    error: describe('stale', paths.map(plainLine).join(', '), task.slug),
  };
}
