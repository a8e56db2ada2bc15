// npm run l10n [-- --check]: the table of the texts that the extension and its page say, for translators.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './ensure.mjs';

const table = join(root, 'l10n', 'bundle.l10n.json');
const call = /\bt\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g;

/** Every literal text handed to `l10n.t`, sorted. */
function texts() {
  const found = new Set();
  for (const folder of ['src/editor', 'webview-ui'])
    for (const name of readdirSync(join(root, folder), { recursive: true })) {
      if (!/\.tsx?$/.test(name)) continue;
      for (const [, single, double] of readFileSync(join(root, folder, name), 'utf8').matchAll(call))
        found.add((single ?? double).replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one)));
    }
  return [...found].sort();
}

function written() {
  return `${JSON.stringify(Object.fromEntries(texts().map((text) => [text, text])), undefined, 2)}\n`;
}

if (!process.argv.includes('--check')) writeFileSync(table, written());
else if (readFileSync(table, 'utf8') !== written()) {
  console.error('l10n/bundle.l10n.json is old: npm run l10n');
  process.exitCode = 1;
}
