import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type CommandResult, runCommand } from '../../process/runCommand';
import type { ToolCall, ToolContext } from './tool';

/** Enough for the names of some hundred thousand files. */
const maxListBytes = 64 * 1024 * 1024;
const timeoutMs = 60_000;

/** What a search was done with; the fallback is named in the answer. */
export type Searcher = 'ripgrep' | 'git';

export const fallbackNote = '(ripgrep was not found: searched with git grep)';

/** Runs a search program of ours in the root; both are told to ignore the configuration they could load. */
export async function runSearch(
  searcher: Searcher,
  args: readonly string[],
  { context, call, cwd }: { context: ToolContext; call: ToolCall; cwd: string },
): Promise<CommandResult> {
  const isRipgrep = searcher === 'ripgrep';
  const safe = isRipgrep
    ? ['--no-config', '--no-messages', '--color=never', '--hidden']
    : ['--no-pager', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'color.ui=false'];
  return runCommand({
    command: {
      kind: 'args',
      file: isRipgrep ? context.ripgrepPath : 'git',
      args: [...safe, ...args],
    },
    cwd,
    env: { ...context.commandEnv, GIT_OPTIONAL_LOCKS: '0' },
    timeoutMs,
    signal: call.signal,
    maxOutputBytes: maxListBytes,
  });
}

/** Relative paths of the files below `cwd` that git does not ignore, and who listed them. */
export async function listFiles(
  context: ToolContext,
  call: ToolCall,
  cwd: string,
): Promise<{ files: string[]; searcher: Searcher } | { error: string }> {
  if (context.ripgrepPath !== '') {
    const args = ['--files', '--null', '--glob=!.git'];
    const listed = await runSearch('ripgrep', args, { context, call, cwd });
    // 1: no file at all; 2 with output: some folder could not be read.
    if (listed.reason === 'exited') return { files: pathsIn(listed.stdout), searcher: 'ripgrep' };
    if (listed.reason !== 'notStarted') return { error: `the search was ended: ${listed.reason}` };
  }
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const listed = await runSearch('git', args, { context, call, cwd });
  if (listed.reason === 'exited' && listed.exitCode === 0) {
    return { files: [...new Set(pathsIn(listed.stdout))], searcher: 'git' };
  }
  return { error: listed.stderr.toString('utf8').trim() || `the search was ended: ${listed.reason}` };
}

/** Newest first, then by name; what is gone meanwhile is left out. */
export async function newestFirst(folder: string, paths: readonly string[]): Promise<string[]> {
  const timed = await Promise.all(
    paths.map(async (path) => {
      const stats = await stat(join(folder, path)).catch(() => undefined);
      return stats?.isFile() ? { path, mtimeMs: stats.mtimeMs } : undefined;
    }),
  );
  return timed
    .filter((entry) => entry !== undefined)
    .sort((left, right) => right.mtimeMs - left.mtimeMs || (left.path < right.path ? -1 : 1))
    .map((entry) => entry.path);
}

export function pathsIn(bytes: Buffer): string[] {
  return bytes
    .toString('utf8')
    .split('\0')
    .filter((path) => path !== '');
}
