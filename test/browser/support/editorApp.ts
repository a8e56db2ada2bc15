import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { launchChromium } from './browser';
import { endGroup } from './childProcess';
import type { DesktopEditor, EditorChoice, ServedEditor } from './editorChoice';
import { EditorWindow } from './editorWindow';
import { extensionsFolderWith } from './installedFolder';
import { type ServedServer, startServer, userSettings } from './servedServer';

export interface AppOptions {
  /** The extension under test: a folder to develop in, or a packed file to install in a clean profile. */
  readonly extension: { readonly folder: string } | { readonly vsix: string };
  /** User settings, as in `settings.json`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env: NodeJS.ProcessEnv;
  /** `false`: the editor asks whether a folder is trusted. */
  readonly isTrusting?: boolean;
}

export interface WindowSize {
  readonly width: number;
  readonly height: number;
}

/** An editor that was started for us alone; `end` leaves no process and no folder of it. */
export interface EditorApp {
  /** The served one's server; a desktop editor has none. */
  readonly server: ServedServer | undefined;
  open(folder: string | undefined, size?: WindowSize): Promise<EditorWindow>;
  writeSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  end(): Promise<void>;
}

const usualSize: WindowSize = { width: 1280, height: 800 };

export async function startEditorApp(editor: EditorChoice, options: AppOptions): Promise<EditorApp> {
  return await (editor.kind === 'served' ? startServed(editor, options) : startDesktop(editor, options));
}

async function startServed(editor: ServedEditor, options: AppOptions): Promise<EditorApp> {
  if (editor.chromium === undefined) throw new Error('the served editor needs a Chromium to be tested with');
  const extensions =
    'vsix' in options.extension
      ? await installedFrom(editor, options.extension.vsix)
      : await extensionsFolderWith(options.extension.folder);
  // A server for tests would show no notifications.
  const server = await startServer({ ...options, editor, extensionsFolder: extensions, isForTests: false });
  const browser = await launchChromium(editor.chromium);
  return {
    server,
    writeSettings: server.writeSettings,
    open: async (folder, size = usualSize) => {
      const page = await browser.newPage({ viewport: size });
      const window = new EditorWindow(page);
      await page.goto(server.address(folder), { waitUntil: 'commit' });
      await window.ready();
      return window;
    },
    end: async () => {
      await browser.close();
      await server.end();
      await rm(extensions, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** A fresh extensions folder with the packed extension installed by the editor's own command line. */
async function installedFrom(editor: ServedEditor, vsix: string): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'tributary-install-'));
  const extensions = await realpath(await mkdtemp(join(tmpdir(), 'tributary-extensions-')));
  try {
    await promisify(execFile)(editor.node, [
      ...[join(editor.folder, 'out', 'server-main.js'), '--accept-server-license-terms'],
      ...['--install-extension', vsix, '--extensions-dir', extensions, '--server-data-dir', home],
    ]);
    return extensions;
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A desktop editor is driven over the remote debugging port of its own Chromium; a process for each window. */
async function startDesktop(editor: DesktopEditor, options: AppOptions): Promise<EditorApp> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'tributary-editor-')));
  const opened: { end(): Promise<void> }[] = [];
  await mkdir(join(home, 'data', 'User'), { recursive: true });
  const writeSettings = (settings: Readonly<Record<string, unknown>>) =>
    writeFile(join(home, 'data', 'User', 'settings.json'), userSettings(settings));
  await writeSettings(options.settings ?? {});
  const profile = ['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')];
  if ('vsix' in options.extension) {
    await promisify(execFile)(editor.program, [...profile, '--install-extension', options.extension.vsix]);
  }
  return {
    server: undefined,
    writeSettings,
    open: async (folder, size = usualSize) => {
      const port = await freePort();
      const args = [
        ...profile,
        ...['--skip-welcome', '--skip-release-notes', '--disable-updates', '--new-window', '--no-sandbox'],
        ...(options.isTrusting === false ? [] : ['--disable-workspace-trust']),
        ...('folder' in options.extension ? [`--extensionDevelopmentPath=${options.extension.folder}`] : []),
        `--remote-debugging-port=${port}`,
        ...(folder === undefined ? [] : [folder]),
      ];
      const child = spawn(editor.program, args, { env: options.env, detached: true, stdio: 'ignore' });
      opened.push({ end: () => endGroup(child) });
      await once(child, 'spawn');
      const { browser, page } = await connect(port);
      opened.unshift({ end: () => browser.close() });
      await page.setViewportSize(size);
      const window = new EditorWindow(page);
      await window.ready();
      return window;
    },
    end: async () => {
      for (const each of opened) await each.end();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function connect(port: number): Promise<{ browser: Browser; page: Page }> {
  const endsAt = Date.now() + 60_000;
  for (;;) {
    try {
      const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
      const pages = browser.contexts().flatMap((context) => context.pages());
      const page = pages.find((each) => each.url().includes('workbench'));
      if (page !== undefined) return { browser, page };
      await browser.close();
    } catch (error) {
      if (Date.now() > endsAt) throw error;
    }
    if (Date.now() > endsAt) throw new Error('the editor opened no window in 60 s');
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
