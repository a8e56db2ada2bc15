import type { AgentCommand } from '../arguments';
import { follow } from '../follow';
import { settledOutcome } from '../settledOutcome';
import { requireModel, taskOf, type VerbRunner } from '../verbContext';

export const resume: VerbRunner<AgentCommand> = async (command, context) => {
  const task = await taskOf(command.target, context);
  requireModel(command.isDemo, context);
  const { begun, settled } = await follow(context, () => context.tasks.resume(task.id));
  return settledOutcome(settled ?? { task: begun.task, runs: [] }, 'made', context.paint);
};
