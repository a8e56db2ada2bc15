import { truncate } from 'node:fs/promises';
import type { Clock } from '../base/async';
import { createFileAtomic, type FileOps, fileError, type OpenFile, writeFully } from '../base/atomicFile';
import { errnoOf, TributaryError } from '../base/errors';
import { toJsonLine } from '../base/jsonl';
import type { Logger } from '../base/logger';
import type { RunId, TaskId } from '../model/ids';
import {
  type Transcript,
  type TranscriptCursor,
  type TranscriptHeader,
  type TranscriptPart,
  transcriptHeaderSchema,
} from '../model/transcript';
import { ensureFolder, readIfExists } from './disk';
import type { Migrations } from './migrations';
import type { StorePaths } from './paths';
import { corruptProblem, newerProblem, problemError, type RecordFiles } from './recordFiles';
import { boardLock, type Locks, type TranscriptStore, type TranscriptWriter } from './store';
import { parseTranscript, type Tail, type TranscriptFile } from './transcriptFile';
import { readTranscriptPart } from './transcriptPart';
import { FileTranscriptWriter } from './transcriptWriter';

export interface TranscriptsDeps {
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ops: FileOps;
  readonly locks: Locks;
  readonly records: RecordFiles;
  readonly migrations: Migrations;
}

/** `runs/<runId>.jsonl` and `<runId>.output.md`. */
export class FileTranscripts implements TranscriptStore {
  private readonly deps: TranscriptsDeps;

  constructor(deps: TranscriptsDeps) {
    this.deps = deps;
  }

  /** Throws `wrongState` when the file exists, `diskFull`, `readOnly`; then nothing of it stays. */
  async create(header: TranscriptHeader): Promise<TranscriptWriter> {
    const { paths, clock, ops } = this.deps;
    const valid = transcriptHeaderSchema.safeParse(header);
    if (!valid.success) {
      throw new TributaryError('internal', 'the header of a transcript is not valid', { cause: valid.error });
    }
    const path = paths.transcript(header.taskId, header.runId);
    await ensureFolder(paths.runs(header.taskId));
    const file = await this.openNew(path);
    try {
      // As it was given, not as zod copied it: the order of keys is part of what a resume sends.
      await writeFully(file, Buffer.from(toJsonLine(header), 'utf8'));
    } catch (error) {
      await file.close().catch(() => undefined);
      await ops.unlink(path).catch(() => undefined);
      throw fileError('write', path, error);
    }
    return new FileTranscriptWriter(file, path, clock, {
      lastNumber: 0,
      lastId: null,
      endsWithNewline: true,
    });
  }

  /** Throws `unknownId`, `newerStore`, `corruptFile`. Only for an owner that is dead: two writers would mix ids. */
  async reopen(taskId: TaskId, runId: RunId): Promise<TranscriptWriter> {
    const { paths, clock, ops } = this.deps;
    const path = paths.transcript(taskId, runId);
    const { file, bytes } = await this.load(taskId, runId);
    if (file.newerVersion !== undefined) throw problemError(newerProblem(path, file.newerVersion));
    const tail = await this.repair(path, bytes, file.tail);
    try {
      return new FileTranscriptWriter(await ops.open(path, 'a'), path, clock, tail);
    } catch (error) {
      throw fileError('open', path, error);
    }
  }

  /** Safe while the owner writes: a line it has not finished is noted as cut off. */
  async read(taskId: TaskId, runId: RunId): Promise<Transcript> {
    return (await this.load(taskId, runId)).file.transcript;
  }

  async readPart(taskId: TaskId, runId: RunId, from: TranscriptCursor): Promise<TranscriptPart> {
    const path = this.deps.paths.transcript(taskId, runId);
    const part = await readTranscriptPart(path, from, this.deps.migrations);
    if (part !== undefined) return part;
    // Absent, of a newer version or damaged: told by the road that reads it whole.
    await this.read(taskId, runId);
    return this.readPart(taskId, runId, from);
  }

  /** Throws `wrongState` the second time. */
  async writeOutput(taskId: TaskId, runId: RunId, text: string): Promise<void> {
    const { paths, ops } = this.deps;
    const path = paths.output(taskId, runId);
    await ensureFolder(paths.runs(taskId));
    // Not flushed: the same text is in the transcript, which is.
    if (!(await createFileAtomic(path, text, { ops, flush: 'none' }))) {
      throw new TributaryError('wrongState', `${path} has been written before`, { details: { path } });
    }
  }

  outDirectory(taskId: TaskId, runId: RunId): string {
    return this.deps.paths.outDirectory(taskId, runId);
  }

  path(taskId: TaskId, runId: RunId): string {
    return this.deps.paths.transcript(taskId, runId);
  }

  private async openNew(path: string): Promise<OpenFile> {
    try {
      return await this.deps.ops.open(path, 'ax');
    } catch (error) {
      if (errnoOf(error) !== 'EEXIST') throw fileError('create', path, error);
      throw new TributaryError('wrongState', `${path} exists already`, { cause: error, details: { path } });
    }
  }

  private async load(
    taskId: TaskId,
    runId: RunId,
  ): Promise<{ file: Extract<TranscriptFile, { kind: 'ok' }>; bytes: Buffer }> {
    const { paths, migrations } = this.deps;
    const path = paths.transcript(taskId, runId);
    const bytes = await readIfExists(path);
    const file = bytes === undefined ? undefined : parseTranscript(bytes, migrations);
    if (bytes === undefined || file === undefined || file.kind === 'empty') {
      throw new TributaryError('unknownId', `there is no transcript of ${runId}`, { details: { path } });
    }
    if (file.kind === 'newer') throw problemError(newerProblem(path, file.version));
    if (file.kind === 'corrupt') return await this.setAside(path, file.reason);
    return { file, bytes };
  }

  /** Without its header a transcript cannot be read at all. */
  private async setAside(path: string, reason: string): Promise<never> {
    const { locks, records, logger } = this.deps;
    let keptAs: string | undefined;
    try {
      keptAs = await locks.withLock(boardLock, () => records.setAside(path), { waitMs: 5_000 });
    } catch (error) {
      logger.warn('a damaged transcript could not be renamed', { path, error });
    }
    throw problemError(corruptProblem(path, reason, keptAs));
  }

  /** Closes the last line. Half of one is copied to `<file>.torn-N` before it is cut off here: no byte is lost. */
  private async repair(path: string, bytes: Buffer, tail: Tail): Promise<Tail> {
    const { tornAt, ...rest } = tail;
    if (tornAt === undefined) return rest;
    const torn = bytes.subarray(tornAt);
    for (let count = 1; ; count += 1) {
      if (await createFileAtomic(`${path}.torn-${count}`, torn, { ops: this.deps.ops })) break;
    }
    try {
      await truncate(path, tornAt);
    } catch (error) {
      throw fileError('repair', path, error);
    }
    this.deps.logger.warn('a half last line was moved beside the transcript', { path, bytes: torn.length });
    return { ...rest, endsWithNewline: true };
  }
}
