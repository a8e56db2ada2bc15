import { type Disposable, DisposableStack } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import type { Logger } from '../base/logger';
import type { TaskId } from '../model/ids';
import { baseOf } from '../model/movedBase';
import { type BoardOverlaps, isConflict, type Overlap } from '../model/overlap';
import type { Boards, OpenBoard } from './boards';

export interface OverlapMarksDeps {
  readonly boards: Boards;
  readonly seen: Seen;
  /** Milliseconds that changes are gathered for. */
  readonly gatherMs?: number;
  readonly logger: Logger;
}

/** Whether there is anybody to look for, and when files change. */
export interface Seen {
  /** Whether the marks may be seen now; nothing is looked for otherwise. */
  readonly isSeen: boolean;
  readonly onDidChange: Event<void>;
  /** A file of a checkout changed. */
  readonly onDidEdit: Event<void>;
}

const nothing: BoardOverlaps = { overlaps: [], order: [] };

/** A look may take this part of the time, where looks take long. */
const share = 0.1;

/** Which open Tasks conflict, with each other or with the checkout; looked for again when Snapshots or files change. */
export class OverlapMarks implements Disposable {
  /** What is known to conflict changed. */
  readonly onDidChange: Event<void>;
  private readonly deps: OverlapMarksDeps;
  private readonly changed: Emitter<void>;
  private readonly subscriptions = new DisposableStack();
  private readonly found = new Map<string, readonly Overlap[]>();
  /** What each board was last looked at with: its open changes. */
  private looked = '';
  /** A file changed since. */
  private isEdited = false;
  private timer: NodeJS.Timeout | undefined;
  private isLooking = false;
  private isDisposed = false;
  private lastMs = 0;

  constructor(deps: OverlapMarksDeps) {
    this.deps = deps;
    this.changed = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
    for (const subscription of [
      deps.boards.onDidChange(() => this.ask()),
      deps.seen.onDidChange(() => this.ask()),
      deps.seen.onDidEdit(() => {
        this.isEdited = true;
        this.ask();
      }),
    ])
      this.subscriptions.add(subscription);
    this.ask();
  }

  /** The conflicts of an open Task with others that are still open, and with the checkout. */
  of(taskId: TaskId): readonly Overlap[] {
    const { boards } = this.deps;
    const found = boards.find(taskId);
    if (found?.task.state !== 'open') return [];
    const isOpen = (id: Overlap['b']): boolean => id === 'checkout' || boards.find(id)?.task.state === 'open';
    const ours = (this.found.get(found.board.id) ?? []).filter(({ a, b }) => a === taskId || b === taskId);
    return ours.filter(({ a, b }) => isOpen(a) && isOpen(b));
  }

  dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  /** Looks in a moment, if there is anything new to look at and somebody to see it. */
  private ask(): void {
    if (this.timer !== undefined || this.isLooking || this.isDisposed) return;
    if (!this.deps.seen.isSeen || !this.isDue()) return;
    const waitMs = Math.max(this.deps.gatherMs ?? 1_000, this.lastMs / share);
    this.timer = setTimeout(() => {
      this.timer = undefined;
      void this.look();
    }, waitMs);
  }

  private isDue(): boolean {
    const open = openChanges(this.deps.boards.all);
    // Without an open change no edit matters.
    return open !== this.looked || (this.isEdited && open !== '');
  }

  private async look(): Promise<void> {
    const { boards, logger } = this.deps;
    if (!this.deps.seen.isSeen) return;
    const before = JSON.stringify([...this.found]);
    const startedAt = performance.now();
    this.isLooking = true;
    this.isEdited = false;
    this.looked = openChanges(boards.all);
    for (const board of boards.all) {
      try {
        const { overlaps } = openChanges([board]) === '' ? nothing : await board.core.tasks.overlaps();
        this.found.set(board.id, overlaps.filter(isConflict));
      } catch (error) {
        if (this.isDisposed) return;
        logger.warn('which Tasks conflict could not be found out', { repository: board.label, error });
      }
    }
    this.isLooking = false;
    this.lastMs = performance.now() - startedAt;
    if (JSON.stringify([...this.found]) !== before) this.changed.fire();
    this.ask();
  }
}

/** The open Tasks with a change, each with what it counts from and what it holds. */
function openChanges(boards: readonly OpenBoard[]): string {
  const changes = boards.flatMap(({ tasks }) =>
    tasks.flatMap((task) =>
      task.state === 'open' && task.snapshot !== undefined
        ? [`${task.id} ${baseOf(task)} ${task.snapshot.tree}`]
        : [],
    ),
  );
  return changes.toSorted().join('\n');
}
