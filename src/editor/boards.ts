import { basename } from 'node:path';
import { SerialQueue } from '../base/async';
import type { Disposable } from '../base/disposable';
import { Emitter, type Event } from '../base/emitter';
import { type TributaryError, toTributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { Core } from '../composeCore';
import type { TaskId } from '../model/ids';
import type { Task } from '../model/task';
import type { StoreProblem } from '../store/store';
import { type FoundRepository, findRepository, hasBoard } from './gitFolders';
import { LiveBoard } from './liveBoard';
import { watchForBoard } from './watchForBoard';

/** A repository of this window and its core. */
export interface OpenBoard {
  /** The git common directory, absolute and real: the same for every worktree of a repository. */
  readonly id: string;
  /** What the tree calls it. */
  readonly label: string;
  readonly core: Core;
  /** The Tasks as last heard of; never asks the disk. */
  readonly tasks: readonly Task[];
}

/** Every board of the window; opens one per repository of the workspace folders, lazily and asynchronously. */
export interface Boards {
  readonly all: readonly OpenBoard[];
  /** Which boards there are, or what Tasks they have, changed. */
  readonly onDidChange: Event<void>;
  /** The board that has the Task, and the Task as last heard of. */
  find(taskId: TaskId): { readonly board: OpenBoard; readonly task: Task } | undefined;
}

/** A repository of the workspace folders, whether its board is open or not. */
export interface RepositoryPlace extends FoundRepository {
  readonly label: string;
}

export interface WindowBoardsDeps {
  /** Absolute paths of the workspace folders that are on a disk; none while the workspace is not trusted. */
  readonly folders: () => readonly string[];
  readonly compose: (place: FoundRepository) => Promise<Core>;
  /** Hears of files of a board that cannot be read. */
  readonly onProblem: (problem: StoreProblem) => void;
  readonly logger: Logger;
}

/** One Core per repository of the window. It is loaded when a board exists already, or when a command asks. */
export class WindowBoards implements Boards {
  readonly onDidChange: Event<void>;
  /** A board was opened: whoever needs its events subscribes now. Boards are closed by themselves. */
  readonly onDidOpen: Event<LiveBoard>;
  private readonly deps: WindowBoardsDeps;
  private readonly changed: Emitter<void>;
  private readonly opened: Emitter<LiveBoard>;
  private readonly queue = new SerialQueue();
  private readonly open = new Map<string, LiveBoard>();
  private readonly opening = new Map<string, Promise<LiveBoard>>();
  private readonly watches = new Map<string, Disposable>();
  private readonly failures = new Map<string, TributaryError>();
  private places: readonly RepositoryPlace[] = [];
  private searched = false;
  private isDisposed = false;

  constructor(deps: WindowBoardsDeps) {
    this.deps = deps;
    this.changed = new Emitter(deps.logger);
    this.opened = new Emitter(deps.logger);
    this.onDidChange = this.changed.event;
    this.onDidOpen = this.opened.event;
  }

  get all(): readonly LiveBoard[] {
    return this.places.flatMap((place) => this.open.get(place.commonDir) ?? []);
  }

  get repositories(): readonly RepositoryPlace[] {
    return this.places;
  }

  /** Whether the folders were looked through at least once. */
  get isSearched(): boolean {
    return this.searched;
  }

  /** Why boards that exist could not be opened. */
  get problems(): readonly TributaryError[] {
    return [...this.failures.values()];
  }

  find(taskId: TaskId): { readonly board: LiveBoard; readonly task: Task } | undefined {
    for (const board of this.all) {
      const task = board.task(taskId);
      if (task !== undefined) return { board, task };
    }
    return undefined;
  }

  /** Looks for the repositories of the folders as they are now; opens the boards that exist. */
  refresh(): Promise<void> {
    return this.queue.run(async () => {
      const places = await this.look();
      const left = this.places.filter((old) => !places.some((one) => one.commonDir === old.commonDir));
      this.places = places;
      this.searched = true;
      for (const { commonDir } of left) await this.close(commonDir);
      for (const place of places) {
        await this.follow(place);
        await this.openIfMade(place);
      }
      this.changed.fire();
    });
  }

  /** The board of a repository of this window; loads the core. Throws what `composeCore` throws. */
  async ensure(id: string): Promise<LiveBoard> {
    const known = this.open.get(id) ?? this.opening.get(id);
    if (known !== undefined) return known;
    const place = this.places.find((one) => one.commonDir === id);
    if (place === undefined) throw new Error(`no repository of this window: ${id}`);
    const opening = this.load(place).finally(() => this.opening.delete(id));
    this.opening.set(id, opening);
    return opening;
  }

  /** Settings or key changed: what could not be opened may be now. */
  retry(): void {
    if (this.failures.size > 0) void this.refresh();
  }

  /** Interrupts what runs in this window and waits until it is written down. */
  async dispose(): Promise<void> {
    this.isDisposed = true;
    for (const watch of this.watches.values()) watch.dispose();
    await Promise.allSettled(this.opening.values());
    await Promise.allSettled([...this.open.values()].map((board) => board.dispose()));
    this.open.clear();
    this.changed.dispose();
    this.opened.dispose();
  }

  private async look(): Promise<RepositoryPlace[]> {
    const found = await Promise.all(this.deps.folders().map((folder) => findRepository(folder)));
    const places = new Map<string, RepositoryPlace>();
    // Two folders of one repository are one board; the first one is the checkout it lands in.
    for (const one of found)
      if (one !== undefined && !places.has(one.commonDir))
        places.set(one.commonDir, { ...one, label: basename(one.root) });
    return [...places.values()];
  }

  private async openIfMade(place: RepositoryPlace): Promise<void> {
    const id = place.commonDir;
    if (this.open.has(id) || this.opening.has(id)) return;
    if (!(await hasBoard(id))) {
      this.watch(place);
      return;
    }
    try {
      await this.ensure(id);
    } catch (error) {
      const failure = toTributaryError(error);
      this.deps.logger.error('a board could not be opened', { repository: place.root, error: failure });
      this.failures.set(id, failure);
    }
  }

  /** Its checkout left the window and another one of the repository is there: an open board goes over to that. */
  private async follow(place: RepositoryPlace): Promise<void> {
    const board = this.open.get(place.commonDir);
    if (board === undefined || board.root === place.root) return;
    try {
      await board.moveTo(place);
    } catch (error) {
      // Better none than one that writes where the window does not look; `openIfMade` tries again and says why.
      this.deps.logger.error('a board could not follow its repository', { repository: place.root, error });
      await this.close(place.commonDir);
    }
  }

  /** A command line, or another window, may make the board later. */
  private watch(place: RepositoryPlace): void {
    const id = place.commonDir;
    if (this.watches.has(id)) return;
    this.watches.set(
      id,
      watchForBoard(id, this.deps.logger, () => void this.refresh()),
    );
  }

  private async load(place: RepositoryPlace): Promise<LiveBoard> {
    const id = place.commonDir;
    const board = new LiveBoard({
      place,
      compose: this.deps.compose,
      logger: this.deps.logger,
      onProblem: this.deps.onProblem,
      onChange: () => this.changed.fire(),
    });
    await board.start();
    const now = this.places.find((one) => one.commonDir === id);
    if (this.isDisposed || now === undefined) {
      await board.dispose();
      throw new Error(`the repository has left the window: ${place.root}`);
    }
    if (now.root !== board.root) await board.moveTo(now);
    this.failures.delete(id);
    this.unwatch(id);
    this.open.set(id, board);
    this.opened.fire(board);
    this.changed.fire();
    return board;
  }

  private async close(id: string): Promise<void> {
    this.unwatch(id);
    this.failures.delete(id);
    const board = this.open.get(id);
    this.open.delete(id);
    await board?.dispose();
  }

  private unwatch(id: string): void {
    this.watches.get(id)?.dispose();
    this.watches.delete(id);
  }
}
