// A Task that meets the user's own edits: said before anything lands, resolved by hand or by an agent, then landed.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { call, finalAnswer } from '../cli/support/job';
import type { Reply } from '../wire/support/strictServer';
import { comes, type EditorWindow } from './support/editorWindow';
import {
  byObjective,
  commandLine,
  type GreetingFolder,
  greetingWork,
  makeGreetingFolder,
} from './support/greeting';
import { type ModelEditor, modelEditor } from './support/modelEditor';

const day = 'Say good day';
const evening = 'Say good evening';
const mine = "export const greeting = 'ahoy';\n";
const both = "export const greeting = 'ahoy and good day';\n";

/** After its own work: what the agent does when it is asked to resolve what conflicts. */
const resolving: readonly Reply[] = [
  call('Read', { file_path: 'src/greet.js' }, 'I look at both sides.'),
  call('Write', { file_path: 'src/greet.js', content: both }),
  { content: [{ type: 'text', text: finalAnswer }] },
];

describe('a change that conflicts with edits of the user, by clicks and keys', function () {
  this.timeout(300_000);
  this.bail(true);

  let editor: ModelEditor;
  let repo: GreetingFolder;
  let window: EditorWindow;

  const greeting = (): Promise<string> => readFile(join(repo.folder, 'src', 'greet.js'), 'utf8');
  const row = (text: string | RegExp) => window.row(text).first();
  const question = () => window.page.locator('.monaco-dialog-box');

  before(async () => {
    editor = await modelEditor();
    repo = await makeGreetingFolder('meeting');
    editor.server.script(
      byObjective({
        [day]: [...greetingWork('good day'), ...resolving],
        [evening]: greetingWork('good evening'),
      }),
    );
    for (const objective of [day, evening])
      await commandLine(repo.folder, editor.cliEnv, 'run', objective, '--no-verify');
    await writeFile(join(repo.folder, 'src', 'greet.js'), mine);
    window = await editor.app.open(repo.folder);
    await window.openView();
  });

  afterEach(async function () {
    await window?.tellIfFailed(this.currentTest, 'conflicts-last');
  });

  after(async () => {
    await window?.close();
    await repo?.remove();
  });

  /** Presses again where the row was just changing, which is then said. */
  async function accept(objective: string): Promise<void> {
    do {
      await window.rowAction(row(objective), 'Accept');
    } while (!(await comes(question(), 5_000)));
  }

  it('lists the conflicts by file and reason before anything is written, and shows both sides', async () => {
    await row(/with your checkout/).waitFor();
    await accept(evening);
    await question()
      .getByText('"Say good evening" conflicts with your checkout. Nothing was written.')
      .waitFor();
    await question().getByText('src/greet.js (both sides changed the same lines)').waitFor();
    await window.picture('conflicts-question');
    assert.equal(await greeting(), mine);
    await window.modalButton('Show Conflicts').click();
    await window.waitForQuestion('Conflicts');
    await window.picture('conflicts-list');
    await window.pick('greet.js');
    const sides = window.page.locator('.monaco-diff-editor');
    await sides.getByText('ahoy').first().waitFor();
    await sides.getByText('good evening').first().waitFor();
  });

  it('opens a conflict in the editor, where a lens takes a side, and then it lands', async () => {
    await accept(evening);
    await window.modalButton('Resolve in the Worktree').click();
    await row(/Say good evening.*1 file to resolve/).waitFor();
    const lens = window.page.locator('.codelens-decoration').getByText('Accept Incoming Change');
    await lens.first().waitFor();
    await window.picture('conflicts-markers');
    await lens.first().click();
    await window.page.locator('.view-lines').getByText('<<<<<<<').first().waitFor({ state: 'detached' });
    await window.page.keyboard.press('Control+s');
    await row(/Say good evening.*to resolve/).waitFor({ state: 'detached' });
    await accept(evening);
    await window.modalButton('Accept').click();
    await row(/Say good evening.*accepted/).waitFor();
    assert.match(await greeting(), /good evening/);
    await window.rowAction(row(evening), 'Undo Accept');
    await row(/Say good evening.*accepted/).waitFor({ state: 'detached' });
    assert.equal(await greeting(), mine);
  });

  it('has an agent resolve them in the worktree by keys alone, and then it lands', async () => {
    await window.focusRow(day);
    await window.takeFromMenu('Accept');
    await window.modalButton('Let an Agent Resolve').waitFor();
    await window.page.keyboard.press('Enter');
    // The Run's row stands below that of its Task, which stays folded as the user has it.
    await window.focusRow(day);
    await window.page.keyboard.press('ArrowRight');
    await row(/follow-up.*\d s/).waitFor();
    await row(/Say good day.*ready: 1 file/).waitFor();
    assert.equal(await row(/Say good day.*to resolve/).count(), 0);
    assert.equal(await greeting(), mine);
    await window.picture('conflicts-resolved');
    await window.focusRow(day);
    await window.takeFromMenu('Accept');
    await window.modalButton('Accept').waitFor();
    await window.page.keyboard.press('Enter');
    await row(/Say good day.*accepted/).waitFor();
    assert.equal(await greeting(), both);
  });
});
