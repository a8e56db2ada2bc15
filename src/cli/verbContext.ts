import { TributaryError } from '../base/errors';
import type { Task } from '../model/task';
import type { TaskService } from '../tasks/taskService';
import type { Command } from './arguments';
import { credentialsOf } from './environment';
import type { CliHost } from './host';
import type { Interruption } from './interruption';
import type { Paint } from './paint';
import type { Outcome, Report } from './report';

/** What every verb works with. */
export interface VerbContext {
  readonly tasks: TaskService;
  readonly host: CliHost;
  readonly report: Report;
  readonly paint: Paint;
  readonly interruption: Interruption;
}

export type VerbRunner<C extends Command> = (command: C, context: VerbContext) => Promise<Outcome>;

/** The Task a command line names. Throws `unknownId`, `ambiguousId`. */
export async function taskOf(target: string, { tasks }: VerbContext): Promise<Task> {
  return (await tasks.find(target)).task;
}

/** Throws `noCredentials` where a model is needed and no key is there: before anything is made. */
export function requireModel(isDemo: boolean, { host }: VerbContext): void {
  if (isDemo || credentialsOf(host.env) !== undefined) return;
  throw new TributaryError('noCredentials', '');
}
