import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';

/** What a served editor without a network says about itself whatever extension is in it. */
const harmless = [
  /ENOTFOUND|ERR_NAME_NOT_RESOLVED|ERR_INTERNET_DISCONNECTED/,
  /vsda|serviceWorker|Service Worker|ServiceWorker/i,
  /authentication provider 'github'/,
  /^Canceled|: Canceled/,
  /Failed to load resource|A bad HTTP response code \(404\) was received/,
  // Whoever listens to saves has 1.75 s for it, which a busy machine does not keep.
  /Aborted onWillSaveTextDocument-event/,
  // Its own git extension looks into a worktree in the moment in which it goes; a busy machine gives it the time.
  /Unable to read file 'git:\S*\.worktrees\//,
  /Repository not initialized/,
  /An unknown error occurred\. Please consult the log/,
];

/** A window of the editor as a person has it: what is seen, clicked and typed. */
export class EditorWindow {
  readonly page: Page;
  /** What went wrong in the page, the editor's own known grumbling left out. */
  readonly errors: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => this.hear(error.stack ?? error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.hear(message.text());
    });
  }

  private hear(text: string): void {
    if (!harmless.some((pattern) => pattern.test(text))) this.errors.push(text);
  }

  /** Resolves when the window can be used. */
  async ready(): Promise<void> {
    await this.page.locator('.monaco-workbench .part.activitybar').waitFor({ timeout: 120_000 });
    await this.page.locator('.monaco-workbench .part.statusbar .statusbar-item').first().waitFor();
  }

  /** Shows Tributary's view by its icon in the activity bar. */
  async openView(): Promise<void> {
    const tab = this.page.getByRole('tab', { name: 'Tributary' });
    await tab.waitFor();
    if ((await tab.getAttribute('aria-selected')) !== 'true') await tab.locator('a').click();
    await this.page.locator('.part.sidebar .pane-body').first().waitFor();
  }

  /** Runs a command by its title in the palette, with the keyboard. */
  async runCommand(title: string): Promise<void> {
    const found = this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first();
    const endsAt = Date.now() + 60_000;
    // The palette lists what could be run when it was opened: in a window that just came up, not yet all.
    for (;;) {
      await this.page.keyboard.press('F1');
      const input = this.quickInput();
      await input.waitFor();
      await input.fill(`>${title}`);
      if (await comes(found, 3_000)) break;
      await this.page.keyboard.press('Escape');
      await input.waitFor({ state: 'hidden' });
      if (Date.now() > endsAt) throw new Error(`the palette has no command "${title}"`);
    }
    await this.page.keyboard.press('Enter');
  }

  /** The field of the quick input that is open now. */
  quickInput(): Locator {
    return this.page.locator('.quick-input-widget:visible .quick-input-box input');
  }

  /** The title or the prompt of the quick input that is open now has this text. */
  async waitForQuestion(text: string | RegExp): Promise<void> {
    await this.page.locator('.quick-input-widget:visible', { hasText: text }).waitFor();
  }

  /** Types an answer into the quick input and presses Enter. */
  async answer(text: string): Promise<void> {
    await this.quickInput().fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** Takes the choice with this text from the quick pick. */
  async pick(text: string | RegExp): Promise<void> {
    await this.pickRow(text).click();
  }

  /** The first choice with this text of the quick pick that is open now. */
  pickRow(text: string | RegExp): Locator {
    return this.page.locator('.quick-input-widget:visible .monaco-list-row', { hasText: text }).first();
  }

  /** A row of a tree view, by a text in it. */
  row(text: string | RegExp): Locator {
    return this.page.locator('.part.sidebar .monaco-list-row', { hasText: text });
  }

  /** Goes to the row of a Task with this text by keys alone. */
  async focusRow(text: string | RegExp): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press('Control+k');
    await keyboard.press('Alt+t');
    await this.page.locator('.part.sidebar .monaco-list:focus').waitFor();
    await keyboard.press('Home');
    await this.pressUntil(
      'ArrowDown',
      this.page.locator('.part.sidebar .monaco-list-row.focused', { hasText: text }),
    );
  }

  /** Clicks a button that a row of a tree view shows while the pointer is on it; one that is drawn anew shows it late. */
  async rowAction(row: Locator, title: string, effect?: Locator): Promise<void> {
    // A shortcut follows the title, where there is one.
    const button = row.locator(`.actions .action-label[aria-label^="${title}"]`).first();
    const deadline = Date.now() + 60_000;
    // Under a pointer at rest nothing is shown: the next move does it.
    for (let isOver = false; !isOver; isOver = await button.isVisible()) {
      if (Date.now() > deadline)
        throw new Error(`the row shows no button ${title}: ${await row.textContent()}`);
      await row.hover({ position: { x: 20, y: 5 } });
      await row.hover({ position: { x: 40, y: 10 } });
    }
    await this.untilHeard(() => button.click(), effect);
  }

  /** Takes an entry of the menu of a row with the mouse; until `effect` is seen, where one is named. */
  async takeFromMenuOf(row: Locator, title: string, effect?: Locator): Promise<void> {
    await this.untilHeard(async () => {
      await row.click({ button: 'right' });
      await this.chooseFromMenu(this.menuItem(title));
    }, effect);
  }

  /** A menu takes no press in its first tenth of a second, in which no person could mean one; it stays open then. */
  private async chooseFromMenu(entry: Locator): Promise<void> {
    for (let times = 1; ; times += 1) {
      await entry.click();
      const isGone = await entry.waitFor({ state: 'hidden', timeout: 2_000 }).then(
        () => true,
        () => false,
      );
      if (isGone) return;
      if (times === 5) throw new Error('the menu stays open, however often its entry is pressed');
    }
  }

  /**
   * Presses again, as a person does who is told that the list was just changing and nothing was done, or who sees
   * nothing come of it: an editor that is busy closes its menu under the pointer now and then.
   */
  private async untilHeard(press: () => Promise<void>, effect?: Locator): Promise<void> {
    const lost = this.notification('The list was just changing').first();
    for (let times = 1; ; times += 1) {
      await press();
      await comes(
        effect === undefined ? lost : lost.or(effect).first(),
        effect === undefined ? 1_000 : 20_000,
      );
      if (await lost.isVisible()) await lost.waitFor({ state: 'hidden' });
      else if (effect === undefined || (await effect.isVisible())) return;
      if (times === 5) throw new Error('it was pressed five times, and nothing came of it');
    }
  }

  /** Opens the menu of the row that has the focus and takes an entry of it, by keys alone. */
  async takeFromMenu(title: string): Promise<void> {
    await this.page.keyboard.press('Shift+F10');
    // Its name has the shortcut in it, where there is one.
    await this.page.locator('.monaco-menu .action-item', { hasText: title }).first().waitFor();
    const entry = this.page.locator('.monaco-menu .action-item.focused', { hasText: title });
    await this.pressUntil('ArrowDown', entry);
    await this.page.keyboard.press('Enter');
  }

  private async pressUntil(key: string, wanted: Locator): Promise<void> {
    for (let count = 0; !(await comes(wanted.first(), 300)); count += 1) {
      if (count > 40) throw new Error(`pressing ${key} did not come to it`);
      await this.page.keyboard.press(key);
    }
  }

  /** A button of the modal dialog or the notification that is open. */
  button(text: string | RegExp): Locator {
    return this.page
      .locator('.monaco-dialog-box .monaco-button, .notifications-toasts .monaco-button')
      .filter({ hasText: text });
  }

  /** A button of the modal question that is open. */
  modalButton(text: string): Locator {
    return this.page.locator('.monaco-dialog-box').getByRole('button', { name: text, exact: true });
  }

  /** An entry of the context menu that is open. */
  menuItem(text: string): Locator {
    return this.page.locator('.monaco-menu').getByRole('menuitem', { name: text, exact: true });
  }

  notification(text: string | RegExp): Locator {
    return this.page.locator('.notification-toast', { hasText: text });
  }

  /** The inside of the webview that is shown. */
  webview(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready:visible').frameLocator('iframe#active-frame');
  }

  /** Saves what is seen as `<folder>/<name>.png` and answers the path. */
  async screenshot(folder: string, name: string): Promise<string> {
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${name}.png`);
    await this.page.screenshot({ path });
    return path;
  }

  /** A screenshot into the folder that `TRIBUTARY_SCREENSHOTS` names, where it names one. */
  async picture(name: string): Promise<void> {
    const folder = process.env['TRIBUTARY_SCREENSHOTS'];
    if (folder !== undefined) await this.screenshot(folder, name);
  }

  /** After a test that failed: a picture, and what can be read in the window, for whoever has only the output. */
  async tellIfFailed(test: { readonly state?: string | undefined } | undefined, name: string): Promise<void> {
    if (test?.state !== 'failed') return;
    await this.picture(name);
    const seen = [
      '.part.sidebar .monaco-list-row',
      '.notification-toast',
      '.monaco-dialog-box',
      '[role=tab]',
    ];
    for (const selector of seen) {
      const texts = await this.page.locator(`${selector}:visible`).allTextContents();
      console.log(`      ${selector}: ${JSON.stringify(texts.map((text) => text.slice(0, 300)))}`);
    }
    // What was said and is gone again.
    await this.runCommand('Notifications: Show Notifications').catch(() => undefined);
    const said = await this.page.locator('.notifications-center .notification-list-item').allTextContents();
    console.log(`      said before: ${JSON.stringify(said.map((text) => text.slice(0, 300)))}`);
  }

  async close(): Promise<void> {
    await this.page.close();
  }
}

/** Whether it is seen within the time. */
export async function comes(locator: Locator, withinMs: number): Promise<boolean> {
  return await locator
    .waitFor({ timeout: withinMs })
    .then(() => true)
    .catch(() => false);
}
