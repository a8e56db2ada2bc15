// npm start [-- --dir FOLDER]: the main job on the sample repository, by the command line, offline. Needs no package itself.
//   --editor    opens the sample in an editor with the extension instead
//   --check     walks the whole road through the editor's own interface and says whether it held
//   --screenshots FOLDER  where --check saves what was seen
import { parseArgs } from 'node:util';
import { ensureDependencies } from './ensure.mjs';
import { checkGit } from './start/sample.mjs';

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    terminal: { type: 'boolean', default: false },
    editor: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    screenshots: { type: 'string' },
  },
});

try {
  checkGit();
  ensureDependencies();
  if (values.check) await (await import('./start/check.mjs')).checkInEditor(values);
  else if (values.editor) await (await import('./start/editor.mjs')).startInEditor(values);
  else await (await import('./start/terminal.mjs')).startInTerminal(values);
} catch (error) {
  console.error(`\nnpm start failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
