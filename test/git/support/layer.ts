import { SerialQueue } from '../../../src/base/async';
import { createGit, type RepositoryGit } from '../../../src/git/git';
import type { RepositoryFacts } from '../../../src/git/repository';
import { createRepositories } from '../../../src/git/repository';
import { type RunCommand, runCommand } from '../../../src/process/runCommand';

export interface Layer extends RepositoryGit {
  readonly facts: RepositoryFacts;
}

/** The git layer of the repository around `directory`, with a lock that holds within this process. */
export async function openLayer(directory: string, run: RunCommand = runCommand): Promise<Layer> {
  const deps = { runCommand: run, env: process.env };
  const facts = await createRepositories(deps).open(directory);
  const queue = new SerialQueue();
  return { facts, ...createGit(facts, { ...deps, withGitLock: (body) => queue.run(body) }) };
}

/** Runs commands for real, but lets a test look at each git subcommand first, and throw or abort there. */
export function spiedRun(onGit: (subcommand: string, args: readonly string[]) => void): RunCommand {
  return (request) => {
    const args = request.command.kind === 'args' ? request.command.args : [];
    onGit(subcommandOf(args), args);
    return runCommand(request);
  };
}

/** The first argument that is neither an option nor the value of `-c`. */
function subcommandOf(args: readonly string[]): string {
  for (let at = 0; at < args.length; at += 1) {
    const argument = args[at] ?? '';
    if (argument === '-c') at += 1;
    else if (!argument.startsWith('-')) return argument;
  }
  return '';
}
