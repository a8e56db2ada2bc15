import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../base/async';
import { createFileAtomic, type FileOps } from '../base/atomicFile';
import type { Disposable } from '../base/disposable';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import { idTimestamp, runIdSchema, type TaskId } from '../model/ids';
import { ensureFolder, isMissing, namesIn, readIfExists } from './disk';
import { decodeFile, type FileFormat, type Migrations } from './migrations';
import type { StorePaths } from './paths';
import type { RecordFiles } from './recordFiles';
import type { Requests, TaskRequest } from './store';
import { type Every, followFolder, Repeater, type WatchFolder } from './ticker';

const pollMs = 500;

const requestSchema: z.ZodType<TaskRequest> = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('stop'), runId: runIdSchema, force: z.boolean() }),
  z.object({ kind: z.literal('message'), runId: runIdSchema, text: z.string() }),
  z.object({ kind: z.literal('answer'), runId: runIdSchema, questionId: z.string(), allowed: z.boolean() }),
]);
const requestFileSchema = z.object({ v: z.literal(1), at: z.string(), request: requestSchema });
type RequestFile = z.infer<typeof requestFileSchema>;
const requestFormat: FileFormat<RequestFile> = { kind: 'request', schema: requestFileSchema };

export interface RequestsDeps {
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly every: Every;
  readonly watchFolder: WatchFolder;
  readonly ops: FileOps;
  readonly migrations: Migrations;
  readonly records: RecordFiles;
  readonly bootId: string;
}

/** `tasks/<taskId>/requests/`: one file a request, gone when its owner took it. */
export class FileRequests implements Requests, Disposable {
  private readonly deps: RequestsDeps;
  private readonly servers = new Set<RequestServer>();
  private lastStamp = '';
  private sent = 0;

  constructor(deps: RequestsDeps) {
    this.deps = deps;
  }

  /** On the disk when it resolves; a stop of the same moment as a message keeps its place. */
  async send(taskId: TaskId, request: TaskRequest): Promise<void> {
    const { paths, clock, ops } = this.deps;
    const at = clock.now();
    const content: RequestFile = { v: 1, at: at.toISOString(), request };
    const parsed = requestFileSchema.safeParse(content);
    if (!parsed.success)
      throw new TributaryError('internal', 'a request is not valid', { cause: parsed.error });
    // Decided before anything is awaited, so that names sort as the calls came.
    const name = this.nextName(at);
    await ensureFolder(paths.requests(taskId));
    await createFileAtomic(join(paths.requests(taskId), name), `${JSON.stringify(parsed.data)}\n`, { ops });
  }

  serve(taskId: TaskId, onRequest: (request: TaskRequest) => unknown): Disposable {
    const server = new RequestServer(this.deps, taskId, onRequest);
    this.servers.add(server);
    return {
      dispose: () => {
        server.dispose();
        void server.idle().then(() => this.servers.delete(server));
      },
    };
  }

  dispose(): void {
    for (const server of this.servers) server.dispose();
  }

  /** Resolves when no server is reading. */
  async idle(): Promise<void> {
    await Promise.all([...this.servers].map((server) => server.idle()));
  }

  /** Sorts by time, then by call; a clock that was set back does not change the order. */
  private nextName(at: Date): string {
    const now = idTimestamp(at);
    if (now > this.lastStamp) this.lastStamp = now;
    this.sent += 1;
    return `${this.lastStamp}-${String(this.sent).padStart(8, '0')}-${this.deps.bootId}.json`;
  }
}

/** Reads one folder, file by file, never twice at once. */
class RequestServer implements Disposable {
  private readonly deps: RequestsDeps;
  private readonly folder: string;
  private readonly onRequest: (request: TaskRequest) => unknown;
  private readonly repeater: Repeater;
  private readonly following: Disposable;
  /** Names that were handed over and could not be removed. */
  private readonly done = new Set<string>();
  private isDisposed = false;

  constructor(deps: RequestsDeps, taskId: TaskId, onRequest: (request: TaskRequest) => unknown) {
    this.deps = deps;
    this.folder = deps.paths.requests(taskId);
    this.onRequest = onRequest;
    this.repeater = new Repeater(
      () => this.look(),
      (error) => deps.logger.warn('requests could not be read', { folder: this.folder, error }),
    );
    this.following = followFolder(this.folder, pollMs, () => this.repeater.request(), deps);
  }

  dispose(): void {
    this.isDisposed = true;
    this.following.dispose();
  }

  async idle(): Promise<void> {
    await this.repeater.idle();
  }

  private async look(): Promise<void> {
    for (const name of await namesIn(this.folder)) {
      if (this.isDisposed) return;
      if (name.endsWith('.json') && !this.done.has(name)) await this.handle(name);
    }
  }

  private async handle(name: string): Promise<void> {
    const { logger, migrations, records } = this.deps;
    const path = join(this.folder, name);
    const bytes = await readIfExists(path);
    if (bytes === undefined || this.isDisposed) return;
    const decoded = decodeFile(bytes, requestFormat, migrations);
    if (decoded.kind === 'ok') {
      if (!(await this.offer(decoded.value.request))) return;
      // Removed after it was taken: a crash between repeats a request, the other way round loses one.
      this.done.add(name);
      await unlink(path).then(
        () => this.done.delete(name),
        (error: unknown) => {
          if (!isMissing(error)) logger.warn('a request could not be removed', { path, error });
        },
      );
      return;
    }
    // Should the renaming fail, it must not be tried with each poll.
    this.done.add(name);
    const keptAs = await records.setAside(path);
    const reason = decoded.kind === 'newer' ? `it has version ${decoded.version}` : decoded.reason;
    logger.warn('a request could not be understood and was kept aside', { path, keptAs, reason });
  }

  /** A handler that throws has had its request. */
  private async offer(request: TaskRequest): Promise<boolean> {
    try {
      return (await this.onRequest(request)) !== false;
    } catch (error) {
      this.deps.logger.error('a request failed', { kind: request.kind, error });
      return true;
    }
  }
}
