// npm start [-- --dir FOLDER] [-- --terminal]
// The whole road on a sample repository, offline: run, verify (FAIL), fix (PASS), accept, test. Needs no package itself.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildProduct } from './build.mjs';
import { ensureDependencies, root } from './ensure.mjs';

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    // Reserved for the day when `npm start` opens the editor: this road, in the terminal.
    terminal: { type: 'boolean', default: false },
  },
});

const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR;
const bold = (text) => (isColoured ? `\u001b[1m${text}\u001b[22m` : text);
const cli = join(root, 'dist', 'cli.js');

try {
  await main();
} catch (error) {
  console.error(`\nnpm start failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

async function main() {
  checkGit();
  ensureDependencies();
  await buildProduct();
  const sample = await loadSample();
  const folder = sampleFolder();
  await sample.createSampleRepository(folder, { git });

  say(`Step 1 of 5: a sample repository in ${folder}`);
  console.log('A kitchen timer whose parser gets "1h30m" wrong, so that one of its own tests fails.\n');

  say(
    'Step 2 of 5: an agent gets the Task, in a worktree of its own; then another one tries to break its change',
  );
  const run = await tributary(folder, [
    ...['run', sample.samplePlaybook.objective, '--demo', '--verify', '--allow-commands'],
    ...['--check', sample.sampleTestCommand],
  ]);
  expectRun(run, { exitCode: 1, verdict: 'FAIL' });
  if (!/^\S+:\d+ (error|warning|info) ./m.test(run.output))
    throw new Error('the verdict came without a finding');
  const slug = await slugOf(folder);
  console.log(
    '\nThe tests pass now, and still the verdict is FAIL: the verifier found input that should be refused.',
  );
  console.log('Your files were not touched; the exit code was 1, as a script would want it.\n');

  say('Step 3 of 5: the finding goes to an implementer, then the change is verified again');
  expectRun(await tributary(folder, ['fix', slug, '--demo', '--allow-commands']), {
    exitCode: 0,
    verdict: 'PASS',
  });
  console.log('\nPASS, bound to the tree that is about to land.\n');

  say('Step 4 of 5: accept it into the checkout');
  expectRun(await tributary(folder, ['accept', slug]), { exitCode: 0 });

  say(`Step 5 of 5: the sample's own tests, in the checkout ($ ${sample.sampleTestCommand})`);
  const tests = await shell(sample.sampleTestCommand, folder);
  if (tests !== 0) throw new Error(`the sample's tests ended with exit code ${tests}`);
  sayWhatNext(folder, slug);
}

function checkGit() {
  const { status, error } = spawnSync('git', ['--version'], { stdio: 'ignore' });
  if (error || status !== 0) throw new Error('git was not found; install git 2.38 or newer.');
}

/** The sample's source is TypeScript of the product: bundled here, so that it is written once. */
async function loadSample() {
  const { bundleSample } = await import('./bundle.mjs');
  const path = join(root, 'out', `sample-${process.pid}.mjs`);
  await bundleSample(path);
  try {
    return await import(pathToFileURL(path).href);
  } finally {
    rmSync(path, { force: true });
  }
}

/** A fresh folder; worktrees will stand beside it. */
function sampleFolder() {
  if (values.dir === undefined)
    return join(realpathSync(mkdtempSync(join(tmpdir(), 'tributary-demo-'))), 'kitchen-timer');
  const folder = resolve(values.dir);
  if (existsSync(folder) && readdirSync(folder).length > 0) throw new Error(`${folder} is not empty`);
  mkdirSync(folder, { recursive: true });
  return realpathSync(folder);
}

function git(args, cwd) {
  const { status, stderr, error } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (error || status !== 0) return Promise.reject(new Error(`git ${args[0]}: ${error?.message ?? stderr}`));
  return Promise.resolve();
}

/** Runs the built command line, showing its command and its output. */
async function tributary(folder, args) {
  console.log(bold(`$ ${commandText(args)}`));
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: folder,
    env: withoutModel(),
    stdio: ['inherit', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text) => {
    output += text;
    process.stdout.write(text);
  });
  return { exitCode: await exitCodeOf(child), output };
}

/** The road is offline whatever the user's environment says. */
function withoutModel() {
  const rest = Object.entries(process.env).filter(([name]) => !name.startsWith('ANTHROPIC_'));
  return Object.fromEntries(rest);
}

function shell(command, cwd) {
  return exitCodeOf(spawn(command, { cwd, shell: true, stdio: ['ignore', 'inherit', 'inherit'] }));
}

function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? signal));
  });
}

function expectRun({ exitCode, output }, expected) {
  if (exitCode !== expected.exitCode)
    throw new Error(`exit code ${exitCode} instead of ${expected.exitCode}`);
  if (expected.verdict !== undefined && !new RegExp(`^VERDICT: ${expected.verdict}$`, 'm').test(output))
    throw new Error(`no VERDICT: ${expected.verdict}`);
}

async function slugOf(folder) {
  const { status, stdout } = spawnSync(process.execPath, [cli, 'list', '--json', '--repo', folder], {
    encoding: 'utf8',
    env: withoutModel(),
  });
  const result = JSON.parse(stdout.trim().split('\n').at(-1));
  if (status !== 0 || result.data.tasks.length !== 1) throw new Error('the Task is not in the list');
  return result.data.tasks[0].slug;
}

function commandText(args) {
  const quoted = args.map((arg) => (/^[\w./=-]+$/.test(arg) ? arg : `"${arg.replaceAll('"', '\\"')}"`));
  return `node ${/\s/.test(cli) ? `"${cli}"` : cli} ${quoted.join(' ')}`;
}

function say(text) {
  console.log(bold(`== ${text}`));
}

function sayWhatNext(folder, slug) {
  const line = (...args) => `  ${commandText(args)}`;
  console.log(`
${bold('All of it held: FAIL with a finding, fixed, PASS, accepted, tests green.')}

Try next, in the sample:
  cd ${folder}
  git diff
${line('show', slug)}
${line('undo', slug)}
${line('accept', slug)}

On a repository of yours, with a key:
  export ANTHROPIC_API_KEY=...     (or ANTHROPIC_AUTH_TOKEN; ANTHROPIC_BASE_URL for a gateway)
  cd your/repository
${line('run', 'what you want done', '--check', 'your test command')}
${line('--help')}

The sample stays until you delete it: ${folder}`);
}
