// npm start [-- --dir FOLDER]: the sample repository, open in an editor with the extension and the demo model.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { pathToFileURL } from 'node:url';
import { describeEditor, findEditor } from '../editor/findEditor.mjs';
import { stageExtension } from '../editorSuites.mjs';
import { root } from '../ensure.mjs';
import { bold, makeSample, say, withoutModel } from './sample.mjs';

export async function startInEditor({ dir }) {
  const editor = await findEditor({ mayUsePath: true, mayBeUnseen: false });
  console.log(`Editor: ${describeEditor(editor)}`);
  const out = join(root, 'out', `start-${process.pid}`);
  try {
    const staged = join(out, 'extension');
    await stageExtension(staged);
    const { folder, sample } = await makeSample(dir);
    const isReal = await wantsRealModel();
    const { openForPerson } = await loadSupport('forPerson', out);
    const running = await openForPerson(editor, {
      staged,
      folder,
      settings: { 'tributary.model.provider': isReal ? 'anthropic' : 'demo' },
      env: isReal ? process.env : withoutModel(),
    });
    sayWhatNext({ url: running.url, folder, isReal, sample });
    await Promise.race([running.ended, interrupted()]);
    await running.end();
    console.log(`\nEnded. The sample stays until you delete it: ${folder}`);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** A module of `test/browser/support/`, bundled for this process. */
export async function loadSupport(name, out) {
  const { bundleTests } = await import('../bundle.mjs');
  await bundleTests([join(root, 'test', 'browser', 'support', `${name}.ts`)], out);
  return await import(pathToFileURL(join(out, 'browser', 'support', `${name}.mjs`)).href);
}

/** With a key in the environment the real model is offered; nobody is there to ask: the demo. */
async function wantsRealModel() {
  const name = ['ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_API_KEY'].find((key) => process.env[key]);
  if (name === undefined) return false;
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    console.log(`${name} is set; the demo is used all the same, since nobody can be asked here.`);
    return false;
  }
  const asking = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asking.question(`${name} is set. Use the real model, which costs money? [y/N] `);
  asking.close();
  return /^y(es)?$/i.test(answer.trim());
}

function interrupted() {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, resolve);
  });
}

function sayWhatNext({ url, folder, isReal, sample }) {
  const objective = isReal ? 'say what you want' : `type  ${bold(sample.samplePlaybook.objective)}`;
  say(`A kitchen timer whose parser gets "1h30m" wrong is open: ${folder}`);
  console.log(`
${url === undefined ? 'Its window opens now.' : `Open in a browser:  ${bold(url)}`}

Then:
  1. Click the Tributary icon in the activity bar, on the left.
  2. "New Task": ${objective}
     then Enter through the questions; as the check give  ${bold(sample.sampleTestCommand)}
  3. Click the row that appears and watch the transcript; allow the commands it asks for.
  4. The verdict is FAIL: point at the row, "Review Changes"; on the underlined line Ctrl+. and "Fix with an agent".
  5. PASS: "Accept" on the row. The change is in your files; "Undo Accept" takes it back byte for byte.
${isReal ? '' : '\nThe model is a scripted demo: offline, free, and only good for this sample.\n'}
Ctrl-C here ends the editor${url === undefined ? '' : ' and the page with it'}.`);
}
