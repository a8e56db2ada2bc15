import { type TributaryError, toTributaryError } from '../base/errors';
import type { ComposeCore, Core } from '../composeCore';
import type { Command } from './arguments';
import { credentialsOf, settingsOf } from './environment';
import type { CliHost } from './host';
import { Interruption } from './interruption';
import { JsonReport } from './jsonReport';
import { describeError, exitCodeOf } from './messages';
import { makePaint, wantsColour } from './paint';
import { PeopleReport } from './peopleReport';
import { CliPermission } from './permission';
import type { Outcome, Report } from './report';
import { perform } from './verbs';
import { appVersion } from './version';

/** What is still open after this time is left to the end of the process. */
const disposeMs = 4_000;

/** One call of the command line, from its understood arguments to its exit code. Never throws. */
export async function call(command: Command, host: CliHost, loading: Promise<ComposeCore>): Promise<number> {
  const report: Report = command.isJson ? new JsonReport(host) : new PeopleReport(host);
  let hasResult = false;
  const finish = (outcome: Outcome): number => {
    if (!hasResult) report.result(outcome);
    hasResult = true;
    return outcome.exitCode;
  };
  const leave = (exitCode: number): void => host.exit(finish({ exitCode, data: null }));
  const interruption = new Interruption({ host, report, leave });
  const opening = openCore(command, host, { report, loading });
  try {
    const outcome = await Promise.race([interruption.givenUp, answer(command, opening)]);
    await close(opening);
    return finish(outcome);
  } catch (thrown) {
    const error = toTributaryError(thrown);
    await close(opening);
    if (error.code === 'internal') report.warn(stackOf(error));
    const target = 'target' in command ? command.target : undefined;
    const exitCode = interruption.isTerminated ? 1 : exitCodeOf(error.code);
    return finish({ exitCode, data: null, error: describeError(error, target) });
  } finally {
    interruption.dispose();
  }

  async function answer(understood: Command, opened: Promise<Core>): Promise<Outcome> {
    const core = await opened;
    interruption.attach(core);
    const paint = makePaint(wantsColour(host.stdout.isTerminal, host.env));
    return perform(understood, { tasks: core.tasks, host, report, paint, interruption });
  }
}

async function openCore(
  command: Command,
  host: CliHost,
  { report, loading }: { report: Report; loading: Promise<ComposeCore> },
): Promise<Core> {
  const settings = settingsOf(host.env, 'isDemo' in command && command.isDemo);
  const compose = await loading;
  return compose({
    directory: command.repo ?? host.directory,
    settings: () => settings,
    env: host.env,
    credentials: () => Promise.resolve(credentialsOf(host.env)),
    permission: new CliPermission({
      host,
      report,
      allowCommands: 'allowCommands' in command && command.allowCommands,
      isJson: command.isJson,
    }),
    appVersion,
  });
}

/** Where an error of ours was made: for the report that its hint asks for. */
function stackOf(error: TributaryError): string {
  const { cause } = error;
  return (cause instanceof Error ? cause.stack : error.stack) ?? error.message;
}

/** Gives the core back, if there is one, within a bounded time. */
async function close(opening: Promise<Core>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const disposed = opening.then(
    (core) => core.dispose(),
    () => undefined,
  );
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, disposeMs);
  });
  try {
    await Promise.race([disposed, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
