// Needs no package: what `npm start` and `npm test` call first in a fresh clone.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const lockPath = join(root, 'out', 'installing.pid');

/** Runs `npm ci` unless `node_modules` holds what the lock file asks for. Two at once: one waits. */
export function ensureDependencies() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    console.error(`Tributary needs Node 20.19 or newer to build; this is ${process.versions.node}.`);
    process.exit(1);
  }
  if (isInstalled()) return;
  takeLock();
  try {
    if (!isInstalled()) install();
  } finally {
    rmSync(lockPath, { force: true });
  }
}

/** npm writes down what it installed, last of all, as a lock file of its own inside `node_modules`. */
function isInstalled() {
  const [asked, installed] = [
    join(root, 'package-lock.json'),
    join(root, 'node_modules', '.package-lock.json'),
  ].map((path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : {}));
  // Optional ones are there or not by platform.
  const needed = Object.entries(asked).filter(([path, entry]) => path !== '' && !entry.optional);
  return needed.every(
    ([path, entry]) =>
      installed[path]?.version === entry.version && existsSync(join(root, path, 'package.json')),
  );
}

function install() {
  console.log('Installing packages (npm ci)...');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const result = spawnSync(npm, ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    rmSync(lockPath, { force: true });
    console.error(
      'npm ci failed; its output above says why. Check the network and the npm registry setting, then run again.',
    );
    process.exit(1);
  }
}

/** `npm ci` starts by deleting `node_modules`: one at a time in a clone. */
function takeLock() {
  mkdirSync(dirname(lockPath), { recursive: true });
  let isSaid = false;
  for (;;) {
    try {
      writeFileSync(lockPath, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isOwnerAlive()) {
      rmSync(lockPath, { force: true });
      continue;
    }
    if (!isSaid) console.log('Waiting for another process that installs packages here...');
    isSaid = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
}

function isOwnerAlive() {
  try {
    const owner = Number(readFileSync(lockPath, 'utf8'));
    // An empty file: its owner is about to write.
    if (owner === 0) return true;
    process.kill(owner, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
