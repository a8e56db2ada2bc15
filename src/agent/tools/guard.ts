import type { GuardPlaces } from './guardScope';
import { GuardWalk } from './guardWalk';
import { loadShellParser } from './shellWords';

export type GuardAnswer =
  | { readonly kind: 'allowed' }
  /** What was refused, why, and what to do instead. */
  | { readonly kind: 'refused'; readonly message: string };

const maxCommandLength = 100_000;

/**
 * Reads a shell command and refuses git and `cd` that resolve outside the Worktree, git that touches what
 * worktrees share, and shapes of either that cannot be traced. What a script does inside is not seen here.
 */
export async function guardCommand(text: string, places: GuardPlaces): Promise<GuardAnswer> {
  if (text.includes('\0')) return refused('the command holds a NUL character.');
  if (text.length > maxCommandLength) return refused('the command is too long. Put it into a script file.');
  const parser = await loadShellParser();
  const reason = await new GuardWalk(parser, places).check(text);
  return reason === undefined ? { kind: 'allowed' } : refused(reason);
}

function refused(reason: string): GuardAnswer {
  return { kind: 'refused', message: `Refused: ${reason}` };
}
