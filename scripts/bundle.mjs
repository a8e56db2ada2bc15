// The one place that knows how sources become bundles. Import it after `ensureDependencies()`.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { root } from './ensure.mjs';

const requireShim =
  "import { createRequire as tributaryRequire } from 'node:module'; const require = tributaryRequire(import.meta.url);";

const shared = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  loader: { '.md': 'text' },
  logLevel: 'warning',
};

/**
 * The command line, the extension and its page, into `dist/` or another folder. Answers esbuild's metafile of the
 * two that run in Node, which share their chunks.
 */
export async function bundleProduct(outdir = join(root, 'dist')) {
  await bundlePage(join(outdir, 'webview'));
  const result = await build({
    ...shared,
    entryPoints: { cli: 'src/cli/main.ts', ...whenThere({ extension: 'src/extension.ts' }) },
    outdir,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    minify: true,
    keepNames: false,
    sourcemap: false,
    metafile: true,
    external: ['vscode', '@vscode/ripgrep'],
    banner: { js: requireShim },
  });
  return result.metafile;
}

/** The transcript page: one script and one style sheet, for the browser inside the editor. */
export async function bundlePage(outdir) {
  const entryPoints = whenThere({ transcript: 'webview-ui/main.tsx' });
  if (Object.keys(entryPoints).length === 0) return;
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    bundle: true,
    platform: 'browser',
    target: 'chrome128',
    format: 'iife',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'warning',
  });
}

function whenThere(entryPoints) {
  return Object.fromEntries(Object.entries(entryPoints).filter(([, path]) => existsSync(join(root, path))));
}

/** The sample repository and the demo's playbook, for `npm start`. */
export async function bundleSample(outfile) {
  await build({
    ...shared,
    stdin: {
      contents:
        "export { createSampleRepository, sampleTestCommand } from './src/demo/sampleRepository';\n" +
        "export { samplePlaybook } from './src/demo/samplePlaybook';",
      resolveDir: root,
      loader: 'ts',
    },
    outfile,
  });
}

/** What the bench compares with: bare scripts, bundled as the product is. */
export async function bundleFloor(entryPoints, outdir) {
  await build({ ...shared, entryPoints, outdir, splitting: true, minify: true, banner: { js: requireShim } });
}

/** Test files, packages left outside. One bundle each; or with `isShared`, what they have in common loaded once. */
export async function bundleTests(files, outdir, { isShared = false } = {}) {
  await build({
    ...shared,
    entryPoints: files,
    outdir,
    splitting: isShared,
    chunkNames: 'chunks/[name]-[hash]',
    outbase: join(root, 'test'),
    outExtension: { '.js': '.mjs' },
    packages: 'external',
    sourcemap: 'inline',
    define: { 'process.env.TRIBUTARY_ROOT': JSON.stringify(root) },
  });
}
