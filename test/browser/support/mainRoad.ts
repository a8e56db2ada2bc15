// The main job by clicks and keys alone: what `npm start -- --check` and the browser test both walk.
import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { samplePlaybook } from '../../../src/demo/samplePlaybook';
import { sampleTestCommand } from '../../../src/demo/sampleRepository';
import { comes, type EditorWindow } from './editorWindow';

/** How long an agent may take, on a busy machine. */
const agentMs = 180_000;

/** One road through one window; every step leaves a picture when a folder is given. */
export class MainRoad {
  readonly window: EditorWindow;
  private readonly pictures: string | undefined;
  private count = 0;

  constructor(window: EditorWindow, pictures?: string) {
    this.window = window;
    this.pictures = pictures;
  }

  /** Clicks through New Task; the row is there before this resolves. */
  async startTask(objective = samplePlaybook.objective): Promise<void> {
    const { window } = this;
    await window.openView();
    // Beside another view the editor shows the buttons of one only to a pointer over it.
    const header = window.page.locator('.part.sidebar .pane-header[aria-label^="Tasks"]');
    if (await header.isVisible()) await header.hover();
    const buttons = window.page.locator('.part.sidebar').getByRole('button', { name: 'New Task' });
    await buttons.first().waitFor();
    await this.picture('view');
    const before = await this.row().count();
    await buttons.last().click();
    await window.waitForQuestion('New Task: objective');
    await window.answer(objective);
    await window.waitForQuestion('New Task: agent');
    await this.picture('new-task');
    await window.pick('general');
    await window.waitForQuestion('New Task: base');
    await window.page.keyboard.press('Enter');
    await window.waitForQuestion('New Task: checks');
    await window.answer(sampleTestCommand);
    await this.row().nth(before).waitFor();
  }

  /** Allows commands once for the repository, when the first one is asked about. */
  async allowCommands(): Promise<void> {
    const { window } = this;
    const always = window.button('Allow All in This Repository');
    await always.first().waitFor({ timeout: agentMs });
    await this.picture('question');
    await always.first().click();
    await window.modalButton('Allow').click();
  }

  /** Opens the transcript of the first row and sees it grow while the Run goes on. */
  async watchTranscript(): Promise<void> {
    const { window } = this;
    await this.row().first().click();
    const body = window.webview().locator('body');
    await body.waitFor({ timeout: 60_000 });
    const seen = new Set<string>();
    const endsAt = Date.now() + agentMs;
    while (seen.size < 4) {
      assert.ok(Date.now() < endsAt, `the transcript did not grow; it said: ${[...seen].join('\n---\n')}`);
      seen.add((await body.textContent()) ?? '');
      await window.page.waitForTimeout(100);
    }
    await this.picture('transcript');
  }

  /** Resolves when the first row's description has this text. */
  async waitForRow(text: string | RegExp): Promise<void> {
    await this.window.row(text).first().waitFor({ timeout: agentMs });
  }

  /** Opens the review from the row and sees the Finding under the code; answers its squiggle. */
  async seeFindingInReview(): Promise<Locator> {
    const { window } = this;
    await this.rowAction('Review Changes');
    const squiggle = window.page
      .locator('.multiDiffEntry, .multi-diff-editor, .monaco-multi-diff-editor')
      .locator('.squiggly-error, .squiggly-warning, .squiggly-info')
      .first();
    await squiggle.waitFor();
    await this.picture('review');
    return squiggle;
  }

  /** Sends the Finding to an agent by the quick fix at its squiggle. */
  async fixByQuickFix(squiggle: Locator): Promise<void> {
    const { window } = this;
    await squiggle.click({ force: true });
    const action = window.page.locator('.action-widget .monaco-list-row', { hasText: 'Fix with an agent' });
    const endsAt = Date.now() + agentMs;
    // The menu waits for every language service of the file; one that is just starting can make it give up.
    do await window.page.keyboard.press('Control+.');
    while (!(await comes(action, 5_000)) && Date.now() < endsAt);
    await this.picture('quick-fix');
    await action.click();
  }

  /** Takes the offer to show the files that came with the fix: the review is one tab, as before. */
  async refreshReview(files: number): Promise<void> {
    const { page } = this.window;
    // It goes by itself after a while, so it is taken when it comes: the verification may last longer.
    await this.window.button('Refresh Review').first().click({ timeout: agentMs });
    await page.getByRole('tab', { name: new RegExp(`^Review: .*\\(${files} files\\)`) }).waitFor();
    await page
      .getByRole('tab', { name: /^Review: / })
      .nth(1)
      .waitFor({ state: 'detached' });
    await this.picture('review-again');
  }

  async accept(): Promise<void> {
    await this.rowAction('Accept');
    const yes = this.window.modalButton('Accept');
    await yes.waitFor();
    await this.picture('accept');
    await yes.click();
    await this.waitForRow('accepted');
    await this.picture('accepted');
  }

  async undo(): Promise<void> {
    await this.rowAction('Undo Accept');
    await this.waitForRow(/PASS.*ready/);
    await this.picture('undone');
  }

  async discard(): Promise<void> {
    const yes = this.window.modalButton('Discard');
    await this.window.takeFromMenuOf(this.row().first(), 'Discard', yes);
    await yes.waitFor();
    await this.picture('discard');
    await yes.click();
    await this.waitForRow('discarded');
    await this.picture('discarded');
  }

  async restore(): Promise<void> {
    await this.rowAction('Restore');
    await this.waitForRow(/FAIL, 1 finding ·/);
    await this.picture('restored');
  }

  /** The rows of Tasks, the newest first. */
  row(): Locator {
    return this.window.page.locator('.part.sidebar .monaco-list-row[aria-level="1"]');
  }

  /** Clicks a button that the first row shows while the pointer is on it. */
  async rowAction(title: string): Promise<void> {
    await this.window.rowAction(this.row().first(), title);
  }

  private async picture(name: string): Promise<void> {
    if (this.pictures === undefined) return;
    this.count += 1;
    await this.window.screenshot(this.pictures, `${String(this.count).padStart(2, '0')}-${name}`);
  }

  /** What is seen when something did not come. */
  async lastPicture(): Promise<void> {
    await this.picture('last');
  }
}
