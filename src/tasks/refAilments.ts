import { type Ailment, placedTasks, type Scene } from './ailment';

/** Refs and branches of ours that belong to nobody, and Tasks whose refs or objects are gone. */
export async function refAilments(scene: Scene): Promise<readonly Ailment[]> {
  const refs = await scene.deps.care.refs();
  return [
    ...(await withoutTask(scene, refs)),
    ...(await withoutObjects(scene, refs)),
    ...(await branches(scene)),
  ];
}

type Refs = Awaited<ReturnType<Scene['deps']['care']['refs']>>;

const dayMs = 24 * 60 * 60 * 1_000;

/** They may be the last that holds somebody's work, so they get the time that a Task's own would. */
async function withoutTask({ deps, board }: Scene, refs: Refs): Promise<readonly Ailment[]> {
  const byTask = new Map<string, Refs[number][]>();
  for (const one of refs) {
    const id = /^refs\/tributary\/(task_[^/]+)\//.exec(one.ref)?.[1];
    if (id === undefined || board.taskIds.some((known) => known === id)) continue;
    byTask.set(id, [...(byTask.get(id) ?? []), one]);
  }
  const days = deps.retentionDays();
  return [...byTask].map(([id, own]) => {
    const newest = Math.max(...own.map((one) => Date.parse(one.committedAt)));
    const isOver = deps.now().getTime() - newest >= days * dayMs;
    return {
      kind: 'refWithoutTask',
      weight: isOver ? 'problem' : 'note',
      subject: `refs/tributary/${id}/`,
      what: `${own.length} ${own.length === 1 ? 'ref holds' : 'refs hold'} snapshots of ${id}, a Task that is not there`,
      why: 'its record was deleted',
      remedy: isOver
        ? `delete them: they are older than ${days} days`
        : `look at them with "git log refs/tributary/${id}/1"; they can go once they are ${days} days old`,
      ...(isOver ? { mend: () => deps.care.deleteRefs(own) } : {}),
    };
  });
}

async function withoutObjects({ deps, board }: Scene, refs: Refs): Promise<readonly Ailment[]> {
  const kept = board.tasks.flatMap((task) => {
    const { snapshot } = task;
    return snapshot === undefined || task.expiredAt !== undefined ? [] : [{ task, snapshot }];
  });
  const missing = await deps.care.missing(kept.map(({ snapshot }) => snapshot.commit));
  const named = new Set(refs.map((one) => one.ref));
  return kept.flatMap(({ task, snapshot: { ref, commit } }): Ailment[] => {
    const shared = { weight: 'problem', subject: task.slug } as const;
    if (missing.has(commit)) {
      return [
        {
          ...shared,
          kind: 'objectMissing',
          what: `the newest snapshot of Task ${task.slug}, ${commit}, is not in the repository`,
          why: 'its ref was deleted and git collected it, or objects were lost',
          remedy: 'nothing here brings it back: look for it in another clone or a backup',
        },
      ];
    }
    if (named.has(ref)) return [];
    return [
      {
        ...shared,
        kind: 'refMissing',
        what: `nothing names the newest snapshot of Task ${task.slug}, ${commit}`,
        why: 'its ref was deleted; git would collect it one day',
        remedy: `name it again: ${ref}`,
        mend: () => deps.care.nameAgain(ref, commit),
      },
    ];
  });
}

/** A name is no proof that a branch is ours, so it is only told. */
async function branches(scene: Scene): Promise<readonly Ailment[]> {
  const held = new Set([
    ...placedTasks(scene).map((task) => task.branch),
    ...scene.registrations.map((one) => one.branch),
  ]);
  const found = await scene.deps.care.branches();
  // A Task whose record cannot be read may be the one.
  if (scene.board.taskIds.length > scene.board.tasks.length) return [];
  return found
    .filter((ref) => !held.has(ref))
    .map((ref) => {
      const name = ref.replace('refs/heads/', '');
      return {
        kind: 'branchWithoutTask',
        weight: 'note',
        subject: name,
        what: `the branch ${name} belongs to no Task`,
        why: 'the record of its Task was deleted, or somebody else made it',
        remedy: `look at it, then "git branch -D ${name}"`,
      };
    });
}
