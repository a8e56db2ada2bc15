import { chmod, cp, lstat, mkdir, readdir, readlink, rename, rm, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../base/errors';
import { ancestorsOf, hashOf, isTemporaryName, temporaryName } from './checkoutFiles';
import { unlessMissing } from './checkouts';
import { decodePath, fileAt } from './parsers/pathBytes';

/**
 * The folder that receives what is set aside, for one removal: files of one folder that find their place taken go
 * to one and the same numbered folder, which was nobody's before.
 */
export class AsideFolder {
  readonly directory: string;
  /** By first part of a path: the numbered name its newcomers go to. */
  private readonly numbered = new Map<string, string>();

  constructor(directory: string) {
    this.directory = directory;
  }

  /**
   * Moves `path` from below `root` to the same place here. What stands there already is never overwritten: the
   * newcomer's first folder gets a number. Nothing at `path` is no error.
   */
  async take(root: string, path: string): Promise<void> {
    const from = fileAt(root, path);
    if ((await lstat(from).catch(unlessMissing)) === undefined) return;
    const free = await this.placeFor(root, path);
    await mkdir(folderOf(this.directory, free), { recursive: true });
    await moveWhole(from, fileAt(this.directory, free));
  }

  private async placeFor(root: string, path: string): Promise<string> {
    if (await isFree(this.directory, path)) return path;
    const [first = '', ...rest] = path.split('/');
    const chosen = this.numbered.get(first);
    const known = chosen === undefined ? undefined : [chosen, ...rest].join('/');
    if (known !== undefined && (await isFree(this.directory, known))) return known;
    for (let number = 2; ; number += 1) {
      const name = `${first}.${number}`;
      // Neither here nor in the worktree may something be called so: it would be mixed with what is not its.
      const isNobodys = (await isFree(this.directory, name)) && (await isFree(root, name));
      if (!isNobodys) continue;
      this.numbered.set(first, name);
      return [name, ...rest].join('/');
    }
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
  for (const name of names.filter((one) => !isTemporaryName(one))) {
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

/** Whether nothing stands at `path` below `root`, and no file where one of its folders must be. */
async function isFree(root: string, path: string): Promise<boolean> {
  if ((await lstat(fileAt(root, path)).catch(unlessMissing)) !== undefined) return false;
  for (const ancestor of ancestorsOf(path)) {
    const stats = await lstat(fileAt(root, ancestor)).catch(unlessMissing);
    if (stats !== undefined && !stats.isDirectory()) return false;
  }
  return true;
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
