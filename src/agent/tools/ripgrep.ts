import { access, constants } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** The path of ripgrep: the given one, else from PATH, else the one that ships with us; empty when none is there. */
export async function findRipgrep(
  given: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const name = process.platform === 'win32' ? 'rg.exe' : 'rg';
  // Relative entries of PATH would be looked up in a Worktree, where agents write.
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
  const candidates = [...(given ? [given] : []), ...folders.map((folder) => join(folder, name))];
  for (const candidate of candidates) if (await isExecutable(candidate)) return candidate;
  const packaged = await packagedRipgrep();
  return packaged !== undefined && (await isExecutable(packaged)) ? packaged : '';
}

async function packagedRipgrep(): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    // Not installed, or not for this platform: there are other ways to search.
    return undefined;
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
