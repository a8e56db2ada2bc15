import type { Registration } from '../git/care';
import { baseOf } from '../model/movedBase';
import type { Task } from '../model/task';
import { type Ailment, placedTasks, type Scene } from './ailment';
import { isAtWork } from './inventory';

type Placed = ReturnType<typeof placedTasks>[number];

/** Worktrees that are half there: in git only, on the disk only, in the way, on their way out. */
export async function worktreeAilments(scene: Scene): Promise<readonly Ailment[]> {
  const found: (Ailment | undefined)[] = [];
  for (const registration of scene.registrations) found.push(await ofRegistration(scene, registration));
  for (const task of placedTasks(scene)) found.push(await ofTask(scene, task));
  const tasks = placedTasks(scene);
  const ours = new Set([
    ...tasks.map((one) => one.worktreePath),
    ...scene.registrations.map((one) => one.path),
  ]);
  for (const { places, trash } of await scene.deps.care.rootContents(scene.root)) {
    for (const path of places.filter((one) => !ours.has(one))) found.push(strangerOrKept(scene, path));
    for (const one of trash) found.push(await ofTrash(scene, one));
  }
  return found.filter((one) => one !== undefined);
}

async function ofRegistration(scene: Scene, registration: Registration): Promise<Ailment | undefined> {
  const { standing, path, branch } = registration;
  const { care, store, records } = scene.deps;
  if (standing.kind !== 'gone') return undefined;
  const task = placedTasks(scene).find((one) => one.branch === branch);
  if (task !== undefined && (await isBusy(scene, task))) return undefined;
  const shared = {
    kind: 'folderGone',
    weight: 'problem',
    subject: path,
    what: `git knows a worktree at ${path}, and there is no folder`,
  } as const;
  if (!standing.hasRoot && !care.isInDefaultRoot(path)) {
    const why = 'its drive may not be mounted';
    return {
      ...shared,
      why,
      remedy: 'mount it; if it is gone for good, make the folder around it and try again',
    };
  }
  return {
    ...shared,
    why: 'it was deleted by hand, or a removal was cut off',
    remedy:
      'let go of the registration; commits that only it held get refs, its Task is made anew from its snapshot',
    mend: async () => {
      await care.forget(registration, task && store.asideDirectory(task.id));
      const record = task && (await store.worktrees.list()).find((one) => one.taskId === task.id);
      if (task === undefined || record === undefined) return;
      const state = task.state === 'open' ? 'missing' : 'removed';
      await store.worktrees.put({ ...record, state, changedAt: records.now() });
    },
  };
}

async function ofTask(scene: Scene, task: Placed): Promise<Ailment | undefined> {
  const path = task.worktreePath;
  const standing = await scene.deps.care.standingAt(path);
  const isInTheWay = standing.kind === 'other' || standing.kind === 'stranger';
  // An ending that was cut off cannot be finished while something stands in its way.
  if (isInTheWay ? task.state !== 'open' && task.pending === undefined : await isBusy(scene, task))
    return undefined;
  const shared = { weight: 'problem', subject: path } as const;
  switch (standing.kind) {
    case 'forgotten':
      return {
        ...shared,
        kind: 'forgotten',
        what: `the folder ${path} is the worktree of Task ${task.slug}, and git has forgotten it`,
        why: 'its registration was pruned, as by "git worktree prune" while its drive was away',
        remedy: `register this one again on ${task.branch}; no file of it is touched`,
        mend: () => registerAgain(scene, task, standing.id),
      };
    case 'other':
    case 'stranger': {
      const is =
        standing.kind === 'other' ? `a ${standing.is}` : 'a folder that is no worktree of this repository';
      return {
        ...shared,
        kind: 'inTheWay',
        what: `where the worktree of Task ${task.slug} was, ${path}, stands ${is}`,
        why: 'somebody put it there; it is not ours, so it is not touched',
        remedy: 'look at it and move it away; the work of the Task is in its snapshot',
      };
    }
    case 'whole':
      return notIsolated(scene, task);
    default:
      return undefined;
  }
}

async function registerAgain({ deps }: Scene, task: Placed, id: string): Promise<void> {
  const { care, keeper } = deps;
  const commit = task.snapshot?.headCommit ?? baseOf(task);
  await care.registerAgain({ path: task.worktreePath, id, branch: task.branch, commit });
  await keeper.record(task, 'ready');
}

async function notIsolated({ deps }: Scene, task: Placed): Promise<Ailment | undefined> {
  if (await deps.care.resolvesToItself(task.worktreePath)) return undefined;
  return {
    kind: 'notIsolated',
    weight: 'problem',
    subject: task.worktreePath,
    what: `asked in the worktree of Task ${task.slug}, git answers for another folder`,
    why: 'core.worktree in the configuration sends it there; no Run is begun in it',
    remedy: 'find it with "git config --show-origin --get-all core.worktree" and take it out',
  };
}

/** What was on its way out when somebody was killed. */
async function ofTrash(
  scene: Scene,
  { path, of }: { readonly path: string; readonly of: string },
): Promise<Ailment | undefined> {
  const task = placedTasks(scene).find((one) => one.worktreePath === of);
  if (task !== undefined && (await isBusy(scene, task))) return undefined;
  const shared = {
    kind: 'trash',
    weight: 'problem',
    subject: path,
    what: `${path} is a worktree that was being removed`,
    why: 'the process that removed it was killed',
  } as const;
  if (task === undefined)
    return { ...shared, remedy: 'no Task knows it: take out what you need, then delete it' };
  const { keeper, endings } = scene.deps;
  return {
    ...shared,
    remedy: 'finish it: what no snapshot holds is set aside, then the folder goes',
    mend: () =>
      endings.underLock(task, 0, (current) =>
        keeper.remove({ ...task, ...current, branch: task.branch, worktreePath: of }),
      ),
  };
}

function strangerOrKept({ board }: Scene, path: string): Ailment {
  const task = board.tasks.find((one) => one.keptFolders?.includes(path));
  if (task === undefined) return stranger(path);
  return {
    kind: 'stranger',
    weight: 'note',
    subject: path,
    what: `${path} is what the worktree of Task ${task.slug} was`,
    why: 'it could not be emptied when the worktree was removed, as for files of another user in it',
    remedy: 'take out what you need, then delete it',
  };
}

function stranger(path: string): Ailment {
  return {
    kind: 'stranger',
    weight: 'note',
    subject: path,
    what: `${path} lies among the worktrees and is none of ours`,
    why: 'no Task made it',
    remedy: 'nothing; it is never touched',
  };
}

/** Whether somebody who lives is at it, or it is half through something that settling finishes. */
async function isBusy({ deps }: Scene, task: Task): Promise<boolean> {
  return isAtWork(task) || (await deps.store.care.holderOf(`worktree-${task.branch}`)) !== undefined;
}
