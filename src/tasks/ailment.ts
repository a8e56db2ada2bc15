import type { Care, Registration } from '../git/care';
import type { Repository } from '../git/repository';
import type { Worktrees } from '../git/worktrees';
import type { Task } from '../model/task';
import type { BoardLook, Store } from '../store/store';
import type { Endings } from './endings';
import type { AilmentReport } from './housekeepingApi';
import type { Scratches } from './scratches';
import type { Board } from './taskApi';
import type { TaskRecords } from './taskRecords';
import type { WorktreeKeeper } from './worktreeKeeper';

/** Something that is not as it should be, with the way to mend it; without one only the user can. */
export interface Ailment extends Omit<AilmentReport, 'canMend' | 'outcome'> {
  readonly mend?: () => Promise<void>;
}

export interface DoctorDeps {
  readonly records: TaskRecords;
  readonly store: Store;
  readonly care: Care;
  readonly worktrees: Worktrees;
  readonly keeper: WorktreeKeeper;
  readonly endings: Endings;
  readonly repository: Repository;
  readonly scratches: Pick<Scratches, 'left' | 'sweep'>;
  /** Brings Tasks to what is true after a crash, as every listing does. */
  readonly settle: () => Promise<Pick<Board, 'problems'>>;
  readonly endLeftovers: (bootIds: ReadonlySet<string>) => Promise<void>;
  readonly retentionDays: () => number;
  readonly now: () => Date;
}

/** What an examination looks at; read once, without a lock and without a change. */
export interface Scene {
  readonly deps: DoctorDeps;
  readonly board: BoardLook;
  readonly registrations: readonly Registration[];
  /** Where new Worktrees go. */
  readonly root: string;
  /** Checkouts of this repository, as git lists them. */
  readonly checkouts: ReadonlySet<string>;
}

/** A Task of which both names of a Worktree are known. */
export function placedTasks({ board }: Scene): (Task & { branch: string; worktreePath: string })[] {
  return board.tasks.flatMap((task) => {
    const { branch, worktreePath } = task;
    return branch === undefined || worktreePath === undefined ? [] : [{ ...task, branch, worktreePath }];
  });
}
