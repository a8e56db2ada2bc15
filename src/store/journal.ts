import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, mapBounded } from '../base/async';
import { TributaryError } from '../base/errors';
import { type LandingId, landingIdSchema, makeLandingId } from '../model/ids';
import { type LandingRecord, landingRecordSchema } from '../model/landing';
import { claimFolder, ensureFolder, namesIn } from './disk';
import type { FileFormat } from './migrations';
import { compareIds, type StorePaths } from './paths';
import { problemError, type RecordFiles } from './recordFiles';
import type { Journal } from './store';

export const landingFormat: FileFormat<LandingRecord> = { kind: 'landing', schema: landingRecordSchema };
const readsAtOnce = 16;

export interface JournalDeps {
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly records: RecordFiles;
}

/** `journal/<landingId>/landing.json` with `before/` and `after/` beside it. */
export class FileJournal implements Journal {
  private readonly deps: JournalDeps;

  constructor(deps: JournalDeps) {
    this.deps = deps;
  }

  /** The folders are made at once; a folder that never gets its record is a Landing that wrote nothing. */
  async create(): Promise<{ id: LandingId; directory: string }> {
    const { paths, clock } = this.deps;
    await ensureFolder(paths.journal);
    const at = clock.now();
    for (let counter = 1; ; counter += 1) {
      const id = makeLandingId(at, counter);
      const directory = paths.landing(id);
      if (!(await claimFolder(directory))) continue;
      await ensureFolder(join(directory, 'before'));
      await ensureFolder(join(directory, 'after'));
      return { id, directory };
    }
  }

  /** On the disk when it resolves: a Landing writes only after that. Throws `unknownId` without a folder, `newerStore`. */
  async save(record: LandingRecord): Promise<void> {
    const { paths, records } = this.deps;
    const parsed = landingRecordSchema.safeParse(record);
    if (!parsed.success) {
      throw new TributaryError('internal', 'the record of a Landing is not valid', { cause: parsed.error });
    }
    if (!(await namesIn(paths.journal)).includes(record.id)) throw unknownLanding(record.id);
    const existing = await records.load(paths.landingFile(record.id), landingFormat);
    if (existing.kind === 'newer') throw problemError(existing.problem);
    if (existing.kind === 'corrupt') records.report(existing.problem);
    await records.save(paths.landingFile(record.id), parsed.data, { flush: 'folder' });
  }

  /** Throws `unknownId`, `corruptFile`, `newerStore`; one of a newer version that can be understood is given. */
  async load(id: LandingId): Promise<LandingRecord> {
    const loaded = await this.deps.records.load(this.deps.paths.landingFile(id), landingFormat);
    if (loaded.kind === 'missing') {
      // Set aside as damaged by an earlier reading: what it wrote is not known, which is not the same as nothing.
      const names = await namesIn(this.deps.paths.landing(id));
      const damaged = names.find((name) => name.startsWith('landing.json.corrupt'));
      if (damaged === undefined) throw unknownLanding(id);
      throw new TributaryError(
        'corruptFile',
        `the record of landing ${id} is damaged and was set aside as ${damaged}`,
        {
          details: { id, path: this.deps.paths.landing(id) },
        },
      );
    }
    if (loaded.kind === 'ok') return loaded.value;
    if (loaded.kind === 'newer' && loaded.value !== undefined) return loaded.value;
    throw problemError(loaded.problem);
  }

  /** In the order of their ids; a damaged record is said and left out, a folder without one is a Landing that never began. */
  async list(): Promise<readonly LandingRecord[]> {
    const { paths, records } = this.deps;
    const ids = (await namesIn(paths.journal)).flatMap((name) => {
      const id = landingIdSchema.safeParse(name);
      return id.success ? [id.data] : [];
    });
    const loaded = await mapBounded(ids.sort(compareIds), readsAtOnce, async (id) => {
      const record = await records.load(paths.landingFile(id), landingFormat);
      if (record.kind === 'corrupt' || record.kind === 'newer') records.report(record.problem);
      return record.kind === 'ok' || record.kind === 'newer' ? record.value : undefined;
    });
    return loaded.filter((record) => record !== undefined);
  }

  async drop(id: LandingId): Promise<void> {
    await rm(this.deps.paths.landing(id), { recursive: true, force: true });
  }

  directory(id: LandingId): string {
    return this.deps.paths.landing(id);
  }
}

function unknownLanding(id: LandingId): TributaryError {
  return new TributaryError('unknownId', `there is no Landing ${id}`, { details: { id } });
}
