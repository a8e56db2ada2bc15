// Tasks that get in each other's way, what changed outside a Worktree, and looking after Worktrees: by clicks and keys.
import assert from 'node:assert/strict';
import { access, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openAlarms, type Task } from '../../src/model/task';
import { call, finalAnswer } from '../cli/support/job';
import type { Reply } from '../wire/support/strictServer';
import type { EditorWindow } from './support/editorWindow';
import {
  ageTask,
  byObjective,
  commandLine,
  type GreetingFolder,
  greetingWork,
  makeGreetingFolder,
} from './support/greeting';
import { type ModelEditor, modelEditor } from './support/modelEditor';

const day = 'Say good day';
const evening = 'Say good evening';
const reaching = 'Reach out of it';
const looking = 'Look at it only';
const answer: Reply = { content: [{ type: 'text', text: finalAnswer }] };

describe('several Tasks beside each other, and their Worktrees', function () {
  this.timeout(300_000);
  this.bail(true);

  let editor: ModelEditor;
  let repo: GreetingFolder;
  let window: EditorWindow;

  before(async () => {
    editor = await modelEditor();
    repo = await makeGreetingFolder('house');
    await repo.git('branch', 'side');
    await repo.git('commit', '--quiet', '--allow-empty', '-m', 'second');
    // A script in the worktree is what no reader of commands can see through.
    const reach = `echo "git -C '${repo.folder}' update-ref refs/heads/side refs/heads/main" > reach.sh; sh reach.sh`;
    editor.server.script(
      byObjective({
        [day]: greetingWork('good day'),
        [evening]: greetingWork('good evening'),
        [reaching]: [call('Bash', { command: reach }), answer],
        [looking]: greetingWork('good night'),
      }),
    );
    for (const objective of [day, evening, reaching, looking])
      await commandLine(repo.folder, editor.cliEnv, 'run', objective, '--allow-commands');
    // Back to its base: a worktree that nobody needs.
    await commandLine(repo.folder, editor.cliEnv, 'restore', (await task(looking)).id, '--snapshot', '0');
    await ageTask(repo.folder, await task(looking));
    window = await editor.app.open(repo.folder);
    await window.openView();
  });

  afterEach(async function () {
    await window?.tellIfFailed(this.currentTest, 'house-last');
  });

  after(async () => {
    await window?.close();
    await repo?.remove();
  });

  const row = (text: string | RegExp) => window.row(text).first();
  const choice = (text: string | RegExp) =>
    window.page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
  async function task(objective: string): Promise<Task> {
    const found = (await repo.tasks()).find(({ packet }) => packet.objective === objective);
    assert.ok(found, objective);
    return found;
  }
  const worktreeOf = async (objective: string): Promise<string> =>
    (await task(objective)).worktreePath ?? assert.fail('no worktree');
  const isThere = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );

  it('tells once of what changed outside the worktree while a command ran, and marks the row until it is dismissed', async () => {
    const notice = window.notification(/Something outside its worktree changed while "Reach out of it" ran/);
    await notice.waitFor();
    await row(/Reach out of it.*alarm ·/).waitFor();
    await window.picture('alarm-row');
    await notice.hover();
    await notice.getByRole('button', { name: 'Show…' }).click();
    await window.modalButton('Dismiss').waitFor();
    const question = window.page.locator('.monaco-dialog-box');
    await question.getByText('refs/heads/side').waitFor();
    await window.picture('alarm-details');
    await window.modalButton('Dismiss').click();
    await row(/Reach out of it.*alarm ·/).waitFor({ state: 'detached' });
    assert.deepEqual(openAlarms(await task(reaching)), []);
  });

  it('says on their rows that two Tasks conflict, also to a screen reader', async () => {
    await row(/Say good day.*conflicts with another Task/).waitFor();
    await row(/Say good evening.*conflicts with another Task/).waitFor();
    const spoken = await row(day).getAttribute('aria-label');
    assert.match(spoken ?? '', /conflicts with another Task/);
    await window.picture('conflict-row');
  });

  it('says so too of edits in the checkout, when they come and when they go', async () => {
    const file = join(repo.folder, 'src', 'greet.js');
    const before = await readFile(file, 'utf8');
    await writeFile(file, "export const greeting = 'ahoy';\n");
    await row(/Say good day.*conflicts with another Task and with your checkout/).waitFor();
    await window.picture('conflict-checkout');
    await writeFile(file, before);
    await row(/Say good day.*with your checkout/).waitFor({ state: 'detached' });
  });

  it('lists which files conflict and the best order, and opens both sides', async () => {
    await window.runCommand('Tributary: Show Conflicts Between Tasks');
    await window.waitForQuestion('Conflicts Between Tasks');
    await choice('Best order to accept them in').waitFor();
    await window.picture('conflict-list');
    await window.pick(/good day.*good evening|good evening.*good day/);
    const tab = window.page.locator('.tab', { hasText: 'greet.js' }).first();
    await tab.waitFor();
    await window.page.locator('.monaco-diff-editor').getByText('good evening').first().waitFor();
    await window.picture('conflict-diff');
  });

  it('lists the worktrees with state, size and age, and leads to their Tasks', async () => {
    await window.runCommand('Tributary: Show Worktrees');
    await choice(/Say good day.*open · changed · .*B · used today/).waitFor();
    await choice(/Look at it only.*open · unchanged/).waitFor();
    await window.picture('worktrees');
    await window.pick(looking);
    await window.pick('Go to Its Task');
    await window.page
      .locator('.part.sidebar .monaco-list-row.focused', { hasText: looking })
      .first()
      .waitFor();
  });

  it('sweeps what the user chose of what nobody needs, and says what came of it', async () => {
    const path = await worktreeOf(looking);
    await window.runCommand('Tributary: Sweep Worktrees');
    await window.waitForQuestion('Sweep Worktrees');
    await choice(looking).waitFor();
    assert.equal(await choice(day).count(), 0);
    await window.picture('sweep');
    await window.page.keyboard.press('Enter');
    await window.modalButton('Remove').waitFor();
    assert.equal(await isThere(path), true);
    await window.picture('sweep-confirm');
    await window.modalButton('Remove').click();
    await window.notification(/Removed: 1 worktree, .* freed/).waitFor();
    assert.equal(await isThere(path), false);
    assert.equal(await isThere(await worktreeOf(day)), true);
  });

  it('finds what is wrong, says what would be done, and fixes it when told to', async () => {
    const path = await worktreeOf(evening);
    await rm(path, { recursive: true });
    await window.runCommand('Tributary: Doctor');
    await window.waitForQuestion('Doctor');
    await choice(/Fix the .*that Tributary can fix/).waitFor();
    await window.picture('doctor');
    await window.pick(/Fix the .*that Tributary can fix/);
    await window.modalButton('Fix').waitFor();
    await window.picture('doctor-confirm');
    await window.modalButton('Fix').click();
    await window.notification(/Fixed: \d/).waitFor();
    await window.picture('doctor-done');
  });

  it('puts a worktree back to what stood at a Turn, and takes that back', async () => {
    const file = join(await worktreeOf(day), 'src', 'greet.js');
    assert.match(await readFile(file, 'utf8'), /good day/);
    const now = choice(/After Turn 2.*as it is now/);
    await window.takeFromMenuOf(row(day), 'Restore to a Turn…', now);
    await now.waitFor();
    await window.picture('restore-to');
    await window.pick('The base');
    await window.modalButton('Restore').waitFor();
    await window.picture('restore-to-confirm');
    await window.modalButton('Restore').click();
    const notice = window.notification(/is back at: The base/);
    await notice.waitFor();
    assert.match(await readFile(file, 'utf8'), /hello/);
    await notice.hover();
    await notice.getByRole('button', { name: 'Take It Back' }).click();
    while (!/good day/.test(await readFile(file, 'utf8'))) await window.page.waitForTimeout(100);
    await row(/Say good day.*FAIL, 1 finding · 1 file/).waitFor();
  });
});
