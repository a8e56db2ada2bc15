import { plainLine } from '../../model/plainText';
import { mendable } from '../../tasks/verification';
import type { AgentCommand } from '../arguments';
import { follow } from '../follow';
import { taskData } from '../records';
import { settledOutcome } from '../settledOutcome';
import { requireModel, taskOf, type VerbRunner } from '../verbContext';

export const fix: VerbRunner<AgentCommand> = async (command, context) => {
  const task = await taskOf(command.target, context);
  // Without a Finding no model is needed, so none is asked for.
  if (mendable(task) !== undefined) requireModel(command.isDemo, context);
  const { begun, settled } = await follow(context, () => context.tasks.fix(task.id));
  if (begun.kind === 'nothing' || settled === undefined) {
    return {
      exitCode: 0,
      data: { task: taskData(begun.task), runs: [] },
      text: `There is no open finding on ${plainLine(begun.task.slug)}; nothing to fix.\n`,
    };
  }
  return settledOutcome(settled, 'all', context.paint);
};
