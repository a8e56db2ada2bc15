import { TributaryError } from '../base/errors';
import { type CutOff, cutOffText } from '../model/cutOff';
import type { Task } from '../model/task';
import { type Ailment, placedTasks, type Scene } from './ailment';
import { isAbandoned } from './reconcile';
import { isLive } from './runMachine';

/** What dead processes left on the board, and records that cannot be read. */
export async function boardAilments(scene: Scene): Promise<readonly Ailment[]> {
  const { store } = scene.deps;
  const found: Ailment[] = [];
  for (const task of scene.board.tasks) {
    const why = await cutOff(scene, task);
    if (why !== undefined) found.push(cutOffAilment(scene, task, why));
    if (task.cutOff !== undefined) found.push(editedMeanwhile(task, task.cutOff));
  }
  found.push(...(await unrecorded(scene)));
  for (const bootId of await store.owners.dead()) found.push(deadProcess(scene, bootId));
  for (const path of await store.care.deadLocks()) {
    found.push({
      kind: 'deadLock',
      weight: 'problem',
      subject: path,
      what: `${path} is a lock that nobody holds`,
      why: 'the process that held it is gone',
      remedy: 'remove it',
      mend: () => store.care.removeDeadLock(path),
    });
  }
  for (const { path, message } of scene.board.problems) {
    const remedy = 'mend it, or put back a good one; the other Tasks are not affected';
    found.push({
      kind: 'unreadable',
      weight: 'problem',
      subject: path,
      what: message,
      why: 'see there',
      remedy,
    });
  }
  for (const path of scene.board.setAside) {
    found.push({
      kind: 'setAside',
      weight: 'note',
      subject: path,
      what: `${path} is a damaged record that was set aside`,
      why: 'it could not be read',
      remedy: 'mend it and rename it back, or delete it',
    });
  }
  return found;
}

/** Why a Task is not at rest though nobody is at it. */
async function cutOff(
  { deps, board }: Pick<Scene, 'deps' | 'board'>,
  task: Task,
): Promise<string | undefined> {
  const { store } = deps;
  for (const run of task.runs.filter(isLive))
    if (!(await store.owners.isAlive(run.owner))) return `the process of its run ${run.id} is gone`;
  if (task.runs.some(isLive)) return undefined;
  if ((await store.care.holderOf(`worktree-${task.branch ?? task.id}`)) !== undefined) return undefined;
  if (task.pending !== undefined) return `it was on the way to ${task.pending.to}`;
  const worktree = board.worktrees.find((one) => one.taskId === task.id);
  return isAbandoned(task, worktree) ? `its worktree is ${worktree?.state} and nobody is at it` : undefined;
}

function cutOffAilment({ deps }: Scene, task: Task, why: string): Ailment {
  return {
    kind: 'cutOff',
    weight: 'problem',
    subject: task.slug,
    what: `Task ${task.slug} was cut off`,
    why,
    remedy: 'end what is left of it, and finish or take back what was half done',
    mend: async () => {
      const { problems } = await deps.settle();
      const after = await deps.store.care.look();
      const now = after.tasks.find((one) => one.id === task.id);
      if (now === undefined || (await cutOff({ deps, board: after }, now)) === undefined) return;
      const said = problems.map(({ message }) => message).find((one) => one.includes(task.id));
      throw new TributaryError('wrongState', said ?? `task ${task.slug} could not be settled: ${why}`);
    },
  };
}

function editedMeanwhile(task: Task, cutOff: CutOff): Ailment {
  return {
    kind: 'editedMeanwhile',
    weight: 'note',
    subject: task.slug,
    what: `Task ${task.slug} ended around files that were edited meanwhile`,
    why: 'what its user edits is never written over',
    remedy: cutOffText(task.slug, cutOff),
  };
}

/** Tasks whose Worktree the index does not name, as after it was damaged: git and the disk still know. */
async function unrecorded(scene: Scene): Promise<readonly Ailment[]> {
  const { keeper, care, store } = scene.deps;
  const found: Ailment[] = [];
  for (const task of placedTasks(scene)) {
    const record = scene.board.worktrees.find((one) => one.taskId === task.id);
    const isRight = record?.path === task.worktreePath && record.branch === task.branch;
    if (isRight || task.runs.some(isLive)) continue;
    found.push({
      kind: 'unrecorded',
      weight: 'problem',
      subject: task.slug,
      what: `the list of worktrees does not name that of Task ${task.slug} as the Task does`,
      why: 'the list was damaged, or changed by somebody else',
      remedy: 'write it down again, by what git and the disk say',
      mend: async () => {
        const isThere = (await care.standingAt(task.worktreePath)).kind === 'whole';
        if (isThere || task.state !== 'open') return keeper.record(task, isThere ? 'ready' : 'removed');
        await store.worktrees.put({
          ...{ path: task.worktreePath, branch: task.branch, base: task.packet.repository.base },
          ...{ taskId: task.id, state: 'missing', changedAt: scene.deps.records.now() },
        });
      },
    });
  }
  return found;
}

function deadProcess({ deps }: Scene, bootId: string): Ailment {
  return {
    kind: 'deadProcess',
    weight: 'problem',
    subject: bootId,
    what: `the process ${bootId} ended without taking its leave`,
    why: 'it crashed or was killed',
    remedy: 'end what it left running, and remove its file',
    mend: async () => {
      await deps.endLeftovers(new Set([bootId]));
      await deps.store.care.removeDeadOwner(bootId);
    },
  };
}
