import { TributaryError } from '../../base/errors';
import { chosenSetup } from '../../model/foreignSetup';
import { plainLine } from '../../model/plainText';
import type { SetupPlan } from '../../model/setup';
import type { RunCommand } from '../arguments';
import { follow } from '../follow';
import { settledOutcome } from '../settledOutcome';
import { requireModel, type VerbContext, type VerbRunner } from '../verbContext';

export const run: VerbRunner<RunCommand> = async (command, context) => {
  const { tasks, paint } = context;
  const { objective, base, withUncommitted, scope, checks, agent, model, verify } = command;
  const setup = await setupOf(command, context);
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

/** What the flags say, before it what a file of another tool says, where that was asked for. */
async function setupOf(
  { setup, importSetup }: RunCommand,
  { tasks, report }: VerbContext,
): Promise<Partial<SetupPlan> | undefined> {
  if (importSetup === undefined) return setup;
  const setups = await tasks.foreignSetups();
  const found = chosenSetup(setups);
  for (const { path, notes } of setups.filter((one) => one === found || found === undefined))
    for (const note of notes) report.warn(`${plainLine(path)}: ${plainLine(note)}`);
  if (found === undefined) {
    const problem = 'no file of another tool names set-up commands here';
    throw new TributaryError('badArguments', problem, { details: { problem } });
  }
  const { path, plan } = found;
  report.say(`set-up from ${plainLine(path)}`);
  return {
    ...setup,
    commands: [...plan.commands, ...(setup?.commands ?? [])],
    teardown: [...plan.teardown, ...(setup?.teardown ?? [])],
    include: [...plan.include, ...(setup?.include ?? [])],
  };
}
