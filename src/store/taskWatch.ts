import { stat } from 'node:fs/promises';
import { mapBounded } from '../base/async';
import type { Disposable } from '../base/disposable';
import { Emitter } from '../base/emitter';
import type { Logger } from '../base/logger';
import { type TaskId, taskIdSchema } from '../model/ids';
import { namesIn } from './disk';
import type { StorePaths } from './paths';
import { type Every, followFolder, Repeater, type WatchFolder } from './ticker';

const pollMs = 2_000;
const looksAtOnce = 16;
/** File times lag behind the clock by a kernel tick. */
const fileTimeSlackMs = 100;

export interface TaskWatchDeps {
  readonly paths: StorePaths;
  readonly logger: Logger;
  readonly every: Every;
  readonly watchFolder: WatchFolder;
}

/** Tells which `task.json` changed by comparing their times; runs only while somebody listens. */
export class TaskWatch implements Disposable {
  private readonly deps: TaskWatchDeps;
  private readonly changes: Emitter<TaskId>;
  private readonly repeater: Repeater;
  private following: Disposable | undefined;
  private startedAt = 0;
  /** What each file looked like; absent until the first look. */
  private seen: Map<TaskId, string> | undefined;

  constructor(deps: TaskWatchDeps) {
    this.deps = deps;
    this.changes = new Emitter(deps.logger);
    this.repeater = new Repeater(
      () => this.look(),
      (error) => deps.logger.warn('the tasks could not be looked at', { error }),
    );
  }

  add(listener: (id: TaskId) => void): Disposable {
    const subscription = this.changes.event(listener);
    if (this.following === undefined) {
      this.startedAt = Date.now();
      this.following = followFolder(this.deps.paths.tasks, pollMs, () => this.lookNow(), this.deps);
    }
    return {
      dispose: () => {
        subscription.dispose();
        if (this.changes.listenerCount === 0) this.stop();
      },
    };
  }

  /** Does not wait for the watch to hear of a change of our own. */
  lookNow(): void {
    if (this.following !== undefined || this.changes.listenerCount > 0) this.repeater.request();
  }

  dispose(): void {
    this.changes.dispose();
    this.stop();
  }

  /** Resolves when no look is under way. */
  async idle(): Promise<void> {
    await this.repeater.idle();
  }

  private stop(): void {
    this.following?.dispose();
    this.following = undefined;
    this.seen = undefined;
  }

  private async look(): Promise<void> {
    const before = this.seen;
    const now = new Map<TaskId, string>();
    const fresh: TaskId[] = [];
    await mapBounded(await namesIn(this.deps.paths.tasks), looksAtOnce, async (name) => {
      const id = taskIdSchema.safeParse(name);
      if (!id.success) return;
      const file = await stat(this.deps.paths.taskFile(id.data)).catch(() => undefined);
      if (file === undefined) return;
      now.set(id.data, `${file.ino} ${file.size} ${file.mtimeMs}`);
      // Before the first look nothing is known: what was written since somebody listens counts as changed.
      if (before === undefined && file.mtimeMs >= this.startedAt - fileTimeSlackMs) fresh.push(id.data);
    });
    // Disposed meanwhile: nobody listens, and a later listener must not inherit this look.
    if (this.following === undefined) return;
    this.seen = now;
    const changed =
      before === undefined
        ? fresh
        : [...new Set([...now.keys(), ...before.keys()])].filter((id) => before.get(id) !== now.get(id));
    for (const id of changed) this.changes.fire(id);
  }
}
