import assert from 'node:assert/strict';
import { packedExtension } from './support/editorChoice';
import { zipEntries } from './support/zipNames';

const shipped = [
  /^\[Content_Types\]\.xml$/,
  /^extension\.vsixmanifest$/,
  /^extension\/(package\.json|package\.nls(\.[\w-]+)?\.json|readme\.md|changelog\.md|LICENSE\.txt)$/,
  /^extension\/dist\/([\w-]+\.js|chunks\/[\w-]+\.js|webview\/[\w-]+\.(js|css))$/,
  /^extension\/media\/[\w/-]+\.(svg|png|md)$/,
  /^extension\/l10n\/[\w.-]+\.json$/,
];
const needed = ['package.json', 'readme.md', 'LICENSE.txt', 'dist/cli.js', 'dist/extension.js'];
const neededByThePage = ['dist/webview/transcript.js', 'dist/webview/transcript.css'];

describe('the packed extension', () => {
  it('holds only what ships', async () => {
    const names = (await zipEntries(packedExtension())).map(({ name }) => name);
    assert.deepEqual(
      names.filter((name) => !shipped.some((pattern) => pattern.test(name))),
      [],
    );
  });

  it('holds everything that is needed', async () => {
    const names = (await zipEntries(packedExtension())).map(({ name }) => name);
    const wanted = [...needed, ...neededByThePage].map((name) => `extension/${name}`);
    assert.deepEqual(
      wanted.filter((name) => !names.includes(name)),
      [],
    );
  });

  it('stays small: under 3 MB unpacked', async () => {
    const entries = await zipEntries(packedExtension());
    assert.ok(entries.reduce((sum, { size }) => sum + size, 0) < 3 * 1024 * 1024);
  });
});
