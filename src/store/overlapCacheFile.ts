import type { Logger } from '../base/logger';
import { type KnownOverlaps, knownOverlapsSchema } from '../model/overlap';
import type { FileFormat } from './migrations';
import type { StorePaths } from './paths';
import type { RecordFiles } from './recordFiles';
import type { OverlapCache } from './store';

const overlapsFormat: FileFormat<KnownOverlaps> = { kind: 'overlaps', schema: knownOverlapsSchema };

/** `overlaps.json`: answers that can be worked out again, so it may be missing or fail to be written. */
export class FileOverlapCache implements OverlapCache {
  private readonly records: RecordFiles;
  private readonly paths: StorePaths;
  private readonly logger: Logger;

  constructor(deps: { readonly records: RecordFiles; readonly paths: StorePaths; readonly logger: Logger }) {
    this.records = deps.records;
    this.paths = deps.paths;
    this.logger = deps.logger;
  }

  async load(): Promise<ReadonlyMap<string, readonly string[]>> {
    const loaded = await this.records.load(this.paths.overlaps, overlapsFormat);
    return new Map(loaded.kind === 'ok' ? Object.entries(loaded.value.known) : []);
  }

  async save(known: ReadonlyMap<string, readonly string[]>): Promise<void> {
    try {
      await this.records.save(this.paths.overlaps, { v: 1, known: Object.fromEntries(known) });
    } catch (error) {
      this.logger.warn('what was found out about overlaps could not be kept', { error });
    }
  }
}
