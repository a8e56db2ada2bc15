import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { errnoOf, messageOf } from '../../base/errors';
import type { ToolContext } from './tool';

export type PathRules = Pick<ToolContext, 'root' | 'mainCheckout' | 'commonDir' | 'outDirectory'>;

export type ResolvedPath =
  | {
      readonly kind: 'inside';
      /** Real: no link is left in it, but for parts that do not exist yet. */
      readonly absolute: string;
      /** From the root, with `/`; of a file in the out folder, its absolute path. */
      readonly shown: string;
      readonly exists: boolean;
    }
  | { readonly kind: 'refused'; readonly message: string };

const maxPathLength = 4_096;

/**
 * Resolves a path that a model named, links and all, and refuses what leaves the root. Only `outDirectory`
 * outside of it may be read. Whatever is opened afterwards is the real path given back, never the name.
 */
export async function resolveInside(
  path: string,
  rules: PathRules,
  purpose: 'read' | 'write',
): Promise<ResolvedPath> {
  const bad = badName(path);
  if (bad) return refused(`${shorten(path)}: ${bad}`);
  const lexical = resolve(rules.root, path);
  const real = await realOf(lexical);
  if (typeof real !== 'object') return refused(`${path}: ${real}`);
  if (isInside(real.path, rules.outDirectory) && purpose === 'read') {
    return { kind: 'inside', absolute: real.path, shown: real.path, exists: real.exists };
  }
  if (isInside(real.path, rules.root)) return withinRoot(path, { lexical, real, rules, purpose });
  return refused(outsideReason(path, real.path, rules));
}

/** True when `path` is `folder` or below it. Both absolute and real. */
export function isInside(path: string, folder: string): boolean {
  const between = relative(folder, path);
  return between === '' || (between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between));
}

/**
 * True for a name that some file system takes for `.git`: other case, dots or blanks at the end, an NTFS
 * short name or stream, characters that HFS+ ignores.
 */
export function isGitAdminName(name: string): boolean {
  const folded = name
    .normalize('NFC')
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .toLowerCase()
    .replace(/[. ]*(:.*)?$/s, '');
  return folded === '.git' || /^git~\d+$/.test(folded);
}

/** Opens for reading without following a link that took the file's place; refuses what is no plain file. */
export async function openForReading(
  absolute: string,
): Promise<{ kind: 'opened'; handle: FileHandle } | { kind: 'refused'; message: string }> {
  let handle: FileHandle | undefined;
  try {
    // Not blocking: a pipe without a writer would wait for ever.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
    handle = await open(absolute, flags);
    const [stats, now] = [await handle.stat(), await realpath(absolute)];
    if (stats.isFile() && now === absolute) return { kind: 'opened', handle };
    await handle.close();
    return refused(stats.isFile() ? 'the path was changed while it was opened' : 'not a plain file');
  } catch (error) {
    await handle?.close();
    return refused(readableReason(error));
  }
}

/** A file error in plain words. */
export function readableReason(error: unknown): string {
  switch (errnoOf(error)) {
    case 'ENOENT':
      return 'no such file';
    case 'EACCES':
    case 'EPERM':
      return 'no permission';
    case 'ELOOP':
      return 'a symbolic link stands there';
    case 'ENAMETOOLONG':
      return 'the name is too long';
    case 'ENOTDIR':
      return 'a part of the path is a file, not a folder';
    case 'EISDIR':
      return 'this is a folder';
    case 'ENOSPC':
      return 'the disk is full';
    case 'EROFS':
      return 'the file system is read-only';
    default:
      return messageOf(error);
  }
}

function refused(message: string): { readonly kind: 'refused'; readonly message: string } {
  return { kind: 'refused', message };
}

function badName(path: string): string | undefined {
  if (path === '') return 'the path is empty';
  if (path.includes('\0')) return 'the path holds a NUL character';
  return path.length > maxPathLength ? 'the path is too long' : undefined;
}

function withinRoot(
  path: string,
  found: {
    lexical: string;
    real: { path: string; exists: boolean };
    rules: PathRules;
    purpose: 'read' | 'write';
  },
): ResolvedPath {
  const { lexical, real, rules, purpose } = found;
  const inRoot = relative(rules.root, real.path);
  const named = [...inRoot.split(/[\\/]/), ...relative(rules.root, lexical).split(/[\\/]/)];
  if (purpose === 'write' && named.some(isGitAdminName)) {
    return refused(`${path}: git's own files are not writable. Use git commands through Bash.`);
  }
  if (purpose === 'read' && isInside(real.path, join(rules.commonDir, 'tributary'))) {
    return refused(`${path}: the records of Tasks and Runs are not readable.`);
  }
  return {
    kind: 'inside',
    absolute: real.path,
    shown: inRoot.split(sep).join('/') || '.',
    exists: real.exists,
  };
}

function outsideReason(path: string, real: string, rules: PathRules): string {
  const { mainCheckout, root } = rules;
  if (mainCheckout !== undefined && isInside(real, mainCheckout)) {
    const same = relative(mainCheckout, real).split(sep).join('/') || '.';
    return `${path} is in the user's checkout. This Run works in its own Worktree, whose files may differ: use ${same} (that is ${join(root, same)}) instead.`;
  }
  const via = real === resolve(root, path) ? '' : ` (it leads to ${real})`;
  return `${path} is outside the Worktree ${root}${via}. Only files inside it can be used.`;
}

/** The real path; of what does not exist, the real path of its deepest existing folder and the rest. */
async function realOf(absolute: string): Promise<{ path: string; exists: boolean } | string> {
  try {
    return { path: await realpath(absolute), exists: true };
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') {
      return errnoOf(error) === 'ELOOP' ? 'its symbolic links lead in a circle' : readableReason(error);
    }
  }
  // A link whose target is missing: writing through it would create the target, wherever that is.
  const isLink = await lstat(absolute).then(
    () => true,
    () => false,
  );
  if (isLink) return 'a symbolic link in it leads to nothing';
  const parent = dirname(absolute);
  if (parent === absolute) return 'no such file';
  const above = await realOf(parent);
  return typeof above === 'string' ? above : { path: join(above.path, basename(absolute)), exists: false };
}

function shorten(path: string): string {
  return path.length > 120 ? `${path.slice(0, 120)}...` : path.replaceAll('\0', '\\0');
}
