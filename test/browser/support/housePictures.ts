// What several Tasks, their Worktrees and what stands in their way look like.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Task } from '../../../src/model/task';
import { call, finalAnswer } from '../../cli/support/job';
import { type Reply, startStrictServer } from '../../wire/support/strictServer';
import { Camera, type CameraOptions, followingThemes } from './camera';
import { startEditorApp } from './editorApp';
import type { EditorChoice } from './editorChoice';
import { comes } from './editorWindow';
import { ageTask, byObjective, commandLineOf, greetingWork, makeGreetingFolder } from './greeting';
import { modelSettings } from './modelSettings';

export interface HouseOptions extends CameraOptions {
  readonly editor: EditorChoice;
  readonly staged: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Beginnings of the names of its sheets. */
export const housePictures = [
  ...['rows', 'alarm', 'setup', 'worktrees', 'sweep', 'doctor', 'restore', 'parts', 'as-', 'conflicts'],
] as const;

const day = 'Say good day to everyone';
const evening = 'Say good evening';
const reaching = 'Reach out of it';
const looking = 'Look at it only';
const failing = 'Use the new package';
const waiting = 'Wait for its packages';
const answer: Reply = { content: [{ type: 'text', text: finalAnswer }] };

/** Two places of one file, a file of its own, and the greeting that others change too. */
const dayWork: readonly Reply[] = [
  ...greetingWork('good day').slice(0, 2),
  call('Read', { file_path: 'src/words.js' }),
  call('Edit', { file_path: 'src/words.js', old_string: "'word 3'", new_string: "'bonjour'" }),
  call('Edit', { file_path: 'src/words.js', old_string: "'word 27'", new_string: "'guten Tag'" }),
  call('Write', { file_path: 'docs/greetings.md', content: '# Greetings\n\nGood day.\n' }),
  answer,
];

interface House {
  readonly camera: Camera;
  readonly folder: string;
  readonly worktreeOf: (objective: string) => Promise<string>;
}

export async function takeHousePictures(options: HouseOptions): Promise<void> {
  const server = await startStrictServer({ apiKey: 'test-key' });
  const repo = await makeGreetingFolder('greetings');
  const env = { ...options.env, ANTHROPIC_API_KEY: 'test-key' };
  const app = await startEditorApp(options.editor, {
    extension: { folder: options.staged },
    settings: { ...followingThemes, ...modelSettings(server.url) },
    env,
  });
  const go = join(repo.folder, '..', 'go');
  const task = async (objective: string): Promise<Task> => {
    const found = (await repo.tasks()).find(({ packet }) => packet.objective === objective);
    if (found === undefined) throw new Error(`there is no task "${objective}"`);
    return found;
  };
  const run = (...args: readonly string[]): Promise<string> => {
    const cliEnv = { ...env, ANTHROPIC_BASE_URL: server.url };
    return commandLineOf(options.staged, { folder: repo.folder, env: cliEnv }, args);
  };
  try {
    await words(repo);
    const reach = `echo "git -C '${repo.folder}' update-ref refs/heads/side refs/heads/main" > r.sh; sh r.sh`;
    server.script(
      byObjective({
        [day]: dayWork,
        [evening]: greetingWork('good evening'),
        [reaching]: [call('Bash', { command: reach }), answer],
        [looking]: greetingWork('good night'),
        [failing]: [answer],
        [waiting]: [answer],
      }),
    );
    for (const objective of [looking, evening, day, reaching])
      await run('run', objective, '--allow-commands', '--no-verify');
    await run('restore', (await task(looking)).id, '--snapshot', '0');
    await ageTask(repo.folder, await task(looking));
    await run('run', failing, '--setup', 'seq 40; echo "no such package: left-pad@9"; exit 3');
    const waited = run('run', waiting, '--setup', `until test -e '${go}'; do sleep 0.2; done`);
    const window = await app.open(repo.folder);
    await window.openView();
    const house: House = {
      camera: new Camera(window, options),
      folder: repo.folder,
      worktreeOf: async (objective) => (await task(objective)).worktreePath ?? '',
    };
    await rowsAndAlarms(house);
    await writeFile(go, '');
    await waited;
    await keeping(house);
    await parts(house);
    await conflicts(house);
  } finally {
    await writeFile(go, '');
    await app.end();
    await server.close();
    await repo.remove();
  }
}

async function words({ folder, git }: Awaited<ReturnType<typeof makeGreetingFolder>>): Promise<void> {
  const lines = Array.from({ length: 30 }, (_, index) => `  'word ${index + 1}',`);
  await writeFile(join(folder, 'src', 'words.js'), `export const words = [\n${lines.join('\n')}\n];\n`);
  // Who accepts as a commit has a name.
  await git('config', 'user.name', 'Tester');
  await git('config', 'user.email', 'tester@example.com');
  await git('add', '.');
  await git('branch', 'side');
  await git('commit', '--quiet', '-m', 'words');
}

async function rowsAndAlarms({ camera }: House): Promise<void> {
  const { window } = camera;
  await window
    .row(/Say good evening.*conflicts with another Task/)
    .first()
    .waitFor();
  await window
    .row(/Wait for its.*set-up: until/)
    .first()
    .waitFor();
  await window.notification(/Something outside its worktree changed/).waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
  await camera.side('rows');
  await window.takeFromMenuOf(window.row(reaching).first(), 'Show Alarms');
  await window.modalButton('Dismiss').waitFor();
  await camera.editor('alarm');
  await window.modalButton('Dismiss').click();
  await window.takeFromMenuOf(window.row(failing).first(), 'Show Set-up Output');
  await window.page.locator('.editor-instance').getByText('no such package').first().waitFor();
  await camera.editor('setup-output');
}

/** Lists of Worktrees, what could go, what is wrong, and to what a Worktree can go back. */
async function keeping({ camera, worktreeOf }: House): Promise<void> {
  const { window } = camera;
  const leave = async (): Promise<void> => window.page.keyboard.press('Escape');
  await window.runCommand('Tributary: Show Worktrees');
  await window.pickRow(/open · unchanged/).waitFor();
  await camera.editor('worktrees');
  await leave();
  await window.runCommand('Tributary: Sweep Worktrees');
  await window.pickRow(looking).waitFor();
  await camera.editor('sweep');
  await window.page.keyboard.press('Enter');
  await window.modalButton('Remove').waitFor();
  await camera.editor('sweep-question');
  await window.modalButton('Cancel').click();
  await rm(await worktreeOf(reaching), { recursive: true });
  await window.runCommand('Tributary: Doctor');
  await window.pickRow(/Fix the .*that Tributary can fix/).waitFor();
  await camera.editor('doctor');
  await window.pick(/Fix the .*that Tributary can fix/);
  await window.modalButton('Fix').waitFor();
  await camera.editor('doctor-question');
  await window.modalButton('Fix').click();
  await window.notification(/Fixed: \d/).waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
  await window.takeFromMenuOf(window.row(day).first(), 'Restore to a Turn…');
  await window.pickRow(/as it is now/).waitFor();
  await camera.editor('restore');
  await window.pick('The base');
  await window.modalButton('Restore').waitFor();
  await camera.editor('restore-question');
  await window.modalButton('Cancel').click();
}

/** A review with marks, a part of it landed; and the ways to accept. */
async function parts({ camera }: House): Promise<void> {
  const { window } = camera;
  await window.runCommand('View: Close All Editors');
  await window.row(day).first().click();
  const review = window.page.locator('.part.sidebar .pane', {
    has: window.page.locator('.pane-header[aria-label^="Review"]'),
  });
  const row = (text: string | RegExp) => review.locator('.monaco-list-row', { hasText: text }).first();
  await row('greetings.md').locator('.custom-view-tree-node-item-checkbox').click();
  await window.rowAction(row(/guten Tag|word 27/), 'Reject');
  await row('rejected').waitFor();
  await window.rowAction(row(/bonjour|word 3/), 'Land Hunk');
  await window.modalButton('Land').waitFor();
  await camera.editor('parts-question');
  await window.modalButton('Land').click();
  await row('landed').waitFor();
  await window.runCommand('Notifications: Clear All Notifications');
  await camera.side('parts', 640);
  await row('greet.js').click();
  await window.page.locator('.monaco-diff-editor').getByText('good day').first().waitFor();
  await camera.editor('parts');
  await window.takeFromMenuOf(window.row(evening).first(), 'Accept As…');
  await window.pickRow('One Commit').waitFor();
  await camera.editor('as-mode');
  await window.pick('One Commit');
  await window.waitForQuestion('Accept As: message');
  await camera.editor('as-message');
  await window.page.keyboard.press('Enter');
  await window.modalButton('Accept').waitFor();
  await camera.editor('as-question');
  await window.modalButton('Cancel').click();
}

/** What stands in the way of a Task, and how it is resolved. */
async function conflicts({ camera, folder }: House): Promise<void> {
  const { window } = camera;
  await window.runCommand('Tributary: Show Conflicts Between Tasks');
  await window.pickRow('Best order to accept them in').waitFor();
  await camera.editor('conflicts-tasks');
  await window.page.keyboard.press('Escape');
  await writeFile(join(folder, 'src', 'greet.js'), "export const greeting = 'ahoy';\n");
  await window
    .row(/Say good evening.*with your checkout/)
    .first()
    .waitFor();
  const accept = async (): Promise<void> => {
    // A row that just changes takes no click, and says so.
    do {
      await window.rowAction(window.row(evening).first(), 'Accept');
    } while (!(await comes(window.page.locator('.monaco-dialog-box'), 5_000)));
  };
  await accept();
  await window.modalButton('Show Conflicts').waitFor();
  await camera.editor('conflicts-question');
  await window.modalButton('Show Conflicts').click();
  await window.pickRow('greet.js').waitFor();
  await camera.editor('conflicts-list');
  await window.pick('greet.js');
  await window.page.locator('.monaco-diff-editor').getByText('good evening').first().waitFor();
  await camera.editor('conflicts-sides');
  await accept();
  await window.modalButton('Resolve in the Worktree').click();
  await window.page.locator('.codelens-decoration').getByText('Accept Incoming Change').first().waitFor();
  await camera.editor('conflicts-markers');
  await window.runCommand('Notifications: Clear All Notifications');
  await camera.side('conflicts-row');
}
