import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRipgrep } from '../../src/agent/tools/ripgrep';
import type {
  CheckReport,
  FindingReport,
  PermissionAnswer,
  ToolCall,
  ToolContext,
} from '../../src/agent/tools/tool';
import type { LiveEvent } from '../../src/model/transcript';
import { scrubbedEnvironment } from '../../src/process/environment';
import { runCommand } from '../../src/process/runCommand';

/** A Worktree, a user's checkout beside it, and what tools reported. */
export interface ToolFixture {
  readonly context: ToolContext;
  readonly folder: string;
  readonly root: string;
  readonly main: string;
  readonly checks: CheckReport[];
  readonly findings: FindingReport[];
  readonly todos: unknown[];
  readonly live: LiveEvent[];
  readonly asked: string[];
  answer: PermissionAnswer;
  git(...args: string[]): Promise<string>;
  dispose(): Promise<void>;
}

/** With `git`, root is a real linked worktree of main; else they are plain folders. */
export async function makeToolFixture(
  more: Partial<ToolContext> = {},
  options: { git?: boolean } = {},
): Promise<ToolFixture> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'tributary tools-')));
  const [main, root] = [join(folder, 'main'), join(folder, 'main.worktrees', 'one')];
  const outDirectory = join(folder, 'records', 'run.out');
  await mkdir(join(main, '.git'), { recursive: true });
  await mkdir(outDirectory, { recursive: true });
  const commandEnv = {
    ...scrubbedEnvironment(process.env),
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  };
  const git = async (cwd: string, ...args: string[]): Promise<string> => {
    const identity = ['-c', 'user.name=T', '-c', 'user.email=t@example.com'];
    const result = await runCommand({
      command: { kind: 'args', file: 'git', args: [...identity, ...args] },
      cwd,
      env: commandEnv,
    });
    if (result.exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${result.output}`);
    return result.stdout.toString();
  };
  if (options.git) {
    await rm(join(main, '.git'), { recursive: true });
    await git(main, 'init', '-q', '-b', 'main');
    await git(main, 'commit', '-q', '--allow-empty', '-m', 'base');
    await git(main, 'worktree', 'add', '-q', '-b', 'tributary/one', root);
  } else await mkdir(root, { recursive: true });
  const reported = {
    checks: [] as CheckReport[],
    findings: [] as FindingReport[],
    todos: [] as unknown[],
    live: [] as LiveEvent[],
    asked: [] as string[],
  };
  const fixture: ToolFixture = {
    ...reported,
    folder,
    root,
    main,
    answer: { kind: 'denied', reason: 'nobody is there' },
    git: (...args) => git(root, ...args),
    dispose: () => rm(folder, { recursive: true, force: true }),
    context: {
      root,
      mainCheckout: main,
      commonDir: join(main, '.git'),
      scope: ['**'],
      canWrite: true,
      shell: 'any',
      allowedCommands: [],
      commandEnv,
      outDirectory,
      readState: { seen: new Map() },
      ripgrepPath: await findRipgrep(undefined, process.env),
      diff: async () => '',
      around: async (_command, body) => ({ result: await body() }),
      askPermission: async ({ command }) => {
        reported.asked.push(command);
        return fixture.answer;
      },
      onCheck: (report) => reported.checks.push(report),
      onFinding: (report) => reported.findings.push(report),
      onTodos: (todos) => reported.todos.push(...todos),
      onLive: (event) => reported.live.push(event),
      ...more,
    },
  };
  return fixture;
}

/** A call as the loop makes it. */
export function toolCall(call?: number, signal: AbortSignal = new AbortController().signal): ToolCall {
  return { toolUseId: 'toolu_1', signal, ...(call === undefined ? {} : { call }) };
}
