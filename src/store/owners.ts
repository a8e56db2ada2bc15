import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../base/async';
import { type FileOps, writeFileAtomic } from '../base/atomicFile';
import type { Disposable } from '../base/disposable';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import type { OwnerRef } from '../model/run';
import { ensureFolder, isMissing, namesIn, readIfExists } from './disk';
import { decodeFile, type FileFormat, type Migrations } from './migrations';
import type { StorePaths } from './paths';
import type { ProcessTable } from './processIdentity';
import type { Owners } from './store';
import type { Every } from './ticker';

const heartbeatMs = 5_000;
const deadAfterMs = 30_000;
/** How long the file of a dead process stays for people who look for a fault. */
const keptMs = 24 * 60 * 60 * 1_000;

/** A process, so that another one can tell whether it still lives. */
export const processRefSchema = z.object({
  bootId: z.string().min(1),
  pid: z.number().int().positive(),
  host: z.string(),
  /** As the process table words it; absent where the system does not say. */
  processStart: z.string().optional(),
});
export type ProcessRef = z.infer<typeof processRefSchema>;

const ownerFileSchema = processRefSchema.extend({
  v: z.literal(1),
  startedAt: z.string(),
  beatAt: z.string(),
});
type OwnerFile = z.infer<typeof ownerFileSchema>;
const ownerFormat: FileFormat<OwnerFile> = { kind: 'owner', schema: ownerFileSchema };

export interface OwnersDeps {
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly every: Every;
  readonly processes: ProcessTable;
  readonly ops: FileOps;
  readonly migrations: Migrations;
  readonly bootId: string;
  /** Runs once in the background after the first use; `dispose` waits for it. */
  readonly afterStart: () => Promise<void>;
}

/** `owners/<bootId>.json`: written at the first use, renewed each 5 s, removed by `dispose`. */
export class FileOwners implements Owners {
  private readonly deps: OwnersDeps;
  private started: Promise<ProcessRef> | undefined;
  private heartbeat: Disposable | undefined;
  private beating: Promise<void> = Promise.resolve();
  private tidying: Promise<void> = Promise.resolve();
  private isDisposed = false;
  private disposing: Promise<void> | undefined;
  private hasWarned = false;

  constructor(deps: OwnersDeps) {
    this.deps = deps;
  }

  async self(): Promise<OwnerRef> {
    const { bootId, pid, host } = await this.identity();
    return { bootId, pid, host };
  }

  /** This process with its start time. Throws `wrongState` after `dispose`. */
  async identity(): Promise<ProcessRef> {
    // What is under way while `dispose` waits still needs to know who we are; nothing begins any more.
    if (this.isDisposed || (this.disposing !== undefined && this.started === undefined)) {
      throw new TributaryError('wrongState', 'the store is closed');
    }
    // A failed start is tried again by the next caller: the disk may have room by then.
    this.started ??= this.start().catch((error: unknown) => {
      this.started = undefined;
      throw error;
    });
    return await this.started;
  }

  async isAlive(owner: OwnerRef): Promise<boolean> {
    if (owner.bootId === this.deps.bootId) return !this.isDisposed;
    const bytes = await readIfExists(this.deps.paths.owner(owner.bootId));
    // An owner writes its file before it owns anything and removes it when it goes.
    if (bytes === undefined) return false;
    const file = this.decode(bytes);
    if (file === undefined) return await this.isProcessAlive({ ...owner }, this.deps.clock.now());
    return await this.isProcessAlive(file, new Date(file.beatAt));
  }

  async dead(): Promise<readonly string[]> {
    const { paths, processes, bootId } = this.deps;
    const host = await processes.host();
    const dead: string[] = [];
    for (const name of await namesIn(paths.owners)) {
      const bytes = await readIfExists(join(paths.owners, name));
      const file = bytes === undefined ? undefined : this.decode(bytes);
      if (file === undefined || file.bootId === bootId || file.host !== host) continue;
      if (!(await this.isProcessAlive(file, new Date(file.beatAt)))) dead.push(file.bootId);
    }
    return dead;
  }

