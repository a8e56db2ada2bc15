// The transcript page in a browser of its own: the real page, the real host's end, recorded transcripts.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import * as z from 'zod';
import type { NewEntry } from '../../src/model/transcript';
import { launchChromium } from './support/browser';
import { chromiumPath } from './transcript/chromium';
import { type PageLook, type Shown, StandalonePage } from './transcript/standalonePage';
import {
  called,
  hostileStory,
  liveStory,
  longStory,
  recorded,
  runId,
  said,
  verdict,
  wholeStory,
} from './transcript/stories';
import { themeNames } from './transcript/themes';

const pictures = process.env['TRIBUTARY_SCREENSHOTS'];

describe('the transcript page', () => {
  let browser: Browser;
  const opened: StandalonePage[] = [];

  before(async () => {
    browser = await launchChromium(await chromiumPath());
  });
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  after(() => browser?.close());

  async function open(shown: Shown, look: PageLook = {}): Promise<StandalonePage> {
    const one = await StandalonePage.open(browser, shown, look);
    opened.push(one);
    return one;
  }

  const picture = async ({ page }: StandalonePage, name: string): Promise<void> => {
    if (pictures !== undefined) await page.screenshot({ path: join(pictures, `transcript-${name}.png`) });
  };
  const row = ({ page }: StandalonePage, text: string | RegExp): Locator =>
    page.getByRole('article').filter({ hasText: text }).first();
  const button = ({ page }: StandalonePage, name: string | RegExp): Locator =>
    page.getByRole('button', { name }).first();
  const unfold = async (one: StandalonePage, text: string): Promise<Locator> => {
    const found = row(one, text);
    await found.locator('[data-fold]').first().click();
    await found.locator('.fold-body').waitFor();
    return found;
  };

  describe('of a Run that was judged', () => {
    it('says in its head what runs where, and that a demo is a demo', async () => {
      const one = await open(wholeStory());
      const head = one.page.getByRole('banner');
      assert.match(
        (await head.textContent()) ?? '',
        /1h30m must be 5400.*completed.*0:20.*general.*Demo model, scripted/s,
      );
      assert.match((await head.textContent()) ?? '', /82% from cache/);
      assert.deepEqual(one.complaints, []);
    });

    it('shows the answer in its sections, with places as links', async () => {
      const one = await open(wholeStory());
      const card = row(one, 'Blockers');
      assert.match((await card.textContent()) ?? '', /Changes.*Evidence.*Risks.*Blockers.*None\./s);
      await card.getByRole('button', { name: 'src/duration.js:5-9' }).click();
      assert.deepEqual(one.intents, [
        { method: 'openFile', params: { path: 'src/duration.js', line: 5, endLine: 9 } },
      ]);
    });

    it('shows the verdict with its checks, the kind of their evidence, and findings that lead to the code', async () => {
      const one = await open(wholeStory());
      const card = row(one, 'Verdict: FAIL');
      const text = (await card.textContent()) ?? '';
      assert.match(text, /run by Tributary.*observed · own check.*claimed, not observed/s);
      assert.match(text, /exit 0 · 2\.1 s/);
      await card.getByRole('button', { name: 'src/duration.js:6-8' }).click();
      await card.getByRole('button', { name: 'Fix', exact: true }).first().click();
      await card.getByRole('button', { name: 'Fix 2 findings' }).click();
      await card.getByRole('button', { name: 'Show call 2' }).click();
      assert.deepEqual(
        one.intents.map(({ method, params }) => [method, params]),
        [
          ['openFile', { path: 'src/duration.js', line: 6, endLine: 8 }],
          ['fix', { findingId: 'f1' }],
          ['fix', {}],
          ['showRun', { runId: verdict.runId, call: 2 }],
        ],
      );
    });

    it('opens at what the Run came to, its answer, with printed output folded behind it', async () => {
      const story = wholeStory();
      const [of] = story.task.verdicts;
      assert.ok(of);
      const detail = Array.from({ length: 60 }, (_, line) => `line ${line} of the check`).join('\n');
      const findings = of.findings.map((one) => ({ ...one, source: 'host' as const, detail }));
      const one = await open({ ...story, task: { ...story.task, verdicts: [{ ...of, findings }] } });
      await until(one, answerAtTop);
      const output = row(one, 'Verdict: FAIL').locator('.finding-output').first();
      assert.match((await output.textContent()) ?? '', /line 0 .*line 4 of the check/s);
      assert.doesNotMatch((await output.textContent()) ?? '', /line 5 /);
      const families = await one.page.evaluate<string[]>(
        `['.finding-output pre', 'body'].map((one) => getComputedStyle(document.querySelector(one)).fontFamily)`,
      );
      assert.notEqual(families[0], families[1], 'printed output is set in the font of code');
      await picture(one, 'news');
      await output.getByRole('button', { name: 'Show all (60 lines)' }).click();
      await output.getByText('line 59 of the check').waitFor();
    });

    it('shows code in words of others as code, without its marks', async () => {
      const story = wholeStory();
      const [of] = story.task.verdicts;
      assert.ok(of);
      const findings = of.findings.map((one) => ({ ...one, title: 'Check failed: `npm test` <b>' }));
      const one = await open({
        ...story,
        task: { ...story.task, verdicts: [{ ...of, findings, reasons: ['It failed: `npm test`.'] }] },
      });
      const card = row(one, 'Verdict: FAIL');
      assert.equal(await card.locator('.finding-title code').first().textContent(), 'npm test');
      assert.equal(await card.locator('.remark code').first().textContent(), 'npm test');
      assert.doesNotMatch((await card.textContent()) ?? '', /`/);
    });

    it('says of a verification what it came to, and not that it is completed', async () => {
      const story = wholeStory();
      const [, verify] = story.task.runs;
      assert.ok(verify);
      const one = await open({ ...story, entries: [], runId: verify.id });
      assert.equal(await one.page.locator('.state').textContent(), 'FAIL');
      await row(one, 'Run completed: FAIL').waitFor();
      await until(one, 'document.querySelector(".verdict").getBoundingClientRect().top >= 0');
    });

    it('offers neither a review nor a verification where nothing was changed', async () => {
      const story = wholeStory();
      const { snapshot: _, ...task } = story.task;
      const one = await open({ ...story, task });
      assert.equal(await one.page.getByRole('button', { name: 'Review' }).count(), 0);
      await one.page.locator('summary').click();
      await button(one, /Export as Markdown/).waitFor();
      assert.equal(await one.page.getByRole('button', { name: 'Verify', exact: true }).count(), 0);
    });

    it('calls a command that was stopped with its Run stopped, and not failed', async () => {
      const [started, ended] = called({ name: 'Bash', input: { command: 'sleep 60' }, isError: true });
      assert.ok(started !== undefined && ended?.type === 'tool.ended');
      const one = await open(liveStory([started, { ...ended, exitCode: null, isStopped: true }]));
      const outcome = row(one, 'sleep 60').locator('.outcome');
      assert.match((await outcome.textContent()) ?? '', /^stopped/);
      assert.equal(await outcome.locator('.icon-cross').count(), 0);
    });

    it('folds tool calls to a line and unfolds input and result', async () => {
      const one = await open(wholeStory(), { height: 1_600 });
      const bash = row(one, 'npm test');
      assert.match((await bash.textContent()) ?? '', /\$npm test.*exit 1 · 1\.2 s/s);
      assert.equal(await bash.locator('.fold-body').count(), 0);
      await unfold(one, 'npm test');
      assert.equal(await bash.locator('.t-red').textContent(), '✖ hours');
      await bash.getByRole('button', { name: 'Copy the result' }).click();
      assert.equal(one.intents[0]?.method, 'copy');
    });

    it('shows an edit as a coloured difference', async () => {
      const one = await open(wholeStory(), { height: 1_600 });
      const edit = await unfold(one, 'Editsrc/duration.js');
      assert.deepEqual(
        await edit.locator('.diff-line').evaluateAll((lines) => lines.map((line) => line.className)),
        [
          'diff-line diff-removed',
          'diff-line diff-removed',
          'diff-line diff-added',
          'diff-line diff-added',
          'diff-line diff-added',
        ],
      );
      await picture(one, 'unfolded');
    });

    it('shows retries, answers that were cut, questions that were answered, messages, notes', async () => {
      const one = await open(wholeStory(), { height: 1_600 });
      for (const text of [
        'Retry 1 · the model is overloaded: try later',
        'The answer was cut off here: the answer broke off',
        'Allowed by you: npm run lint',
        'Please keep it short.',
        'A command wrote outside the scope: docs/x',
        'Refused: outside',
        '1 of 2 done',
      ])
        await row(one, text).waitFor();
    });

    it('leads to the other Runs of the Task', async () => {
      const one = await open(wholeStory());
      await one.page.getByLabel('Run of this task').selectOption({ index: 1 });
      await button(one, 'Show it').click();
      assert.deepEqual(one.intents, [
        { method: 'showRun', params: { runId: verdict.runId } },
        { method: 'showRun', params: { runId: verdict.runId } },
      ]);
    });

    it('offers review, verification and export', async () => {
      const one = await open(wholeStory());
      await button(one, 'Review').click();
      for (const name of ['Verify', 'Export as Markdown…', 'Export as JSON…']) {
        await one.page.locator('summary').click();
        await button(one, name).click();
      }
      assert.deepEqual(
        one.intents.map(({ method }) => method),
        ['openReview', 'verify', 'exportAs', 'exportAs'],
      );
    });
  });

  describe('of a Run under way', () => {
    it('streams what the model writes, and puts the message in its place once', async () => {
      const one = await open(liveStory());
      await one.append(...recorded([{ type: 'message.started', turn: 1 }], 1));
      await one.stream({ type: 'text.delta', text: 'Hello **wo' });
      await row(one, 'Hello **wo').waitFor();
      await one.stream({ type: 'text.delta', text: 'rld**' });
      await one.page.locator('.live strong', { hasText: 'world' }).waitFor();
      await one.append(...recorded(said('Hello **world**').slice(1), 2));
      await one.page.locator('.assistant strong', { hasText: 'world' }).waitFor();
      assert.equal(await one.page.getByText('world').count(), 1);
      assert.deepEqual(one.complaints, []);
    });

    it('shows the end of what a running command prints', async () => {
      const one = await open(liveStory());
      await one.append(...recorded(called({ name: 'Bash', input: { command: 'make' } }).slice(0, 1), 1));
      const entry = (await one.page.getByRole('article').last().getAttribute('data-key')) ?? '';
      assert.notEqual(entry, '');
      const toolUseId = one.lastToolUseId();
      await one.stream({
        type: 'tool.output',
        toolUseId,
        text: `${'line\n'.repeat(50)}\u001b[32mthe end\u001b[0m`,
      });
      await one.page.locator('.tail .t-green', { hasText: 'the end' }).waitFor();
      assert.ok(((await one.page.locator('.tail').textContent()) ?? '').split('\n').length <= 8);
    });

    it('stays at its end while one is there, and else counts what is new', async () => {
      const texts = Array.from({ length: 40 }, (_, number) => said(`Message ${number}`)).flat();
      const one = await open(liveStory(texts));
      await row(one, 'Message 39').waitFor();
      await one.append(...recorded(said('Newest one'), 81));
      await row(one, 'Newest one').waitFor();
      assert.ok(await isAtEnd(one));
      await one.page.locator('.list').hover();
      await one.page.mouse.wheel(0, -2_000);
      await button(one, /Jump to latest/).waitFor();
      const before = await one.page.locator('.list').evaluate((list) => list.scrollTop);
      await one.append(...recorded(said('Even newer'), 83));
      await button(one, 'Jump to latest (2 new)').waitFor();
      assert.equal(await one.page.locator('.list').evaluate((list) => list.scrollTop), before);
      await picture(one, 'jump');
      await button(one, /Jump to latest/).click();
      await row(one, 'Even newer').waitFor();
      await until(one, endReached);
      assert.equal(await button(one, /Jump to latest/).count(), 0);
    });

    it('does not pull back who leaves its end by keyboard', async () => {
      const one = await open(
        liveStory(Array.from({ length: 40 }, (_, number) => said(`Message ${number}`)).flat()),
      );
      await row(one, 'Message 39').waitFor();
      // The browser scrolls to what gets the focus before anybody hears that it scrolled.
      await one.page.evaluate(`[...document.querySelectorAll('.row')]
        .sort((a, b) => a.dataset.index - b.dataset.index)[0].focus()`);
      await until(one, 'document.querySelector(".to-latest")');
      assert.equal(await isAtEnd(one), false);
    });

    it('counts a retry down, until the next attempt', async () => {
      const one = await open(liveStory());
      const retry = {
        type: 'retry',
        attempt: 2,
        code: 'rateLimited',
        message: 'slow down',
        waitMs: 60_000,
      } as const;
      await one.append(...recorded([retry], 1, new Date().toISOString()));
      const left = async (): Promise<number> =>
        Number(/in (\d+) s/.exec((await row(one, /Retry 2 in \d+ s/).textContent()) ?? '')?.[1]);
      const first = await left();
      for (let tries = 0; (await left()) >= first; tries += 1) {
        assert.ok(tries < 100, 'it goes down');
        await one.page.waitForTimeout(100);
      }
      await one.append(...recorded([{ type: 'message.started', turn: 1 }], 2));
      await row(one, 'Retry 2 · too many requests: slow down').waitFor();
    });

    it('asks for an answer in one place, with consent for all beside it, and at its foot only leads there', async () => {
      const story = liveStory([
        { type: 'question', questionId: 'q1', toolUseId: 't', tool: 'Bash', command: 'npm i' },
      ]);
      const question = { taskId: story.task.id, runId, agent: 'general', tool: 'Bash' };
      const one = await open({ ...story, pending: [{ ...question, id: 'q1', command: 'npm i' }] });
      const { page } = one;
      const card = row(one, 'The agent asks to run a command');
      await page.locator('.waiting').waitFor({ state: 'detached' });
      await card.getByRole('button', { name: 'Allow', exact: true }).click();
      await card.getByRole('button', { name: 'Deny' }).click();
      await card.getByRole('button', { name: 'Allow All in This Repository…' }).click();
      assert.deepEqual(one.intents, [
        { method: 'answer', params: { questionId: 'q1', isAllowed: true } },
        { method: 'answer', params: { questionId: 'q1', isAllowed: false } },
        { method: 'allowAll', params: { questionId: 'q1' } },
      ]);
      assert.equal(await page.locator('.state').textContent(), 'waiting for you');
      await picture(one, 'question');
      await one.append(
        ...recorded(Array.from({ length: 40 }, (_, number) => said(`Message ${number}`)).flat(), 2),
      );
      const foot = page.getByRole('contentinfo');
      await foot.getByText('general waits for you: npm i').waitFor();
      await picture(one, 'question-away');
      await foot.getByRole('button', { name: 'Show the question' }).click();
      await card.getByRole('button', { name: 'Deny' }).waitFor();
      await page.locator('.waiting').waitFor({ state: 'detached' });
      await one.change({ pending: [] });
      await row(one, 'It cannot be answered here').waitFor();
      assert.equal(await page.locator('.waiting').count(), 0);
      assert.deepEqual(one.complaints, []);
    });

    it('leads from its foot to the other Run of the Task that asks', async () => {
      const story = wholeStory();
      const [, other] = story.task.runs;
      assert.ok(other);
      const question = { taskId: story.task.id, runId: other.id, agent: 'verification', tool: 'Bash' };
      const one = await open({ ...story, pending: [{ ...question, id: 'q2', command: 'npm i' }] });
      await one.page.getByRole('contentinfo').getByRole('button', { name: 'Show the question' }).click();
      assert.deepEqual(one.intents, [{ method: 'showRun', params: { runId: other.id } }]);
    });

    it('stops the Run on a click', async () => {
      const one = await open(liveStory());
      await button(one, 'Stop').click();
      assert.deepEqual(one.intents, [{ method: 'stop', params: { runId } }]);
    });

    it('sends a message by keyboard, says where it goes, and keeps one that was not taken', async () => {
      const one = await open(liveStory());
      const box = one.page.getByRole('textbox', { name: 'Message to the agent' });
      await one.page.getByText('A run is at work: it gets this at its next step').waitFor();
      one.takesMessages = false;
      await box.fill('Be brief');
      await box.press('Control+Enter');
      await until(one, '!document.querySelector(".follow-up button").disabled');
      assert.equal(await box.inputValue(), 'Be brief');
      one.takesMessages = true;
      await box.press('Control+Enter');
      await until(one, 'document.querySelector("textarea").value === ""');
      assert.deepEqual(
        one.intents.map(({ params }) => params),
        [{ text: 'Be brief' }, { text: 'Be brief' }],
      );
    });

    it('reads out the final answer that comes, politely, and nothing that was there before', async () => {
      const one = await open(liveStory(said('Old answer', 'end_turn')));
      const spoken = one.page.locator('[aria-live="polite"]');
      assert.equal(await spoken.textContent(), '');
      await one.append(...recorded(said('In between'), 3));
      await one.append(...recorded(said('SUMMARY: it is done', 'end_turn'), 5));
      await one.page.locator('[aria-live="polite"]', { hasText: 'SUMMARY: it is done' }).waitFor();
    });
  });

  describe('by keyboard', () => {
    it('moves between entries, folds and unfolds, and comes back from inside by Escape', async () => {
      const one = await open(wholeStory());
      const { page } = one;
      const focused = () =>
        page.evaluate<string>('document.activeElement.dataset.key ?? document.activeElement.tagName');
      await page.getByRole('textbox', { name: 'Message to the agent' }).focus();
      await page.keyboard.press('Escape');
      const last = await focused();
      await page.keyboard.press('k');
      await page.keyboard.press('ArrowUp');
      assert.notEqual(await focused(), last);
      await page.keyboard.press('Home');
      await until(one, 'document.activeElement.dataset.key === "e1"');
      await page.keyboard.press('Enter');
      await page.locator('[data-key="e1"] .fold-body').waitFor();
      await page.keyboard.press('Tab');
      assert.equal(await focused(), 'BUTTON');
      await page.keyboard.press('Escape');
      assert.equal(await focused(), 'e1');
      await page.keyboard.press('Enter');
      await page.locator('[data-key="e1"] .fold-body').waitFor({ state: 'detached' });
      await page.keyboard.press('End');
      await until(one, `document.activeElement.dataset.key === ${JSON.stringify(last)}`);
    });

    it('finds text in the page, goes from hit to hit, and closes by Escape', async () => {
      const one = await open(wholeStory());
      await one.page.keyboard.press('Control+f');
      const box = one.page.getByLabel('Find in the transcript');
      await box.fill('hours');
      await one.page.getByText('1 of 1').waitFor();
      await one.page.locator('.fold-body', { hasText: '✖ hours' }).waitFor();
      assert.equal(await one.page.evaluate<number>('CSS.highlights.get("find").size'), 1);
      await picture(one, 'find');
      await box.fill('duration');
      await one.page.locator('.find-count', { hasText: /^(\d+) of \1$/ }).waitFor();
      await box.press('Enter');
      await one.page.locator('.find-count', { hasText: /^1 of / }).waitFor();
      await box.press('Escape');
      assert.equal(await box.count(), 0);
    });
  });

  describe('of 20,000 entries', () => {
    it('opens soon, draws only what is seen, loads what came before without moving what is read, and finds what is far', async () => {
      const story = longStory(20_000);
      const startedAt = Date.now();
      const one = await open(story);
      await row(one, 'Run completed').waitFor();
      const openedMs = Date.now() - startedAt;
      assert.ok(openedMs < 15_000, `opened after ${openedMs} ms`);
      assert.ok((await one.page.getByRole('article').count()) < 120);
      await one.page.locator('.list').hover();
      await scrollUntilEarlier(one);
      await one.page.keyboard.press('Control+f');
      await one.page.getByLabel('Find in the transcript').fill('needle-42');
      await one.page.getByText(/^\d+ of \d+$/).waitFor({ timeout: 30_000 });
      const hits = Number(/of (\d+)/.exec((await one.page.locator('.find-count').textContent()) ?? '')?.[1]);
      assert.ok(hits > 1);
      await one.page.getByLabel('Find in the transcript').press('Enter');
      await one.page.getByText(`1 of ${hits}`).waitFor();
      await one.page.locator('.fold-body', { hasText: 'needle-42' }).first().waitFor({ timeout: 30_000 });
      assert.ok((await one.page.getByRole('article').count()) < 150);
      const frames = await one.page.evaluate<number>(longestFrameWhileScrolling);
      assert.ok(frames < 1_500, `the longest frame took ${frames} ms`);
      assert.deepEqual(one.complaints, []);
    });
  });

  describe('of hostile text', () => {
    for (const width of [300, 900])
      it(`runs none of it, asks nobody, and keeps its layout at ${width} px`, async () => {
        const one = await open(hostileStory(), { width });
        const { page } = one;
        // Every row is drawn and unfolded once.
        for (let step = 0; step < 60; step += 1) {
          await page.evaluate(unfoldAll);
          await page.locator('.list').evaluate((list) => list.scrollBy(0, -300));
        }
        assert.equal(await page.evaluate('globalThis.pwned'), undefined);
        assert.deepEqual(one.complaints, []);
        assert.equal(
          await page.locator('img, iframe, object, embed, form, .markdown svg, .markdown script').count(),
          0,
        );
        const links = await page
          .locator('a')
          .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
        for (const link of links) assert.match(link, /^https?:/);
        assert.equal(await page.locator('a[href*="track.png"], [style*="fixed"], [onclick]').count(), 0);
        assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false);
        assert.equal(await page.evaluate(overflowing), '');
        const text = (await page.locator('body').textContent()) ?? '';
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        assert.doesNotMatch(text, /[\u202a-\u202e\u2066-\u2069\u200b\u0007\u001b]/);
        await picture(one, `hostile-${width}`);
      });

    it('shows in a question every character that would hide or reorder something', async () => {
      const story = hostileStory();
      const command = 'ls \u202e#\u2066 rm -rf ~\u0008';
      const question = { id: 'q9', taskId: story.task.id, runId, agent: 'general', tool: 'Bash', command };
      const one = await open({ ...story, pending: [question] });
      const shown = 'ls \\u202e#\\u2066 rm -rf ~\\x08';
      await one.page.getByRole('contentinfo').getByText(shown).waitFor();
      const asked: NewEntry = { type: 'question', questionId: 'q9', toolUseId: 't', tool: 'Bash', command };
      await one.append(...recorded([asked], story.entries.length));
      await one.page.locator('.question .command', { hasText: shown }).waitFor();
    });

    it('shows a giant result in a box that draws only what is seen', async () => {
      const result = Array.from({ length: 60_000 }, (_, number) => `line ${number}`).join('\n');
      const one = await open(
        liveStory(called({ name: 'Bash', input: { command: 'seq' }, result, exitCode: 0 })),
      );
      const found = await unfold(one, 'seq');
      await found.getByRole('button', { name: /Show all/ }).click();
      const box = found.getByRole('region', { name: /60000 lines/ });
      await box.waitFor();
      await box.evaluate((element) => element.scrollTo(0, element.scrollHeight));
      await found.getByText('line 59999').waitFor();
      assert.ok(((await box.textContent()) ?? '').length < 5_000);
    });
  });

  describe('kept by the editor', () => {
    it('comes back with its folds, its place and the message that was not sent', async () => {
      const story = longStory(600);
      const one = await open(story);
      await row(one, 'Run completed').waitFor();
      await one.page.getByRole('textbox', { name: 'Message to the agent' }).fill('not sent yet');
      await one.page.locator('.list').hover();
      await one.page.mouse.wheel(0, -3_000);
      const top = await settledTop(one);
      await row(one, top).locator('[data-fold]').first().click({ force: true });
      await until(one, 'globalThis.keptState.anchor && Object.keys(globalThis.keptState.folds).length === 1');
      const state = await one.keptState();
      const again = await open(story, { state });
      assert.equal(
        await again.page.getByRole('textbox', { name: 'Message to the agent' }).inputValue(),
        'not sent yet',
      );
      await again.page.locator('.fold-body').waitFor();
      const kept = z.object({ anchor: z.object({ key: z.string() }) }).parse(state);
      await again.page.locator(`[data-key="${kept.anchor.key}"]`).waitFor();
      assert.equal(await isAtEnd(again), false);
    });

    it('asks for a snapshot when something was missed, and shows everything once', async () => {
      const one = await open(liveStory());
      await one.postRaw({
        kind: 'notification',
        method: 'append',
        params: {
          runId,
          revision: 5,
          entries: [{ index: 4, entry: recorded(said('Ahead'), 4)[1], isShortened: false }],
        },
      });
      await one.append(...recorded(said('First'), 1));
      await row(one, 'First').waitFor();
      assert.equal(await one.page.getByText('Ahead').count(), 0);
      assert.equal(await one.page.getByText('First').count(), 1);
    });

    it('refuses what is not as agreed, and goes on', async () => {
      const one = await open(liveStory());
      for (const message of [
        'text',
        { kind: 'notification', method: 'append', params: { runId, revision: 'x' } },
      ])
        await one.postRaw(message);
      one.receive({ kind: 'command', method: 'openFile', params: { path: '' } });
      await one.append(...recorded(said('Still here'), 1));
      await row(one, 'Still here').waitFor();
      assert.equal(one.complaints.filter((text) => text.includes('refused')).length, 2);
      assert.equal(one.complaints.filter((text) => text.startsWith('host: ')).length, 1);
      assert.deepEqual(one.intents, []);
    });
  });

  describe('in every theme', () => {
    for (const theme of themeNames)
      it(`${theme}: is accessible by axe's rules, wide and narrow`, async () => {
        const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
        for (const width of [300, 900]) {
          const one = await open(wholeStory(), { theme, width, height: 1_500 });
          for (const text of ['Thinking', 'npm test', 'Editsrc/duration.js']) await unfold(one, text);
          await one.page.keyboard.press('Control+f');
          await one.page.evaluate(axe);
          const found = axeResult.parse(await one.page.evaluate('axe.run({ resultTypes: ["violations"] })'));
          assert.deepEqual(
            found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`),
            [],
          );
          assert.equal(await one.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false);
          await picture(one, `${theme}-${width}`);
        }
        const live = await open(liveStory(called({ name: 'Bash', input: { command: 'make' } }).slice(0, 1)), {
          theme,
        });
        await picture(live, `${theme}-live`);
      });
  });

  /** Scrolls up until earlier entries are asked for; what is read then must stay where it is when they come. */
  async function scrollUntilEarlier(one: StandalonePage): Promise<void> {
    const result = moveSchema.parse(await one.page.evaluate(scrollToEarlier));
    assert.ok(result.rowsAfter > result.rowsBefore, 'earlier ones came');
    assert.ok(Math.abs(result.after - result.before) < 4, `moved from ${result.before} to ${result.after}`);
  }

  async function settledTop(one: StandalonePage): Promise<string> {
    await one.page.waitForTimeout(400);
    const [, , text] = await one.page.evaluate<readonly [string, number, string]>(firstSeen);
    return /echo \d+/.exec(text)?.[0] ?? text;
  }
});

const moveSchema = z.object({
  before: z.number(),
  after: z.number(),
  rowsBefore: z.number(),
  rowsAfter: z.number(),
});

const axeResult = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

const endReached =
  '(() => { const list = document.querySelector(".list"); return list.scrollHeight - list.scrollTop - list.clientHeight < 3; })()';

/** The answer's beginning is in sight. */
const answerAtTop = `(() => {
  const list = document.querySelector('.list').getBoundingClientRect();
  const card = document.querySelector('.card.answer')?.getBoundingClientRect();
  return card !== undefined && card.top >= list.top - 1 && card.top < list.bottom - 100;
})()`;

/** Resolves when an expression is true in the page, whose rules forbid the usual way of waiting for that. */
async function until({ page }: StandalonePage, expression: string): Promise<void> {
  for (let tries = 0; (await page.evaluate(`Boolean(${expression})`)) !== true; tries += 1) {
    assert.ok(tries < 200, `never: ${expression}`);
    await page.waitForTimeout(50);
  }
}

async function isAtEnd({ page }: StandalonePage): Promise<boolean> {
  await page.waitForTimeout(100);
  return await page.evaluate<boolean>(endReached);
}

/** The last row is always drawn, so that its position says how many there are. */
const scrollToEarlier = `(async () => {
  const list = document.querySelector('.list');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const count = () => Math.max(...[...document.querySelectorAll('.row')].map((row) => Number(row.dataset.index)));
  const rowsBefore = count();
  while (list.getAttribute('aria-busy') !== 'true' && count() === rowsBefore) {
    list.scrollBy(0, -600);
    await frame();
  }
  const edge = list.getBoundingClientRect();
  const read = [...document.querySelectorAll('.row')].find((row) => {
    const { top, bottom } = row.getBoundingClientRect();
    return top >= edge.top + 40 && bottom <= edge.bottom;
  });
  const key = read.dataset.key;
  const place = () => [...document.querySelectorAll('.row')].find((row) => row.dataset.key === key)
    .getBoundingClientRect().top;
  const before = place();
  while (list.getAttribute('aria-busy') === 'true' || count() === rowsBefore) await frame();
  for (let settle = 0; settle < 20; settle += 1) await frame();
  return { before, after: place(), rowsBefore, rowsAfter: count() };
})()`;

/** Key, place and text of the first tool row that is wholly seen. */
const firstSeen = `(() => {
  const list = document.querySelector('.list').getBoundingClientRect();
  const rows = [...document.querySelectorAll('.row-tool')].sort((a, b) => a.dataset.index - b.dataset.index);
  const row = rows.find((one) => one.getBoundingClientRect().top >= list.top + 40);
  return [row.dataset.key, row.getBoundingClientRect().top, row.textContent];
})()`;

/** Unfolds what is drawn and folded. */
const unfoldAll = `document.querySelectorAll('[data-fold][aria-expanded="false"]').forEach((fold) => fold.click())`;

/** What stands wider than its row. */
const overflowing = `[...document.querySelectorAll('.row')].filter((row) => row.scrollWidth > row.clientWidth + 1)
  .map((row) => row.outerHTML.slice(0, 300)).join('')`;

/** Milliseconds of the longest frame while the list is scrolled from its place upwards. */
const longestFrameWhileScrolling = `new Promise((resolve) => {
  const list = document.querySelector('.list');
  let last = performance.now(), longest = 0, count = 0;
  const step = () => {
    const now = performance.now();
    if (count > 2) longest = Math.max(longest, now - last);
    last = now;
    list.scrollBy(0, count % 40 < 20 ? 900 : -900);
    if ((count += 1) < 80) requestAnimationFrame(step); else resolve(Math.round(longest));
  };
  requestAnimationFrame(step);
})`;
