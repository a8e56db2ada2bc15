// The page as a browser gets it, without an editor around it: our script and style sheet under the same rules, and
// the real host's end of the wire over a transcript in memory.
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { Emitter } from '../../../src/base/emitter';
import { silentLogger } from '../../../src/base/logger';
import { LiveTexts } from '../../../src/editor/transcript/liveTexts';
import { PageSync, windowOf } from '../../../src/editor/transcript/pageSync';
import { RunFeed } from '../../../src/editor/transcript/runFeed';
import { searchFeed } from '../../../src/editor/transcript/searchFeed';
import type { RunId } from '../../../src/model/ids';
import type { Task } from '../../../src/model/task';
import type { LiveEvent, TranscriptEntry } from '../../../src/model/transcript';
import type { Envelope } from '../../../src/protocol/define';
import { type HostEnd, hostEnd } from '../../../src/protocol/hostEnd';
import { type TranscriptApi, transcriptApi } from '../../../src/protocol/transcriptApi';
import type { PermissionQuestion } from '../../../src/tasks/permission';
import type { AppendedEntry, StreamedEvent, TaskChange } from '../../../src/tasks/taskApi';
import { stagedExtension } from '../support/editorChoice';
import { type ThemeName, themeVariables } from './themes';

export interface Shown {
  readonly task: Task;
  readonly entries: readonly TranscriptEntry[];
  /** The Run whose entries these are. */
  readonly runId: RunId;
  readonly pending?: readonly PermissionQuestion[];
}

export interface PageLook {
  readonly theme?: ThemeName;
  readonly width?: number;
  readonly height?: number;
  /** What the editor kept of the page. */
  readonly state?: unknown;
}

/** What VS Code's frame gives a page; messages go to and from the test. */
const fakeEditor = `
  let state = STATE;
  globalThis.acquireVsCodeApi = () => ({
    postMessage: (message) => { void globalThis.toHost(message); },
    getState: () => state,
    setState: (next) => { state = next; globalThis.keptState = next; },
  });`;

/** One page and the host behind it. */
export class StandalonePage {
  readonly page: Page;
  /** What was refused on either side, and errors of the page. */
  readonly complaints: string[] = [];
  /** Commands the page sent, by method. */
  readonly intents: { readonly method: string; readonly params: unknown }[] = [];
  /** Whether a message to the agent is taken. */
  takesMessages = true;
  private readonly server: Server;
  private readonly end: HostEnd<TranscriptApi>;
  private readonly sync: PageSync;
  private readonly changes = new Emitter<TaskChange>();
  private readonly appended = new Emitter<AppendedEntry>();
  private readonly streamed = new Emitter<StreamedEvent>();
  private readonly lives = new LiveTexts({ logger: silentLogger });
  private entries: TranscriptEntry[];
  private shown: Shown;
  private runId: RunId;
  private feed: RunFeed;
  private updating: Promise<void> = Promise.resolve();

  private constructor(page: Page, server: Server, shown: Shown) {
    this.page = page;
    this.server = server;
    this.shown = shown;
    this.entries = [...shown.entries];
    this.runId = shown.runId;
    this.feed = this.newFeed();
    this.lives.listen({
      onDidChangeTask: this.changes.event,
      onDidAppendEntry: this.appended.event,
      onDidStream: this.streamed.event,
    });
    const intent =
      (method: string) =>
      (params: unknown): void =>
        void this.intents.push({ method, params });
    this.end = hostEnd(
      transcriptApi,
      {
        post: (message) => void this.post(message),
        onRefused: (reason) => this.complaints.push(`host: ${reason}`),
      },
      {
        wantSnapshot: () => {
          this.sync.requestSnapshot();
          void this.update();
        },
        earlier: async ({ before, count }) => windowOf(this.feed, before, count),
        wholeEntry: async ({ index }) => {
          const entry = this.feed.entries[index];
          if (entry === undefined) throw new Error('no such entry');
          return { index, entry, isShortened: false };
        },
        find: ({ query }) => searchFeed(this.feed, query),
        sendMessage: async (params) => {
          intent('sendMessage')(params);
          return this.takesMessages;
        },
        answer: intent('answer'),
        allowAll: intent('allowAll'),
        stop: intent('stop'),
        verify: intent('verify'),
        resume: intent('resume'),
        fix: intent('fix'),
        openReview: intent('openReview'),
        openFile: intent('openFile'),
        openOutput: intent('openOutput'),
        showRun: intent('showRun'),
        copy: intent('copy'),
        exportAs: intent('exportAs'),
      },
    );
    this.sync = new PageSync(this.end.page, () => new Date());
  }

