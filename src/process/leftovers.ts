import { delay } from '../base/async';
import {
  closure,
  isSameProcessAlive,
  listProcesses,
  ownerMarkerVariable,
  type ProcessEntry,
  signalProcess,
  startVariable,
} from './processTree';

const graceMs = 1_000;
const killRoundsMs = 2_000;
const pollMs = 20;

/**
 * Ends everything that processes of ours left running when they were killed: commands, their descendants, our
 * own git. `owners` are their boot ids. SIGTERM first, so that git takes its lock files away, then SIGKILL.
 * Resolves when all are gone or past ending. Linux only; elsewhere it does nothing.
 */
export async function endLeftovers(owners: ReadonlySet<string>): Promise<void> {
  if (owners.size === 0) return;
  const softEnd = performance.now() + graceMs;
  const hardEnd = softEnd + killRoundsMs;
  const asked = new Set<string>();
  while (performance.now() < hardEnd) {
    const targets = await findLeftovers(owners);
    if (targets.length === 0) return;
    const isLate = performance.now() >= softEnd;
    for (const { pid, startKey } of targets) {
      const key = `${pid} ${startKey}`;
      if (!isLate && asked.has(key)) continue;
      asked.add(key);
      // The listing is a moment old: the number may belong to somebody else by now.
      if (await isSameProcessAlive(pid, startKey)) signalProcess(pid, isLate ? 'SIGKILL' : 'SIGTERM');
    }
    await delay(pollMs);
  }
}

async function findLeftovers(owners: ReadonlySet<string>): Promise<ProcessEntry[]> {
  const all = await listProcesses();
  const marked = new Set<number>();
  await Promise.all(
    all.map(async ({ pid }) => {
      const owner = await startVariable(pid, ownerMarkerVariable);
      if (owner !== undefined && owners.has(owner)) marked.add(pid);
    }),
  );
  // A session counts only where its leader is marked: others may hold whoever happened to be there.
  const isRoot = ({ pid, sessionId }: ProcessEntry): boolean => marked.has(pid) || marked.has(sessionId);
  return closure(all, isRoot, { bySession: false });
}
