// A project with a greeting to change, and what a scripted model does with it.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Task, taskSchema } from '../../../src/model/task';
import { call, finalAnswer, turnOf } from '../../cli/support/job';
import type { Reply, Script } from '../../wire/support/strictServer';
import { stagedExtension } from './editorChoice';
import { plainEnvironment } from './sampleFolder';

const run = promisify(execFile);

export interface GreetingFolder {
  readonly folder: string;
  git(...args: string[]): Promise<void>;
  /** The Tasks as their records on disk say. */
  tasks(): Promise<Task[]>;
  remove(): Promise<void>;
}

/** A repository in a fresh folder; its worktrees will stand beside it, and go with it. */
export async function makeGreetingFolder(name: string): Promise<GreetingFolder> {
  const around = await realpath(await mkdtemp(join(tmpdir(), 'tributary-greeting-')));
  const folder = join(around, name);
  await mkdir(join(folder, 'src'), { recursive: true });
  await writeFile(join(folder, 'src', 'greet.js'), "export const greeting = 'hello';\n");
  const git = async (...args: string[]): Promise<void> => {
    const identity = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com'];
    await run('git', [...identity, ...args], { cwd: folder, env: plainEnvironment() });
  };
  await git('init', '--quiet', '--initial-branch=main');
  await git('add', '.');
  await git('commit', '--quiet', '-m', 'first');
  return {
    folder,
    git,
    tasks: () => recordsIn(folder),
    remove: () => rm(around, { recursive: true, force: true, maxRetries: 5 }),
  };
}

async function recordsIn(folder: string): Promise<Task[]> {
  const tasks = join(folder, '.git', 'tributary', 'tasks');
  const names = (await readdir(tasks)).filter((name) => name.startsWith('task_')).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(tasks, name, 'task.json'), 'utf8')));
  return texts.map((text) => taskSchema.parse(JSON.parse(text)));
}

/** Runs the command line of the extension under test to its end; the exit code is not looked at. */
export async function commandLine(
  folder: string,
  env: NodeJS.ProcessEnv,
  ...args: readonly string[]
): Promise<string> {
  return await commandLineOf(stagedExtension(), { folder, env }, args);
}

/** The same of the extension in the folder `staged`. */
export async function commandLineOf(
  staged: string,
  { folder, env }: { readonly folder: string; readonly env: NodeJS.ProcessEnv },
  args: readonly string[],
): Promise<string> {
  const program = join(staged, 'dist', 'cli.js');
  return await new Promise((resolve) => {
    execFile(process.execPath, [program, ...args], { cwd: folder, env }, (_error, stdout, stderr) =>
      resolve(`${stdout}${stderr}`),
    );
  });
}

/** Makes a Task an hour older, as its records tell; the sweep of the day has been already. */
export async function ageTask(folder: string, { id }: Task): Promise<void> {
  const board = join(folder, '.git', 'tributary');
  const at = new Date(Date.now() - 60 * 60 * 1_000).toISOString();
  const swept = { v: 1, lastAt: new Date().toISOString() };
  await writeFile(join(board, 'housekeeping.json'), JSON.stringify(swept));
  for (const file of [join(board, 'tasks', id, 'task.json'), join(board, 'worktrees', 'index.json')])
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replace(/"changedAt": "[^"]*"/g, `"changedAt": "${at}"`),
    );
}

/** Reads the greeting and makes it `words`. */
export function greetingWork(words: string): readonly Reply[] {
  return [
    call('Read', { file_path: 'src/greet.js' }, 'First I read what the greeting says.'),
    call('Edit', { file_path: 'src/greet.js', old_string: 'hello', new_string: words }, 'Now I change it.'),
    { content: [{ type: 'text', text: finalAnswer }] },
  ];
}

export const findingTitle = 'Nobody is greeted by name';

/** A verifier that finds one fault and fails the change. */
export const failingVerifier: readonly Reply[] = [
  call('Bash', { command: 'git diff --stat' }),
  call('ReportFinding', {
    path: 'src/greet.js',
    line: 1,
    severity: 'error',
    title: findingTitle,
    detail: 'The greeting has no name in it.',
    call: 1,
  }),
  { content: [{ type: 'text', text: `${finalAnswer}\n\nVERDICT: FAIL` }] },
];

/** Answers each Task by its objective, and whoever verifies by `verifier`. */
export function byObjective(
  works: Readonly<Record<string, readonly Reply[]>>,
  verifier: readonly Reply[] = failingVerifier,
): Script {
  return (request) => {
    const isVerifier = request.rawBody.includes('"name":"ReportCheck"');
    const work = Object.entries(works).find(([objective]) => request.rawBody.includes(objective))?.[1];
    const reply = (isVerifier ? verifier : (work ?? []))[turnOf(request)];
    if (reply === undefined) throw new Error(`no reply for turn ${turnOf(request)}`);
    return reply;
  };
}