  static async open(browser: Browser, shown: Shown, look: PageLook = {}): Promise<StandalonePage> {
    const { theme = 'dark', width = 900, height = 700, state } = look;
    const server = await serve(shown, theme, state);
    const page = await browser.newPage({ viewport: { width, height } });
    const self = new StandalonePage(page, server, shown);
    page.on('pageerror', (error) => self.complaints.push(`page: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning')
        self.complaints.push(`console: ${message.text()}`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith('http://127.0.0.1:')) self.complaints.push(`request: ${request.url()}`);
    });
    await page.exposeFunction('toHost', (message: unknown) => self.end.receive(message));
    const { port } = server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`);
    await page.locator('.page').waitFor();
    return self;
  }

  /** Entries are on the disk, then told. */
  async append(...entries: TranscriptEntry[]): Promise<void> {
    for (const entry of entries) {
      this.entries.push(entry);
      this.appended.fire({ taskId: this.shown.task.id, runId: this.runId, entry });
    }
    await this.update();
  }

  async stream(...events: LiveEvent[]): Promise<void> {
    for (const event of events) this.streamed.fire({ taskId: this.shown.task.id, runId: this.runId, event });
    await this.update();
  }

  /** The Task, or what waits, is otherwise now. */
  async change(changes: Partial<Shown>): Promise<void> {
    this.shown = { ...this.shown, ...changes };
    await this.update();
  }

  /** Goes to another Run, or back. */
  async show(shown: Shown): Promise<void> {
    this.shown = shown;
    this.entries = [...shown.entries];
    this.runId = shown.runId;
    this.feed = this.newFeed();
    await this.update();
  }

  async update(): Promise<void> {
    this.updating = this.updating.then(() => this.updateOnce());
    await this.updating;
  }

  /** Posts to the page whatever it is. */
  async postRaw(message: unknown): Promise<void> {
    await this.page.evaluate((one) => {
      (globalThis as unknown as { postMessage(message: unknown, to: string): void }).postMessage(one, '*');
    }, message);
  }

  lastToolUseId(): string {
    const last = this.entries.findLast((entry) => entry.type === 'tool.started');
    return last?.type === 'tool.started' ? last.toolUseId : '';
  }

  /** Something the page sends that no page of ours would. */
  receive(message: unknown): void {
    this.end.receive(message);
  }

  /** What the editor would keep of the page now. */
  async keptState(): Promise<unknown> {
    return await this.page.evaluate('globalThis.keptState');
  }

  async close(): Promise<void> {
    await this.page.close();
    this.lives.dispose();
    this.server.close();
    this.server.closeAllConnections();
  }

  private newFeed(): RunFeed {
    return new RunFeed(async ({ offset }) => ({
      entries: this.entries.slice(offset),
      problems: [],
      next: { offset: this.entries.length, lines: 0 },
      isEnd: true,
      isTorn: false,
    }));
  }

  private async updateOnce(): Promise<void> {
    const { task, pending = [] } = this.shown;
    const run = task.runs.find(({ id }) => id === this.runId);
    if (run !== undefined)
      await this.sync.update(this.feed, () => ({ task, run, pending, live: this.lives.of(run.id) }));
  }

  private async post(message: Envelope): Promise<void> {
    if (!this.page.isClosed()) await this.postRaw(message);
  }
}

async function serve(shown: Shown, theme: ThemeName, state: unknown): Promise<Server> {
  const folder = join(stagedExtension(), 'dist', 'webview');
  const [script, style] = await Promise.all([
    readFile(join(folder, 'transcript.js')),
    readFile(join(folder, 'transcript.css')),
  ]);
  const variables = await themeVariables(theme);
  const html = htmlOf(shown, theme, JSON.stringify(state) ?? 'undefined');
  const files: Readonly<Record<string, readonly [string, string | Buffer]>> = {
    '/': ['text/html; charset=utf-8', html],
    '/transcript.js': ['text/javascript; charset=utf-8', script],
    '/transcript.css': ['text/css; charset=utf-8', style],
    '/theme.css': ['text/css; charset=utf-8', variables],
    '/favicon.ico': ['image/x-icon', ''],
  };
  const server = createServer((request, response) => {
    const [type, body] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.writeHead(type === 'text/plain' ? 404 : 200, { 'content-type': type });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** The same rules as in the editor. */
function htmlOf({ task }: Shown, theme: ThemeName, state: string): string {
  const rules =
    "default-src 'none'; script-src 'nonce-test'; style-src 'self'; base-uri 'none'; form-action 'none'";
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules}">
<title>Transcript</title>
<link rel="stylesheet" href="/theme.css"><link rel="stylesheet" href="/transcript.css">
<script nonce="test">${fakeEditor.replace('STATE', () => state)}</script></head>
<body class="vscode-${theme === 'light' || theme === 'dark' ? theme : theme === 'hc-black' ? 'high-contrast' : 'high-contrast-light vscode-high-contrast'}">
<div id="root" data-task="${task.id}" data-run="" data-l10n=""></div>
<script nonce="test" src="/transcript.js"></script></body></html>`;
}
