import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where downloads live that every clone of this user shares. `TRIBUTARY_CACHE` names another folder. */
export function cacheFolder() {
  const base =
    process.env.TRIBUTARY_CACHE || process.env.XDG_CACHE_HOME || defaultCacheFolder(process.platform);
  return join(base, 'tributary');
}

function defaultCacheFolder(platform) {
  if (platform === 'win32') return process.env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local');
  return platform === 'darwin' ? join(homedir(), 'Library', 'Caches') : join(homedir(), '.cache');
}
