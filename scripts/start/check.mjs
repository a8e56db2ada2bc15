// npm start -- --check [--screenshots FOLDER] [--dir FOLDER]: the whole road through the editor's own interface.
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describeEditor, findEditor } from '../editor/findEditor.mjs';
import { stageExtension } from '../editorSuites.mjs';
import { root } from '../ensure.mjs';
import { loadSupport } from './editor.mjs';
import { bold, makeSample, say, shell, withoutModel } from './sample.mjs';

export async function checkInEditor({ dir, screenshots }) {
  const editor = await findEditor({ mayUsePath: true, mayBeUnseen: true });
  console.log(`Editor: ${describeEditor(editor)}`);
  const out = join(root, 'out', `start-${process.pid}`);
  const pictures = resolve(screenshots ?? join(root, 'out', 'screenshots'));
  try {
    const staged = join(out, 'extension');
    await stageExtension(staged);
    const { folder, sample } = await makeSample(dir);
    const { checkRoad } = await loadSupport('checkRoad', out);
    const isFresh = (await shellQuietly(sample.sampleTestCommand, folder)) !== 0;
    if (!isFresh) throw new Error('the sample passes its test already, so nothing would be shown');
    await checkRoad({
      editor,
      staged,
      folder,
      pictures,
      env: withoutModel(),
      say: (text) => say(text),
    });
    say(`The sample's own tests, in the checkout ($ ${sample.sampleTestCommand})`);
    const tests = await shell(sample.sampleTestCommand, folder);
    if (tests !== 0) throw new Error(`the sample's tests ended with exit code ${tests}`);
    console.log(`\n${bold('All of it held.')} Pictures of each step: ${pictures}\nThe sample: ${folder}`);
  } catch (error) {
    console.log(`Pictures up to the failure: ${pictures}`);
    throw error;
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

function shellQuietly(command, cwd) {
  return shell(`${command} > ${process.platform === 'win32' ? 'NUL' : '/dev/null'} 2>&1`, cwd);
}
