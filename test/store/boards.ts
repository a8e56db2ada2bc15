import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/base/async';
import type { Logger } from '../../src/base/logger';
import { makeRunId, makeTaskId, type RunId, type TaskId } from '../../src/model/ids';
import type { Run } from '../../src/model/run';
import { type Task, taskSchema } from '../../src/model/task';
import type { TranscriptHeader } from '../../src/model/transcript';
import { noUsage } from '../../src/model/usage';
import type { Worktree } from '../../src/model/worktree';
import { type OpenStoreOptions, openStore } from '../../src/store/openStore';
import type { Store } from '../../src/store/store';
import type { Every, WatchFolder } from '../../src/store/ticker';

const commit = 'a'.repeat(40);

/** A temp folder that stands for a git common directory, and the stores opened on it. */
export class Board {
  readonly commonDir: string;
  private readonly stores: Store[] = [];

  constructor(commonDir: string) {
    this.commonDir = commonDir;
  }

  static async create(): Promise<Board> {
    return new Board(join(await mkdtemp(join(tmpdir(), 'tributary störe ')), 'git dir'));
  }

  path(...names: string[]): string {
    return join(this.commonDir, 'tributary', ...names);
  }

  async open(options: Omit<OpenStoreOptions, 'commonDir'> = {}): Promise<Store> {
    const store = await openStore({ commonDir: this.commonDir, ...options });
    this.stores.push(store);
    return store;
  }

  async remove(): Promise<void> {
    for (const store of this.stores) await store.dispose();
    await rm(join(this.commonDir, '..'), { recursive: true, force: true });
  }
}

/** A clock that moves only by hand. */
export class HandClock implements Clock {
  private at: number;
  constructor(iso = '2026-03-04T05:06:07.089Z') {
    this.at = Date.parse(iso);
  }
  now(): Date {
    return new Date(this.at);
  }
  move(ms: number): void {
    this.at += ms;
  }
}

/** Timers that tick by hand, and a watch that never says anything. */
export class HandTicker {
  private readonly ticks = new Map<number, Set<() => void>>();

  readonly every: Every = (ms, tick) => {
    const own = (): void => tick();
    const ticks = this.ticks.get(ms) ?? new Set();
    this.ticks.set(ms, ticks.add(own));
    return { dispose: () => void ticks.delete(own) };
  };

  tick(ms: number): void {
    for (const tick of this.ticks.get(ms) ?? []) tick();
  }

  count(ms: number): number {
    return this.ticks.get(ms)?.size ?? 0;
  }
}

export const silentWatch: WatchFolder = () => ({ dispose: () => undefined });

/** Keeps what was logged. */
export class LoggedLines implements Logger {
  readonly lines: string[] = [];
  debug(message: string): void {
    this.lines.push(`debug ${message}`);
  }
  info(message: string): void {
    this.lines.push(`info ${message}`);
  }
  warn(message: string): void {
    this.lines.push(`warn ${message}`);
  }
  error(message: string): void {
    this.lines.push(`error ${message}`);
  }
}

export const someTask: TaskId = makeTaskId(new Date('2026-01-02T03:04:05.006Z'), 1);
export const someRun: RunId = makeRunId('20260102T030405006', 1);

export function newTask(id: TaskId, over: Partial<Task> = {}): Task {
  return {
    ...taskSchema.parse({
      v: 1,
      id,
      slug: 'fix-parser',
      packet: {
        v: 1,
        objective: 'fix the parser',
        repository: { root: '/repo', head: commit, base: { ref: 'HEAD', commit } },
      },
      agent: 'general',
      createdAt: '2026-01-02T03:04:05.006Z',
      changedAt: '2026-01-02T03:04:05.006Z',
      state: 'open',
      runs: [],
      snapshotCount: 0,
      movedBases: [],
      unresolved: [],
      verdicts: [],
      landings: [],
      branchesMade: [],
      alarms: [],
      marks: [],
    }),
    ...over,
  };
}

export function newRun(id: RunId): Run {
  return {
    id,
    kind: 'first',
    agent: 'general',
    model: 'm',
    context: 'isolated',
    lifecycle: 'foreground',
    instruction: 'fix it',
    createdAt: '2026-01-02T03:04:05.006Z',
    owner: { bootId: 'boot', pid: 1, host: 'h' },
    status: { state: 'created' },
    usage: noUsage,
  };
}

export function newHeader(over: Partial<TranscriptHeader> = {}): TranscriptHeader {
  return {
    v: 1,
    type: 'header',
    runId: someRun,
    taskId: someTask,
    kind: 'first',
    agent: 'general',
    model: 'm',
    lifecycle: 'foreground',
    context: 'isolated',
    base: { ref: 'HEAD', commit },
    treeAtStart: 'b'.repeat(40),
    system: [{ type: 'text', text: 'You are…' }],
    tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
    params: { model: 'm', maxTokens: 32_000 },
    appVersion: '0.1.0',
    startedAt: '2026-01-02T03:04:05.006Z',
    ...over,
  };
}

export function newWorktree(taskId: TaskId, over: Partial<Worktree> = {}): Worktree {
  return {
    path: '/repo.worktrees/fix-parser',
    branch: 'refs/heads/tributary/fix-parser',
    base: { ref: 'HEAD', commit },
    taskId,
    state: 'ready',
    changedAt: '2026-01-02T03:04:05.006Z',
    ...over,
  };
}
