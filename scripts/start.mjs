// npm start [-- --dir FOLDER]: the sample repository in an editor with the extension, offline. Needs no package itself.
//   --terminal  the same job by the command line instead
//   --check     walks the whole road through the editor's own interface and says whether it held
//   --screenshots FOLDER  where --check saves what was seen
import { parseArgs } from 'node:util';
import { ensureDependencies } from './ensure.mjs';
import { checkGit } from './start/sample.mjs';

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    terminal: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
    screenshots: { type: 'string' },
  },
});

try {
  checkGit();
  ensureDependencies();
  if (values.check) await (await import('./start/check.mjs')).checkInEditor(values);
  else if (values.terminal) await (await import('./start/terminal.mjs')).startInTerminal(values);
  else await (await import('./start/editor.mjs')).startInEditor(values);
} catch (error) {
  console.error(`\nnpm start failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
