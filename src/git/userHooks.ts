import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UserGit } from './userGit';

/** A hook of the user that said no. */
export interface HookFailure {
  readonly hook: string;
  readonly exitCode: number | null;
  /** The end of what it printed. */
  readonly output: string;
}

/** Where hooks run: the top of the user's checkout, on a private index. */
export interface HookPlace {
  readonly git: UserGit;
  readonly cwd: string;
  readonly index: string;
  /** Ends the hook; it has failed then. */
  readonly signal?: AbortSignal | undefined;
}

const longestHookMs = 600_000;
const keptOutput = 4_000;

/** Runs a hook of the user if there is one. `undefined`: it let the commit pass, or there is none. */
export async function runHook(
  { git, cwd, index, signal }: HookPlace,
  hook: string,
  args: readonly string[] = [],
): Promise<HookFailure | undefined> {
  const result = await git({
    cwd,
    args: ['hook', 'run', '--ignore-missing', hook, ...(args.length === 0 ? [] : ['--', ...args])],
    env: { GIT_INDEX_FILE: index },
    timeoutMs: longestHookMs,
    signal,
  });
  if (result.reason === 'exited' && result.exitCode === 0) return undefined;
  const late = result.reason === 'timeout' ? `It took longer than ${longestHookMs / 60_000} minutes.\n` : '';
  return { hook, exitCode: result.exitCode, output: `${late}${result.output.trimEnd().slice(-keptOutput)}` };
}

/** The message as the user's `prepare-commit-msg` and `commit-msg` leave it; `kind` is what git calls its source. */
export async function messageByHooks(
  place: HookPlace,
  message: string,
  kind: 'message' | 'merge',
): Promise<{ readonly message: string } | HookFailure> {
  const folder = await mkdtemp(join(tmpdir(), 'tributary-message-'));
  try {
    const file = join(folder, 'COMMIT_EDITMSG');
    await writeFile(file, await tidied(place, message));
    const refused =
      (await runHook(place, 'prepare-commit-msg', [file, kind])) ??
      (await runHook(place, 'commit-msg', [file]));
    if (refused !== undefined) return refused;
    const left = await tidied(place, await readFile(file, 'utf8'));
    if (left !== '') return { message: left };
    return { hook: 'commit-msg', exitCode: 0, output: 'The message of the commit is empty.' };
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** As git tidies the message of a commit that nobody edits. */
async function tidied({ git, cwd }: HookPlace, message: string): Promise<string> {
  const result = await git({ cwd, args: ['stripspace'], input: message });
  return result.stdout.toString('utf8');
}
