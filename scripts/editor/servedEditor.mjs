// A complete editor out of an npm package: its server half, drawn in a browser. Installed once per user.
import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cacheFolder } from './cache.mjs';
import { onPath, outputOf } from './commands.mjs';

const release = '4.139.1';
const nodeMajor = 24;
/** Packages with parts to compile. Left alone, others would be built too, which nothing here uses. */
const nativePackages = ['@vscode/spdlog', 'node-pty', '@parcel/watcher', '@vscode/native-watchdog'];
const serverScript = join('out', 'server-main.js');
const nodeNames = process.platform === 'win32' ? ['node.exe'] : ['node'];

/** The folder this user's copy has, whether it is there or not. */
export function servedEditorFolder() {
  return join(cacheFolder(), `served-editor-${release}`);
}

/** This user's copy, when it is whole. */
export function installedServedEditor() {
  const folder = servedEditorFolder();
  return existsSync(join(folder, 'complete')) ? servedEditorIn(folder) : undefined;
}

/** A served editor in a folder that somebody names: the server itself, or a folder around it. */
export function servedEditorIn(folder) {
  const places = ['.', 'vscode', join('lib', 'vscode'), join('package', 'lib', 'vscode')];
  const server = places
    .map((place) => resolve(folder, place))
    .find((at) => existsSync(join(at, serverScript)));
  if (server === undefined) return undefined;
  const node = nodeNear(server);
  return node === undefined ? undefined : { kind: 'served', folder: server, node };
}

/** Its own Node stands in the server's folder or around it; else the running one, when it is new enough. */
function nodeNear(server) {
  const places = [
    '.',
    join('node_modules', 'node', 'bin'),
    join(`node${nodeMajor}`, 'node_modules', 'node', 'bin'),
  ];
  for (let at = server, up = 0; up < 5; at = dirname(at), up += 1)
    for (const place of places)
      for (const name of nodeNames) {
        const path = join(at, place, name);
        if (existsSync(path) && statSync(path).isFile()) return path;
      }
  return Number(process.versions.node.split('.')[0]) >= nodeMajor ? process.execPath : undefined;
}

/** What must be on the machine first, in words; empty when all of it is. */
export function missingForInstall() {
  if (process.platform === 'win32') return ['a desktop VS Code (the served editor is not built on Windows)'];
  return [
    ...(onPath('npm') ? [] : ['npm']),
    ...(onPath('tar') ? [] : ['tar']),
    ...(onPath('python3') && outputOf('python3', ['--version']) !== undefined ? [] : ['python3']),
    ...(onPath('make') ? [] : ['make']),
    ...(onPath('g++', 'c++') ? [] : ['g++']),
  ];
}

/**
 * Installs this user's copy (about 800 MB, two to four minutes) and answers it. Built under a name of its own and
 * renamed when whole, so that a broken install is never seen and two installs at once do no harm.
 */
export async function installServedEditor(say) {
  const target = servedEditorFolder();
  mkdirSync(dirname(target), { recursive: true });
  sweepAbandoned(dirname(target));
  const building = mkdtempSync(join(dirname(target), `.building-${process.pid}-`));
  const stop = () => {
    rmSync(building, { recursive: true, force: true });
    process.exit(130);
  };
  process.once('SIGINT', stop);
  try {
    say(`Installing an editor from npm into ${target} (once per user, about 800 MB, a few minutes)`);
    await build(building, say);
    writeFileSync(join(building, 'complete'), `${release}\n`);
    moveIntoPlace(building, target);
  } finally {
    process.removeListener('SIGINT', stop);
    rmSync(building, { recursive: true, force: true });
  }
  const installed = installedServedEditor();
  if (installed === undefined)
    throw new Error(`the editor in ${target} is not whole; delete that folder and try again`);
  return installed;
}

async function build(building, say) {
  const node24 = join(building, `node${nodeMajor}`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  mkdirSync(node24);
  writeFileSync(join(node24, 'package.json'), '{"private":true}\n');
  await step(say, 1, `Node ${nodeMajor} for it`, ['npm', 'install', `node@${nodeMajor}`, ...quiet], node24);
  const bin = join(node24, 'node_modules', 'node', 'bin');
  if (!existsSync(join(bin, 'node'))) throw new Error(`npm install node@${nodeMajor} left no node in ${bin}`);
  await step(
    say,
    2,
    `code-server ${release}`,
    ['npm', 'pack', `code-server@${release}`, '--silent'],
    building,
  );
  const archive = `code-server-${release}.tgz`;
  await step(say, 3, 'unpacking', ['tar', 'xzf', archive, 'package/lib/vscode'], building);
  const server = join(building, 'vscode');
  renameSync(join(building, 'package', 'lib', 'vscode'), server);
  rmSync(join(building, 'package'), { recursive: true });
  rmSync(join(building, archive));
  const install = ['npm', 'install', '--omit=dev', '--ignore-scripts', ...quiet];
  await step(say, 4, 'its packages', install, server, bin);
  await step(
    say,
    5,
    'compiling native parts',
    ['npm', 'rebuild', ...nativePackages, '--loglevel=error'],
    server,
    bin,
  );
  await step(say, 6, 'its extensions', install, join(server, 'extensions'), bin);
}

/** Runs one step; its output is shown only when it fails. */
async function step(say, number, title, [command, ...args], cwd, bin) {
  const startedAt = Date.now();
  const PATH = bin === undefined ? process.env.PATH : `${bin}:${process.env.PATH}`;
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const waiting = setInterval(() => {
    say(`    ${title}: still at it after ${Math.round((Date.now() - startedAt) / 1000)} s`);
  }, 20_000);
  const code = await new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  }).finally(() => clearInterval(waiting));
  if (code !== 0) {
    const tail = Buffer.concat(output).toString('utf8').trim().split('\n').slice(-25).join('\n');
    throw new Error(`${title} failed (${[command, ...args].join(' ')}, exit code ${code}):\n${tail}`);
  }
  say(`  ${number}/6 ${title} (${Math.round((Date.now() - startedAt) / 1000)} s)`);
}

/** Another process may have been faster: then its copy stays and ours goes. */
function moveIntoPlace(building, target) {
  if (existsSync(target) && !existsSync(join(target, 'complete')))
    rmSync(target, { recursive: true, force: true });
  try {
    renameSync(building, target);
  } catch (error) {
    if (!existsSync(join(target, 'complete'))) throw error;
  }
}

/** Removes what installs left behind whose process is gone. */
function sweepAbandoned(folder) {
  for (const name of readdirSync(folder)) {
    const pid = Number(/^\.building-(\d+)-/.exec(name)?.[1]);
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
