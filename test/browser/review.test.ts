import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { MainRoad } from './support/mainRoad';
import { makeSampleFolder } from './support/sampleFolder';
import { suiteEditor } from './support/suiteEditor';

describe('the review of a Task, by clicks and keys', function () {
  this.timeout(600_000);
  this.bail(true);

  let road: MainRoad;
  let sample: Awaited<ReturnType<typeof makeSampleFolder>>;
  let untouched: string;

  const source = (): Promise<string> => readFile(join(sample.folder, 'src', 'duration.js'), 'utf8');
  const pane = (): Locator =>
    road.window.page.locator('.part.sidebar .pane', {
      has: road.window.page.locator('.pane-header[aria-label^="Review"]'),
    });
  const rows = (): Locator => pane().locator('.monaco-list-row');
  /** Said of the row once it is in the record. */
  const reviewedFile = (): Locator => pane().locator('.monaco-list-row[aria-label*="reviewed"]').first();
  before(async () => {
    sample = await makeSampleFolder('reviewed');
    untouched = await source();
    road = new MainRoad(await (await suiteEditor()).open(sample.folder));
    await road.startTask();
    await road.allowCommands();
    await road.waitForRow(/FAIL, 1 finding ·/);
  });

  afterEach(async function () {
    const title = this.currentTest?.title.slice(0, 30).replace(/\W+/g, '-') ?? 'last';
    await road?.window.picture(`review-${title}`);
    await road?.window.tellIfFailed(this.currentTest, 'review-last');
  });

  after(async () => {
    await road?.window.close();
    await sample?.remove();
  });

  it('shows the files and hunks of the Task whose row is selected, and marks one with a click', async () => {
    await road.row().first().click();
    await rows().filter({ hasText: 'duration.js' }).first().waitFor();
    const box = rows().first().locator('.custom-view-tree-node-item-checkbox');
    await box.click();
    await reviewedFile().waitFor();
  });

  it('keeps New Task in sight while the Tasks have the focus, and has it in the menu of their rows', async () => {
    const header = road.window.page.locator('.part.sidebar .pane-header[aria-label^="Tasks"]');
    await road.window.focusRow(/./);
    await road.window.page.mouse.move(900, 400);
    await header.locator('.actions .action-label[aria-label^="New Task"]').waitFor();
    await road.window.takeFromMenu('New Task');
    await road.window.waitForQuestion('New Task: objective');
    await road.window.page.keyboard.press('Escape');
  });

  it('keeps the mark when the window is reloaded', async () => {
    await road.window.page.reload();
    await road.window.ready();
    await reviewedFile().waitFor();
  });

  it('lands one hunk from its row, and takes it back', async () => {
    await road.window.rowAction(rows().nth(1), 'Land Hunk');
    await road.window.modalButton('Land').click();
    await rows().nth(1).filter({ hasText: 'landed' }).waitFor();
    assert.notEqual(await source(), untouched);
    await road.window.runCommand('Tributary: Undo Accept');
    // No row of the tree is selected: the palette asks which Task.
    await road.window.page.getByPlaceholder('Choose a Task').press('Enter');
    await rows().nth(1).filter({ hasText: 'landed' }).waitFor({ state: 'detached' });
    assert.equal(await source(), untouched);
  });
});
