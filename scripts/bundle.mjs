// The one place that knows how sources become bundles. Import it after `ensureDependencies()`.

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

/** The command line, into `dist/` or another folder. Answers esbuild's metafile. */
export async function bundleProduct(outdir = join(root, 'dist')) {
  const result = await build({
    ...shared,
    entryPoints: { cli: 'src/cli/main.ts' },
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

/** Test files, one bundle each, packages left outside. */
export async function bundleTests(files, outdir) {
  await build({
    ...shared,
    entryPoints: files,
    outdir,
    outbase: join(root, 'test'),
    outExtension: { '.js': '.mjs' },
    packages: 'external',
    sourcemap: 'inline',
    define: { 'process.env.TRIBUTARY_ROOT': JSON.stringify(root) },
  });
}
