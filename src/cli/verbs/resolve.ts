import type { AgentCommand } from '../arguments';
import { follow } from '../follow';
import { conflictError } from '../landingTexts';
import type { Outcome } from '../report';
import { settledOutcome } from '../settledOutcome';
import { requireModel, taskOf, type VerbContext, type VerbRunner } from '../verbContext';
import { mergeInData, mergeInText } from './mergeIn';

export const resolve: VerbRunner<AgentCommand> = async (command, context) => {
  const { id } = await taskOf(command.target, context);
  requireModel(command.isDemo, context);
  const { begun, settled } = await follow(context, async () => {
    const outcome = await context.tasks.resolve(id);
    context.report.say(mergeInText(outcome.merged).trimEnd());
    return outcome;
  });
  if (begun.kind === 'clean' || settled === undefined) {
    return {
      exitCode: 0,
      data: mergeInData(begun.merged),
      text: 'Nothing conflicts, so no agent was started.\n',
    };
  }
  return leftOver(settledOutcome(settled, 'made', context.paint), id, context);
};

/** A Run that says done, or one that failed, may have left a marker: what would keep the Task from landing says it. */
async function leftOver(
  outcome: Outcome,
  id: Parameters<VerbContext['tasks']['preview']>[0],
  { tasks }: VerbContext,
): Promise<Outcome> {
  const { task } = await tasks.find(id);
  if (task.state !== 'open') return outcome;
  const { conflicts } = await tasks.preview(id);
  if (conflicts.length === 0) return outcome;
  const exitCode = outcome.exitCode <= 1 ? 3 : outcome.exitCode;
  return { error: conflictError(task, conflicts), ...outcome, exitCode };
}
