import { type AppOptions, type EditorApp, startEditorApp } from './editorApp';
import { chosenEditor, packedExtension } from './editorChoice';
import { plainEnvironment } from './sampleFolder';

let running: Promise<EditorApp> | undefined;

/**
 * The one editor of the browser suite, started when first asked for: a clean profile with the packed extension
 * installed and the demo model chosen.
 */
export function suiteEditor(): Promise<EditorApp> {
  running ??= startEditorApp(chosenEditor(), suiteOptions());
  return running;
}

export function suiteOptions(): AppOptions {
  return {
    extension: { vsix: packedExtension() },
    settings: { 'tributary.model.provider': 'demo' },
    env: plainEnvironment(),
  };
}

after('the editor ends with the suite', async () => {
  await (await running)?.end();
});
