import { join } from 'node:path';
import type { LandingId, RunId, TaskId } from '../model/ids';

/** Where everything lies under `<git common dir>/tributary/`. Pure. */
export class StorePaths {
  readonly root: string;

  /** `commonDir`: the repository's git common directory, absolute. */
  constructor(commonDir: string) {
    this.root = join(commonDir, 'tributary');
  }

  /** The last Run id given out. */
  get board(): string {
    return join(this.root, 'board.json');
  }
  get tasks(): string {
    return join(this.root, 'tasks');
  }
  /** Rewritten after each change of a Task, so that one watch on `tasks/` hears of all of them. */
  get changed(): string {
    return join(this.tasks, 'changed');
  }
  get worktrees(): string {
    return join(this.root, 'worktrees');
  }
  get worktreeIndex(): string {
    return join(this.worktrees, 'index.json');
  }
  get events(): string {
    return join(this.worktrees, 'events.jsonl');
  }
  get owners(): string {
    return join(this.root, 'owners');
  }
  get locks(): string {
    return join(this.root, 'locks');
  }
  get overlaps(): string {
    return join(this.root, 'overlaps.json');
  }
  get journal(): string {
    return join(this.root, 'journal');
  }

  task(id: TaskId): string {
    return join(this.tasks, id);
  }
  taskFile(id: TaskId): string {
    return join(this.task(id), 'task.json');
  }
  requests(id: TaskId): string {
    return join(this.task(id), 'requests');
  }
  runs(id: TaskId): string {
    return join(this.task(id), 'runs');
  }
  transcript(id: TaskId, runId: RunId): string {
    return join(this.runs(id), `${runId}.jsonl`);
  }
  output(id: TaskId, runId: RunId): string {
    return join(this.runs(id), `${runId}.output.md`);
  }
  outDirectory(id: TaskId, runId: RunId): string {
    return join(this.runs(id), `${runId}.out`);
  }
  owner(bootId: string): string {
    return join(this.owners, `${bootId}.json`);
  }
  landing(id: LandingId): string {
    return join(this.journal, id);
  }
  landingFile(id: LandingId): string {
    return join(this.landing(id), 'landing.json');
  }
  /** When this board was last tidied up. */
  get housekeeping(): string {
    return join(this.root, 'housekeeping.json');
  }
  get allAside(): string {
    return join(this.root, 'aside');
  }
  aside(id: TaskId): string {
    return join(this.allAside, id);
  }
}

/** Orders ids as they were made: by time, then by counter as a number (`_10` after `_9`). */
export function compareIds(a: string, b: string): number {
  const [aStem, aCounter] = splitCounter(a);
  const [bStem, bCounter] = splitCounter(b);
  if (aStem !== bStem) return aStem < bStem ? -1 : 1;
  return aCounter - bCounter;
}

function splitCounter(id: string): [string, number] {
  const cut = id.lastIndexOf('_');
  return [id.slice(0, cut), Number(id.slice(cut + 1))];
}
