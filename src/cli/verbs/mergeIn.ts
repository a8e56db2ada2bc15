import { plainLine } from '../../model/plainText';
import type { MergeInOutcome } from '../../tasks/taskApi';
import type { TargetCommand } from '../arguments';
import { unresolvedRows } from '../overlapTexts';
import { taskData } from '../records';
import { taskOf, type VerbRunner } from '../verbContext';

export const mergeIn: VerbRunner<TargetCommand> = async ({ target }, context) => {
  const { id } = await taskOf(target, context);
  context.interruption.begin('files');
  const merged = await context.tasks.mergeIn(id);
  return { exitCode: 0, data: mergeInData(merged), text: `${mergeInText(merged)}${nextText(merged)}` };
};

/** The JSON form, of `resolve` too. */
export function mergeInData({ kind, task, paths, conflicts }: MergeInOutcome): Record<string, unknown> {
  return { outcome: kind, task: taskData(task), paths, conflicts, worktreePath: task.worktreePath };
}

/** What was merged and what is left to resolve. */
export function mergeInText({ kind, task, paths, conflicts }: MergeInOutcome): string {
  const slug = plainLine(task.slug);
  const files = paths.length === 1 ? '1 file' : `${paths.length} files`;
  const head =
    kind === 'upToDate'
      ? `${slug} had everything that your checkout holds.`
      : `Your checkout was merged into the worktree of ${slug}: ${files} changed there.`;
  const rows = unresolvedRows({ unresolved: [...conflicts] }).map((row) => `  ${row}`);
  return `${[head, ...(rows.length === 0 ? [] : ['Conflicts:', ...rows])].join('\n')}\n`;
}

function nextText({ task, conflicts }: MergeInOutcome): string {
  const slug = plainLine(task.slug);
  if (conflicts.length === 0) return `Nothing conflicts. Next: tributary accept ${slug}\n`;
  return `Resolve them in ${plainLine(task.worktreePath ?? '')}, then: tributary accept ${slug}\nOr have the agent do it: tributary resolve ${slug}\n`;
}
