// Starts the chosen editor once, with the test module loaded into its extension host, and waits for the end.
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { launchChromium } from '../../browser/support/browser';
import {
  chosenEditor,
  type DesktopEditor,
  type ServedEditor,
  stagedExtension,
} from '../../browser/support/editorChoice';
import { makeSampleFolder, plainEnvironment } from '../../browser/support/sampleFolder';
import { startServer } from '../../browser/support/servedServer';
import { reportMark } from './reportMark';
import { startStreamer, streamerVariable } from './streamer';

interface HostRun {
  readonly extension: string;
  readonly testModule: string;
  readonly folder: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly limitMs: number;
  readonly env: NodeJS.ProcessEnv;
}

/** Answers whether the suite passed. Its counts are where the request beside `testModule` says. */
export async function runInHost(testModule: string, limitMs: number): Promise<boolean> {
  const sample = await makeSampleFolder();
  const streamer = await startStreamer();
  const run = {
    extension: stagedExtension(),
    testModule,
    folder: sample.folder,
    settings: { 'tributary.model.provider': 'demo' },
    limitMs,
    env: { ...plainEnvironment(), [streamerVariable]: streamer.url },
  };
  const editor = chosenEditor();
  try {
    return await (editor.kind === 'served' ? inServed(editor, run) : inDesktop(editor, run));
  } finally {
    await streamer.close();
    await sample.remove();
  }
}

async function inServed(editor: ServedEditor, run: HostRun): Promise<boolean> {
  if (editor.chromium === undefined) throw new Error('the served editor needs a Chromium');
  const server = await startServer({ editor, settings: run.settings, env: run.env });
  const browser = await launchChromium(editor.chromium);
  try {
    const page = await browser.newPage();
    const others: string[] = [];
    await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => print(args, others));
    const exitCode = new Promise<number>((resolve) => {
      void page.exposeFunction('codeAutomationExit', resolve);
    });
    await page.goto(
      server.address(run.folder, [
        ['extensionDevelopmentPath', server.remote(run.extension)],
        ['extensionTestsPath', server.remote(run.testModule)],
      ]),
    );
    const isPassed = (await before(run.limitMs, exitCode)) === 0;
    if (!isPassed) process.stdout.write(`\nWhat else the editor said:\n${others.slice(-80).join('\n')}\n`);
    return isPassed;
  } finally {
    await browser.close();
    await server.end();
  }
}

/** Lines of the test report go out at once, the editor's own are kept for the case of a failure. */
function print(args: readonly unknown[], others: string[]): void {
  const text = args.map(String).join(' ');
  if (text.startsWith(reportMark)) process.stdout.write(`${text.slice(reportMark.length)}\n`);
  else others.push(text);
}

/** What the promise gives; `undefined` when it gives nothing in time. */
async function before<Value>(limitMs: number, value: Promise<Value>): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, limitMs, undefined);
  });
  return await Promise.race([value, late]).finally(() => clearTimeout(timer));
}

async function inDesktop(editor: DesktopEditor, run: HostRun): Promise<boolean> {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'tributary-editor-')));
  try {
    const code = await runTests({
      vscodeExecutablePath: editor.program,
      extensionDevelopmentPath: run.extension,
      extensionTestsPath: run.testModule,
      extensionTestsEnv: run.env,
      launchArgs: [
        ...[run.folder, '--disable-workspace-trust', '--skip-welcome', '--skip-release-notes'],
        ...['--user-data-dir', join(home, 'data'), '--extensions-dir', join(home, 'extensions')],
      ],
    });
    return code === 0;
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
