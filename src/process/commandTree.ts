import { execFile } from 'node:child_process';
import { delay } from '../base/async';
import {
  childrenOf,
  closure,
  hasMarker,
  isSameProcessAlive,
  type ProcessEntry,
  scanProcesses,
  signalProcess,
  startKeyOf,
} from './processTree';

const pollMs = 20;
const recordFirstMs = 40;
const recordMostMs = 1_000;
/** How long we go on sending SIGKILL before a process that the kernel will not end is given up. */
const killRoundsMs = 2_000;

/**
 * The processes of one command: its group, its session, and whatever left both. Descendants are recorded
 * while it runs, because a parent's death cuts the chain; the marker in their environment finds the rest.
 */
export class CommandTree {
  private readonly pid: number;
  private readonly marker: string;
  /** Descendants seen so far, with the key that tells them from a later process of the same pid. */
  private readonly known = new Map<number, string>();
  private rootStart: Promise<string | undefined> | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isEnded = false;

  constructor(pid: number, marker: string) {
    this.pid = pid;
    this.marker = marker;
  }

  /** Starts recording descendants, often at first and each second later. */
  record(): void {
    this.rootStart = startKeyOf(this.pid);
    let waitMs = recordFirstMs;
    const next = (): void => {
      this.timer = setTimeout(async () => {
        await this.recordOnce();
        waitMs = Math.min(waitMs * 2, recordMostMs);
        if (!this.isEnded) next();
      }, waitMs);
    };
    next();
  }

  /** True while something of the command's own group is there; costs one system call. */
  hasGroup(): boolean {
    return process.platform !== 'win32' && signalProcess(-this.pid, 0);
  }

  /** SIGTERM to all, SIGKILL to what is left after `graceMs`. Resolves when all are gone or past ending. */
  async end(graceMs: number): Promise<void> {
    this.isEnded = true;
    clearTimeout(this.timer);
    if (process.platform === 'win32') return endOnWindows(this.pid);
    const first = await this.find();
    let { targets } = first;
    if (targets.length === 0 && first.isComplete) return;
    this.send(targets, 'SIGTERM');
    const softEnd = performance.now() + graceMs;
    const hardEnd = softEnd + killRoundsMs;
    while (performance.now() < hardEnd) {
      targets = await stillAlive(targets);
      if (targets.length === 0) ({ targets } = await this.find());
      if (targets.length === 0) return;
      if (performance.now() >= softEnd) {
        // Found anew: what was forked since the last look has to go too.
        ({ targets } = await this.find());
        this.send(targets, 'SIGKILL');
      }
      await delay(pollMs);
    }
  }

  dispose(): void {
    this.isEnded = true;
    clearTimeout(this.timer);
  }

  private send(targets: readonly ProcessEntry[], signal: NodeJS.Signals): void {
    if (targets.some((entry) => entry.groupId === this.pid)) signalProcess(-this.pid, signal);
    for (const entry of targets) if (entry.groupId !== this.pid) signalProcess(entry.pid, signal);
  }

  /** Everything of this command that lives now. */
  private async find(): Promise<{ targets: ProcessEntry[]; isComplete: boolean }> {
    // The command still lives when it is ended early and nobody has asked before.
    this.rootStart ??= startKeyOf(this.pid);
    const [scan, rootStart] = await Promise.all([scanProcesses(), this.rootStart]);
    const all = scan.entries;
    const own = all.find((entry) => entry.pid === process.pid);
    // Only what started after the command (or after us, if it was too quick to be read) can carry its marker.
    const earliest = Number(rootStart ?? own?.startKey ?? 0);
    const marked = new Set<number>();
    const candidates = all.filter((entry) => Number(entry.startKey) >= earliest && entry.pid !== process.pid);
    await Promise.all(
      candidates.map(async (entry) => {
        if (await hasMarker(entry.pid, this.marker)) marked.add(entry.pid);
      }),
    );
    const isRoot = (entry: ProcessEntry): boolean =>
      entry.groupId === this.pid ||
      entry.sessionId === this.pid ||
      marked.has(entry.pid) ||
      this.known.get(entry.pid) === entry.startKey;
    return { targets: closure(all, isRoot, { bySession: true }), isComplete: scan.isComplete };
  }

  private async recordOnce(): Promise<void> {
    const queue = [this.pid, ...this.known.keys()];
    const visited = new Set<number>();
    for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
      if (visited.has(pid)) continue;
      visited.add(pid);
      for (const child of await childrenOf(pid)) {
        const startKey = await startKeyOf(child);
        if (startKey === undefined) continue;
        this.known.set(child, startKey);
        queue.push(child);
      }
      const startKey = this.known.get(pid);
      if (startKey !== undefined && !(await isSameProcessAlive(pid, startKey))) this.known.delete(pid);
    }
  }
}

async function stillAlive(entries: readonly ProcessEntry[]): Promise<ProcessEntry[]> {
  const alive = await Promise.all(entries.map((entry) => isSameProcessAlive(entry.pid, entry.startKey)));
  return entries.filter((_, index) => alive[index]);
}

async function endOnWindows(pid: number): Promise<void> {
  await new Promise<void>((resolve) => {
    execFile('taskkill', ['/PID', String(pid), '/T', '/F'], { windowsHide: true }, () => resolve());
  });
}
