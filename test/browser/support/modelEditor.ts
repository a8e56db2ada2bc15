import { type StrictServer, startStrictServer } from '../../wire/support/strictServer';
import { type EditorApp, startEditorApp } from './editorApp';
import { chosenEditor, packedExtension } from './editorChoice';
import { modelSettings } from './modelSettings';
import { plainEnvironment } from './sampleFolder';

/** An editor whose extension asks a loopback server in place of a model. */
export interface ModelEditor {
  readonly app: EditorApp;
  readonly server: StrictServer;
  /** What makes a command line ask the same server. */
  readonly cliEnv: NodeJS.ProcessEnv;
}

const key = 'test-key';

let running: Promise<ModelEditor> | undefined;

/** The one of the browser suite, started when first asked for. */
export function modelEditor(): Promise<ModelEditor> {
  running ??= start();
  return running;
}

async function start(): Promise<ModelEditor> {
  const server = await startStrictServer({ apiKey: key });
  const app = await startEditorApp(chosenEditor(), {
    extension: { vsix: packedExtension() },
    settings: modelSettings(server.url),
    // In its environment: a served editor without a keychain forgets stored secrets when a window is reloaded.
    env: { ...plainEnvironment(), ANTHROPIC_API_KEY: key },
  });
  const cliEnv = { ...plainEnvironment(), ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.url };
  return { app, server, cliEnv };
}

after('the editor that asks a loopback server ends with the suite', async () => {
  const editor = await running;
  await editor?.app.end();
  await editor?.server.close();
});
