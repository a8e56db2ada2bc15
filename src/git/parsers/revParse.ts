import { decodePath } from './pathBytes';

/** An option git does not know: `rev-parse` prints it as it is, so paths with newlines stay apart. */
export const revParseSeparator = '--tributary-separator';

/** The values between separators, each without the newline `rev-parse` ends it with. */
export function parseRevParse(output: Uint8Array): string[] {
  return decodePath(output)
    .split(`${revParseSeparator}\n`)
    .map((value) => value.replace(/\n$/, ''));
}

/** The version of `git version`, such as `2.39.5`; `undefined` if it says something else. */
export function parseGitVersion(output: string): string | undefined {
  return /^git version (\d+\.\d+(?:\.\d+)*)/.exec(output)?.[1];
}

/** Whether `version` is at least `minimum`, number by number. */
export function isAtLeast(version: string, minimum: string): boolean {
  const have = version.split('.').map(Number);
  const need = minimum.split('.').map(Number);
  for (const [index, part] of need.entries()) {
    const difference = (have[index] ?? 0) - part;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
