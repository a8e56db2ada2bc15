import type { CommandFacts, ScriptChecker } from './guardScope';
import type { Argument } from './shellWords';

/** `hash -p /usr/bin/git g`, `ln -s /usr/bin/git g`: git under a name that nobody would look for. */
export async function checkOtherName(
  _walk: ScriptChecker,
  args: readonly Argument[],
): Promise<string | undefined> {
  const isGit = args.some(({ text, raw }) =>
    /^\/.*\/git$|^[`$].*\bgit[`)"]*$/.test(text ?? raw.replace(/^"/, '')),
  );
  return isGit ? 'git must not be given another name.' : undefined;
}

/** `set -- git stash`: the words that `"$@"` stands for from here on. */
export async function checkSet(
  _walk: ScriptChecker,
  args: readonly Argument[],
  { scope }: CommandFacts,
): Promise<string | undefined> {
  if (args.some((arg) => /\bgit\b/i.test(arg.text ?? arg.raw)))
    for (const name of ['@', '*', ...'0123456789']) scope.gitVariables.add(name);
  return undefined;
}

/** `source <(echo git stash)`: what is printed is run. */
export async function checkSource(
  _walk: ScriptChecker,
  [first]: readonly Argument[],
): Promise<string | undefined> {
  if (first === undefined || first.text !== undefined || !/\bgit\b/i.test(first.raw)) return undefined;
  return 'what is read there may be a git command that cannot be traced. Write git out.';
}
