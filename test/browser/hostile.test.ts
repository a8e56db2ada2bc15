// Everything a model, a file and a repository could try on the user's screen, in a real editor.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import type { Locator } from 'playwright-core';
import { type StrictServer, startStrictServer } from '../wire/support/strictServer';
import { addedByFix, hostileModel, hostileObjective } from './hostile/hostileModel';
import { type EditorApp, startEditorApp } from './support/editorApp';
import { chosenEditor } from './support/editorChoice';
import type { EditorWindow } from './support/editorWindow';
import { makeSampleFolder, plainEnvironment } from './support/sampleFolder';
import { suiteOptions } from './support/suiteEditor';

const run = promisify(execFile);
/** Gives a test the page's own way to the host, which the page asks for once. */
const lendWire = `(() => {
  let real;
  Object.defineProperty(globalThis, 'acquireVsCodeApi', {
    configurable: true,
    get: () => real && (() => (globalThis.lentWire = real())),
    set: (value) => { real = value; },
  });
})()`;
const hiding = /[\u202a-\u202e\u2066-\u2069\u200b]/;

describe('text of models, files and repositories that means harm', function () {
  this.timeout(240_000);
  this.bail(true);

  let server: StrictServer;
  let app: EditorApp;
  let window: EditorWindow;
  let sample: Awaited<ReturnType<typeof makeSampleFolder>>;

  before(async () => {
    server = await startStrictServer({ apiKey: 'test-key' });
    server.script(hostileModel());
    sample = await makeSampleFolder('$(zap) {0}');
    const git = (...args: string[]) => run('git', args, { cwd: sample.folder });
    await git('branch', 'b/$(trash)-{0}');
    const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
    await git(...identity, 'commit', '-q', '--allow-empty', '-m', '$(trash) <b>\u202e {0} [a](command:x)');
    const env = {
      ...plainEnvironment(),
      ANTHROPIC_API_KEY: 'test-key',
      ANTHROPIC_BASE_URL: server.url,
    };
    app = await startEditorApp(chosenEditor(), { ...suiteOptions(), settings: {}, env });
    window = await app.open(sample.folder);
    await window.page.context().addInitScript(lendWire);
    await window.openView();
  });

  afterEach(async function () {
    await window?.picture(`hostile-${this.currentTest?.title.slice(0, 30).replace(/\W+/g, '-')}`);
    await window?.tellIfFailed(this.currentTest, 'hostile-last');
  });

  after(async () => {
    await window?.close();
    await app?.end();
    await server?.close();
    await sample?.remove();
  });

  const side = (): Locator => window.page.locator('.part.sidebar');
  const rows = (): Locator => side().locator('.monaco-list-row');

  /** No row is higher than a row, none holds markup or an icon of theirs, nothing in it is reordered. */
  async function assertPlainRows(): Promise<void> {
    for (const row of await rows().all()) {
      assert.equal((await row.boundingBox())?.height, 22);
      assert.doesNotMatch((await row.textContent()) ?? '', hiding);
    }
    assert.equal(await side().locator('img[src="x"], script, svg[onload]').count(), 0);
    assert.equal(await side().locator('.codicon-trash, .codicon-zap').count(), 0);
  }

  it('is plain text in the choices of New Task', async () => {
    await side().getByRole('button', { name: 'New Task' }).last().click();
    await window.waitForQuestion('New Task: objective');
    await window.answer(hostileObjective);
    await window.waitForQuestion('New Task: agent');
    await window.page.keyboard.press('Enter');
    await window.waitForQuestion('New Task: base');
    const choices = window.page.locator('.quick-input-widget:visible .monaco-list-row');
    await choices.filter({ hasText: 'b/$(trash)-{0}' }).waitFor();
    await choices.filter({ hasText: '$(trash) <b> {0} [a](command:x)' }).first().waitFor();
    assert.equal(await choices.locator('.codicon-trash').count(), 0);
    await window.page.keyboard.press('Enter');
    await window.waitForQuestion('New Task: checks');
    await window.answer('');
    await rows().first().waitFor();
  });

  it('is plain text, without a link and with nothing hidden, in a notification and in the tree', async () => {
    await rows().first().click();
    const notice = window.notification('general wants to run');
    await notice.waitFor();
    const text = (await notice.textContent()) ?? '';
    for (const part of ['\\u202e', '\\x1b[31mred', ' ⏎ echo second', 'onerror='])
      assert.ok(text.includes(part), `${part} in ${text}`);
    assert.doesNotMatch(text, hiding);
    assert.equal(await notice.locator('a:not(.action-label):not(.monaco-button)').count(), 0);
    assert.equal(await notice.locator('img, script, .codicon-trash').count(), 0);
    await assertPlainRows();
    await window.button('Allow').first().click();
  });

  it('shows a command too long for a notification where there is room for it', async () => {
    const notice = window.notification('wants to run a long command');
    await notice.waitFor();
    await notice.getByRole('button', { name: 'Show…' }).click();
    const allow = window.webview().locator('.question').getByRole('button', { name: 'Allow', exact: true });
    await allow.waitFor();
    const asked = window.webview().locator('.question .command').last();
    assert.match((await asked.textContent()) ?? '', /; echo the end$/);
    await allow.click();
  });

  it('runs nothing in the transcript and keeps its layout', async () => {
    const page = window.webview();
    await page.getByText('Run completed').waitFor();
    const loose = 'img, iframe, object, embed, form, .markdown svg, .markdown script, [onclick], [onerror]';
    assert.equal(await page.locator(loose).count(), 0);
    const hrefs = await page
      .locator('a')
      .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
    for (const href of hrefs) assert.match(href, /^https?:/);
    assert.equal(await page.locator('html').evaluate((html) => html.scrollWidth > html.clientWidth), false);
    const text = (await page.locator('body').textContent()) ?? '';
    assert.doesNotMatch(text, hiding);
    for (const control of ['\u001b', '\u0007']) assert.ok(!text.includes(control));
  });

  it('has rules for the page that let no inline script run', async () => {
    const rules = await window
      .webview()
      .locator('meta[http-equiv="Content-Security-Policy"]')
      .getAttribute('content');
    assert.match(rules ?? '', /default-src 'none'/);
    assert.match(rules ?? '', /script-src 'nonce-[\w-]+';/);
    assert.doesNotMatch(rules ?? '', /unsafe/);
    const ran = await window
      .webview()
      .locator('body')
      .evaluate((body) => {
        const script = body.ownerDocument.createElement('script');
        script.textContent = 'globalThis.pwned = "inline"';
        body.append(script);
        return body.ownerDocument.defaultView === null ? 'no view' : Reflect.get(globalThis, 'pwned');
      });
    assert.equal(ran, undefined);
  });

  it('is plain text in the problems and in the title of the review', async () => {
    await window.button('Allow All in This Repository').first().click();
    await window.modalButton('Allow').click();
    await window
      .row(/FAIL, \d+ findings? ·/)
      .first()
      .waitFor({ timeout: 120_000 });
    await assertPlainRows();
    await window.rowAction(rows().first(), 'Review Changes');
    await window.page.getByRole('tab', { name: /^Review: Do it \[Allow\]\(command:/ }).waitFor();
    const head = window.page.locator('.multiDiffEntry .header', { hasText: '$(zap) {0} <b>' }).first();
    await head.waitFor();
    const name = (await head.textContent()) ?? '';
    assert.ok(name.includes('<b>\\n\\u202eB [c](command:x).js'), name);
    assert.doesNotMatch(name, hiding);
    assert.equal(await head.locator('b, .codicon-zap').count(), 0);
    // The editor takes the focus when its files are there; keys before that would go into them.
    await window.page.locator('.multiDiffEntry .monaco-editor.focused').waitFor();
    await window.runCommand('Problems: Focus on Problems View');
    const problem = window.page
      .locator('.markers-panel .monaco-list-row', { hasText: 'Wrong [Allow]' })
      .first();
    await problem.waitFor();
    assert.equal(await problem.locator('img, script, .codicon-trash').count(), 0);
    assert.doesNotMatch((await problem.textContent()) ?? '', hiding);
  });

  it('is plain text in what Accept shows', async () => {
    const dialog = window.page.locator('.monaco-dialog-box');
    await window.rowAction(rows().first(), 'Accept', dialog);
    await dialog.waitFor();
    const text = (await dialog.textContent()) ?? '';
    for (const part of ['Do it [Allow](command:', 'src/$(zap) {0} <b>\\n\\u202eB [c](command:x).js'])
      assert.ok(text.includes(part), `${part} in ${text}`);
    assert.doesNotMatch(text, hiding);
    assert.equal(await dialog.locator('img, script, b, .codicon-trash, .codicon-zap').count(), 0);
    await window.modalButton('Cancel').click();
  });

  it('offers the files a fix added to the review that is open', async () => {
    const fixing = rows().filter({ hasText: 'general' }).nth(1);
    await window.takeFromMenuOf(rows().first(), 'Fix Findings', fixing);
    await window.button('Refresh Review').first().click({ timeout: 120_000 });
    await window.page.getByRole('tab', { name: /^Review: .*\(2 files\)/ }).waitFor();
    await window.page.getByText(addedByFix.slice('src/'.length)).first().waitFor();
  });

  it('is refused and logged, where the page sends what was not agreed', async () => {
    await rows().first().click();
    await window.webview().locator('.page').waitFor();
    await window
      .webview()
      .locator('body')
      .evaluate(() => {
        const wire: unknown = Reflect.get(globalThis, 'lentWire');
        if (typeof wire !== 'object' || wire === null || !('postMessage' in wire)) throw new Error('no wire');
        if (typeof wire.postMessage !== 'function') throw new Error('no wire');
        wire.postMessage({ kind: 'command', method: 'runAnything', params: { command: 'rm' } });
        wire.postMessage({ nonsense: true });
      });
    await window.runCommand('Tributary: Show Log');
    const log = window.page.locator('.part.panel .view-lines');
    await log.filter({ hasText: /a\smessage\sof\sa\stranscript\spage\swas\srefused/ }).waitFor();
  });

  it('ran nowhere, and the windows of the editor are as they were', async () => {
    assert.equal(await window.page.evaluate('globalThis.pwned'), undefined);
    for (const frame of window.page.frames())
      assert.equal(await frame.evaluate('globalThis.pwned').catch(() => undefined), undefined);
    assert.deepEqual(server.refusals, []);
    assert.ok((await readdir(sample.folder)).includes('package.json'));
    const own = /violates the following Content Security Policy directive/;
    assert.deepEqual(
      window.errors.filter((text) => !own.test(text)),
      [],
    );
  });
});
