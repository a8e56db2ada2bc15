// The editor as `npm start` gives it to a person: a profile of its own, the extension in it, a folder open.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DesktopEditor, EditorChoice, ServedEditor } from './editorChoice';
import { extensionsFolderWith } from './installedFolder';
import { startServer, userSettings } from './servedServer';

interface PersonsEditor {
  /** Where a browser finds it; a desktop editor opens a window by itself. */
  readonly url?: string;
  /** Resolves when the editor has ended by itself. */
  readonly ended: Promise<void>;
  end(): Promise<void>;
}

export interface PersonsOptions {
  /** The folder that holds the manifest and `dist/`. */
  readonly staged: string;
  readonly folder: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly env: NodeJS.ProcessEnv;
}

export async function openForPerson(editor: EditorChoice, options: PersonsOptions): Promise<PersonsEditor> {
  return await (editor.kind === 'served' ? openServed(editor, options) : openDesktop(editor, options));
}

async function openServed(editor: ServedEditor, options: PersonsOptions): Promise<PersonsEditor> {
  const extensionsFolder = await extensionsFolderWith(options.staged);
  const server = await startServer({ ...options, editor, extensionsFolder, isForTests: false });
  return {
    url: server.address(options.folder),
    ended: once(server.child, 'exit').then(() => undefined),
    end: async () => {
      await server.end();
      await rm(extensionsFolder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function openDesktop(editor: DesktopEditor, options: PersonsOptions): Promise<PersonsEditor> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'tributary-editor-')));
  await mkdir(join(home, 'data', 'User'), { recursive: true });
  await writeFile(join(home, 'data', 'User', 'settings.json'), userSettings(options.settings));
  const args = [
    ...['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')],
    ...['--skip-welcome', '--skip-release-notes', '--disable-updates', '--disable-workspace-trust'],
    ...[`--extensionDevelopmentPath=${options.staged}`, options.folder],
  ];
  const child = spawn(editor.program, args, { env: options.env, stdio: 'ignore' });
  await once(child, 'spawn');
  return {
    ended: once(child, 'exit').then(() => undefined),
    end: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill();
        await once(child, 'exit');
      }
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
