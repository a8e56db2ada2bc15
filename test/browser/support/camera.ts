// Takes the pictures: one state in the four kinds of theme, with a part of the window narrow and wide, as one sheet.
import { join } from 'node:path';
import type { EditorWindow } from './editorWindow';
import type { ThemeKind } from './themes';

export interface CameraOptions {
  /** Where the sheets go. */
  readonly folder: string;
  /** Beginnings of the names of sheets; absent: all. */
  readonly only?: readonly string[];
  readonly say: (text: string) => void;
}

/** The window that makes a part so wide: the side bar stays as the editor makes it. */
const editorPart = { 300: 660, 900: 1_260 } as const;
/** Themes come from what the machine prefers: the editor hears of that at once, of its settings not always. */
export const followingThemes = {
  'window.autoDetectColorScheme': true,
  'window.autoDetectHighContrast': true,
};
const kinds: readonly ThemeKind[] = ['light', 'dark', 'hc-light', 'hc-black'];
/** The class the workbench has under each theme. */
const classes: Readonly<Record<ThemeKind, string>> = {
  light: 'vs',
  dark: 'vs-dark',
  'hc-light': 'hc-light',
  'hc-black': 'hc-black',
};

export class Camera {
  readonly window: EditorWindow;
  private readonly options: CameraOptions;

  constructor(window: EditorWindow, options: CameraOptions) {
    this.window = window;
    this.options = options;
  }

  /** The window, its editors narrow and wide. */
  async editor(name: string): Promise<void> {
    for (const width of [900, 300] as const)
      await this.sheet(`${name}-${width}`, { width: editorPart[width], height: 800 });
  }

  /** The window, its side bar as it comes and as wide as it may be. */
  async side(name: string, height = 420): Promise<void> {
    await this.sheet(`${name}-side-300`, { width: 660, height });
    if (!this.wants(`${name}-side-900`)) return;
    await this.window.page.setViewportSize({ width: 1_260, height });
    const sash = this.window.page.locator('.monaco-sash.vertical').first();
    const box = await this.sashBox();
    await this.drag(box, 950);
    await this.sheet(`${name}-side-900`, { width: 1_260, height });
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
