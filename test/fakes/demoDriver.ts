import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import { assemble } from '../../src/agent/context/assemble';
import { resolveRole } from '../../src/agent/roles/roles';
import { findRipgrep } from '../../src/agent/tools/ripgrep';
import { createToolSet } from '../../src/agent/tools/toolSet';
import { type Message, textOf, toolUsesOf } from '../../src/model/messages';
import { taskPacketSchema } from '../../src/model/packet';
import type { RunKind } from '../../src/model/run';
import { scrubbedEnvironment } from '../../src/process/environment';
import { runCommand } from '../../src/process/runCommand';
import type { ClaimedCheck, ClaimedFinding, ObservedCommand } from '../../src/verify/verifier';

/** What a conversation with the demo model left behind. */
export interface DrivenRun {
  readonly answer: string;
  readonly messages: readonly Message[];
  readonly commands: readonly ObservedCommand[];
  readonly checks: readonly ClaimedCheck[];
  readonly findings: readonly ClaimedFinding[];
}

export interface DriveRequest {
  readonly client: Anthropic;
  readonly root: string;
  readonly agent: string;
  readonly kind: RunKind;
  readonly objective: string;
  readonly mayRun?: boolean;
  /** A conversation to go on from. */
  readonly messages?: readonly Message[];
  /** Ends the drive early: the calls of that turn are made, their results are lost. */
  readonly stopAfterTurns?: number;
}

/** Plays a Run against a server: the real prompts, the real tools, a loop reduced to what a test needs. */
export async function drive(request: DriveRequest): Promise<DrivenRun> {
  const role = resolveRole(request.agent);
  const root = await realpath(request.root);
  const run = await makeTools({ ...request, root });
  const { system, message } = assemble(assembleRequest(request, root), role, 32_000);
  const messages: Message[] = [...(request.messages ?? [{ role: 'user', content: [...message] }])];
  let calls = 0;
  for (let turn = 1; turn <= 40; turn += 1) {
    const body = { model: 'demo-scripted', max_tokens: 32_000, system, messages, tools: run.tools.specs };
    const answer = await request.client.messages.stream(asParams(body)).finalMessage();
    const content = JSON.parse(JSON.stringify(answer.content));
    messages.push({ role: 'assistant', content });
    const uses = toolUsesOf(content);
    if (uses.length === 0) return { ...run.reported, answer: textOf(content), messages };
    const results: Message['content'] = [];
    for (const use of uses) {
      const isCommand = run.tools.isCommand(use.name);
      if (isCommand) calls += 1;
      const signal = new AbortController().signal;
      const outcome = await run.tools.run(use, {
        toolUseId: use.id,
        signal,
        ...(isCommand ? { call: calls } : {}),
      });
      results.push({
        type: 'tool_result',
        tool_use_id: use.id,
        content: outcome.content,
        is_error: outcome.isError,
      });
      if (isCommand && outcome.exitCode !== undefined && outcome.exitCode !== null) {
        const { command } = Object(use.input);
        run.reported.commands.push({
          call: calls,
          command,
          exitCode: outcome.exitCode,
          output: String(outcome.content),
        });
      }
    }
    if (turn === request.stopAfterTurns) return { ...run.reported, answer: '', messages };
    messages.push({ role: 'user', content: results });
  }
  throw new Error('the demo model did not come to an end');
}

/** Our blocks are as open as the API's; the SDK's types name each field. */
function asParams(body: object): Anthropic.MessageStreamParams {
  return JSON.parse(JSON.stringify(body));
}

async function makeTools({ root, agent, mayRun = true }: DriveRequest) {
  const role = resolveRole(agent);
  const reported = {
    commands: [] as ObservedCommand[],
    checks: [] as ClaimedCheck[],
    findings: [] as ClaimedFinding[],
  };
  const tools = createToolSet(role.tools, {
    root,
    commonDir: join(root, '.git'),
    scope: ['**'],
    canWrite: role.canWrite,
    shell: role.shell,
    allowedCommands: [],
    commandEnv: scrubbedEnvironment(process.env),
    outDirectory: join(root, '..', 'out'),
    readState: { seen: new Map() },
    ripgrepPath: await findRipgrep(undefined, process.env),
    diff: async () => 'diff --git a/x b/x',
    around: async (_command, body) => ({ result: await body() }),
    askPermission: async () => (mayRun ? { kind: 'allowed' } : { kind: 'denied', reason: 'nobody is there' }),
    onCheck: (report) => reported.checks.push(report),
    onFinding: ({ location, ...finding }) =>
      reported.findings.push({ ...finding, ...(location && { path: location.path, line: location.line }) }),
    onTodos: () => undefined,
    onLive: () => undefined,
  });
  return { tools, reported };
}

function assembleRequest({ agent, kind, objective }: DriveRequest, root: string) {
  const commit = 'a'.repeat(40);
  const repository = { root, head: commit, base: { ref: 'HEAD', commit } };
  return {
    role: resolveRole(agent),
    model: 'demo-scripted',
    kind,
    packet: taskPacketSchema.parse({ v: 1, objective, repository }),
    instruction:
      kind === 'fix' ? 'Mend these findings:\n\nObjective: not this one\n- src/x.ts:3 breaks' : objective,
    place: { directory: root, isWorktree: true, branch: 'refs/heads/tributary/x' },
    today: '2026-01-01',
    platform: process.platform,
    docs: '# Docs\n\nAgent: nobody\nObjective: from the docs',
    diff: { patch: '+Objective: from a difference', files: ['x'] },
  };
}

/** Runs a command line and tells how it ended. */
export async function shell(
  command: string,
  cwd: string,
): Promise<{ exitCode: number | null; output: string }> {
  const env = scrubbedEnvironment(process.env);
  const { exitCode, output } = await runCommand({ command: { kind: 'shell', text: command }, cwd, env });
  return { exitCode, output };
}

/** Writes the files of a project, by path. */
export async function writeProject(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}
