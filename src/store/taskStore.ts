import { rmdir, writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { type Clock, mapBounded } from '../base/async';
import type { Disposable } from '../base/disposable';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import {
  idTimestamp,
  makeRunId,
  makeTaskId,
  type RunId,
  runIdSchema,
  type TaskId,
  taskIdSchema,
} from '../model/ids';
import { type Task, taskSchema } from '../model/task';
import { claimFolder, ensureFolder, namesIn } from './disk';
import type { FileFormat } from './migrations';
import { compareIds, type StorePaths } from './paths';
import { corruptProblem, problemError, type RecordFiles } from './recordFiles';
import { boardLock, type Locks, type StoreProblem, type TaskStore } from './store';
import type { TaskWatch } from './taskWatch';

export const taskFormat: FileFormat<Task> = { kind: 'task', schema: taskSchema };

const boardSchema = z.object({
  v: z.literal(1),
  lastRun: z.object({ ts: z.string().regex(/^\d{8}T\d{9}$/), counter: z.number().int().nonnegative() }),
});
type Board = z.infer<typeof boardSchema>;
const boardFormat: FileFormat<Board> = { kind: 'board', schema: boardSchema };

/** Files read at the same time by `list`. */
const readsAtOnce = 16;

export interface TaskStoreDeps {
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly locks: Locks;
  readonly records: RecordFiles;
  readonly watch: TaskWatch;
}

/** `tasks/<taskId>/task.json`, and `board.json` for the last Run id. */
export class FileTaskStore implements TaskStore {
  private readonly deps: TaskStoreDeps;

  constructor(deps: TaskStoreDeps) {
    this.deps = deps;
  }

  /** Throws `internal` for a record that is not valid, `diskFull`, `readOnly`, `lockTimeout`; then no folder stays. */
  async create(build: (id: TaskId) => Task): Promise<Task> {
    return await this.deps.locks.withLock(boardLock, async () => {
      const id = await this.claimId();
      try {
        return await this.save(id, build(id));
      } catch (error) {
        // Empty again, or it stays: `list` passes over it.
        await rmdir(this.deps.paths.task(id)).catch(() => undefined);
        throw error;
      }
    });
  }

  /** Also throws `corruptFile` (the file is then set aside) and `internal` for a record that is not valid. */
  async update(id: TaskId, change: (task: Task) => Task): Promise<Task> {
    const { locks, records, paths } = this.deps;
    return await locks.withLock(boardLock, async () => {
      const loaded = await records.loadLocked(paths.taskFile(id), taskFormat);
      if (loaded.kind === 'missing') throw unknownTask(id);
      if (loaded.kind !== 'ok') throw problemError(loaded.problem);
      const changed = change(this.ofFolder(id, loaded.value));
      return changed === loaded.value ? changed : await this.save(id, changed);
    });
  }

  /** Sorts after every id given before, whatever the clock says. Throws `newerStore`. */
  async newRunId(): Promise<RunId> {
    const { locks, records, paths, clock } = this.deps;
    return await locks.withLock(boardLock, async () => {
      const loaded = await records.loadLocked(paths.board, boardFormat);
      if (loaded.kind === 'newer') throw problemError(loaded.problem);
      if (loaded.kind === 'corrupt') records.report(loaded.problem);
      const last = loaded.kind === 'ok' ? loaded.value.lastRun : await this.lastRunOnDisk();
      const now = idTimestamp(clock.now());
      // A clock that was set back must not bring back ids that were given out.
      const next = now > last.ts ? { ts: now, counter: 1 } : { ts: last.ts, counter: last.counter + 1 };
      await ensureFolder(paths.root);
      // Not flushed: what is written outlives this process, and after a power cut the Runs on disk tell the last id.
      await records.save(paths.board, { v: 1, lastRun: next } satisfies Board, { flush: 'none' });
      return makeRunId(next.ts, next.counter);
    });
  }

  async load(id: TaskId): Promise<Task> {
    const loaded = await this.deps.records.load(this.deps.paths.taskFile(id), taskFormat);
    if (loaded.kind === 'missing') throw unknownTask(id);
    if (loaded.kind === 'ok') return this.ofFolder(id, loaded.value);
    if (loaded.kind === 'newer' && loaded.value !== undefined) return loaded.value;
    throw problemError(loaded.problem);
  }

  async list(): Promise<{ tasks: readonly Task[]; problems: readonly StoreProblem[] }> {
    const read = await mapBounded(await this.ids(), readsAtOnce, (id) => this.listOne(id));
    return {
      tasks: read.flatMap(({ task }) => (task === undefined ? [] : [task])),
      problems: read.flatMap(({ problem }) => (problem === undefined ? [] : [problem])),
    };
  }

  watch(listener: (id: TaskId) => void): Disposable {
    return this.deps.watch.add(listener);
  }

  private async ids(): Promise<TaskId[]> {
    const names = await namesIn(this.deps.paths.tasks);
    const ids = names.flatMap((name) => {
      const id = taskIdSchema.safeParse(name);
      return id.success ? [id.data] : [];
    });
    return ids.sort(compareIds);
  }

  /** Throws `corruptFile` for a record that was copied here from another Task's folder. */
  private ofFolder(id: TaskId, task: Task): Task {
    if (task.id === id) return task;
    const path = this.deps.paths.taskFile(id);
    throw new TributaryError('corruptFile', foreignText(path, task.id), { details: { path } });
  }

  private async listOne(id: TaskId): Promise<{ task?: Task; problem?: StoreProblem }> {
    const path = this.deps.paths.taskFile(id);
    const loaded = await this.deps.records.load(path, taskFormat);
    if (loaded.kind === 'ok') {
      if (loaded.value.id === id) return { task: loaded.value };
      return {
        problem: { path, code: 'corruptFile', message: foreignText(path, loaded.value.id), taskId: id },
      };
    }
    if (loaded.kind === 'corrupt') return { problem: { ...loaded.problem, taskId: id } };
    if (loaded.kind === 'newer') {
      const problem = { ...loaded.problem, taskId: id };
      return loaded.value === undefined ? { problem } : { task: loaded.value, problem };
    }
    // An empty folder is a creation that a crash cut short. A file that was set aside is said each time.
    const kept = (await namesIn(this.deps.paths.task(id)))
      .filter((name) => name.startsWith('task.json.corrupt-'))
      .at(-1);
    return kept === undefined
      ? {}
      : { problem: { ...corruptProblem(path, 'it could not be read', kept), taskId: id } };
  }

  /** The folder decides who has the id; two processes never get the same one. */
  private async claimId(): Promise<TaskId> {
    const { paths, clock } = this.deps;
    await ensureFolder(paths.tasks);
    const at = clock.now();
    for (let counter = 1; ; counter += 1) {
      const id = makeTaskId(at, counter);
      if (await claimFolder(paths.task(id))) return id;
    }
  }

  private async save(id: TaskId, task: Task): Promise<Task> {
    const { paths, records, watch, logger } = this.deps;
    const parsed = taskSchema.safeParse(task);
    if (!parsed.success || parsed.data.id !== id) {
      throw new TributaryError('internal', `the record of ${id} is not valid and was not saved`, {
        cause: parsed.error,
      });
    }
    await records.save(paths.taskFile(id), parsed.data);
    // The record is saved; what follows only makes others look sooner than their poll would.
    await writeFile(paths.changed, `${id}\n`).catch((error: unknown) =>
      logger.warn('other processes will see this change late', { error }),
    );
    watch.lookNow();
    return parsed.data;
  }

  /** The highest Run id in use, for a board file that is missing or was damaged. */
  private async lastRunOnDisk(): Promise<{ ts: string; counter: number }> {
    const { paths, records } = this.deps;
    const names = await mapBounded(await this.ids(), readsAtOnce, async (id) => {
      const loaded = await records.loadLocked(paths.taskFile(id), taskFormat);
      const task = loaded.kind === 'ok' || loaded.kind === 'newer' ? loaded.value : undefined;
      const files = await namesIn(paths.runs(id));
      return [
        ...(task?.runs.map((run): string => run.id) ?? []),
        ...files.map((name) => name.split('.')[0] ?? ''),
      ];
    });
    const last = names
      .flat()
      .filter((name) => runIdSchema.safeParse(name).success)
      .sort(compareIds)
      .at(-1);
    const [, ts = '', counter = '0'] = last?.split('_') ?? [];
    return { ts, counter: Number(counter) };
  }
}

function unknownTask(id: TaskId): TributaryError {
  return new TributaryError('unknownId', `there is no Task ${id}`, { details: { id } });
}

function foreignText(path: string, id: TaskId): string {
  return `${path} holds the record of ${id}; put the right one back, or remove the folder`;
}
