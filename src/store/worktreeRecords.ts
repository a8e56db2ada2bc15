import { open } from 'node:fs/promises';
import { SerialQueue } from '../base/async';
import { fileError, writeFully } from '../base/atomicFile';
import { TributaryError } from '../base/errors';
import { parseJsonl, toJsonLine } from '../base/jsonl';
import type { Logger } from '../base/logger';
import { type BoardEvent, boardEventSchema } from '../model/events';
import type { TaskId } from '../model/ids';
import { type Worktree, type WorktreeIndex, worktreeIndexSchema } from '../model/worktree';
import { ensureFolder, readIfExists } from './disk';
import { decodeValue, type FileFormat, type Migrations } from './migrations';
import type { StorePaths } from './paths';
import { type Loaded, problemError, type RecordFiles } from './recordFiles';
import { boardLock, type Locks, type WorktreeRecords } from './store';

export const indexFormat: FileFormat<WorktreeIndex> = { kind: 'worktreeIndex', schema: worktreeIndexSchema };
const eventFormat: FileFormat<BoardEvent> = { kind: 'event', schema: boardEventSchema };

export interface WorktreeRecordsDeps {
  readonly paths: StorePaths;
  readonly logger: Logger;
  readonly locks: Locks;
  readonly records: RecordFiles;
  readonly migrations: Migrations;
}

/** The index is replaced whole under the board lock; events are appended without one. */
export class FileWorktreeRecords implements WorktreeRecords {
  private readonly deps: WorktreeRecordsDeps;
  private readonly appends = new SerialQueue();

  constructor(deps: WorktreeRecordsDeps) {
    this.deps = deps;
  }

  async list(): Promise<readonly Worktree[]> {
    const { records, paths } = this.deps;
    return this.worktreesOf(await records.load(paths.worktreeIndex, indexFormat));
  }

  put(worktree: Worktree): Promise<void> {
    return this.change(worktree.taskId, (known) => {
      // Whoever records another state knows nothing of windows.
      const openedAt = known !== undefined && isStanding(worktree) ? known.openedAt : undefined;
      return { ...(openedAt === undefined ? {} : { openedAt }), ...worktree };
    });
  }

  async noteOpened(taskId: TaskId, at: string): Promise<void> {
    await this.change(taskId, (known) => known && { ...known, openedAt: at });
  }

  /** Throws `newerStore`; a damaged index is set aside and a new one begun. */
  private async change(
    taskId: TaskId,
    next: (known: Worktree | undefined) => Worktree | undefined,
  ): Promise<void> {
    const { locks, records, paths } = this.deps;
    await locks.withLock(boardLock, async () => {
      const loaded = await records.loadLocked(paths.worktreeIndex, indexFormat);
      if (loaded.kind === 'newer') throw problemError(loaded.problem);
      const worktrees = this.worktreesOf(loaded);
      const index = worktrees.findIndex((one) => one.taskId === taskId);
      const changed = next(worktrees[index]);
      if (changed === undefined) return;
      const all = index === -1 ? [...worktrees, changed] : worktrees.with(index, changed);
      const parsed = worktreeIndexSchema.safeParse({ v: 1, worktrees: all });
      if (!parsed.success) {
        throw new TributaryError('internal', 'the record of a Worktree is not valid', {
          cause: parsed.error,
        });
      }
      await ensureFolder(paths.worktrees);
      await records.save(paths.worktreeIndex, parsed.data);
    });
  }

  /**
   * One write in append mode, which the system keeps whole between processes. Throws `diskFull`, `readOnly`;
   * calls are kept in order.
   */
  async appendEvent(event: BoardEvent): Promise<void> {
    const parsed = boardEventSchema.safeParse(event);
    if (!parsed.success)
      throw new TributaryError('internal', 'an event is not valid', { cause: parsed.error });
    await this.appends.run(() => this.appendLine(toJsonLine(parsed.data)));
  }

  /** Lines that are torn, broken or of a newer version are left out and counted in the log. */
  async readEvents(): Promise<readonly BoardEvent[]> {
    const { paths, logger, migrations } = this.deps;
    const bytes = await readIfExists(paths.events);
    if (bytes === undefined) return [];
    const { records, faults, torn } = parseJsonl(bytes);
    const events: BoardEvent[] = [];
    let skipped = faults.length + (torn === undefined ? 0 : 1);
    for (const { value } of records) {
      const decoded = decodeValue(value, eventFormat, migrations);
      if (decoded.kind !== 'corrupt' && decoded.value !== undefined) events.push(decoded.value);
      else skipped += 1;
    }
    if (skipped > 0)
      logger.warn('lines of the event file could not be read', { path: paths.events, skipped });
    return events;
  }

  /** A damaged index has been set aside and is said; `git worktree list` and the Tasks still know the Worktrees. */
  private worktreesOf(loaded: Loaded<WorktreeIndex>): readonly Worktree[] {
    if (loaded.kind === 'missing') return [];
    if (loaded.kind === 'ok') return loaded.value.worktrees;
    if (loaded.kind === 'newer' && loaded.value === undefined) throw problemError(loaded.problem);
    this.deps.records.report(loaded.problem);
    return loaded.kind === 'newer' ? (loaded.value?.worktrees ?? []) : [];
  }

  private async appendLine(line: string): Promise<void> {
    const { paths } = this.deps;
    await ensureFolder(paths.worktrees);
    try {
      const file = await open(paths.events, 'a+');
      try {
        // A killed writer may have left half a line; ours must not be glued to it. Of a long line that is being
        // written at this moment we may see half as well: then a blank line more comes in, which readers skip.
        const { size } = await file.stat();
        const last = size === 0 ? undefined : (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer[0];
        const isClosed = last === undefined || last === 0x0a;
        await writeFully(file, Buffer.from(isClosed ? line : `\n${line}`, 'utf8'));
      } finally {
        await file.close();
      }
    } catch (error) {
      throw fileError('append to', paths.events, error);
    }
  }
}

function isStanding({ state }: Worktree): boolean {
  return state === 'ready' || state === 'busy' || state === 'missing';
}
