import { spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of the names that PATH has, as a full path. */
export function onPath(...names) {
  const suffixes = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  for (const name of names)
    for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean))
      for (const suffix of suffixes) {
        const path = join(folder, name + suffix);
        if (isExecutable(path)) return path;
      }
  return undefined;
}

export function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Standard output of a short command, trimmed; undefined when it fails. */
export function outputOf(command, args) {
  const { status, stdout, error } = spawnSync(command, args, { encoding: 'utf8', timeout: 10_000 });
  return error || status !== 0 ? undefined : stdout.trim();
}
