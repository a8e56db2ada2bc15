import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = process.env['TRIBUTARY_ROOT'] ?? '';
const release = 'served-editor-4.139.1';

/** Stands for npm: makes what the real one would, slowly enough for two installs to overlap. */
const fakeNpm = `#!${process.execPath}
const { execFileSync } = require('node:child_process');
const { mkdirSync, writeFileSync } = require('node:fs');
const [verb, what] = process.argv.slice(2);
if (process.env.FAIL_AT === verb) { console.error('npm says no'); process.exit(7); }
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
if (verb === 'install' && what?.startsWith('node@')) {
  mkdirSync('node_modules/node/bin', { recursive: true });
  writeFileSync('node_modules/node/bin/node', '', { mode: 0o755 });
}
if (verb === 'pack') {
  for (const folder of ['out', 'extensions']) mkdirSync('package/lib/vscode/' + folder, { recursive: true });
  writeFileSync('package/lib/vscode/out/server-main.js', '');
  execFileSync('tar', ['czf', 'code-server-4.139.1.tgz', 'package']);
}
`;

describe('finding an editor', () => {
  let home = '';

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'tributary-find-'));
    await mkdir(join(home, 'bin'));
  });

  afterEach(async () => {
    await rm(home, { recursive: true, force: true });
  });

  it('takes the served editor that the environment names', async () => {
    await file('named/out/server-main.js');
    await file('named/node', 0o755);
    const found = await find({ TRIBUTARY_EDITOR: join(home, 'named') });
    assert.match(found.output, /"kind":"served"/);
    assert.ok(found.output.includes(`"folder":"${join(home, 'named')}"`));
    assert.match(found.output, /named by TRIBUTARY_EDITOR/);
  });

  it('refuses a named editor that is not there, instead of taking another', async () => {
    const found = await find({ TRIBUTARY_EDITOR: join(home, 'nowhere') });
    assert.equal(found.code, 1);
    assert.match(found.output, /TRIBUTARY_EDITOR names .*nowhere, which is no editor/);
  });

  it('takes a download made earlier before the one on PATH, where there is a display', async () => {
    await file('cache/tributary/vscode/vscode-1.139.0/is-complete');
    await file('cache/tributary/vscode/vscode-1.139.0/code', 0o755);
    await file('bin/code', 0o755);
    const found = await find({ DISPLAY: ':77' }, '{ mayUsePath: true }');
    assert.match(found.output, /"kind":"desktop".*downloaded earlier/);
  });

  it('leaves a `code` on PATH alone unless it may use it', async () => {
    await file('app/bin/code', 0o755);
    await file('app/code', 0o755);
    await symlink(join(home, 'app', 'bin', 'code'), join(home, 'bin', 'code'));
    await completeCache();
    const served = await find({ DISPLAY: ':77' });
    assert.match(served.output, /"kind":"served"/);
    const own = await find({ DISPLAY: ':77' }, '{ mayUsePath: true }');
    assert.ok(own.output.includes(`"program":"${join(home, 'app', 'code')}"`), own.output);
  });

  it('names what to install when an editor can neither be found nor built', async () => {
    const found = await find({}, '{ mayBeUnseen: false }');
    assert.equal(found.code, 1);
    assert.match(found.output, /first install: npm, tar, python3, make, g\+\+/);
  });

  it('names a browser when a served editor has none to be shown by', async () => {
    await completeCache();
    const found = await find({ TRIBUTARY_CHROMIUM: '' });
    assert.equal(found.code, 1);
    assert.match(found.output, /needs a Chromium .*apt-get install chromium/);
  });

  it('installs one editor when two processes install at once, and leaves nothing else behind', async () => {
    await buildTools();
    const found = await Promise.all([find({}), find({})]);
    for (const { code, output } of found) {
      assert.equal(code, 0, output);
      assert.match(output, /"kind":"served"/);
      assert.match(output, /6\/6 its extensions/);
    }
    assert.deepEqual(await readdir(join(home, 'cache', 'tributary')), [release]);
  });

  it('says which step of the install failed, with its output, and leaves nothing behind', async () => {
    await buildTools();
    const found = await find({ FAIL_AT: 'rebuild' });
    assert.equal(found.code, 1);
    assert.match(found.output, /compiling native parts failed \(npm rebuild .*exit code 7\):\nnpm says no/);
    assert.deepEqual(await readdir(join(home, 'cache', 'tributary')), []);
  });

  it('removes what an install left that was killed', async () => {
    await buildTools();
    await file('cache/tributary/.building-999999999-abc/half');
    await find({});
    assert.deepEqual(await readdir(join(home, 'cache', 'tributary')), [release]);
  });

  async function file(path: string, mode = 0o644, text = ''): Promise<void> {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
    await chmod(join(home, path), mode);
  }

  async function completeCache(): Promise<void> {
    await file(`cache/tributary/${release}/complete`);
    await file(`cache/tributary/${release}/vscode/out/server-main.js`);
    await file(`cache/tributary/${release}/node`, 0o755);
  }

  /** npm of ours and the machine's real tar; compilers only have to be there. */
  async function buildTools(): Promise<void> {
    await file('bin/npm', 0o755, fakeNpm);
    await file('bin/python3', 0o755, '#!/bin/sh\necho Python 3\n');
    for (const name of ['make', 'g++']) await file(`bin/${name}`, 0o755);
    for (const name of ['tar', 'gzip']) await symlink(await realProgram(name), join(home, 'bin', name));
  }

  /** Looks for an editor in a process whose PATH and cache are ours alone. */
  function find(env: NodeJS.ProcessEnv, options = '{}'): Promise<{ code: number; output: string }> {
    const script = join(root, 'scripts', 'editor', 'findEditor.mjs');
    const program = `const { findEditor } = await import(${JSON.stringify(pathToFileURL(script).href)});
      try { console.log(JSON.stringify(await findEditor(${options}))); }
      catch (error) { console.log(error.message); process.exitCode = 1; }`;
    const own = { PATH: join(home, 'bin'), TRIBUTARY_CACHE: join(home, 'cache'), HOME: home };
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        ['--input-type=module', '-e', program],
        { env: { ...own, TRIBUTARY_CHROMIUM: process.execPath, ...env } },
        (error, stdout, stderr) => resolve({ code: error === null ? 0 : 1, output: stdout + stderr }),
      );
    });
  }
});

function realProgram(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('sh', ['-c', `command -v ${name}`], (error, stdout) =>
      error === null ? resolve(stdout.trim()) : reject(error),
    );
  });
}
