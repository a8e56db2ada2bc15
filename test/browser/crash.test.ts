// The extension host is killed in the middle of a Run, and what a person then finds.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Reply } from '../wire/support/strictServer';
import type { EditorWindow } from './support/editorWindow';
import {
  byObjective,
  commandLine,
  failingVerifier,
  findingTitle,
  type GreetingFolder,
  greetingWork,
  makeGreetingFolder,
} from './support/greeting';
import { type ModelEditor, modelEditor } from './support/modelEditor';
import { startByKeys } from './support/newTask';
import { rowsOfFile, shownRows } from './support/pageRows';

const judged = 'Say good day';
const cut = 'Say good evening';
const reloaded = 'Say good night';
const hung = 'Say good bye';

describe('a killed extension host', function () {
  this.timeout(300_000);
  this.bail(true);

  let editor: ModelEditor;
  let repo: GreetingFolder;
  let window: EditorWindow;

  before(async () => {
    editor = await modelEditor();
    repo = await makeGreetingFolder('greeting');
    editor.server.script(byObjective({ [judged]: greetingWork('good day') }, failingVerifier));
    await commandLine(repo.folder, editor.cliEnv, 'run', judged, '--verify', '--allow-commands');
    window = await editor.app.open(repo.folder);
    await window.openView();
  });

  afterEach(async function () {
    await window?.tellIfFailed(this.currentTest, 'crash-last');
  });

  after(async () => {
    await window?.close();
    await repo?.remove();
  });

  const row = (text: string | RegExp) => window.row(text).first();
  const lastRun = async () => {
    const run = (await repo.tasks()).at(-1)?.runs.at(-1);
    assert.ok(run);
    return run;
  };
  const transcript = async (): Promise<string> => {
    const task = (await repo.tasks()).at(-1);
    assert.ok(task);
    return join(repo.folder, '.git', 'tributary', 'tasks', task.id, 'runs', `${(await lastRun()).id}.jsonl`);
  };
  /** Starts a Task, opens its transcript, and answers when it hangs in the middle of its last message. */
  const startHalf = async (objective: string): Promise<void> => {
    const [read, edit, answer] = greetingWork('something else');
    assert.ok(read && edit && answer);
    const halfAnswer: Reply = { ...answer, fault: { kind: 'silence', before: 8 } };
    editor.server.script(byObjective({ [objective]: [read, edit, halfAnswer] }));
    await startByKeys(window, objective);
    await row(objective).click();
    await window.webview().getByText('Now I change it.').waitFor();
    await window.webview().locator('[data-key="live"]').getByText('SUMMARY').waitFor();
  };
  const badge = (text: string) => window.page.getByRole('tab', { name: new RegExp(`Tributary.*${text}`) });

  it('begins with a judged Task and one that is in the middle of an answer', async () => {
    await badge('1 ready').waitFor();
    await startHalf(cut);
  });

  it('leaves the Run as interrupted, and asks whether it shall go on', async () => {
    editor.server.script(byObjective({ [cut]: greetingWork('good evening') }));
    process.kill((await lastRun()).owner.pid, 'SIGKILL');
    await row(/interrupted/).waitFor({ timeout: 120_000 });
    const notice = window.notification(`"${cut}" was interrupted`);
    // Under the pointer it stays.
    await notice.hover();
    assert.equal((await lastRun()).status.state, 'interrupted');
    await window.picture('crash-notice');
    await badge('1 ready').waitFor();
  });

  it('shows in the transcript tab everything that is in its file, once, and where it was cut', async () => {
    await window.webview().getByText('Now I change it.').waitFor();
    await window.picture('crash-page');
    await window.webview().locator('[data-key="end"]').waitFor();
    const rows = await shownRows(window.webview());
    assert.deepEqual(rows, await rowsOfFile(await transcript()));
    assert.ok(rows.some((key) => key.startsWith('cut')));
  });

  it('goes on where it was cut when the user says so, and comes to its end', async () => {
    await window.button('Resume').click();
    await badge('2 ready').waitFor();
    await row(cut).click();
    await window.webview().locator('[data-key="end"]').getByText('completed').waitFor();
    await window.picture('crash-resumed');
    const run = await lastRun();
    assert.equal(run.kind, 'resume');
    assert.deepEqual(await shownRows(window.webview()), await rowsOfFile(await transcript()));
    assert.deepEqual(editor.server.refusals, []);
  });

  it('shows the finding of the other Task still', async () => {
    await window.runCommand('Problems: Focus on Problems View');
    const problem = window.page.locator('.markers-panel .monaco-list-row', { hasText: findingTitle });
    await problem.first().waitFor();
    assert.equal(await problem.count(), 1);
    await window.picture('crash-problems');
  });

  it('goes on by itself after the window was reloaded', async () => {
    await startHalf(reloaded);
    editor.server.script(byObjective({ [reloaded]: greetingWork('good night') }));
    await window.runCommand('Developer: Reload Window');
    await window.ready();
    await window.notification(`Resumed: "${reloaded}"`).waitFor({ timeout: 120_000 });
    await badge('3 ready').waitFor({ timeout: 120_000 });
    const kinds = (await repo.tasks()).at(-1)?.runs.map(({ kind, status }) => `${kind} ${status.state}`);
    assert.deepEqual(kinds, ['first interrupted', 'resume completed']);
  });

  it('is asked about too when it hung, and is killed only after the window was reloaded', async () => {
    await startHalf(hung);
    editor.server.script(byObjective({ [hung]: greetingWork('good bye') }));
    const { pid } = (await lastRun()).owner;
    process.kill(pid, 'SIGSTOP');
    await window.runCommand('Developer: Reload Window');
    await window.ready();
    await row(hung).waitFor();
    await window.picture('crash-hung');
    process.kill(pid, 'SIGKILL');
    await window.notification(`"${hung}" was interrupted`).hover();
    await window.button('Resume').click();
    await badge('4 ready').waitFor({ timeout: 120_000 });
  });
});
