import { randomBytes } from 'node:crypto';
import { chmod, cp, lstat, mkdir, readdir, readlink, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SerialQueue } from '../base/async';
import { errnoOf } from '../base/errors';
import { ancestorsOf, hashOf, isTemporaryName, temporaryName } from './checkoutFiles';
import { unlessMissing } from './checkouts';
import { decodePath, fileAt } from './parsers/pathBytes';

/** How a folder is called that holds what was set aside earlier and had to give way to something newer. */
const earlierName = /^\.tributary-earlier-[0-9a-f]{16}$/;

/**
 * The folder that receives what is set aside, for one removal. What is newest has the place it came from, and is what
 * comes back; what was there before it is kept beside, and never takes another name among the files of a worktree.
 */
export class AsideFolder {
  readonly directory: string;
  private readonly queue = new SerialQueue();

  constructor(directory: string) {
    this.directory = directory;
  }

  /** Moves `path` from below `root` to the same place here. Nothing is written over; nothing at `path` is no error. */
  take(root: string, path: string): Promise<void> {
    return this.queue.run(async () => {
      const from = fileAt(root, path);
      if ((await lstat(from).catch(unlessMissing)) === undefined) return;
      const taken = await takenBy(this.directory, path);
      if (taken !== undefined) await this.setBack(taken);
      await this.move(from, path);
    });
  }

  /** One folder each time: whatever is set back finds its place free. */
  private setBack(path: string): Promise<void> {
    const earlier = `.tributary-earlier-${randomBytes(8).toString('hex')}`;
    return this.move(fileAt(this.directory, path), `${earlier}/${path}`);
  }

  private async move(from: string | Buffer, to: string): Promise<void> {
    await mkdir(folderOf(this.directory, to), { recursive: true });
    await moveWhole(from, fileAt(this.directory, to));
  }
}

/**
 * Moves everything below `root` to the same places below `target`, where nothing stands in the way. Folders that
 * exist on both sides are merged, and a file or link that is the same on both is dropped here. What differs stays.
 */
export async function moveBack(root: string, target: string, except: readonly string[] = []): Promise<void> {
  const names = (await namesIn(root, '')).filter((name) => !except.includes(name));
  await moveNames(root, target, { path: '', names });
}

/** One level of `moveBack`. */
async function moveNames(
  root: string,
  target: string,
  { path, names }: { path: string; names: readonly string[] },
): Promise<void> {
  for (const name of names.filter((one) => !isTemporaryName(one) && !earlierName.test(one))) {
    const inner = path === '' ? name : `${path}/${name}`;
    const [from, to] = [fileAt(root, inner), fileAt(target, inner)];
    const standing = await lstat(to).catch(unlessMissing);
    if (standing === undefined) await moveWhole(from, to);
    else if (standing.isDirectory() && (await lstat(from)).isDirectory()) {
      await moveNames(root, target, { path: inner, names: await namesIn(root, inner) });
    } else if (await isSame(root, target, inner)) await dropSame(from, to);
  }
  await removeIfEmpty(path === '' ? root : fileAt(root, path));
}

/** Whether a file (its bytes, and whether it may be executed) or link is the same below both. */
async function isSame(root: string, target: string, path: string): Promise<boolean> {
  const stats = await Promise.all([lstat(fileAt(root, path)), lstat(fileAt(target, path))]);
  const [one, other] = stats;
  if (one.isSymbolicLink() && other.isSymbolicLink()) {
    const links = [fileAt(root, path), fileAt(target, path)];
    const [a, b] = await Promise.all(links.map((link) => readlink(link, { encoding: 'buffer' })));
    return a !== undefined && b !== undefined && a.equals(b);
  }
  if (!stats.every((each) => each.isFile()) || one.size !== other.size) return false;
  if (((one.mode ^ other.mode) & 0o100) !== 0) return false;
  const [a, b] = await Promise.all([hashOf(fileAt(root, path)), hashOf(fileAt(target, path))]);
  return a === b;
}

/** The one that was moved away keeps the rights its owner gave it; a Snapshot knows only of one bit. */
async function dropSame(from: string | Buffer, to: string | Buffer): Promise<void> {
  const stats = await lstat(from);
  if (stats.isFile()) await chmod(to, stats.mode & 0o777);
  await unlink(from);
}

/** A rename; across file systems a whole copy first, and the original goes last. */
async function moveWhole(from: string | Buffer, to: string | Buffer): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error;
    // Under a name of its own until it is whole: what a killed copy leaves is never brought back.
    const part = join(dirname(String(to)), temporaryName());
    // `cp` takes no bytes: a name that is not UTF-8 cannot cross file systems and says so.
    await cp(String(from), part, {
      recursive: true,
      errorOnExist: true,
      force: false,
      preserveTimestamps: true,
      verbatimSymlinks: true,
      // It throws at pipes and sockets, which hold nothing.
      filter: async (source) => {
        const stats = await lstat(source);
        return stats.isFile() || stats.isDirectory() || stats.isSymbolicLink();
      },
    });
    await rename(part, to);
    await rm(from, { recursive: true });
  }
}

/** What stands at `path` below `root`, or as a file where one of its folders must be; `undefined`: its place is free. */
async function takenBy(root: string, path: string): Promise<string | undefined> {
  for (const ancestor of ancestorsOf(path).reverse()) {
    const stats = await lstat(fileAt(root, ancestor)).catch(unlessMissing);
    if (stats === undefined) return undefined;
    if (!stats.isDirectory()) return ancestor;
  }
  return (await lstat(fileAt(root, path)).catch(unlessMissing)) === undefined ? undefined : path;
}

function folderOf(root: string, path: string): string | Buffer {
  const folder = dirname(path);
  return folder === '.' ? root : fileAt(root, folder);
}

async function namesIn(root: string, path: string): Promise<string[]> {
  const folder = path === '' ? root : fileAt(root, path);
  const names = (await readdir(folder, { encoding: 'buffer' }).catch(unlessMissing)) ?? [];
  return names.map(decodePath);
}

async function removeIfEmpty(folder: string | Buffer): Promise<void> {
  if ((await readdir(folder).catch(unlessMissing))?.length === 0) {
    await rm(folder, { recursive: true });
  }
}
