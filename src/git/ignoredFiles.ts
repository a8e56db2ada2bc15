import { access } from 'node:fs/promises';
import { join } from 'node:path';
import picomatch from 'picomatch';
import { type Checkout, caseSettings, inCheckout, unlessMissing } from './checkouts';
import { joinPaths, splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';

/** The file that names what a new worktree gets; gitignore syntax, read by git itself. */
const includeFile = '.worktreeinclude';

interface Asking {
  readonly git: Git;
  readonly checkout: Checkout;
  readonly signal: AbortSignal | undefined;
}

/**
 * What a worktree is to get of a checkout's ignored files: those that `.worktreeinclude` matches and git ignores,
 * or, without that file, those that one of `globs` matches. Folders that are wanted whole end with a slash.
 */
export async function wantedFiles(asking: Asking, globs: readonly string[]): Promise<readonly string[]> {
  const file = join(asking.checkout.workTree, includeFile);
  const hasFile = await access(file).then(() => true, unlessMissing);
  if (hasFile !== true) return globs.length === 0 ? [] : globbed(asking, globs);
  const found = await others(asking, ['--directory', `--exclude-from=${file}`]);
  const ignored = await ignoredAmong(asking, found);
  const whole = outermost([...ignored]);
  const isOpen = (path: string): boolean => path.endsWith('/') && !ignored.has(path);
  if (!found.some(isOpen)) return whole;
  // Folders that match whole and are not ignored whole: their files are asked about one by one.
  const folders = found.filter(isOpen);
  const each = (await others(asking, [`--exclude-from=${file}`])).filter((path) =>
    folders.some((folder) => path.startsWith(folder)),
  );
  return outermost([...whole, ...(await ignoredAmong(asking, each))]);
}

/**
 * Those of `paths` that git ignores there and does not track; a folder, which need not stand, ends with a slash.
 * Without the index tracked ones count too, and paths in what it calls a submodule can be asked about.
 */
export async function ignoredAmong(
  { git, checkout, signal, isIndexAsked = true }: Asking & { readonly isIndexAsked?: boolean },
  paths: readonly string[],
): Promise<ReadonlySet<string>> {
  if (paths.length === 0) return new Set();
  const { stdout } = await git({
    ...inCheckout(checkout),
    args: ['check-ignore', ...(isIndexAsked ? [] : ['--no-index']), '-z', '--stdin'],
    config: await caseSettings(checkout.workTree),
    // It refuses literal pathspecs; the leading `./` keeps a colon at the start from being magic.
    env: { ...inCheckout(checkout).env, GIT_LITERAL_PATHSPECS: '0' },
    input: joinPaths(paths.map((path) => `./${path}`)),
    okCodes: [0, 1],
    signal,
  });
  return new Set(splitPaths(stdout).map((path) => path.slice('./'.length)));
}

/** By the globs of an editor's setting; one that matches a folder means all that is in it. */
async function globbed(asking: Asking, globs: readonly string[]): Promise<string[]> {
  const isMatch = picomatch([...globs], { dot: true, nonegate: true });
  const ignored = await others(asking, ['--exclude-standard']);
  return ignored.filter((path) => withParents(path).some((one) => isMatch(one)));
}

async function others({ git, checkout, signal }: Asking, options: readonly string[]): Promise<string[]> {
  const { stdout } = await git({
    ...inCheckout(checkout),
    args: ['ls-files', '--others', '--ignored', '-z', ...options],
    config: await caseSettings(checkout.workTree),
    signal,
  });
  return splitPaths(stdout);
}

/** A path and the folders above it. */
function withParents(path: string): string[] {
  const parts = path.replace(/\/$/, '').split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Without what lies in a folder that is among them. */
function outermost(paths: readonly string[]): string[] {
  const folders = new Set(paths.filter((path) => path.endsWith('/')));
  return [...new Set(paths)].filter((path) =>
    withParents(path)
      .slice(0, -1)
      .every((parent) => !folders.has(`${parent}/`)),
  );
}
