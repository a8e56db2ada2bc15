import type { Registration } from '../git/care';
import type { Task } from '../model/task';
import { type Ailment, placedTasks, type Scene } from './ailment';

/** A repository that was moved or copied, and Worktrees that were: the board names places of before. */
export async function placeAilments(scene: Scene): Promise<readonly Ailment[]> {
  const found: Ailment[] = [];
  const handled = new Set<string>();
  for (const registration of scene.registrations) {
    const ailment = await ofRegistration(scene, registration);
    if (ailment === undefined) continue;
    found.push(ailment);
    const task = taskOn(scene, registration);
    if (task !== undefined) handled.add(task.id);
  }
  const { facts } = scene.deps.repository;
  const here = facts.mainRoot ?? facts.root;
  for (const task of scene.board.tasks) {
    const { root } = task.packet.repository;
    if (scene.checkouts.has(root) || handled.has(task.id)) continue;
    found.push({
      kind: 'repositoryMoved',
      weight: 'problem',
      subject: task.slug,
      what: `Task ${task.slug} was begun in ${root}, which is no checkout of this repository`,
      why: 'the repository was moved or copied, or that worktree of yours was removed',
      remedy: `note that the repository is at ${here}, and that the worktree belongs beside it`,
      mend: () => moved(scene, task, placeOfToday(scene, task)),
    });
  }
  return found;
}

/** A registration and a folder that do not lead to each other though both are there, or were. */
async function ofRegistration(scene: Scene, registration: Registration): Promise<Ailment | undefined> {
  const { standing, path } = registration;
  const task = taskOn(scene, registration);
  if (standing.kind === 'elsewhere') return ofElsewhere(scene, registration, standing, task);
  if (standing.kind === 'whole' && task !== undefined && task.worktreePath !== path) {
    if ((await scene.deps.care.standingAt(task.worktreePath ?? path)).kind !== 'gone') return undefined;
    return {
      kind: 'worktreeMoved',
      weight: 'problem',
      subject: task.slug,
      what: `the worktree of Task ${task.slug} stands at ${path}, the board says ${task.worktreePath}`,
      why: 'it was moved, as by "git worktree move"',
      remedy: 'write down where it is',
      mend: () => moved(scene, task, Promise.resolve(path)),
    };
  }
  return standing.kind === 'gone' ? ofMovedFolder(scene, registration, task) : undefined;
}

function ofElsewhere(
  scene: Scene,
  registration: Registration,
  { leadsTo, lives }: { leadsTo: string; lives: boolean },
  task: Task | undefined,
): Ailment {
  const { path } = registration;
  const { care, store } = scene.deps;
  if (!lives) {
    return {
      kind: 'repositoryMoved',
      weight: 'problem',
      subject: path,
      what: `the worktree ${path} leads to ${leadsTo}, which is not there`,
      why: 'the repository was moved',
      remedy: 'make the two lead to each other again; no file of it is touched',
      mend: async () => {
        await care.reattach(registration, path);
        if (task !== undefined) await moved(scene, task, Promise.resolve(path));
      },
    };
  }
  return {
    kind: 'repositoryCopied',
    weight: 'problem',
    subject: path,
    what: `the worktree ${path} is named here and belongs to another repository, that of ${leadsTo}`,
    why: 'this repository is a copy of that one',
    remedy:
      'leave the folder to the other one and let go of it here; its Task is made anew from its snapshot',
    mend: async () => {
      if (task !== undefined) await moved(scene, task, placeOfToday(scene, task));
      await care.forget(registration, task && store.asideDirectory(task.id));
    },
  };
}

/** The folder may have been moved together with the repository: then it stands where it would be made today. */
async function ofMovedFolder(
  scene: Scene,
  registration: Registration,
  task: Task | undefined,
): Promise<Ailment | undefined> {
  const { care } = scene.deps;
  const place = care.placeIn(scene.root, registration.path);
  const standing = await care.standingAt(place);
  if (standing.kind !== 'elsewhere' && standing.kind !== 'stranger') return undefined;
  // Not one that another repository still knows, nor one that was never this one.
  if (standing.kind === 'stranger' || standing.lives || standing.id !== registration.id) return undefined;
  return {
    kind: 'repositoryMoved',
    weight: 'problem',
    subject: place,
    what: `the worktree ${place} is named by its place of before, ${registration.path}`,
    why: 'the repository was moved together with its worktrees',
    remedy: 'make the two lead to each other again; no file of it is touched',
    mend: async () => {
      await care.reattach(registration, place);
      if (task !== undefined) await moved(scene, task, Promise.resolve(place));
    },
  };
}

/** Writes down where the repository and the Task's Worktree are now, and where they were. */
async function moved(scene: Scene, task: Task, to: Promise<string | undefined>): Promise<void> {
  const { records, repository, store, care } = scene.deps;
  const { facts } = repository;
  const worktreePath = await to;
  const root = scene.checkouts.has(task.packet.repository.root)
    ? task.packet.repository.root
    : (facts.mainRoot ?? facts.root);
  const at = records.now();
  const saved = await records.change(
    task.id,
    (now) => ({
      ...now,
      packet: { ...now.packet, repository: { ...now.packet.repository, root } },
      ...(worktreePath === undefined ? {} : { worktreePath }),
      moves: [
        ...(now.moves ?? []),
        {
          at,
          root: now.packet.repository.root,
          ...(now.worktreePath === undefined ? {} : { worktreePath: now.worktreePath }),
        },
      ],
    }),
    { type: 'worktree.moved', path: worktreePath ?? '', root },
  );
  const record = (await store.worktrees.list()).find((one) => one.taskId === task.id);
  if (record === undefined || worktreePath === undefined || saved.branch === undefined) return;
  const stands = (await care.standingAt(worktreePath)).kind === 'whole';
  const state =
    record.state === 'removed' || record.state === 'failed' ? record.state : stands ? 'ready' : 'missing';
  await store.worktrees.put({ ...record, path: worktreePath, state, changedAt: at });
}

/** A free place in the root of today for a Task whose Worktree stands nowhere; the old one where it is whole. */
async function placeOfToday(scene: Scene, task: Task): Promise<string | undefined> {
  const { care } = scene.deps;
  if (task.worktreePath === undefined) return undefined;
  if ((await care.standingAt(task.worktreePath)).kind === 'whole') return task.worktreePath;
  const taken = new Set(placedTasks(scene).map((one) => (one.id === task.id ? '' : one.worktreePath)));
  const wanted = care.placeIn(scene.root, task.worktreePath);
  for (let number = 1; ; number += 1) {
    const path = number === 1 ? wanted : `${wanted}-${number}`;
    if (!taken.has(path) && (await care.isFree(path))) return path;
  }
}

function taskOn(scene: Scene, { branch }: Registration): Task | undefined {
  return scene.board.tasks.find((task) => task.branch === branch);
}
