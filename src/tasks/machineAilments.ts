import type { Ailment, Scene } from './ailment';

/** What about the machine and the configuration stands in the way, or will one day. */
export async function machineAilments({ deps, root }: Scene): Promise<readonly Ailment[]> {
  const { care, store, worktrees } = deps;
  const found: Ailment[] = [];
  const isAlive = (pid: number): Promise<boolean> => store.care.isProcessAlive(pid);
  for (const path of await care.deadTemporaryFolders(isAlive, deps.now())) {
    found.push({
      kind: 'temporary',
      weight: 'problem',
      subject: path,
      what: `${path} is a temporary index that nobody uses`,
      why: 'the process that made it was killed',
      remedy: 'remove it',
      mend: () => care.removeTemporaryFolder(path),
    });
  }
  for (const path of await deps.scratches.left()) {
    found.push({
      kind: 'temporary',
      weight: 'problem',
      subject: path,
      what: `${path} is a scratch checkout that nobody uses`,
      why: 'the process that ran commands in it was killed',
      remedy: 'remove it, and end what still runs there',
      mend: () => deps.scratches.sweep(),
    });
  }
  if (!(await care.isOnDiskOfRepository(root))) {
    found.push({
      kind: 'otherDisk',
      weight: 'note',
      subject: root,
      what: `worktrees are made in ${root}, on another disk than the repository`,
      why: 'the setting tributary.worktrees.root says so',
      remedy: 'nothing; shared folders are copied there instead of cloned, and a removal may take longer',
    });
  }
  const chosen = await worktrees.chooseRoot();
  if (chosen.isInside && chosen.root === root) {
    found.push({
      kind: 'insideRepository',
      weight: 'note',
      subject: root,
      what: `worktrees are made inside the repository, in ${root}`,
      why: 'the folder beside it cannot be written, or lies on another disk',
      remedy:
        'nothing; "git clean -ffdx" would take them, snapshots stay; tributary.worktrees.root names another place',
    });
  }
  const hazard = await care.coreWorktreeHazard();
  if (hazard !== undefined) {
    found.push({
      kind: 'coreWorktree',
      weight: 'problem',
      subject: 'core.worktree',
      what: `the shared configuration says core.worktree=${hazard} while worktrees have configurations of their own`,
      why: 'git then takes a new worktree for the main checkout; no Run is begun in such a one',
      remedy:
        'move it: git config --worktree core.worktree PATH, then git config --local --unset core.worktree',
    });
  }
  return found;
}
