import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { errnoOf } from '../base/errors';

/** A process as the system lists it. `startKey` tells a reused pid from the process we knew. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  readonly startKey: string;
}

/** The environment variable that marks every process of one command, however far it moves away. */
export const commandMarkerVariable = 'TRIBUTARY_COMMAND';
/** Names the Run a command belongs to, for whoever looks at it. */
export const runMarkerVariable = 'TRIBUTARY_RUN';
/** Marks every process that a process of ours started, by the boot id under which that one owns Runs. */
export const ownerMarkerVariable = 'TRIBUTARY_OWNER';

const isLinux = process.platform === 'linux';

/** All running processes, zombies left out. On Linux from /proc, elsewhere from `ps`. */
export async function listProcesses(): Promise<ProcessEntry[]> {
  return (await scanProcesses()).entries;
}

/** As `listProcesses`; `isComplete` is false when one went during the scan, which may have left another behind. */
export async function scanProcesses(): Promise<{ entries: ProcessEntry[]; isComplete: boolean }> {
  if (!isLinux) return { entries: await listWithPs(), isComplete: true };
  const names = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const read = await Promise.all(names.map(readEntry));
  return {
    entries: read.flatMap((one) => (one === 'gone' || one === 'dead' ? [] : [one])),
    isComplete: !read.includes('gone'),
  };
}

/** `rootPid` and everything below it, by parent, as it is now. */
export async function listProcessTree(rootPid: number): Promise<ProcessEntry[]> {
  const all = await listProcesses();
  return closure(all, (entry) => entry.pid === rootPid, { bySession: false });
}

/** Every running process whose environment at its start held `TRIBUTARY_COMMAND=marker`; Linux only. */
export async function listMarkedProcesses(marker: string): Promise<ProcessEntry[]> {
  const all = await listProcesses();
  const marked = await Promise.all(all.map((entry) => hasMarker(entry.pid, marker)));
  return all.filter((_, index) => marked[index]);
}

/** True while the process lives and is still the one that `startKey` was read from. */
export async function isSameProcessAlive(pid: number, startKey: string): Promise<boolean> {
  if (!isLinux) return signalProcess(pid, 0);
  return (await startKeyOf(pid)) === startKey;
}

/** Direct children by pid; Linux only, empty elsewhere. Cheap: it reads one small file. */
export async function childrenOf(pid: number): Promise<number[]> {
  if (!isLinux) return [];
  const text = await readProc(`/proc/${pid}/task/${pid}/children`);
  return text.split(' ').flatMap((word) => (/^\d+$/.test(word) ? [Number(word)] : []));
}

/** The start key of a process, `undefined` when it is gone or a zombie. */
export async function startKeyOf(pid: number): Promise<string | undefined> {
  if (!isLinux) return String(pid);
  const entry = await readEntry(String(pid));
  return typeof entry === 'string' ? undefined : entry.startKey;
}

/** Sends a signal to a pid, or to a group when negative. False when nobody was there to take it. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    // EPERM: it is there, but not ours to end (it changed its user).
    return errnoOf(error) === 'EPERM';
  }
}

/** Grows `isRoot` by children and, if asked, by whole sessions that its members lead or joined. */
export function closure(
  all: readonly ProcessEntry[],
  isRoot: (entry: ProcessEntry) => boolean,
  options: { bySession: boolean },
): ProcessEntry[] {
  const found = new Map<number, ProcessEntry>();
  const sessions = new Set<number>();
  let grew = true;
  while (grew) {
    grew = false;
    for (const entry of all) {
      if (entry.pid === process.pid || found.has(entry.pid)) continue;
      if (!isRoot(entry) && !found.has(entry.parentPid) && !sessions.has(entry.sessionId)) continue;
      found.set(entry.pid, entry);
      if (options.bySession) sessions.add(entry.sessionId);
      grew = true;
    }
  }
  return [...found.values()];
}

/** True when the process was started with our marker. Unreadable (another user's, gone) counts as no. */
export async function hasMarker(pid: number, marker: string): Promise<boolean> {
  return (await startVariable(pid, commandMarkerVariable)) === marker;
}

/** What a variable held when the process was started; Linux only, `undefined` elsewhere and where it is not ours to read. */
export async function startVariable(pid: number, name: string): Promise<string | undefined> {
  if (!isLinux) return undefined;
  const prefix = `${name}=`;
  const environ = await readProc(`/proc/${pid}/environ`);
  return environ
    .split('\0')
    .find((one) => one.startsWith(prefix))
    ?.slice(prefix.length);
}

/** `dead`: a zombie, whose parent has not taken note of its end. */
async function readEntry(pid: string): Promise<ProcessEntry | 'gone' | 'dead'> {
  const stat = await readProc(`/proc/${pid}/stat`);
  // The command name stands in parentheses and may hold anything, so fields count from the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid, groupId, sessionId] = fields;
  const startKey = fields[19];
  if (state === undefined || startKey === undefined) return 'gone';
  if (state === 'Z' || state === 'X') return 'dead';
  return {
    pid: Number(pid),
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    startKey,
  };
}

/** The text of a /proc file; empty when the process is gone or not ours to read. */
async function readProc(path: string): Promise<string> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    return '';
  }
}

async function listWithPs(): Promise<ProcessEntry[]> {
  if (process.platform === 'win32') return [];
  const text = await new Promise<string>((resolve) => {
    const args = ['-axo', 'pid=,ppid=,pgid=,state='];
    execFile('ps', args, { maxBuffer: 16 * 1024 * 1024 }, (error, stdout) => resolve(error ? '' : stdout));
  });
  return text.split('\n').flatMap((line) => {
    const [pid, parentPid, groupId, state] = line.trim().split(/\s+/);
    if (!pid || !parentPid || !groupId || state?.startsWith('Z')) return [];
    // ps has no portable session column; the group is the closest to it.
    const group = Number(groupId);
    return [
      { pid: Number(pid), parentPid: Number(parentPid), groupId: group, sessionId: group, startKey: pid },
    ];
  });
}
