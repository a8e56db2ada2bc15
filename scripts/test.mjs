// npm test [-- --only SUITE[,SUITE]] [--files a.test.ts,b.test.ts] [--grep TEXT] [--long]
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureDependencies, root } from './ensure.mjs';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    files: { type: 'string' },
    grep: { type: 'string' },
    long: { type: 'boolean', default: false },
    'no-build': { type: 'boolean', default: false },
  },
});

ensureDependencies();

/** Suite name -> seconds one test may take. Each is a folder under test/; `static` is the compiler and the linter. */
const suites = {
  ...{ static: 0, unit: 10, process: 30, store: 30, git: 60, wire: 60, cli: 120 },
  ...{ editor: 60, browser: 120 },
};
const inEditor = ['editor', 'browser'];
const wanted = values.only ? values.only.split(',') : Object.keys(suites);
for (const name of wanted) {
  if (!(name in suites)) {
    console.error(`unknown suite "${name}"; there are: ${Object.keys(suites).join(', ')}`);
    process.exit(2);
  }
}

const outRoot = join(root, 'out', `test-${process.pid}`);
const total = { passed: 0, failed: 0, skipped: 0 };
try {
  if (wanted.includes('cli') && !values['no-build']) {
    // Not into dist/: somebody may be using it, and two test runs may go on at once.
    const { bundleProduct } = await import('./bundle.mjs');
    await bundleProduct(join(outRoot, 'dist'));
    process.env.TRIBUTARY_DIST = join(outRoot, 'dist');
  }
  let editor;
  for (const name of wanted) {
    const files = name === 'static' ? [] : testFiles(name);
    if (name !== 'static' && files.length === 0) continue;
    if (inEditor.includes(name)) editor ??= await prepareEditor();
    const counts = name === 'static' ? runStatic() : await runSuite(name, files, editor);
    for (const key of Object.keys(total)) total[key] += counts[key];
  }
} finally {
  rmSync(outRoot, { recursive: true, force: true });
}
console.log(
  `\n${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`,
);
process.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);

function runStatic() {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const bin = (name) =>
    join(root, 'node_modules', '.bin', process.platform === 'win32' ? `${name}.cmd` : name);
  for (const [label, command, args] of [
    ['types', bin('tsc'), ['--noEmit']],
    ['types of the page', bin('tsc'), ['--noEmit', '-p', 'webview-ui']],
    ['format and lint', bin('biome'), ['check', '--error-on-warnings', '.']],
    ['table of texts', process.execPath, [join(root, 'scripts', 'l10n.mjs'), '--check']],
  ]) {
    const result = spawnSync(command, args, {
      cwd: root,
      stdio: 'inherit',
      shell: process.platform === 'win32',
    });
    console.log(`  ${result.status === 0 ? '✔' : '✖'} ${label}`);
    counts[result.status === 0 ? 'passed' : 'failed'] += 1;
  }
  return counts;
}

function testFiles(name) {
  const directory = join(root, 'test', name);
  const found = existsSync(directory) ? readdirSync(directory, { recursive: true }) : [];
  const chosen = values.files?.split(',');
  return found
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => values.long || !file.endsWith('.long.test.ts'))
    .map((file) => join(directory, file))
    .filter((file) => !chosen || chosen.some((part) => file.endsWith(part)))
    .sort();
}

/** The editor and the extension both suites use; answers why there is none, which fails them. */
async function prepareEditor() {
  const { chooseEditor, stageExtension } = await import('./editorSuites.mjs');
  try {
    const editor = await chooseEditor();
    const extension = join(outRoot, 'extension');
    await stageExtension(extension);
    if (!wanted.includes('browser')) return { editor, extension };
    const { packExtension } = await import('./package.mjs');
    const vsix = await packExtension(extension, join(outRoot, 'tributary.vsix'), { isQuiet: true });
    return { editor, extension, vsix };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

async function runSuite(name, files, prepared) {
  console.log(`\n== ${name}`);
  if (inEditor.includes(name) && prepared.problem !== undefined) {
    console.error(`  ✖ no editor, so nothing was tested here. ${prepared.problem}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const out = name === 'editor' ? join(prepared.extension, 'test') : outRoot;
  mkdirSync(outRoot, { recursive: true });
  const countsPath = join(outRoot, `${name}.json`);
  const request = {
    files: files.map((file) => join(out, file.slice(join(root, 'test').length).replace(/\.ts$/, '.mjs'))),
    grep: values.grep,
    timeoutMs: suites[name] * 1000 * (values.long ? 20 : 1),
    countsPath,
  };
  const isClean = await start(name, { files, out, request, prepared });
  if (!existsSync(countsPath)) {
    console.error(`the ${name} suite did not finish`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const counts = JSON.parse(readFileSync(countsPath, 'utf8'));
  // Every test passed and still the process failed: that is a failure too.
  return isClean || counts.failed > 0 ? counts : { ...counts, failed: 1 };
}

async function start(name, { files, out, request, prepared }) {
  const { bundleTests } = await import('./bundle.mjs');
  if (!inEditor.includes(name)) {
    await bundleTests(files, out);
    return runMocha(request, process.env);
  }
  const { editorEnvironment, runInsideEditor, runUnderDisplay } = await import('./editorSuites.mjs');
  const env = editorEnvironment(prepared, values.long);
  if (name === 'browser') {
    await bundleTests(files, out, { isShared: true });
    return runMocha(request, env, (command, args, options) =>
      runUnderDisplay(prepared.editor, command, args, options),
    );
  }
  await bundleTests([join(root, 'test', 'editor', 'index.ts'), ...files], out, { isShared: true });
  return await runInsideEditor({ ...prepared, outRoot, request, env, isLong: values.long });
}

function runMocha(request, env, spawn = spawnSync) {
  const script = join(root, 'scripts', 'mochaSuite.mjs');
  const { status } = spawn(process.execPath, ['--enable-source-maps', script, JSON.stringify(request)], {
    cwd: root,
    stdio: 'inherit',
    env: { ...env, ...(values.long ? { TRIBUTARY_LONG: '1' } : {}) },
  });
  return status === 0;
}
