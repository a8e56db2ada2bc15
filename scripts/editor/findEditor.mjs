import { statSync } from 'node:fs';
import { findChromium, howToGetChromium } from './chromium.mjs';
import {
  cachedDownload,
  desktopEditorAt,
  desktopEditorOnPath,
  displayFor,
  downloadDesktopEditor,
} from './desktopEditor.mjs';
import {
  installedServedEditor,
  installServedEditor,
  missingForInstall,
  servedEditorIn,
} from './servedEditor.mjs';

/**
 * The first editor that can be had, or an error that names what to install.
 *
 * - `mayUsePath`: also the user's own `code` (with folders of our own, never the user's profile).
 * - `mayBeUnseen`: nobody needs to see its window. A served one then needs a Chromium, a desktop one a display.
 *
 * Answers `{ kind: 'desktop', program, before, origin }` or `{ kind: 'served', folder, node, chromium, origin }`.
 */
export async function findEditor({ mayUsePath = false, mayBeUnseen = true, say = console.log } = {}) {
  const named = process.env.TRIBUTARY_EDITOR;
  if (named) return namedEditor(named, mayBeUnseen);
  const before = displayFor(mayBeUnseen);
  if (before !== undefined) {
    const program = await desktopProgram(mayUsePath);
    if (program !== undefined) return { kind: 'desktop', before, ...program };
  }
  return await servedEditor(mayBeUnseen, say);
}

function namedEditor(named, mayBeUnseen) {
  const stats = statSync(named, { throwIfNoEntry: false });
  const origin = 'named by TRIBUTARY_EDITOR';
  if (stats?.isDirectory()) {
    const served = servedEditorIn(named);
    if (served !== undefined) return { ...served, chromium: chromiumFor(mayBeUnseen), origin };
    throw new Error(`TRIBUTARY_EDITOR names ${named}, where no out/server-main.js with a Node 24 is found.`);
  }
  const program = stats === undefined ? undefined : desktopEditorAt(named);
  if (program === undefined) throw new Error(`TRIBUTARY_EDITOR names ${named}, which is no editor.`);
  const before = displayFor(mayBeUnseen);
  if (before === undefined) throw new Error(`${named} needs a display: set DISPLAY, or install xvfb.`);
  return { kind: 'desktop', program, before, origin };
}

async function desktopProgram(mayUsePath) {
  const cached = cachedDownload();
  if (cached !== undefined) return { program: cached, origin: 'downloaded earlier' };
  const own = mayUsePath ? desktopEditorOnPath() : undefined;
  if (own !== undefined) return { program: own, origin: 'the one on your PATH, with folders of its own' };
  // Once our own served editor is there, waiting for a server that was not reached then helps nobody.
  if (installedServedEditor() !== undefined) return undefined;
  try {
    return { program: await downloadDesktopEditor(), origin: 'downloaded now' };
  } catch {
    return undefined; // no network, or no way to that server: the served one comes from the package registry
  }
}

async function servedEditor(mayBeUnseen, say) {
  const chromium = chromiumFor(mayBeUnseen);
  const origin = 'served editor from npm, in your cache folder';
  const installed = installedServedEditor();
  if (installed !== undefined) return { ...installed, chromium, origin };
  const missing = missingForInstall();
  if (missing.length > 0) {
    throw new Error(
      `No editor was found. One can be built from npm, but first install: ${missing.join(', ')}. ` +
        'Or name an installed VS Code by TRIBUTARY_EDITOR.',
    );
  }
  return { ...(await installServedEditor(say)), chromium, origin };
}

/** A served editor that nobody looks at needs a browser of ours; a person brings one. */
function chromiumFor(mayBeUnseen) {
  const chromium = findChromium();
  if (chromium === undefined && mayBeUnseen) throw new Error(`The editor needs ${howToGetChromium}.`);
  return chromium;
}

/** One line for people. */
export function describeEditor(editor) {
  const where = editor.kind === 'served' ? editor.folder : editor.program;
  return `${where} (${editor.origin}${editor.kind === 'served' && editor.chromium ? `, shown by ${editor.chromium}` : ''})`;
}
