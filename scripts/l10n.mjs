// npm run l10n [-- --check]: the table of the texts that the extension and its page say, for translators.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
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

/** What is wrong with the table; `undefined`: nothing. */
export function l10nProblem() {
  return readFileSync(table, 'utf8') === written() ? undefined : 'l10n/bundle.l10n.json is old: npm run l10n';
}

function written() {
  return `${JSON.stringify(Object.fromEntries(texts().map((text) => [text, text])), undefined, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  if (process.argv.includes('--check')) {
    const problem = l10nProblem();
    if (problem !== undefined) console.error(problem);
    process.exitCode = problem === undefined ? 0 : 1;
  } else writeFileSync(table, written());
}
