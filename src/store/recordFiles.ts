import { access, rename } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Clock } from '../base/async';
import { type AtomicWriteOptions, type FileOps, fileError, writeFileAtomic } from '../base/atomicFile';
import { TributaryError } from '../base/errors';
import type { Logger } from '../base/logger';
import { idTimestamp } from '../model/ids';
import { readIfExists } from './disk';
import { type Decoded, decodeFile, type FileFormat, type Migrations } from './migrations';
import { boardLock, type Locks, type StoreProblem } from './store';

/** A record as loaded. A corrupt one has been renamed where that was possible; `problem` says it. */
export type Loaded<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'missing' }
  | { readonly kind: 'newer'; readonly value?: T; readonly problem: StoreProblem }
  | { readonly kind: 'corrupt'; readonly problem: StoreProblem };

export interface RecordFilesDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly locks: Locks;
  readonly ops: FileOps;
  readonly migrations: Migrations;
  readonly onProblem: (problem: StoreProblem) => void;
}

/** How long a reader waits for the board lock before it leaves a corrupt file where it is. */
const setAsideWaitMs = 5_000;

/** Versioned JSON files: parse, migrate, schema on the way in; whole or not at all on the way out. */
export class RecordFiles {
  private readonly deps: RecordFilesDeps;

  constructor(deps: RecordFilesDeps) {
    this.deps = deps;
  }

  /** A corrupt file is renamed under the board lock, after a second look: its writer may just have mended it. */
  async load<T>(path: string, format: FileFormat<T>): Promise<Loaded<T>> {
    const decoded = await this.decode(path, format);
    if (decoded?.kind !== 'corrupt') return toLoaded(path, decoded);
    try {
      return await this.deps.locks.withLock(boardLock, () => this.loadLocked(path, format), {
        waitMs: setAsideWaitMs,
      });
    } catch (error) {
      this.deps.logger.warn('a damaged file could not be renamed', { path, error });
      return { kind: 'corrupt', problem: corruptProblem(path, decoded.reason, undefined) };
    }
  }

  /** The same for callers that hold the board lock. */
  async loadLocked<T>(path: string, format: FileFormat<T>): Promise<Loaded<T>> {
    const decoded = await this.decode(path, format);
    if (decoded?.kind !== 'corrupt') return toLoaded(path, decoded);
    const keptAs = await this.setAside(path);
    return { kind: 'corrupt', problem: corruptProblem(path, decoded.reason, keptAs) };
  }

  /** Says a problem that the caller has no other way to say. */
  report(problem: StoreProblem): void {
    this.deps.onProblem(problem);
  }

  /** Throws `diskFull`, `readOnly`; the file is then as it was. */
  async save(path: string, value: unknown, options: AtomicWriteOptions = {}): Promise<void> {
    await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`, { ops: this.deps.ops, ...options });
  }

  /** Renames to `<name>.corrupt-<ts>`, never over another file. Returns the new name. */
  async setAside(path: string): Promise<string> {
    const stem = `${path}.corrupt-${idTimestamp(this.deps.clock.now())}`;
    let target = stem;
    for (let count = 2; await exists(target); count += 1) target = `${stem}-${count}`;
    try {
      await rename(path, target);
    } catch (error) {
      throw fileError('rename', path, error);
    }
    return basename(target);
  }

  private async decode<T>(path: string, format: FileFormat<T>): Promise<Decoded<T> | undefined> {
    const bytes = await readIfExists(path);
    return bytes === undefined ? undefined : decodeFile(bytes, format, this.deps.migrations);
  }
}

function toLoaded<T>(path: string, decoded: Exclude<Decoded<T>, { kind: 'corrupt' }> | undefined): Loaded<T> {
  if (decoded === undefined) return { kind: 'missing' };
  if (decoded.kind === 'ok') return decoded;
  const problem = newerProblem(path, decoded.version);
  return decoded.value === undefined
    ? { kind: 'newer', problem }
    : { kind: 'newer', value: decoded.value, problem };
}

export function newerProblem(path: string, version: number): StoreProblem {
  return {
    path,
    code: 'newerStore',
    message: `${path} has version ${version}, made by a newer Tributary: it can be read, not changed. Update this Tributary to go on with it.`,
  };
}

/** `keptAs`: the new name; `undefined` when the file is still where it was. */
export function corruptProblem(path: string, reason: string, keptAs: string | undefined): StoreProblem {
  const kept =
    keptAs === undefined
      ? 'It is left as it is: mend it or move it away.'
      : `It is kept beside as ${keptAs}: mend it and rename it back to ${basename(path)}, or leave it.`;
  return { path, code: 'corruptFile', message: `${path} is damaged: ${reason}. ${kept}` };
}

/** The error that says what a StoreProblem of a file says. */
export function problemError({ code, message, path }: StoreProblem): TributaryError {
  return new TributaryError(code === 'newerStore' ? code : 'corruptFile', message, { details: { path } });
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
