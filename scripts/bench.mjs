// npm run bench [-- --only NAME[,NAME]] [--quick]
// The product beside bare scripts that do the same work: ratios of medians, taken in turns in one run.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ensureDependencies, root } from './ensure.mjs';

const { values } = parseArgs({
  options: { only: { type: 'string' }, quick: { type: 'boolean', default: false } },
});

ensureDependencies();
const { bundleFloor, bundleProduct, bundleTests } = await import('./bundle.mjs');
const out = join(root, 'out', `bench-${process.pid}`);
try {
  const bench = join(root, 'test', 'bench');
  await bundleProduct(join(out, 'dist'));
  await bundleFloor(
    ['list', 'start', 'job'].map((name) => join(bench, 'floor', `${name}.ts`)),
    join(out, 'floor'),
  );
  await bundleTests([join(bench, 'main.ts')], out);
  const { main } = await import(pathToFileURL(join(out, 'bench', 'main.mjs')).href);
  const programs = { cli: join(out, 'dist', 'cli.js'), floor: join(out, 'floor') };
  process.exitCode = await main({ programs, only: values.only?.split(','), isQuick: values.quick });
} finally {
  rmSync(out, { recursive: true, force: true });
}
