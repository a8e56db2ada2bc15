import { cancelled, delay, throwIfCancelled } from '../base/async';
import type { CommandResult, RunCommand } from '../process/runCommand';
import { fixedArguments, gitEnvironment } from './gitEnvironment';
import { gitFailure, gitNotStarted, kindOf } from './gitErrors';

export interface GitCommand {
  readonly cwd: string;
  /** Subcommand first. */
  readonly args: readonly string[];
  /** Laid over the fixed environment: `GIT_DIR`, `GIT_INDEX_FILE`... */
  readonly env?: Readonly<Record<string, string>>;
  /** Extra `-c` settings. */
  readonly config?: readonly string[];
  readonly input?: Uint8Array | string;
  /** Exit codes that are an answer, not a failure; default only 0. */
  readonly okCodes?: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

export interface GitOutput {
  readonly exitCode: number;
  /** Bytes as git wrote them. */
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs git. Throws the codes of `gitErrors`, or `cancelled`; waits up to ten seconds for a foreign lock. */
export type Git = (command: GitCommand) => Promise<GitOutput>;

export interface GitDeps {
  readonly runCommand: RunCommand;
  /** The environment of this process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Waits between two tries; handed in by tests. */
  readonly wait?: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/** Milliseconds between tries while another git holds a lock: about ten seconds in all. */
const lockWaits = [20, 50, 100, 200, 400, 800, 1_000, 1_000, 1_500, 2_000, 3_000];

/** `Git` over real processes; every command of ours goes through here. */
export function makeGit(deps: GitDeps): Git {
  const wait = deps.wait ?? delay;
  // Worked out once: this process does not change its own environment.
  const env = gitEnvironment(deps.env);
  return async (command) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await runOnce(deps, env, command);
      } catch (error) {
        const pause = lockWaits[tries];
        if (pause === undefined || kindOf(error) !== 'locked') throw error;
        // Jitter, so that many processes that wait for one lock do not come back together.
        await wait(pause * (0.75 + Math.random() / 2), command.signal);
      }
    }
  };
}

async function runOnce(
  deps: GitDeps,
  env: Readonly<Record<string, string>>,
  command: GitCommand,
): Promise<GitOutput> {
  throwIfCancelled(command.signal);
  const extra = (command.config ?? []).flatMap((setting) => ['-c', setting]);
  const result = await deps.runCommand({
    command: { kind: 'args', file: 'git', args: [...fixedArguments, ...extra, ...command.args] },
    cwd: command.cwd,
    env: { ...env, ...command.env },
    maxOutputBytes: Number.POSITIVE_INFINITY,
    ...(command.input === undefined ? {} : { input: command.input }),
    ...(command.signal === undefined ? {} : { signal: command.signal }),
  });
  return outputOf(command, result);
}

/** Turns how the process ended into output or a typed failure. */
function outputOf(command: GitCommand, result: CommandResult): GitOutput {
  if (result.reason === 'cancelled') throw cancelled();
  if (result.reason === 'notStarted') throw gitNotStarted(result.startError, command.cwd);
  const stderr = result.stderr.toString('utf8');
  if (result.exitCode === null || !(command.okCodes ?? [0]).includes(result.exitCode)) {
    throw gitFailure(command.args, result.exitCode, stderr, command.cwd);
  }
  return { exitCode: result.exitCode, stdout: result.stdout, stderr };
}

/** One line of output without its newline: an object name, a ref, a path without newlines. Never for content. */
export function lineOf(output: GitOutput): string {
  return output.stdout.toString('utf8').replace(/\n$/, '');
}
