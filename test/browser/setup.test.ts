import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { samplePlaybook } from '../../src/demo/samplePlaybook';
import type { EditorWindow } from './support/editorWindow';
import { makeSampleFolder } from './support/sampleFolder';
import { suiteEditor } from './support/suiteEditor';

const run = promisify(execFile);

/** Waits until the test lets it go on, says much, and fails when the test says so. */
const setup =
  'until test -e "$TRIBUTARY_ROOT_PATH/../go"; do sleep 0.1; done; seq 300; if test -e "$TRIBUTARY_ROOT_PATH/../fail"; then echo no-such-package | tr - " "; exit 3; fi';
const agentMs = 180_000;

describe('what a worktree starts with, by clicks', function () {
  this.timeout(600_000);
  this.bail(true);

  let sample: Awaited<ReturnType<typeof makeSampleFolder>>;
  let window: EditorWindow;

  before(async () => {
    sample = await makeSampleFolder('set-up');
    await mkdir(join(sample.folder, '.vscode'));
    const settings = { 'tributary.worktrees.setup': [setup] };
    await writeFile(join(sample.folder, '.vscode', 'settings.json'), JSON.stringify(settings));
    await writeFile(join(sample.folder, 'plan.txt'), 'mine, not committed\n');
    window = await (await suiteEditor()).open(sample.folder);
  });
  afterEach(async function () {
    await window?.tellIfFailed(this.currentTest, 'setup-last');
  });
  after(async () => {
    await window?.close();
    await sample?.remove();
  });

  const git = async (...args: readonly string[]): Promise<string> =>
    (await run('git', [...args], { cwd: sample.folder })).stdout;

  /** A line of the text that is open. */
  const page = (text: string | RegExp) =>
    window.page.locator('.editor-instance .view-line', { hasText: text }).first();

  async function newTask(): Promise<void> {
    await window.openView();
    await window.page.locator('.part.sidebar').getByRole('button', { name: 'New Task' }).last().click();
    await window.waitForQuestion('New Task: objective');
    await window.answer(samplePlaybook.objective);
    await window.waitForQuestion('New Task: agent');
    await window.pick('general');
    await window.waitForQuestion('New Task: base');
    await window.picture('setup-base');
    await window.pick('HEAD with my uncommitted changes');
    await window.waitForQuestion('New Task: checks');
    await window.answer('');
  }

  it('asks before commands of the workspace run; who leaves the question starts nothing', async () => {
    await newTask();
    await window.modalButton('Run Them').waitFor();
    await window.picture('setup-consent');
    await window.modalButton('Cancel').click();
    await window.modalButton('Cancel').waitFor({ state: 'detached' });
    assert.equal(await window.row('Fix the duration').count(), 0);
    assert.equal(await git('for-each-ref', 'refs/tributary'), '');
  });

  it('shows the command on the row while it runs, and takes a failed start back', async () => {
    await writeFile(join(sample.folder, '..', 'fail'), '');
    await newTask();
    await window.modalButton('Run Them').click();
    await window
      .row(/set-up: until test/)
      .first()
      .waitFor({ timeout: agentMs });
    await window.picture('setup-running');
    await window.focusRow('Fix the duration');
    await window.takeFromMenu('Show Set-up Output');
    await page('It is running.').waitFor();
    await window.picture('setup-output-running');
    await writeFile(join(sample.folder, '..', 'go'), '');
    await window
      .row(/set-up failed: until test/)
      .first()
      .waitFor({ timeout: agentMs });
    await window.picture('setup-failed');
    assert.equal((await git('worktree', 'list')).trim().split('\n').length, 1);
    assert.equal(await readFile(join(sample.folder, 'plan.txt'), 'utf8'), 'mine, not committed\n');
    assert.match(await git('status', '--porcelain'), /^\?\? \.vscode\/\n\?\? plan\.txt\n$/);
  });

  it('shows the end of what the set-up printed on the page that is open, and says nothing of it twice', async () => {
    await page('no such package').waitFor();
    await page('failed with exit code 3 after').waitFor();
    await window.picture('setup-output');
    const notice = window.notification(/Setting up the worktree failed/);
    await notice.waitFor();
    const said = await notice.locator('.notification-list-item-message').textContent();
    assert.doesNotMatch(said ?? '', /no such package|299/);
  });

  it('leads there from the notification, from the row with a click, and from the row by keys', async () => {
    const notice = window.notification(/Setting up the worktree failed/);
    const row = window.row(/set-up failed/).first();
    const ways: readonly (() => Promise<void>)[] = [
      async () => {
        await notice.hover();
        await notice.getByRole('button', { name: 'Show Set-up Output' }).click();
      },
      () => window.rowAction(row, 'Show Set-up Output'),
      async () => {
        await window.focusRow('Fix the duration');
        await window.takeFromMenu('Show Set-up Output');
      },
    ];
    for (const go of ways) {
      await window.runCommand('View: Close All Editors');
      await page('no such package').waitFor({ state: 'detached' });
      await go();
      await page('no such package').waitFor();
    }
  });

  it('offers what a file of another tool names, where the settings name nothing', async () => {
    await writeFile(join(sample.folder, '.vscode', 'settings.json'), '{}');
    await mkdir(join(sample.folder, '.cursor'));
    const named = { 'setup-worktree': ['echo from another tool'] };
    await writeFile(join(sample.folder, '.cursor', 'worktrees.json'), JSON.stringify(named));
    const question = window.page.locator('.monaco-dialog-box', { hasText: '.cursor/worktrees.json' });
    // The editor reads a changed settings file in its own time.
    for (let isOffered = false; !isOffered; ) {
      await newTask();
      await window.modalButton('Run Them').waitFor();
      isOffered = (await question.count()) > 0;
      if (isOffered) await window.picture('setup-import');
      await window.modalButton('Cancel').click();
      await window.modalButton('Cancel').waitFor({ state: 'detached' });
    }
  });

  it('holds the uncommitted changes in its base', async () => {
    const [base = ''] = (await git('for-each-ref', '--format=%(refname)', 'refs/tributary')).split('\n');
    assert.match(base, /\/base$/);
    assert.equal(await git('show', `${base}:plan.txt`), 'mine, not committed\n');
  });
});
