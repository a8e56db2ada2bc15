import picomatch from 'picomatch';

/** `s`: a name may hold a line break. */
export const globOptions = { dot: true, nonegate: true, flags: 's' } as const;

/**
 * Why a path (from the root, with `/`) may not be written under the Task's scope; `undefined` when it may.
 * A folder in the scope stands for everything below it.
 */
export function outOfScopeReason(path: string, scope: readonly string[]): string | undefined {
  const globs = scope.flatMap((glob) => {
    const plain = glob.replace(/^\.\//, '').replace(/\/+$/, '');
    return [plain, `${plain}/**`];
  });
  if (globs.some((glob) => picomatch.isMatch(path, glob, globOptions))) return undefined;
  return `it is outside the scope of this Task (${scope.join(', ')}). Leave it as it is, and name under BLOCKERS what would have to change there.`;
}
