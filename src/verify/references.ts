import { posix } from 'node:path';
import type { Location } from '../model/verdict';

/** The tree that references are held against. */
export interface TreePaths {
  /** Every path of the tree, relative, with `/`. */
  readonly files: ReadonlySet<string>;
  /** Absolute path of the Worktree. */
  readonly root: string;
}

/** A place as somebody wrote it: the path is not yet held against the tree. */
export interface WrittenPlace {
  readonly path: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly column?: number;
  readonly endColumn?: number;
}

const shapes = [
  // path#L10, path#L10-L20, path#L10C3-L20C5
  /^(?<path>.+?)#L(?<line>\d+)(?:C(?<column>\d+))?(?:[-–]L?(?<endLine>\d+)(?:C(?<endColumn>\d+))?)?$/,
  // path(10), path(10,5), path(10-20)
  /^(?<path>.+?)\((?<line>\d+)(?:, ?(?<column>\d+))?(?:[-–](?<endLine>\d+))?\)$/,
  // path:10:5-8 means columns 5 to 8 when that cannot be lines, see `placeFrom`
  /^(?<path>.+?):L?(?<line>\d+)(?::(?<column>\d+))?(?:[-–]L?(?<endLine>\d+)(?::(?<endColumn>\d+))?)?$/,
] as const;

/** Reads `path:3`, `path:3:7`, `path:10-20`, `path#L3-L9`, `path(3,7)`; without a line, `undefined`. */
export function parsePlace(text: string): WrittenPlace | undefined {
  for (const shape of shapes) {
    const groups = shape.exec(text)?.groups;
    if (groups !== undefined) return placeFrom(groups);
  }
  return undefined;
}

function placeFrom(groups: Readonly<Record<string, string | undefined>>): WrittenPlace {
  const line = numberOf(groups['line']);
  const column = numberOf(groups['column']);
  const last = numberOf(groups['endLine']);
  const lastColumn = numberOf(groups['endColumn']);
  // `10:5-8`: line 8 before line 10 makes no range, so 8 is a column.
  const isColumnRange =
    column !== undefined && lastColumn === undefined && last !== undefined && last < (line ?? 0);
  const endColumn = isColumnRange ? last : lastColumn;
  return {
    path: groups['path'] ?? '',
    ...(line === undefined ? {} : { line }),
    ...(last === undefined || isColumnRange ? {} : { endLine: last }),
    ...(column === undefined ? {} : { column }),
    ...(endColumn === undefined ? {} : { endColumn }),
  };
}

/** More digits than any file has lines are no line number. */
function numberOf(digits: string | undefined): number | undefined {
  return digits === undefined || digits.length > 9 ? undefined : Number(digits);
}

/**
 * The path in the tree that a written path means, or `undefined`: a phantom, an ambiguous name, or a file
 * elsewhere is never put on another real file. A bare name counts when one file alone has it.
 */
export function resolvePath(written: string, tree: TreePaths): string | undefined {
  const exact = exactPath(written, tree);
  if (exact !== undefined) return exact;
  for (const relative of relativesOf(written, tree.root)) {
    const undiffed = withoutDiffPrefix(relative, tree.files);
    if (undiffed !== undefined) return undiffed;
  }
  return onlyFileNamed(written, tree.files);
}

/** The path in the tree that is written out whole, in any spelling: relative, absolute, Windows, a file URL. */
export function exactPath(written: string, tree: TreePaths): string | undefined {
  if (tree.files.has(written)) return written;
  return relativesOf(written, tree.root).find((relative) => tree.files.has(relative));
}

function relativesOf(written: string, root: string): string[] {
  return spellings(written).flatMap((spelling) => withinRoot(spelling, root) ?? []);
}

/** As written, with `/` for the backslashes of Windows, and with the escapes of a link undone. */
function spellings(written: string): string[] {
  const plain = written.replace(/^file:\/\/(?:localhost)?/, '');
  const slashed = plain.replaceAll('\\', '/').replace(/^\/(?=[A-Za-z]:\/)/, '');
  return [...new Set([plain, slashed, decoded(slashed)])];
}

function decoded(text: string): string {
  if (!/%[0-9a-f]{2}/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    // Not an escape after all: a per cent sign may stand in a file name.
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** Relative to the root, normalised; `undefined` for a place outside it. */
function withinRoot(path: string, root: string): string | undefined {
  const isWindows = /^[A-Za-z]:[\\/]/.test(root);
  const base = (isWindows ? root.replaceAll('\\', '/') : root).replace(/\/+$/, '');
  if (/^(?:\/|[A-Za-z]:\/)/.test(path)) {
    const normal = posix.normalize(path);
    // The drives of Windows tell no capitals apart.
    const isInside = isWindows
      ? normal.toLowerCase().startsWith(`${base.toLowerCase()}/`)
      : normal.startsWith(`${base}/`);
    return isInside ? normal.slice(base.length + 1) : undefined;
  }
  const normal = posix.normalize(path);
  return normal === '..' || normal.startsWith('../') ? undefined : normal;
}

/**
 * Takes off the `a/` or `b/` of a diff, only when the rest is a real file and the whole is not. Where the
 * folder that the whole names is real, the file may be a missing one of that folder: not guessed.
 */
function withoutDiffPrefix(path: string, files: ReadonlySet<string>): string | undefined {
  const rest = /^[ab]\/(.+)$/.exec(path)?.[1];
  if (rest === undefined || !files.has(rest)) return undefined;
  const folder = `${posix.dirname(path)}/`;
  for (const file of files) if (file.startsWith(folder)) return undefined;
  return rest;
}

function onlyFileNamed(name: string, files: ReadonlySet<string>): string | undefined {
  if (name === '' || /[\\/]/.test(name)) return undefined;
  let found: string | undefined;
  for (const file of files) {
    if (posix.basename(file) !== name) continue;
    if (found !== undefined) return undefined;
    found = file;
  }
  return found;
}

/** A Location in the tree; a line before the first counts as the first, an end before its start is dropped. */
export function locate(place: WrittenPlace, tree: TreePaths): Location | undefined {
  const path = resolvePath(place.path, tree);
  if (path === undefined) return undefined;
  const line = Math.max(1, place.line ?? 1);
  const endLine = place.endLine !== undefined && place.endLine > line ? place.endLine : undefined;
  const column = place.column !== undefined && place.column > 0 ? place.column : undefined;
  const endColumn =
    column !== undefined &&
    place.endColumn !== undefined &&
    (endLine !== undefined || place.endColumn > column)
      ? place.endColumn
      : undefined;
  return {
    path,
    line,
    ...(endLine === undefined ? {} : { endLine }),
    ...(column === undefined ? {} : { column }),
    ...(endColumn === undefined || endColumn < 1 ? {} : { endColumn }),
  };
}
