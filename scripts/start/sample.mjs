// What every form of `npm start` needs: git, the sample repository, a way to speak.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../ensure.mjs';

const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;

export const bold = (text) => (isColoured ? `\u001b[1m${text}\u001b[22m` : text);

export function say(text) {
  console.log(bold(`== ${text}`));
}

export function checkGit() {
  const { status, error } = spawnSync('git', ['--version'], { stdio: 'ignore' });
  if (error || status !== 0) throw new Error('git was not found; install git 2.38 or newer.');
}

/** Makes the sample repository in `dir` (new or empty), else in a temporary folder. */
export async function makeSample(dir) {
  const sample = await loadSample();
  const folder = sampleFolder(dir);
  await sample.createSampleRepository(folder, { git });
  return { folder, sample };
}

/** The sample's source is TypeScript of the product: bundled here, so that it is written once. */
async function loadSample() {
  const { bundleSample } = await import('../bundle.mjs');
  const path = join(root, 'out', `sample-${process.pid}.mjs`);
  await bundleSample(path);
  try {
    return await import(pathToFileURL(path).href);
  } finally {
    rmSync(path, { force: true });
  }
}

/** A fresh folder; worktrees will stand beside it. */
function sampleFolder(dir) {
  if (dir === undefined)
    return join(realpathSync(mkdtempSync(join(tmpdir(), 'tributary-demo-'))), 'kitchen-timer');
  const folder = resolve(dir);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  mkdirSync(folder, { recursive: true });
  return realpathSync(folder);
}

function git(args, cwd) {
  const { status, stderr, error } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (error || status !== 0) return Promise.reject(new Error(`git ${args[0]}: ${error?.message ?? stderr}`));
  return Promise.resolve();
}

/** The demo is offline whatever the user's environment says. */
export function withoutModel() {
  const rest = Object.entries(process.env).filter(([name]) => !name.startsWith('ANTHROPIC_'));
  return Object.fromEntries(rest);
}

export function shell(command, cwd) {
  return exitCodeOf(spawn(command, { cwd, shell: true, stdio: ['ignore', 'inherit', 'inherit'] }));
}

export function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
}
