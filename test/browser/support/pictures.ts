// The main states of the extension, each in the four kinds of theme and with its part narrow and wide, as sheets.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePlaybook } from '../../../src/demo/samplePlaybook';
import { startEditorApp } from './editorApp';
import type { EditorChoice } from './editorChoice';
import type { EditorWindow } from './editorWindow';
import { MainRoad } from './mainRoad';
import { makeSampleFolder } from './sampleFolder';
import type { ThemeKind } from './themes';

export interface PicturesOptions {
  readonly editor: EditorChoice;
  readonly staged: string;
  /** Where the sheets go. */
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** Names of sheets; absent: all. */
  readonly only?: readonly string[];
  readonly say: (text: string) => void;
}

/** The window that makes a part so wide: the side bar stays as the editor makes it. */
const editorPart = { 300: 660, 900: 1_260 } as const;
/** Themes come from what the machine prefers: the editor hears of that at once, of its settings not always. */
const following = { 'window.autoDetectColorScheme': true, 'window.autoDetectHighContrast': true };
const kinds: readonly ThemeKind[] = ['light', 'dark', 'hc-light', 'hc-black'];
/** The class the workbench has under each theme. */
const classes: Readonly<Record<ThemeKind, string>> = {
  light: 'vs',
  dark: 'vs-dark',
  'hc-light': 'hc-light',
  'hc-black': 'hc-black',
};

export async function takePictures(options: PicturesOptions): Promise<void> {
  await mkdir(options.folder, { recursive: true });
  await inWindow(options, {}, async (camera) => {
    await camera.window.page.locator('.part.sidebar').getByRole('button', { name: 'Set API Key' }).waitFor();
    await camera.side('welcome');
  });
  await inWindow(options, { 'tributary.model.provider': 'demo' }, walk);
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
    settings: { ...following, ...settings },
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

class Camera {
  readonly window: EditorWindow;
  private readonly options: PicturesOptions;

  constructor(window: EditorWindow, options: PicturesOptions) {
    this.window = window;
    this.options = options;
  }

  /** The window, its editors narrow and wide. */
  async editor(name: string): Promise<void> {
    for (const width of [900, 300] as const)
      await this.sheet(`${name}-${width}`, { width: editorPart[width], height: 800 });
  }

  /** The window, its side bar as it comes and as wide as it may be. */
  async side(name: string): Promise<void> {
    await this.sheet(`${name}-side-300`, { width: 660, height: 420 });
    if (!this.wants(`${name}-side-900`)) return;
    await this.window.page.setViewportSize({ width: 1_260, height: 420 });
    const sash = this.window.page.locator('.monaco-sash.vertical').first();
    const box = await this.sashBox();
    await this.drag(box, 950);
    await this.sheet(`${name}-side-900`, { width: 1_260, height: 420 });
    await this.drag(await this.sashBox(), box.x);
    await sash.waitFor({ state: 'attached' });
  }

  private wants(name: string): boolean {
    const { only } = this.options;
    return only === undefined || only.some((one) => name.startsWith(one));
  }

  /** Where the side bar ends. */
  private async sashBox(): Promise<{ x: number; y: number }> {
    const box = await this.window.page.locator('.part.sidebar').boundingBox();
    if (box === null) throw new Error('there is no side bar');
    return { x: box.x + box.width + 2, y: box.y + box.height / 2 };
  }

  private async drag({ x, y }: { x: number; y: number }, to: number): Promise<void> {
    const { mouse } = this.window.page;
    await mouse.move(x, y);
    await mouse.down();
    await mouse.move(to, y, { steps: 4 });
    await mouse.up();
  }

  private async sheet(name: string, size: { width: number; height: number }): Promise<void> {
    if (!this.wants(name)) return;
    const { page } = this.window;
    await page.setViewportSize(size);
    const shots: Buffer[] = [];
    for (const kind of kinds) {
      await this.theme(kind);
      // Drawn after the colours came: two frames.
      await page.evaluate(
        'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
      );
      shots.push(await page.screenshot());
    }
    await page.setViewportSize({ width: editorPart[900], height: 800 });
    await this.compose(name, shots, size);
    this.options.say(name);
  }

  /** The editor follows what the machine prefers, as it does for a person who set nothing. */
  private async theme(kind: ThemeKind): Promise<void> {
    const { page } = this.window;
    const colorScheme = kind === 'light' || kind === 'hc-light' ? 'light' : 'dark';
    await page.emulateMedia({ colorScheme, forcedColors: kind.startsWith('hc') ? 'active' : 'none' });
    await page.locator(`.monaco-workbench.${classes[kind]}`).waitFor();
  }

  /** The four on one sheet, two by two. */
  private async compose(name: string, shots: readonly Buffer[], { width, height }: Size): Promise<void> {
    const sheet = await this.window.page.context().browser()?.newPage();
    if (sheet === undefined) throw new Error('there is no browser to draw a sheet in');
    await sheet.setViewportSize({ width: width * 2 + 12, height: height * 2 + 12 });
    const images = shots.map((shot) => `<img src="data:image/png;base64,${shot.toString('base64')}">`);
    await sheet.setContent(
      `<body style="margin:0;display:grid;grid-template-columns:1fr 1fr;gap:12px;background:#888">${images.join('')}</body>`,
    );
    await sheet.screenshot({ path: join(this.options.folder, `${name}.png`) });
    await sheet.close();
  }
}

interface Size {
  readonly width: number;
  readonly height: number;
}
