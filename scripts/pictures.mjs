// npm run pictures [-- --out FOLDER] [-- --only NAME[,NAME]]: what the extension looks like in its main states.
// Each sheet shows one state in the four kinds of theme; they are for looking at, nothing is compared.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { describeEditor, findEditor } from './editor/findEditor.mjs';
import { stageExtension } from './editorSuites.mjs';
import { ensureDependencies, root } from './ensure.mjs';
import { loadSupport } from './start/editor.mjs';
import { withoutModel } from './start/sample.mjs';

const { values } = parseArgs({ options: { out: { type: 'string' }, only: { type: 'string' } } });

ensureDependencies();
const editor = await findEditor({ mayBeUnseen: true });
console.log(`Editor: ${describeEditor(editor)}`);
const work = join(root, 'out', `pictures-${process.pid}`);
try {
  const staged = join(work, 'extension');
  await stageExtension(staged);
  const { takePictures } = await loadSupport('pictures', work);
  const folder = resolve(values.out ?? join(root, 'out', 'pictures'));
  await takePictures({
    editor,
    staged,
    folder,
    env: withoutModel(),
    only: values.only?.split(','),
    say: (text) => console.log(`  ${text}`),
  });
  console.log(`\nSheets: ${folder}`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
