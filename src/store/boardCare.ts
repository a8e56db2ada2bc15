import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../base/async';
import { TributaryError } from '../base/errors';
import { removeTree } from '../base/removeTree';
import { landingIdSchema, type TaskId, taskIdSchema } from '../model/ids';
import type { Task } from '../model/task';
import { isMissing, namesIn, readIfExists } from './disk';
import { landingFormat } from './journal';
import type { LockFiles } from './lockFiles';
import { decodeFile, type FileFormat, type Migrations } from './migrations';
import type { FileOwners } from './owners';
import type { StorePaths } from './paths';
import type { ProcessTable } from './processIdentity';
import { corruptProblem, type Loaded, newerProblem, type RecordFiles } from './recordFiles';
import {
  type BoardCare,
  type BoardLook,
  boardLock,
  type LockHolder,
  type Locks,
  type StoreProblem,
} from './store';
import { taskFormat } from './taskStore';
import { indexFormat } from './worktreeRecords';

const housekeepingSchema = z.object({ v: z.literal(1), lastAt: z.string() });
type Housekeeping = z.infer<typeof housekeepingSchema>;
const housekeepingFormat: FileFormat<Housekeeping> = { kind: 'housekeeping', schema: housekeepingSchema };

export interface BoardCareDeps {
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly locks: Locks;
  readonly files: LockFiles;
  readonly owners: FileOwners;
  readonly records: RecordFiles;
  readonly processes: ProcessTable;
  readonly migrations: Migrations;
}

/** Looks after the files of a board: what is wrong with them, what dead processes left, what has had its time. */
export class FileBoardCare implements BoardCare {
  private readonly deps: BoardCareDeps;

  constructor(deps: BoardCareDeps) {
    this.deps = deps;
  }

  async look(): Promise<BoardLook> {
    const { paths } = this.deps;
    const problems: StoreProblem[] = [];
    const taskIds = (await namesIn(paths.tasks)).flatMap((name) => {
      const id = taskIdSchema.safeParse(name);
      return id.success ? [id.data] : [];
    });
    const tasks: Task[] = [];
    for (const id of taskIds) {
      const task = await this.read(paths.taskFile(id), taskFormat, problems, id);
      if (task?.id === id) tasks.push(task);
    }
    const index = await this.read(paths.worktreeIndex, indexFormat, problems);
    for (const name of await namesIn(paths.journal)) {
      const id = landingIdSchema.safeParse(name);
      if (id.success) await this.read(paths.landingFile(id.data), landingFormat, problems);
    }
    const setAside = await this.setAsideIn([
      paths.root,
      paths.worktrees,
      ...taskIds.map((id) => paths.task(id)),
    ]);
    const worktrees = index?.worktrees ?? [];
    return { tasks, worktrees, hasIndex: index !== undefined, problems, setAside, taskIds };
  }

  async holderOf(lock: string): Promise<LockHolder | undefined> {
    const { files } = this.deps;
    const seen = await files.look(files.pathOf(lock));
    if (seen === undefined || !(await files.isLive(seen))) return undefined;
    return seen.holder === undefined ? {} : { pid: seen.holder.pid, host: seen.holder.host };
  }

  deadLocks(): Promise<readonly string[]> {
    return this.deps.files.dead();
  }

  removeDeadLock(path: string): Promise<void> {
    return this.deps.files.tidy(path);
  }

  removeDeadOwner(bootId: string): Promise<void> {
    return this.deps.owners.removeDead(bootId);
  }

  async isProcessAlive(pid: number): Promise<boolean> {
    return (await this.deps.processes.look(pid)).kind === 'running';
  }

  /** Throws `corruptFile` where something else stands than the folder we made. */
  async dropAside(taskId: TaskId): Promise<void> {
    const { paths } = this.deps;
    const folder = paths.aside(taskId);
    const stats = await lstat(folder).catch((error: unknown) => {
      if (isMissing(error)) return undefined;
      throw error;
    });
    if (stats === undefined) return;
    const isPlace = (await realpath(paths.allAside)) === join(await realpath(paths.root), 'aside');
    if (!stats.isDirectory() || !isPlace) {
      throw new TributaryError('corruptFile', `${folder} is not the folder that was made there; it is left`, {
        details: { path: folder },
      });
    }
    await removeTree(folder);
  }

  async claimHousekeeping(everyMs: number): Promise<boolean> {
    const { paths, clock, locks, records } = this.deps;
    // Where nobody ever began a Task there is nothing to tidy, and nothing is to be made.
    if ((await namesIn(paths.tasks)).length === 0) return false;
    const now = clock.now();
    const isDue = (loaded: Loaded<Housekeeping>): boolean => {
      if (loaded.kind === 'newer') return false;
      const since = loaded.kind === 'ok' ? now.getTime() - Date.parse(loaded.value.lastAt) : everyMs;
      // A clock that was set back must not put it off for years.
      return since < 0 || since >= everyMs;
    };
    // Asked often, so first without the lock.
    if (!isDue(await records.load(paths.housekeeping, housekeepingFormat))) return false;
    return locks.withLock(boardLock, async () => {
      if (!isDue(await records.loadLocked(paths.housekeeping, housekeepingFormat))) return false;
      const value: Housekeeping = { v: 1, lastAt: now.toISOString() };
      await records.save(paths.housekeeping, value, { flush: 'none' });
      return true;
    });
  }

  private async read<T>(
    path: string,
    format: FileFormat<T>,
    problems: StoreProblem[],
    taskId?: TaskId,
  ): Promise<T | undefined> {
    const bytes = await readIfExists(path);
    if (bytes === undefined) return undefined;
    const decoded = decodeFile(bytes, format, this.deps.migrations);
    if (decoded.kind === 'ok') return decoded.value;
    const problem =
      decoded.kind === 'newer'
        ? newerProblem(path, decoded.version)
        : corruptProblem(path, decoded.reason, undefined);
    problems.push({ ...problem, ...(taskId === undefined ? {} : { taskId }) });
    return decoded.kind === 'newer' ? decoded.value : undefined;
  }

  private async setAsideIn(folders: readonly string[]): Promise<string[]> {
    const found: string[] = [];
    for (const folder of folders) {
      const names = (await namesIn(folder)).filter((name) => name.includes('.corrupt-'));
      found.push(...names.map((name) => join(folder, name)));
    }
    return found;
  }
}
