import { createHash, randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Clock } from '../base/async';
import { createFileAtomic, type FileOps, fileError } from '../base/atomicFile';
import { TributaryError } from '../base/errors';
import { ensureFolder, isMissing, namesIn, readIfExists } from './disk';
import { decodeFile, type FileFormat, type Migrations } from './migrations';
import { type FileOwners, type ProcessRef, processRefSchema } from './owners';

/** How long a live holder is taken for alive before it is looked at again. */
const lookAgainMs = 250;
/** A lock file nobody can read counts as its holder's until it is this old. */
const unreadableMs = 30_000;
/** What killed processes leave beside the locks is removed when it is older. */
const litterMs = 60 * 60 * 1_000;

const lockFileSchema = z.object({
  v: z.literal(1),
  /** Names this holding of the lock; never used twice. */
  nonce: z.string().regex(/^[a-z0-9-]+$/),
  owner: processRefSchema,
  at: z.string(),
});
const lockFormat: FileFormat<z.infer<typeof lockFileSchema>> = { kind: 'lock', schema: lockFileSchema };

/** A lock file as seen. Without `holder` it could not be read (a power cut); `at` is then the file's time. */
export interface SeenLock {
  readonly nonce: string;
  readonly at: Date;
  readonly holder?: ProcessRef;
}

export type Take =
  | { readonly kind: 'taken'; readonly nonce: string }
  | { readonly kind: 'held'; readonly by: SeenLock };

export interface LockFilesDeps {
  readonly folder: string;
  readonly owners: FileOwners;
  readonly clock: Clock;
  readonly ops: FileOps;
  readonly migrations: Migrations;
}

/**
 * The protocol of lock files. A live holder's file is removed by the holder only; a dead one's, with nonce X,
 * by whoever holds `<lock>.<X>.claim`, itself a lock file: so a lock that was taken anew is never removed.
 */
export class LockFiles {
  private readonly deps: LockFilesDeps;
  private readonly aliveUntil = new Map<string, number>();

  constructor(deps: LockFilesDeps) {
    this.deps = deps;
  }

  pathOf(name: string): string {
    return join(this.deps.folder, `${encodeLockName(name)}.lock`);
  }

  /** One try, no waiting. A dead holder's lock is taken over. */
  async tryTake(path: string): Promise<Take> {
    const nonce = randomBytes(8).toString('hex');
    for (;;) {
      const seen = await this.look(path);
      if (seen === undefined) {
        if (await this.create(path, nonce)) return { kind: 'taken', nonce };
      } else if (seen.nonce === nonce) {
        // A network disk may report the creation as failed that succeeded.
        return { kind: 'taken', nonce };
      } else if ((await this.isLive(seen)) || !(await this.removeDead(path, seen))) {
        return { kind: 'held', by: seen };
      }
    }
  }

  /** Removes our own lock file; one that is not ours any more stays. */
  async release(path: string, nonce: string): Promise<void> {
    const seen = await this.look(path);
    if (seen?.nonce === nonce) await this.remove(path);
  }

  /** Removes leftovers of killed processes that nobody will come across again. */
  async sweep(): Promise<void> {
    const now = this.deps.clock.now().getTime();
    const isOld = async (path: string): Promise<boolean> =>
      now - ((await stat(path).catch(() => undefined))?.mtimeMs ?? now) >= litterMs;
    for (const path of await this.dead()) if (await isOld(path)) await this.tidy(path);
  }

  /** Lock files whose holders are dead, and old ones that never became one. Reads only. */
  async dead(): Promise<readonly string[]> {
    const { folder, clock } = this.deps;
    const found: string[] = [];
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (name.endsWith('.tmp')) {
        const entry = await stat(path).catch(() => undefined);
        if (entry !== undefined && clock.now().getTime() - entry.mtimeMs >= litterMs) found.push(path);
        continue;
      }
      const seen = await this.look(path);
      if (seen !== undefined && !(await this.isLive(seen))) found.push(path);
    }
    return found;
  }

  /** Removes one of them, unless somebody took it meanwhile. */
  async tidy(path: string): Promise<void> {
    if (path.endsWith('.tmp')) return void (await this.deps.ops.unlink(path).catch(() => undefined));
    const seen = await this.look(path);
    if (seen !== undefined && !(await this.isLive(seen))) await this.removeDead(path, seen);
  }

  private async create(path: string, nonce: string): Promise<boolean> {
    const { owners, clock, ops } = this.deps;
    const content = { v: 1, nonce, owner: await owners.identity(), at: clock.now().toISOString() };
    const write = (): Promise<boolean> =>
      createFileAtomic(path, `${JSON.stringify(content)}\n`, { ops, flush: 'none' });
    try {
      return await write();
    } catch (error) {
      // The first lock of a repository; nobody looks for the folder each time.
      if (!(error instanceof TributaryError) || !isMissing(error.cause)) throw error;
      await ensureFolder(this.deps.folder);
      return await write();
    }
  }

  /** Who holds the lock; `undefined` when nobody does. Throws `newerStore` for a file of a newer version. */
  async look(path: string): Promise<SeenLock | undefined> {
    const bytes = await readIfExists(path);
    if (bytes === undefined) return undefined;
    const decoded = decodeFile(bytes, lockFormat, this.deps.migrations);
    if (decoded.kind !== 'corrupt' && decoded.value !== undefined) {
      const { nonce, at, owner } = decoded.value;
      return { nonce, at: new Date(at), holder: owner };
    }
    if (decoded.kind === 'newer') {
      throw new TributaryError('newerStore', `${path} was made by a newer Tributary; update this one`);
    }
    try {
      const { ino, mtimeMs, mtime } = await stat(path);
      return { nonce: `unread-${ino}-${Math.trunc(mtimeMs)}`, at: mtime };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw fileError('read', path, error);
    }
  }

  async isLive(seen: SeenLock): Promise<boolean> {
    const now = this.deps.clock.now().getTime();
    if (seen.holder === undefined) return now - seen.at.getTime() <= unreadableMs;
    const key = seen.nonce;
    if (performance.now() < (this.aliveUntil.get(key) ?? 0)) return true;
    if (this.aliveUntil.size > 100) this.aliveUntil.clear();
    const isAlive = await this.deps.owners.isHolderAlive(seen.holder, seen.at);
    if (isAlive) this.aliveUntil.set(key, performance.now() + lookAgainMs);
    return isAlive;
  }

  /** `false`: another live process is removing it at this moment. */
  private async removeDead(path: string, dead: SeenLock): Promise<boolean> {
    const claimPath = claimPathOf(path, dead.nonce);
    const claim = await this.tryTake(claimPath);
    if (claim.kind === 'held') return false;
    try {
      const now = await this.look(path);
      if (now?.nonce === dead.nonce) await this.remove(path);
    } finally {
      await this.release(claimPath, claim.nonce);
    }
    return true;
  }

  private async remove(path: string): Promise<void> {
    try {
      await this.deps.ops.unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw fileError('remove', path, error);
    }
  }
}

/** Claims of claims stand beside each other, so that names stay short: a nonce is enough to tell them apart. */
function claimPathOf(path: string, nonce: string): string {
  return `${path.replace(/\.lock\.[^/\\]*$/, '.lock')}.${nonce}.claim`;
}

/** A file name for any lock name, different for different names also where case does not count. */
export function encodeLockName(name: string): string {
  const encoded = Array.from(Buffer.from(name, 'utf8'), (byte) => {
    const char = String.fromCharCode(byte);
    return /[a-z0-9-]/.test(char) ? char : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
  if (encoded.length <= 80) return encoded;
  return `${encoded.slice(0, 60)}~${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
