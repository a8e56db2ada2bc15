import assert from 'node:assert/strict';
import { join } from 'node:path';
import { streamingWork } from '../editor/support/streamer';
import type { EditorWindow } from './support/editorWindow';
import { commandLine, type GreetingFolder, makeGreetingFolder } from './support/greeting';
import { type ModelEditor, modelEditor } from './support/modelEditor';
import { startByKeys } from './support/newTask';
import { rowsOfFile, shownRows } from './support/pageRows';

const own = 'My own note';
const others = Array.from({ length: 9 }, (_, index) => `Note ${index + 1}`);

describe('a transcript page while ten Runs of one board stream', function () {
  this.timeout(300_000);
  let editor: ModelEditor;
  let repo: GreetingFolder;
  let window: EditorWindow;

  before(async () => {
    editor = await modelEditor();
    repo = await makeGreetingFolder('ten');
    editor.server.script(streamingWork('src/greet.js'));
    window = await editor.app.open(repo.folder);
    await window.openView();
  });

  after(async () => {
    await window?.close();
    await repo?.remove();
  });

  it('equals the file in the end, for a Run of this window and for one of another process', async () => {
    const flags = ['--no-verify', '--allow-commands'];
    const ended = others.map((objective) =>
      commandLine(repo.folder, editor.cliEnv, 'run', objective, ...flags),
    );
    await startByKeys(window, own);
    await showsWhole(own, async () => {
      await window.webview().locator('[data-key="live"]').waitFor();
    });
    const said = await Promise.all(ended);
    const [first = ''] = others;
    await showsWhole(first, async () => undefined);
    const states = (await repo.tasks()).map(({ runs }) => runs.at(-1)?.status.state);
    assert.deepEqual(states, Array(10).fill('completed'), said.join('\n---\n'));
    assert.deepEqual(editor.server.refusals, []);
  });

  /** Opens the page of a Task, waits for its end, and holds it against the file. */
  async function showsWhole(objective: string, whileOpen: () => Promise<void>): Promise<void> {
    await window.row(objective).first().click();
    await whileOpen();
    await window.webview().locator('[data-key="end"]').getByText('completed').waitFor({ timeout: 120_000 });
    const task = (await repo.tasks()).find(({ packet }) => packet.objective === objective);
    const run = task?.runs.at(-1);
    assert.ok(task && run);
    const path = join(repo.folder, '.git', 'tributary', 'tasks', task.id, 'runs', `${run.id}.jsonl`);
    assert.deepEqual(await shownRows(window.webview()), await rowsOfFile(path));
  }
});
