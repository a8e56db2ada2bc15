import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDependencies, root } from './ensure.mjs';

/** Builds `dist/` from nothing, into place. */
export async function buildProduct() {
  ensureDependencies();
  const { bundleProduct } = await import('./bundle.mjs');
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  await bundleProduct();
  chmodSync(join(root, 'dist', 'cli.js'), 0o755);
}

if (process.argv[1] === import.meta.filename) await buildProduct();
