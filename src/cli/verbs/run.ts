import type { RunCommand } from '../arguments';
import { follow } from '../follow';
import { settledOutcome } from '../settledOutcome';
import { requireModel, type VerbRunner } from '../verbContext';

export const run: VerbRunner<RunCommand> = async (command, context) => {
  const { tasks, paint } = context;
  const { objective, base, withUncommitted, scope, checks, setup, agent, model, verify } = command;
  const packet = await tasks.prepare({
    objective,
    ...(base === undefined ? {} : { base }),
    ...(withUncommitted === undefined ? {} : { withUncommitted }),
    ...(scope.length === 0 ? {} : { scope }),
    ...(checks.length === 0 ? {} : { checks }),
    ...(setup === undefined ? {} : { setup }),
  });
  requireModel(command.isDemo, context);
  const { begun, settled } = await follow(context, () =>
    tasks.start({
      packet,
      ...(agent === undefined ? {} : { agent }),
      ...(model === undefined ? {} : { model }),
      ...(verify === undefined ? {} : { verify }),
    }),
  );
  const need = verify === 'always' ? 'asked' : 'made';
  return settledOutcome(settled ?? { task: begun.task, runs: [] }, need, paint);
};
