// npm run package [-- --out FILE]: the extension as one file for every platform.
import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureDependencies, root } from './ensure.mjs';

/**
 * Packs a folder that holds the manifest, `dist/` and what else ships. Answers the path of the `.vsix`.
 * `isQuiet`: without the list of what is in it.
 */
export async function packExtension(folder, packagePath, { isQuiet = false } = {}) {
  const { createVSIX } = await import('@vscode/vsce');
  const { log } = console;
  if (isQuiet) console.log = () => undefined;
  mkdirSync(dirname(packagePath), { recursive: true });
  rmSync(packagePath, { force: true });
  await createVSIX({
    cwd: folder,
    packagePath,
    // Everything needed is inside the bundles; `@vscode/ripgrep` would tie the file to one platform.
    dependencies: false,
    allowMissingRepository: true,
    // The README's links to other pages are for those who have the sources.
    rewriteRelativeLinks: false,
  }).finally(() => {
    console.log = log;
  });
  return packagePath;
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  ensureDependencies();
  const { stageExtension } = await import('./editorSuites.mjs');
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const staged = join(root, 'out', `package-${process.pid}`);
  try {
    await stageExtension(staged);
    const path = await packExtension(staged, resolve(values.out ?? join(root, `${name}-${version}.vsix`)));
    console.log(`${path} (${Math.round(statSync(path).size / 1024)} KB)`);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}
