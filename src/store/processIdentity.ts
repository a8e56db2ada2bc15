import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import { errnoOf } from '../base/errors';

/**
 * What can be said of a process id on this host. `start` names its start time, so that a number used again is
 * another process; it is absent where the system does not say.
 */
export type ProcessState = { readonly kind: 'gone' } | { readonly kind: 'running'; readonly start?: string };

export interface ProcessTable {
  /** This machine, or this container of it: where process ids mean the same. */
  host(): Promise<string>;
  look(pid: number): Promise<ProcessState>;
}

/** `/proc` on Linux, `ps` elsewhere. */
export function systemProcessTable(): ProcessTable {
  const look = process.platform === 'linux' ? lookInProc : lookWithPs;
  let host: Promise<string> | undefined;
  return {
    look,
    host: () => {
      host ??= readHost();
      return host;
    },
  };
}

// Linux gives the first process id namespace of a machine this number.
const firstNamespace = 'pid:[4026531836]';

/** Containers may share the host's name, not its process ids; those get their namespace added. */
async function readHost(): Promise<string> {
  const namespace = await readlink('/proc/self/ns/pid').catch(() => firstNamespace);
  return namespace === firstNamespace ? hostname() : `${hostname()}/${namespace}`;
}

/** Reads field 22 of `/proc/<pid>/stat` (start in clock ticks since boot) and adds which boot that was. */
export async function lookInProc(pid: number): Promise<ProcessState> {
  let stat: string;
  try {
    stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  } catch {
    // Other users' processes may be hidden from /proc; a signal still finds them.
    return signalFinds(pid) ? { kind: 'running' } : { kind: 'gone' };
  }
  // The command name may hold blanks and brackets; the fields after it cannot.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (state === 'Z' || state === 'X') return { kind: 'gone' };
  const ticks = fields[19];
  if (ticks === undefined) return { kind: 'running' };
  const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return { kind: 'running', start: `${bootId.trim()}:${ticks}` };
}

const execute = promisify(execFile);

/** Asks `ps`; without it (Windows) only whether the process exists can be told. */
export async function lookWithPs(pid: number): Promise<ProcessState> {
  if (!signalFinds(pid)) return { kind: 'gone' };
  try {
    // `lstart` is worded by locale and time zone.
    const env = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', TZ: 'UTC' };
    const { stdout } = await execute('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      env,
      timeout: 5_000,
    });
    const [state = '', ...start] = stdout.trim().split(/\s+/);
    if (state.startsWith('Z')) return { kind: 'gone' };
    return start.length === 0 ? { kind: 'running' } : { kind: 'running', start: start.join(' ') };
  } catch {
    return signalFinds(pid) ? { kind: 'running' } : { kind: 'gone' };
  }
}

/** Signal 0 only asks. A refusal means that the process exists and is another user's. */
function signalFinds(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}
