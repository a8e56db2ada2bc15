import { plainLine } from '../../model/plainText';
import type { AcceptOptions, AcceptOutcome } from '../../tasks/taskApi';
import type { AcceptCommand } from '../arguments';
import { conflicting, gateRefusal, hookRefusal, keptOutcome, landedOutcome, planText } from '../landingTexts';
import { describe } from '../messages';
import { taskData } from '../records';
import type { Outcome } from '../report';
import { resolveSelection } from '../selection';
import { taskOf, type VerbRunner } from '../verbContext';

export const accept: VerbRunner<AcceptCommand> = async (command, context) => {
  const { tasks, report, interruption } = context;
  const { isDryRun, mode = 'apply', message, skipGate } = command;
  const { id } = await taskOf(command.target, context);
  const named = command.selection;
  const part = named === undefined ? {} : { selection: resolveSelection(await tasks.hunks(id), named) };
  const wish: AcceptOptions = { mode, ...part, ...(message === undefined ? {} : { message }) };
  const plan = await tasks.preview(id, wish);
  const isCut = plan.leftOut !== undefined && plan.leftOut.hunks.length > 0;
  const hunks = isCut ? (await tasks.hunks(id)).files.flatMap((file) => file.hunks) : [];
  report.say(planText(plan, { mode, skipGate: skipGate === true }, hunks));
  if (plan.conflicts.length > 0) return conflicting(plan.task, plan.conflicts, mode);
  if (isDryRun) {
    const text = 'No conflict. Nothing was written (--dry-run).\n';
    const { task, paths, branch, gate, leftOut } = plan;
    return {
      exitCode: 0,
      data: { outcome: 'preview', mode, task: taskData(task), paths, branch, gate, leftOut },
      text,
    };
  }
  interruption.begin('files');
  const options = { ...wish, signal: interruption.stopped, ...(skipGate === true ? { skipGate } : {}) };
  return outcomeOf(await tasks.accept(id, options), { mode, skipGate: skipGate === true });
};

function outcomeOf(
  outcome: AcceptOutcome,
  how: { mode: NonNullable<AcceptCommand['mode']>; skipGate: boolean },
): Outcome {
  switch (outcome.kind) {
    case 'conflict':
      return conflicting(outcome.task, outcome.conflicts, how.mode);
    case 'stale': {
      const moved = outcome.isHeadMoved === true ? ['HEAD moved'] : [];
      return staleOutcome(outcome.task, outcome.paths, moved);
    }
    case 'hookFailed':
      return hookRefusal(outcome);
    case 'gateFailed':
      return gateRefusal(outcome);
    case 'kept':
      return keptOutcome(outcome);
    case 'landed':
      return landedOutcome(outcome, how);
  }
}

/** Files changed between looking and writing; also what `undo` meets when they were edited after landing. */
export function staleOutcome(
  task: AcceptOutcome['task'],
  paths: readonly string[],
  more: readonly string[] = [],
): Outcome {
  return {
    exitCode: 3,
    data: {
      outcome: 'stale',
      task: taskData(task),
      paths,
      ...(more.length === 0 ? {} : { isHeadMoved: true }),
    },
    error: describe('stale', [...more, ...paths.map(plainLine)].join(', '), task.slug),
  };
}
