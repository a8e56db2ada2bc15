import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endGroup } from './childProcess';
import type { ServedEditor } from './editorChoice';

export interface ServerOptions {
  readonly editor: ServedEditor;
  /** Extensions installed there are loaded; absent: an empty folder of its own. */
  readonly extensionsFolder?: string;
  /** User settings, as in `settings.json`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly env?: NodeJS.ProcessEnv;
  /** `false`: the editor asks whether a folder is trusted, as it does for a person. */
  readonly isTrusting?: boolean;
  /** Whether a page may name an extension folder and a test module in its address. */
  readonly isForTests?: boolean;
}

export interface ServedServer {
  readonly port: number;
  readonly child: ChildProcess;
  /** Everything the server has printed. */
  readonly output: () => string;
  /** The page that opens a folder, or the folders of a `.code-workspace`; `payload` are pairs such as `extensionDevelopmentPath`. */
  address(folder: string | undefined, payload?: readonly (readonly [string, string])[]): string;
  /** How an address of the server names a file of this machine. */
  remote(path: string): string;
  /** Replaces the user settings; open windows follow. */
  writeSettings(settings: Readonly<Record<string, unknown>>): Promise<void>;
  end(): Promise<void>;
}

const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'chat.commandCenter.enabled': false,
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  // The editor's own JavaScript support would download types, and start a second server for them.
  'js/ts.tsserver.automaticTypeAcquisition.enabled': false,
  'js/ts.tsserver.useSyntaxServer': 'never',
};

/** The text of `settings.json`: what was asked for, over what keeps a fresh profile quiet. */
export function userSettings(settings: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...quietSettings, ...settings }, null, 2);
}

/** Starts the served editor on a free loopback port, with data folders of its own that go away at the end. */
export async function startServer(options: ServerOptions): Promise<ServedServer> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'tributary-editor-')));
  const userFolder = join(home, 'data', 'User');
  await mkdir(userFolder, { recursive: true });
  await mkdir(join(home, 'extensions'));
  const machineFolder = join(home, 'data', 'Machine');
  await mkdir(machineFolder);
  // Of settings that belong to a machine, a served editor reads the machine's own file only.
  const writeSettings = async (settings: Readonly<Record<string, unknown>>) => {
    await writeFile(join(machineFolder, 'settings.json'), JSON.stringify(settings, null, 2));
    await writeFile(join(userFolder, 'settings.json'), userSettings(settings));
  };
  await writeSettings(options.settings ?? {});
  const child = spawnServer(options, home);
  const { port, output } = await listening(child);
  const authority = `127.0.0.1:${port}`;
  return {
    port,
    child,
    output,
    remote: (path) => `vscode-remote://${authority}${path}`,
    address: (folder, payload = []) => {
      const query = new URLSearchParams();
      const kind = folder?.endsWith('.code-workspace') === true ? 'workspace' : 'folder';
      query.set(folder === undefined ? 'ew' : kind, folder ?? 'true');
      if (payload.length > 0) query.set('payload', JSON.stringify(payload));
      return `http://${authority}/?${query.toString().replaceAll('%2F', '/')}`;
    },
    writeSettings,
    end: async () => {
      await endGroup(child);
      await rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

function spawnServer(options: ServerOptions, home: string): ChildProcess {
  const { editor } = options;
  const args = [
    ...[join(editor.folder, 'out', 'server-main.js'), '--host', '127.0.0.1', '--port', '0'],
    ...['--without-connection-token', '--accept-server-license-terms', '--telemetry-level', 'off'],
    ...['--server-data-dir', home, '--extensions-dir', options.extensionsFolder ?? join(home, 'extensions')],
    ...(options.isForTests === false ? [] : ['--enable-smoke-test-driver']),
    ...(options.isTrusting === false ? [] : ['--disable-workspace-trust']),
  ];
  return spawn(editor.node, args, {
    env: options.env ?? process.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function listening(child: ChildProcess): Promise<{ port: number; output: () => string }> {
  let text = '';
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the editor did not start in 60 s:\n${text}`)), 60_000);
    const hear = (chunk: Buffer) => {
      text += chunk.toString('utf8');
      const port = /Extension host agent listening on (\d+)/.exec(text)?.[1];
      if (port === undefined) return;
      clearTimeout(timer);
      resolve({ port: Number(port), output: () => text });
    };
    child.stdout?.on('data', hear);
    child.stderr?.on('data', hear);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`the editor ended at once (exit code ${code}):\n${text}`)));
  });
}
