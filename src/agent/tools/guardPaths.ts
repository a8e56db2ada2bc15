import { realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { copyOf, type GuardPlaces, type ScriptChecker, type ShellScope } from './guardScope';
import { isInside } from './paths';
import type { Argument } from './shellWords';

/** Where a word leads as a folder: inside, to a place outside, or nowhere that can be told. */
export type Destination =
  | { readonly kind: 'inside'; readonly path: string }
  | { readonly kind: 'outside'; readonly path: string }
  | { readonly kind: 'unknown' };

/** Follows `word`, links and all, from `from`. */
export async function destinationOf(
  word: Argument | undefined,
  from: string | undefined,
  places: GuardPlaces,
): Promise<Destination> {
  if (word?.text === undefined) return rootBySubstitution(word, places);
  let text = word.text;
  if (word.isTildeLive) {
    const home = places.env['HOME'];
    if (home === undefined || !/^~(\/|$)/.test(text)) return { kind: 'unknown' };
    text = home + text.slice(1);
  }
  if (!isAbsolute(text) && from === undefined) return { kind: 'unknown' };
  const real = await realFolder(resolve(from ?? places.root, text));
  return isAllowed(real, places) ? { kind: 'inside', path: real } : { kind: 'outside', path: real };
}

/** `cd "$(git rev-parse --show-toplevel)"` is common and leads to the root. */
function rootBySubstitution(word: Argument | undefined, places: GuardPlaces): Destination {
  const isRoot = /^"?(\$\(|`)\s*git rev-parse --show-toplevel\s*(\)|`)"?$/.test(word?.raw ?? '');
  return isRoot ? { kind: 'inside', path: places.root } : { kind: 'unknown' };
}

/** The Worktree, and the scratch folder of a Run unless git there would find the user's repository. */
function isAllowed(real: string, places: GuardPlaces): boolean {
  if (isInside(real, places.root)) return true;
  const scratch = places.env['TRIBUTARY_SCRATCH'];
  if (!scratch || !isInside(real, scratch)) return false;
  const { mainCheckout, commonDir } = places;
  return !isInside(scratch, commonDir) && !(mainCheckout !== undefined && isInside(scratch, mainCheckout));
}

/** `absolute` without links; what does not exist yet keeps its name. */
export async function realFolder(absolute: string): Promise<string> {
  try {
    return await realpath(absolute);
  } catch {
    // What does not exist resolves through the folder it would be in.
    const parent = dirname(absolute);
    return parent === absolute ? absolute : join(await realFolder(parent), basename(absolute));
  }
}

/** Says why when a word names a place in the user's checkout or in the repository's own folder. */
export async function foreignPathRefusal(
  words: readonly Argument[],
  scope: ShellScope,
  places: GuardPlaces,
): Promise<string | undefined> {
  const { mainCheckout } = places;
  if (mainCheckout === undefined) return undefined;
  for (const { text, raw } of words) {
    for (const path of pathsWithin(text ?? raw.replace(/["']/g, ''))) {
      if (!isAbsolute(path) && scope.cwd === undefined) continue;
      // By its name alone: a link inside the Worktree, such as node_modules, is the user's own wish.
      const named = resolve(scope.cwd ?? places.root, path);
      if (isInside(named, places.root) || isInside(places.root, named)) continue;
      if (isInside(named, places.commonDir))
        return `${path} belongs to git itself. Use git commands instead.`;
      if (isInside(named, mainCheckout)) {
        const same = relative(mainCheckout, named).split(sep).join('/') || '.';
        return `${path} is in the user's checkout. This Run works in its own Worktree: use ${same} instead.`;
      }
    }
  }
  return undefined;
}

/** The paths in a word that can lead outside: absolute ones, and such with `..`, also behind an option's `=`. */
function pathsWithin(word: string): string[] {
  const candidates = [word, word.slice(word.indexOf('=') + 1), word.replace(/^-[A-Za-z]/, '')];
  return [...new Set(candidates)].filter((path) => isAbsolute(path) || path.split('/').includes('..'));
}

const harmlessGit =
  /^GIT_(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$|^GIT_(TERMINAL_PROMPT|MERGE_AUTOEDIT|OPTIONAL_LOCKS|ADVICE|FLUSH|PROGRESS_DELAY|LITERAL_PATHSPECS|ICASE_PATHSPECS|TRACE[A-Z0-9_]*)$/;
const placeGit = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|CEILING_DIRECTORIES)$/;
const commandGit = /^(GIT_EDITOR|GIT_SEQUENCE_EDITOR|GIT_PAGER|EDITOR|VISUAL|PAGER|PROMPT_COMMAND)$/;

/** Why a variable may not be set so. */
export async function assignmentRefusal(
  walk: ScriptChecker,
  { name, value }: { name: string; value: string | undefined },
  scope: ShellScope,
): Promise<string | undefined> {
  const upper = name.toUpperCase();
  if (upper === 'PWD') return 'PWD is set by the shell. Use another name.';
  if (upper === 'CDPATH') return 'CDPATH makes cd untraceable. Give cd the whole path.';
  // The shell itself expands these.
  if (/^PS[0-4]$/.test(upper) && /[`(]/.test(value ?? ''))
    return walk.script(`echo "${value}"`, copyOf(scope));
  if (/^GIT_(SEQUENCE_)?EDITOR$/.test(upper) && /update-ref|\brefs\//.test(value ?? ''))
    return `${name} must not write refs into a rebase: they may be branches of others. Leave it out.`;
  if (commandGit.test(upper) && value !== undefined) return walk.script(value, copyOf(scope));
  if (upper === 'GIT_PAGER') return undefined;
  if (!upper.startsWith('GIT_') || harmlessGit.test(upper)) return undefined;
  if (!placeGit.test(upper))
    return `${name} must not be set: it changes what git runs or reads. Leave it out.`;
  const word = value === undefined ? undefined : { text: value, raw: value, isTildeLive: false };
  const destination = await destinationOf(word, scope.cwd, walk.places);
  if (destination.kind === 'inside') return undefined;
  const where = destination.kind === 'outside' ? `leads to ${destination.path}` : 'cannot be traced';
  return `${name} ${where}, and git must stay in the Worktree. Leave it out.`;
}
