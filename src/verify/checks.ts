import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errnoOf } from '../base/errors';
import type { AcceptanceTest } from '../model/packet';
import type { Check } from '../model/verdict';
import type { CommandResult, RunCommand } from '../process/runCommand';
import { headAndTail } from './shorten';
import type { Verifier } from './verifier';

type ChecksRequest = Parameters<Verifier['runChecks']>[0];

/**
 * Runs acceptance tests one after another through a shell. A cancelled run gives what it has: the test that
 * was cut is left out, since nothing is known of it. A time-out is a failure and is said.
 */
export async function runChecks(run: RunCommand, request: ChecksRequest): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const [index, test] of request.tests.entries()) {
    if (request.signal.aborted) break;
    const cwd = await folderWithin(request.root, test.cwd);
    if (cwd === undefined) {
      checks.push(
        notRun(test, `Not run: the folder ${JSON.stringify(test.cwd)} is not inside the checkout.`),
      );
      continue;
    }
    const execute = (): Promise<CommandResult> =>
      run({
        command: { kind: 'shell', text: test.command },
        cwd,
        env: request.env,
        timeoutMs: test.timeoutMs,
        signal: request.signal,
        overflowPath: join(request.outDirectory, `check-${index + 1}.txt`),
        ...(request.onOutput === undefined ? {} : { onOutput: request.onOutput }),
      });
    const result = await (request.around?.(test.command, execute) ?? execute());
    if (result.reason === 'cancelled') break;
    checks.push(checkOf(test, result));
  }
  return checks;
}

/** The folder with links resolved, when it is the root or lies below it. */
async function folderWithin(root: string, cwd: string): Promise<string | undefined> {
  try {
    const real = await realpath(root);
    const folder = await realpath(resolve(real, cwd));
    const path = relative(real, folder);
    return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path) ? undefined : folder;
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

function checkOf(test: AcceptanceTest, result: CommandResult): Check {
  const isPass = result.reason === 'exited' && result.exitCode === test.expectedExitCode;
  const said = endOf(test, result);
  return {
    ...notRun(test, headAndTail(said === '' ? result.output : `${said}\n${result.output}`.trimEnd())),
    exitCode: result.exitCode,
    result: isPass ? 'pass' : 'fail',
    durationMs: result.durationMs,
  };
}

/** What the output does not tell: why it ended, and where the rest of it is. */
function endOf(test: AcceptanceTest, result: CommandResult): string {
  const notes: string[] = [];
  if (result.reason === 'timeout') notes.push(`Timed out after ${test.timeoutMs / 1000} s.`);
  if (result.reason === 'notStarted') notes.push(`Could not be started: ${result.startError ?? 'unknown'}.`);
  if (result.reason === 'exited' && result.exitCode === null) {
    notes.push(`Ended by signal ${result.signal ?? 'unknown'}.`);
  }
  if (result.reason === 'exited' && test.expectedExitCode !== 0) {
    notes.push(`Exit code ${test.expectedExitCode} was expected.`);
  }
  if (result.overflowPath !== undefined) notes.push(`The whole output: ${result.overflowPath}`);
  return notes.join('\n');
}

function notRun(test: AcceptanceTest, observed: string): Check {
  return {
    source: 'acceptance',
    title: test.command,
    command: test.command,
    exitCode: null,
    observed,
    result: 'fail',
    evidence: 'host',
    isOwn: false,
  };
}
