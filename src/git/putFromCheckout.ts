import { nameDiffOf } from './parsers/diffTree';
import { splitPaths } from './parsers/pathBytes';
import type { Git } from './plumbing';
import { type TemporaryIndex, withTemporaryIndex } from './temporaryIndex';
import type { HookFailure } from './userHooks';

/**
 * Files of a change from `head` to `tree` in whose place a hook left, in `left`, what stands in the working tree: the
 * change is not there yet, so that a hook which adds files again would undo it unseen.
 */
export async function putFromCheckout(
  git: Git,
  index: TemporaryIndex,
  { head, tree, left }: { head: string; tree: string; left: string },
): Promise<readonly string[]> {
  if (left === tree) return [];
  const change = new Set(await differing(index, head, tree));
  const replaced = (await differing(index, tree, left)).filter((path) => change.has(path));
  if (replaced.length === 0) return [];
  const { checkout, file } = index;
  return withTemporaryIndex({ git, checkout, from: file }, async (standing) => {
    await standing.record(replaced);
    const others = new Set(await differing(standing, left, await standing.writeTree()));
    return replaced.filter((path) => !others.has(path));
  });
}

const shown = 10;

/** What the user is told of it. */
export function putFailure(paths: readonly string[]): HookFailure {
  const more = paths.length > shown ? [`and ${paths.length - shown} more`] : [];
  const names = [...paths.slice(0, shown), ...more].join('\n');
  const why = 'It put files of your working tree, where the change is not yet, in place of the change:';
  return { hook: 'pre-commit', exitCode: 0, output: `${why}\n${names}` };
}

async function differing(index: TemporaryIndex, from: string, to: string): Promise<string[]> {
  return splitPaths((await index.run({ args: nameDiffOf(from, to) })).stdout);
}
