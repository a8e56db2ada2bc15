import type { AgentCommand } from '../arguments';
import { follow } from '../follow';
import { settledOutcome } from '../settledOutcome';
import { requireModel, taskOf, type VerbRunner } from '../verbContext';

export const verify: VerbRunner<AgentCommand> = async (command, context) => {
  const task = await taskOf(command.target, context);
  requireModel(command.isDemo, context);
  const { begun, settled } = await follow(context, () => context.tasks.verify(task.id));
  return settledOutcome(settled ?? { task: begun.task, runs: [] }, 'all', context.paint);
};
