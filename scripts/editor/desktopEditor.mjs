import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { root } from '../ensure.mjs';
import { cacheFolder } from './cache.mjs';
import { isExecutable, onPath } from './commands.mjs';

const downloadTimeoutMs = 8_000;

/** The editor's own program behind a `code` that is a starting script. Undefined when it is none of this machine. */
export function desktopEditorAt(path) {
  if (!isExecutable(path)) return undefined;
  const real = realpathSync(path);
  // In a terminal of a remote window `code` only sends requests to the window.
  if (real.includes('remote-cli')) return undefined;
  const folder = dirname(real);
  if (basename(folder) !== 'bin') return real;
  const candidates = [
    join(folder, '..', basename(real)),
    join(folder, '..', 'code'),
    ...['Electron', 'Code'].map((name) => join(folder, '..', '..', '..', 'MacOS', name)),
    join(folder, '..', 'Code.exe'),
  ];
  return candidates.find((candidate) => isExecutable(candidate));
}

export function desktopEditorOnPath() {
  const code = onPath('code', 'code-insiders', 'codium');
  return code === undefined ? undefined : desktopEditorAt(code);
}

/** A download made earlier: in the clone, where test-electron puts it by itself, or in the user's cache folder. */
export function cachedDownload() {
  for (const folder of [join(root, '.vscode-test'), downloadFolder()]) {
    if (!existsSync(folder)) continue;
    const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'is-complete')));
    const programs = names.flatMap((name) => programsIn(join(folder, name)));
    const found = programs.filter((path) => isExecutable(path)).at(-1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function programsIn(folder) {
  const app = join(folder, 'Visual Studio Code.app', 'Contents', 'MacOS');
  return [join(folder, 'code'), join(app, 'Electron'), join(app, 'Code'), join(folder, 'Code.exe')];
}

/** Downloads the editor into the user's cache folder. Throws soon where the update server is not reached. */
export async function downloadDesktopEditor() {
  const { downloadAndUnzipVSCode, SilentReporter } = await import('@vscode/test-electron');
  return await downloadAndUnzipVSCode({
    version: 'stable',
    cachePath: downloadFolder(),
    timeout: downloadTimeoutMs,
    reporter: new SilentReporter(),
  });
}

function downloadFolder() {
  return join(cacheFolder(), 'vscode');
}

/** How to start a desktop editor here: `[]` as it is, a command before it, or undefined: nothing can show it. */
export function displayFor(mayBeUnseen) {
  if (process.platform !== 'linux' || process.env.DISPLAY || process.env.WAYLAND_DISPLAY) return [];
  const xvfb = mayBeUnseen ? onPath('xvfb-run') : undefined;
  return xvfb === undefined ? undefined : [xvfb, '-a'];
}
