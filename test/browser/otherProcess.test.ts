// A window and a command line on one repository: both follow the same board.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stagedExtension } from './support/editorChoice';
import type { EditorWindow } from './support/editorWindow';
import { byObjective, type GreetingFolder, greetingWork, makeGreetingFolder } from './support/greeting';
import { type ModelEditor, modelEditor } from './support/modelEditor';

const objective = 'Say good morning';

describe('a Task of a command line in the window', function () {
  this.timeout(240_000);
  let editor: ModelEditor;
  let repo: GreetingFolder;
  let window: EditorWindow;

  before(async () => {
    editor = await modelEditor();
    repo = await makeGreetingFolder('shared');
    window = await editor.app.open(repo.folder);
    await window.openView();
  });

  after(async () => {
    await window?.close();
    await repo?.remove();
  });

  it('shows up by itself and is stopped from its row', async () => {
    const [read, edit, answer] = greetingWork('good morning');
    assert.ok(read && edit && answer);
    const silent = { ...answer, fault: { kind: 'silence' as const, before: 8 } };
    editor.server.script(byObjective({ [objective]: [read, edit, silent] }));
    const program = join(stagedExtension(), 'dist', 'cli.js');
    const other = spawn(process.execPath, [program, 'run', objective, '--allow-commands'], {
      cwd: repo.folder,
      env: editor.cliEnv,
      stdio: 'ignore',
    });
    const ended = once(other, 'exit');
    const row = window.row(objective).first();
    await row.waitFor();
    await window.row('running in another process').first().waitFor();
    await window.rowAction(row, 'Stop');
    await window.row('stopped').first().waitFor();
    assert.deepEqual(await ended, [130, null]);
    assert.equal((await repo.tasks())[0]?.runs.at(-1)?.status.state, 'stopped');
  });
});
