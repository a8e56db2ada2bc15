import type { TaskId } from '../model/ids';
import type { DoctorDeps } from './ailment';
import { Doctor } from './doctor';
import type {
  AilmentReport,
  Housekeeping,
  SweepOptions,
  SweptItem,
  WorktreesReport,
} from './housekeepingApi';
import { Inventory, type InventoryDeps } from './inventory';
import { Sweep, type SweepDeps } from './sweep';
import type { Board } from './taskApi';

export type HousekeepingDeps = InventoryDeps & SweepDeps & Omit<DoctorDeps, 'settle' | 'retentionDays'>;

/** The Housekeeping of one repository; `list` gives its Tasks, brought up to date. */
export class LocalHousekeeping implements Housekeeping {
  private readonly deps: HousekeepingDeps;
  private readonly list: () => Promise<Board>;
  private readonly inventory: Inventory;
  private readonly sweeper: Sweep;
  private readonly doctor: Doctor;

  constructor(deps: HousekeepingDeps, list: () => Promise<Board>) {
    this.deps = deps;
    this.list = list;
    this.inventory = new Inventory(deps);
    this.sweeper = new Sweep(deps);
    const retentionDays = (): number => deps.settings().worktrees.retentionDays;
    this.doctor = new Doctor({ ...deps, settle: list, retentionDays });
  }

  async worktrees({ signal }: { signal?: AbortSignal } = {}): Promise<WorktreesReport> {
    return this.inventory.of((await this.list()).tasks, signal);
  }

  examine(options?: { mend?: boolean }): Promise<readonly AilmentReport[]> {
    return this.doctor.examine(options);
  }

  async sweep(options?: SweepOptions): Promise<readonly SweptItem[]> {
    return this.sweeper.run((await this.list()).tasks, options);
  }

  async noteOpened(id: TaskId): Promise<void> {
    await this.deps.store.worktrees.noteOpened(id, this.deps.records.now());
  }
}
