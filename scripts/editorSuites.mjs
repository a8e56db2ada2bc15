// What the suites `editor` (inside the extension host) and `browser` (clicks in the window) need.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describeEditor, findEditor } from './editor/findEditor.mjs';
import { root } from './ensure.mjs';

/** Finds the editor for this test run and says which one it is. Throws when there is none. */
export async function chooseEditor() {
  const editor = await findEditor();
  console.log(`\nEditor: ${describeEditor(editor)}`);
  return editor;
}

/** The extension as it would ship, in a folder of this run, so that a `dist/` in use is left alone. */
export async function stageExtension(folder) {
  const { bundleProduct } = await import('./bundle.mjs');
  mkdirSync(folder, { recursive: true });
  const shipped = [
    '.vscodeignore',
    'package.json',
    'package.nls.json',
    'l10n',
    'media',
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
  ];
  for (const name of shipped) {
    if (existsSync(join(root, name))) cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  await bundleProduct(join(folder, 'dist'));
}

/** Tells the test process which editor and which extension it is about. */
export function editorEnvironment({ editor, extension, vsix }) {
  return {
    ...process.env,
    TRIBUTARY_TEST_EDITOR: JSON.stringify(editor),
    TRIBUTARY_TEST_EXTENSION: extension,
    ...(vsix === undefined ? {} : { TRIBUTARY_TEST_VSIX: vsix }),
  };
}

/** Runs the bundled test files inside the extension host of one editor; the counts are where the request says. */
export async function runInsideEditor({ editor, extension, outRoot, request, env, isLong }) {
  const { bundleTests } = await import('./bundle.mjs');
  await bundleTests([join(root, 'test', 'editor', 'support', 'runInHost.ts')], outRoot);
  const tests = join(extension, 'test', 'editor');
  writeFileSync(join(tests, 'request.json'), JSON.stringify(request));
  const harness = pathToFileURL(join(outRoot, 'editor', 'support', 'runInHost.mjs')).href;
  const limitMs = isLong ? 3_600_000 : 300_000;
  const program = `const { runInHost } = await import(${JSON.stringify(harness)});
    process.exit((await runInHost(${JSON.stringify(join(tests, 'index.mjs'))}, ${limitMs})) ? 0 : 1);`;
  const args = ['--enable-source-maps', '--input-type=module', '-e', program];
  const { status } = runUnderDisplay(editor, process.execPath, args, { cwd: root, stdio: 'inherit', env });
  return status === 0;
}

/** Where no display is, a desktop editor gets one that nobody sees. */
export function runUnderDisplay(editor, command, args, options) {
  const [program, ...rest] = [...(editor.before ?? []), command, ...args];
  return spawnSync(program, rest, options);
}
