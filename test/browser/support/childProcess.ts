import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Ends a process started with `detached` and everything in its group: first kindly, after five seconds not. */
export async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  signalGroup(child.pid, 'SIGTERM');
  const harder = setTimeout(() => child.pid !== undefined && signalGroup(child.pid, 'SIGKILL'), 5_000);
  await ended;
  clearTimeout(harder);
  // Members that did not hear the first signal must not outlive the test.
  signalGroup(child.pid, 'SIGKILL');
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
