// The main states of the extension, each in the four kinds of theme and with its part narrow and wide, as sheets.
import { mkdir } from 'node:fs/promises';
import { samplePlaybook } from '../../../src/demo/samplePlaybook';
import { Camera, type CameraOptions, followingThemes } from './camera';
import { startEditorApp } from './editorApp';
import type { EditorChoice } from './editorChoice';
import { housePictures, takeHousePictures } from './housePictures';
import { MainRoad } from './mainRoad';
import { makeSampleFolder } from './sampleFolder';

export interface PicturesOptions extends CameraOptions {
  readonly editor: EditorChoice;
  readonly staged: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Beginnings of the names of the sheets of each walk. */
const walks = {
  welcome: ['welcome'],
  demo: ['new-task', 'transcript', 'question', 'verdict', 'review', 'accept', 'tree'],
} as const;

export async function takePictures(options: PicturesOptions): Promise<void> {
  await mkdir(options.folder, { recursive: true });
  if (wants(options, walks.welcome))
    await inWindow(options, {}, async (camera) => {
      await camera.window.page
        .locator('.part.sidebar')
        .getByRole('button', { name: 'Set API Key' })
        .waitFor();
      await camera.side('welcome');
    });
  if (wants(options, walks.demo)) await inWindow(options, { 'tributary.model.provider': 'demo' }, walk);
  if (wants(options, housePictures)) await takeHousePictures(options);
}

/** Whether a walk makes any of the sheets that are asked for. */
function wants({ only }: CameraOptions, names: readonly string[]): boolean {
  return only === undefined || only.some((one) => names.some((name) => one.startsWith(name)));
}

async function inWindow(
  options: PicturesOptions,
  settings: Readonly<Record<string, unknown>>,
  look: (camera: Camera) => Promise<void>,
): Promise<void> {
  const sample = await makeSampleFolder();
  const extension = { folder: options.staged };
  const app = await startEditorApp(options.editor, {
    extension,
    settings: { ...followingThemes, ...settings },
    env: options.env,
  });
  try {
    const window = await app.open(sample.folder);
    await window.openView();
    await look(new Camera(window, options));
  } finally {
    await app.end();
    await sample.remove();
  }
}

async function walk(camera: Camera): Promise<void> {
  const { window } = camera;
  const road = new MainRoad(window);
  await window.page.locator('.part.sidebar').getByRole('button', { name: 'New Task' }).nth(1).waitFor();
  await newTask(camera);
  await road.row().first().click();
  await window.webview().getByText('npm test').first().waitFor();
  await camera.editor('transcript');
  await window.row('waiting for you').first().waitFor({ timeout: 180_000 });
  await camera.editor('question');
  await camera.side('question');
  // The notification has gone by itself meanwhile.
  await window.runCommand('Tributary: Allow Commands in This Repository');
  await window.modalButton('Allow').click();
  await road.waitForRow(/FAIL, 1 finding ·/);
  await window.row('verification').first().click();
  await window.webview().locator('.verdict').first().waitFor();
  await camera.editor('verdict');
  const squiggle = await road.seeFindingInReview();
  await camera.editor('review');
  await road.fixByQuickFix(squiggle);
  await road.waitForRow(/PASS.*ready/);
  await endings(camera, road);
}

/** New Task, a picture of every question. */
async function newTask(camera: Camera): Promise<void> {
  const { window } = camera;
  await window.page.locator('.part.sidebar').getByRole('button', { name: 'New Task' }).last().click();
  for (const step of ['objective', 'agent', 'base', 'checks']) {
    await window.waitForQuestion(`New Task: ${step}`);
    await camera.editor(`new-task-${step}`);
    await window.page.keyboard.press('Enter');
  }
  await window.row(samplePlaybook.objective.slice(0, 10)).first().waitFor();
}

/** Accept's preview, and a tree with Tasks that ended in different ways. */
async function endings(camera: Camera, road: MainRoad): Promise<void> {
  const { window } = camera;
  await road.rowAction('Accept');
  await window.modalButton('Accept').waitFor();
  await camera.editor('accept');
  await window.modalButton('Accept').click();
  await road.waitForRow('accepted');
  await road.startTask();
  await road.waitForRow(/FAIL, 1 finding ·/);
  await road.startTask();
  await road.rowAction('Stop');
  await road.waitForRow('stopped');
  await road.startTask();
  await road.waitForRow(/running|thinking|reading/);
  await camera.side('tree');
  await road.waitForRow(/FAIL, 1 finding ·/);
  await road.discard();
  await camera.side('tree-ended');
}
