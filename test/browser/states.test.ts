// What a window without anything to show says, and what it offers next.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type EditorApp, startEditorApp } from './support/editorApp';
import { chosenEditor } from './support/editorChoice';
import type { EditorWindow } from './support/editorWindow';
import { type GreetingFolder, makeGreetingFolder } from './support/greeting';
import { suiteEditor, suiteOptions } from './support/suiteEditor';

const run = promisify(execFile);

describe('a window with nothing to show yet', function () {
  this.timeout(240_000);

  let around: string;
  let repo: GreetingFolder;
  let app: EditorApp;
  let window: EditorWindow | undefined;

  before(async () => {
    around = await realpath(await mkdtemp(join(tmpdir(), 'tributary-states-')));
    repo = await makeGreetingFolder('greeting');
    app = await suiteEditor();
  });

  afterEach(async function () {
    await window?.picture(`state-${this.currentTest?.title.replace(/\W+/g, '-')}`);
    await window?.tellIfFailed(this.currentTest, 'state-last');
    await window?.close();
    window = undefined;
  });

  after(async () => {
    await repo?.remove();
    await rm(around, { recursive: true, force: true, maxRetries: 5 });
  });

  async function opened(folder: string | undefined, editor = app): Promise<EditorWindow> {
    window = await editor.open(folder);
    await window.openView();
    return window;
  }
  const made = async (name: string, ...git: readonly string[]): Promise<string> => {
    const folder = join(around, name);
    await mkdir(folder, { recursive: true });
    if (git.length > 0) await run('git', [...git], { cwd: folder });
    return folder;
  };
  const welcome = (text: string | RegExp) =>
    window?.page.locator('.part.sidebar .welcome-view-content').getByText(text).first();
  const next = (name: string) => window?.page.locator('.part.sidebar').getByRole('button', { name }).last();

  it('offers to open a folder where none is open', async () => {
    await opened(undefined);
    await welcome('Open a folder of a git repository')?.waitFor();
    await next('Open Folder')?.waitFor();
    await next('Try the Demo (Offline)')?.waitFor();
  });

  it('offers to make a repository where there is none, and then goes on', async () => {
    await opened(await made('plain'));
    await welcome('No git repository is open here')?.waitFor();
    await next('Initialize Repository')?.click();
    await welcome('Say what you want done')?.waitFor();
  });

  it('says that a first commit is missing, leads to where it is made, and goes on when it is there', async () => {
    const folder = await made('unborn', 'init', '--quiet');
    const unborn = await opened(folder);
    await next('New Task')?.click();
    await unborn.notification('This repository has no commit yet').waitFor();
    await unborn.button('Open Source Control').click();
    await unborn.page.locator('.part.sidebar').getByText('Changes').first().waitFor();
    const identity = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
    await run('git', [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'first'], { cwd: folder });
    await unborn.openView();
    await next('New Task')?.click();
    await unborn.waitForQuestion('New Task: objective');
  });

  it('asks which of several repositories a Task is for', async () => {
    const folders = [{ path: repo.folder }, { path: await made('second', 'init', '--quiet') }];
    const file = join(around, 'both.code-workspace');
    await writeFile(file, JSON.stringify({ folders }));
    const both = await opened(file);
    await next('New Task')?.click();
    await both.page.getByPlaceholder('Choose a repository').waitFor();
    await both.page.locator('.quick-input-list .monaco-list-row', { hasText: 'second' }).waitFor();
    await both.pick('greeting');
    await both.waitForQuestion('New Task: objective');
  });

  it('works in the repository around a folder that is only a part of it', async () => {
    const part = await opened(join(repo.folder, 'src'));
    await next('New Task')?.click();
    await part.waitForQuestion('New Task: objective');
  });

  it('offers to set a key where there is none', async () => {
    await app.writeSettings({ 'tributary.model.provider': 'anthropic' });
    try {
      const keyless = await opened(repo.folder);
      await welcome('Agents need a model')?.waitFor();
      await next('Try the Demo (Offline)')?.waitFor();
      await next('Set API Key')?.click();
      await keyless.waitForQuestion('API key');
    } finally {
      await app.writeSettings(suiteOptions().settings ?? {});
    }
  });
});

describe('a window that is not trusted', function () {
  this.timeout(240_000);
  let repo: GreetingFolder;
  let app: EditorApp;

  before(async () => {
    repo = await makeGreetingFolder('strange');
    app = await startEditorApp(chosenEditor(), {
      ...suiteOptions(),
      settings: { ...suiteOptions().settings, 'security.workspace.trust.startupPrompt': 'never' },
      isTrusting: false,
    });
  });

  after(async () => {
    await app?.end();
    await repo?.remove();
  });

  it('says so, runs nothing, leads to trust, and goes on when it is given', async () => {
    const window = await app.open(repo.folder);
    await window.openView();
    const view = window.page.locator('.part.sidebar');
    await view.getByText('This workspace is not trusted').waitFor();
    await window.picture('state-untrusted');
    await view.getByRole('button', { name: 'Manage Workspace Trust' }).click();
    await window.page
      .locator('.workspace-trust-editor')
      .getByRole('button', { name: 'Trust', exact: true })
      .click();
    await view.getByText('Say what you want done').waitFor();
  });
});
