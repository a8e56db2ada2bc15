import assert from 'node:assert/strict';
import type { EditorWindow } from './support/editorWindow';
import { makeSampleFolder } from './support/sampleFolder';
import { suiteEditor } from './support/suiteEditor';

describe('a window with the extension', () => {
  let window: EditorWindow;
  let sample: Awaited<ReturnType<typeof makeSampleFolder>>;

  before(async () => {
    sample = await makeSampleFolder();
    window = await (await suiteEditor()).open(sample.folder);
  });

  after(async () => {
    await window?.close();
    await sample?.remove();
  });

  it('opens on a folder without an error', async () => {
    await window.picture('window');
    assert.deepEqual(window.errors, []);
  });
});