  /** The same for a process named in a lock, which is alive as long as its `at` is young when nothing else can be told. */
  async isHolderAlive(holder: ProcessRef, at: Date): Promise<boolean> {
    if (holder.bootId === this.deps.bootId) return true;
    const bytes = await readIfExists(this.deps.paths.owner(holder.bootId));
    const file = bytes === undefined ? undefined : this.decode(bytes);
    const beatAt = file === undefined ? at : new Date(Math.max(Date.parse(file.beatAt), at.getTime()));
    return await this.isProcessAlive(holder, beatAt);
  }

  dispose(): Promise<void> {
    this.disposing ??= this.leave();
    return this.disposing;
  }

  /** Removes files of processes that have been dead for more than a day. A missing file counts as dead, so nobody misses them. */
  async sweep(): Promise<void> {
    const { paths, clock } = this.deps;
    for (const name of await namesIn(paths.owners)) {
      const path = join(paths.owners, name);
      const bytes = await readIfExists(path);
      const file = bytes === undefined ? undefined : this.decode(bytes);
      if (file === undefined || clock.now().getTime() - Date.parse(file.beatAt) < keptMs) continue;
      if (!(await this.isAlive(file))) await unlink(path).catch(() => undefined);
    }
  }

  /** Removes the file of one that is dead. */
  async removeDead(bootId: string): Promise<void> {
    if (!(await this.dead()).includes(bootId)) return;
    await unlink(this.deps.paths.owner(bootId)).catch((error: unknown) => {
      if (!isMissing(error)) throw error;
    });
  }

  private async leave(): Promise<void> {
    const isStarted = (await this.started?.catch(() => undefined)) !== undefined;
    await this.tidying;
    this.isDisposed = true;
    this.heartbeat?.dispose();
    await this.beating;
    if (!isStarted) return;
    await unlink(this.deps.paths.owner(this.deps.bootId)).catch((error: unknown) => {
      if (!isMissing(error)) this.deps.logger.warn('the owner file could not be removed', { error });
    });
  }

  private async start(): Promise<ProcessRef> {
    const { paths, clock, processes, every, bootId } = this.deps;
    const [host, state] = await Promise.all([processes.host(), processes.look(process.pid)]);
    const start = state.kind === 'running' ? state.start : undefined;
    const self: ProcessRef = {
      bootId,
      pid: process.pid,
      host,
      ...(start === undefined ? {} : { processStart: start }),
    };
    const startedAt = clock.now().toISOString();
    await ensureFolder(paths.owners);
    await this.beat(self, startedAt);
    this.heartbeat = every(heartbeatMs, () => {
      this.beating = this.beating.then(() => this.beatQuietly(self, startedAt));
    });
    // Not awaited: nobody should wait for other processes' leftovers.
    this.tidying = this.deps.afterStart().catch((error: unknown) => {
      this.deps.logger.debug('leftovers of dead processes stay', { error });
    });
    return self;
  }

  private async beat(self: ProcessRef, startedAt: string): Promise<void> {
    const { paths, clock, ops, bootId } = this.deps;
    const file: OwnerFile = { v: 1, ...self, startedAt, beatAt: clock.now().toISOString() };
    await writeFileAtomic(paths.owner(bootId), `${JSON.stringify(file)}\n`, { ops, flush: 'none' });
  }

  private async beatQuietly(self: ProcessRef, startedAt: string): Promise<void> {
    if (this.isDisposed) return;
    try {
      await this.beat(self, startedAt);
    } catch (error) {
      if (!this.hasWarned) this.deps.logger.warn('the heartbeat could not be written', { error });
      this.hasWarned = true;
    }
  }

  private decode(bytes: Uint8Array): OwnerFile | undefined {
    const decoded = decodeFile(bytes, ownerFormat, this.deps.migrations);
    return decoded.kind === 'corrupt' ? undefined : decoded.value;
  }

  /** Same host: process id and start time decide; otherwise a beat younger than 30 s. */
  private async isProcessAlive(who: ProcessRef, beatAt: Date): Promise<boolean> {
    const { clock, processes } = this.deps;
    if (who.host === (await processes.host())) {
      const state = await processes.look(who.pid);
      if (state.kind === 'gone') return false;
      if (state.start !== undefined && who.processStart !== undefined)
        return state.start === who.processStart;
    }
    return clock.now().getTime() - beatAt.getTime() <= deadAfterMs;
  }
}
