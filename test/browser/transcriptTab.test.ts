// The transcript as a tab of a real editor: what only an editor can show of it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { FrameLocator } from 'playwright-core';
import { samplePlaybook } from '../../src/demo/samplePlaybook';
import { sampleTestCommand } from '../../src/demo/sampleRepository';
import { stagedExtension } from './support/editorChoice';
import type { EditorWindow } from './support/editorWindow';
import { makeSampleFolder, plainEnvironment } from './support/sampleFolder';
import { suiteEditor } from './support/suiteEditor';

const run = promisify(execFile);

describe('the transcript tab in the editor', function () {
  this.timeout(300_000);
  this.bail(true);

  let window: EditorWindow;
  let sample: Awaited<ReturnType<typeof makeSampleFolder>>;
  let scratch: string;

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'tributary-tab-'));
    sample = await makeSampleFolder('tab-timer');
    // A board from the start: the window opens it by itself.
    await explore();
    window = await (await suiteEditor()).open(sample.folder);
    await window.openView();
  });

  after(async () => {
    await window?.close();
    await sample?.remove();
    await rm(scratch, { recursive: true, force: true });
  });

  /** A whole Run, verified, by another process: the command line. */
  async function explore(): Promise<void> {
    const cli = join(stagedExtension(), 'dist', 'cli.js');
    const args = ['run', samplePlaybook.objective, '--demo', '--no-verify', '--allow-commands'];
    await run(process.execPath, [cli, ...args, '--check', sampleTestCommand], {
      cwd: sample.folder,
      env: { ...plainEnvironment(), XDG_CACHE_HOME: scratch },
    });
  }

  const page = (): FrameLocator => window.webview();
  const keys = async (): Promise<string[]> =>
    await page()
      .locator('article')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key') ?? ''));

  it('shows a Run that another process wrote', async () => {
    await window.row(samplePlaybook.objective.slice(0, 20)).first().click();
    await page().getByText('Run completed').waitFor();
    await page().getByText('Demo model, scripted').waitFor();
    await window.page.getByRole('tab', { name: /^Run: / }).waitFor();
  });

  it('opens the file an answer names, at its line', async () => {
    await page()
      .locator('.answer')
      .getByRole('button', { name: /duration\.js:/ })
      .first()
      .click();
    await window.page
      .getByRole('tab', { name: /duration\.js/ })
      .first()
      .waitFor();
  });

  it('shows everything once again after it was hidden', async () => {
    await window.page.getByRole('tab', { name: /^Run: / }).click();
    await page().getByText('Run completed').waitFor();
    const shown = await keys();
    assert.equal(new Set(shown).size, shown.length);
  });

  it('comes back after a reload of the window, on the same Run', async () => {
    const before = await keys();
    await page().getByRole('textbox', { name: 'Message to the agent' }).fill('kept over a reload');
    await window.runCommand('Developer: Reload Window');
    await window.ready();
    await page().getByText('Run completed').waitFor({ timeout: 90_000 });
    assert.equal(
      await page().getByRole('textbox', { name: 'Message to the agent' }).inputValue(),
      'kept over a reload',
    );
    assert.deepEqual(await keys(), before);
  });

  it('goes on to the Run that a message from it begins', async () => {
    const box = page().getByRole('textbox', { name: 'Message to the agent' });
    await box.fill('Please look at it once more.');
    await box.press('Control+Enter');
    await page().getByLabel('Run of this task').waitFor({ timeout: 90_000 });
    await page().locator('select').filter({ hasText: 'follow-up' }).waitFor();
    assert.match((await page().locator('select option:checked').textContent()) ?? '', /follow-up/);
    assert.equal(await box.inputValue(), '');
  });

  it('leaves no error in the window', () => {
    // What the editor in a browser says about its own parts when its window is reloaded.
    assert.deepEqual(
      window.errors.filter((text) => !text.includes('[lifecycle] Long running operations')),
      [],
    );
  });
});
