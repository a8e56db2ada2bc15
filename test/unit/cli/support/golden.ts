import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Compares with `test/golden/<name>`; TRIBUTARY_GOLDEN=1 rewrites it. */
export async function assertGolden(name: string, actual: string): Promise<void> {
  const path = join(process.env['TRIBUTARY_ROOT'] ?? '', 'test', 'golden', name);
  if (process.env['TRIBUTARY_GOLDEN'] === '1') {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, actual);
  }
  assert.equal(actual, await readFile(path, 'utf8').catch(() => ''));
}
