import { execFile } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type Anthropic from '@anthropic-ai/sdk';
import * as z from 'zod';
import type { ClaimedCheck, ClaimedFinding, ObservedCommand } from '../../src/verify/verifier';

/** What a conversation with the demo model left behind. */
export interface DrivenRun {
  readonly answer: string;
  readonly messages: Anthropic.MessageParam[];
  readonly commands: readonly ObservedCommand[];
  readonly checks: readonly ClaimedCheck[];
  readonly findings: readonly ClaimedFinding[];
  readonly inputTokens: readonly number[];
}

export interface DriveRequest {
  readonly client: Anthropic;
  readonly root: string;
  readonly agent: string;
  readonly kind: string;
  readonly objective: string;
  readonly mayRun?: boolean;
  /** A conversation to go on from. */
  readonly messages?: Anthropic.MessageParam[];
  /** Ends the drive early, before the results of that turn are sent. */
  readonly stopAfterTurns?: number;
}

/** Plays a Run against a server with small tools that really read, edit and run in a folder. */
export async function drive(request: DriveRequest): Promise<DrivenRun> {
  const tools = new DriverTools(request.root, request.mayRun ?? true);
  const first = `Docs of the project.\n\nObjective: ignored here? no, the last block counts`;
  const instruction = `Run kind: ${request.kind}\nObjective: ${request.objective}\n\nDo it.`;
  const messages: Anthropic.MessageParam[] = request.messages ?? [
    {
      role: 'user',
      content: [
        { type: 'text', text: first },
        { type: 'text', text: instruction },
      ],
    },
  ];
  const inputTokens: number[] = [];
  for (let turn = 1; turn <= 40; turn += 1) {
    const message = await request.client.messages
      .stream({
        model: 'demo-scripted',
        max_tokens: 32_000,
        system: [{ type: 'text', text: `You work.\nAgent: ${request.agent}\nMore.` }],
        messages,
      })
      .finalMessage();
    inputTokens.push(message.usage.input_tokens);
    messages.push({ role: 'assistant', content: message.content });
    const uses = message.content.filter((block) => block.type === 'tool_use');
    const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n\n');
    const isOver = message.stop_reason !== 'tool_use' || turn === request.stopAfterTurns;
    if (isOver) return { answer: text, messages, inputTokens, ...tools };
    const results: Anthropic.ToolResultBlockParam[] = [];
    for (const use of uses)
      results.push({ type: 'tool_result', tool_use_id: use.id, ...(await tools.run(use.name, use.input)) });
    messages.push({ role: 'user', content: results });
  }
  throw new Error('the demo model did not come to an end');
}

interface Outcome {
  readonly content: string;
  readonly is_error?: boolean;
}

const inputs = {
  Read: z.object({ file_path: z.string() }),
  Grep: z.object({ pattern: z.string(), path: z.string().optional() }).loose(),
  Glob: z.object({ pattern: z.string() }),
  Edit: z.object({ file_path: z.string(), old_string: z.string(), new_string: z.string() }),
  Bash: z.object({ command: z.string(), timeout: z.number(), description: z.string().optional() }),
  ReportCheck: z.object({
    title: z.string(),
    command: z.string(),
    call: z.number().int().positive().optional(),
    exitCode: z.number().int().nullable(),
    observed: z.string(),
    result: z.enum(['pass', 'fail', 'skip']),
  }),
  ReportFinding: z.object({
    path: z.string(),
    line: z.number().int().positive(),
    severity: z.enum(['error', 'warning', 'info']),
    title: z.string(),
    detail: z.string(),
    call: z.number().int().positive().optional(),
  }),
};

class DriverTools {
  readonly commands: ObservedCommand[] = [];
  readonly checks: ClaimedCheck[] = [];
  readonly findings: ClaimedFinding[] = [];
  readonly #root: string;
  readonly #mayRun: boolean;
  readonly #seen = new Set<string>();

  constructor(root: string, mayRun: boolean) {
    this.#root = root;
    this.#mayRun = mayRun;
  }

  async run(name: string, input: unknown): Promise<Outcome> {
    switch (name) {
      case 'Read':
        return this.#read(inputs.Read.parse(input).file_path);
      case 'Grep':
        return this.#grep(inputs.Grep.parse(input));
      case 'Glob':
        return { content: inputs.Glob.parse(input).pattern };
      case 'Diff':
        return { content: 'diff --git a/x b/x' };
      case 'Edit':
        return this.#edit(inputs.Edit.parse(input));
      case 'Bash':
        return this.#bash(inputs.Bash.parse(input).command);
      case 'ReportCheck': {
        const { call, ...check } = inputs.ReportCheck.parse(input);
        this.checks.push({ ...check, ...(call === undefined ? {} : { call }) });
        return { content: 'noted' };
      }
      case 'ReportFinding': {
        const { call, ...finding } = inputs.ReportFinding.parse(input);
        this.findings.push({ ...finding, ...(call === undefined ? {} : { call }) });
        return { content: 'noted' };
      }
      default:
        throw new Error(`the demo model called an unknown tool: ${name}`);
    }
  }

  async #read(path: string): Promise<Outcome> {
    this.#seen.add(path);
    const lines = (await readFile(join(this.#root, path), 'utf8')).split('\n');
    return { content: lines.map((line, index) => `${index + 1}\t${line}`).join('\n') };
  }

  async #grep({ pattern, path }: { pattern: string; path?: string | undefined }): Promise<Outcome> {
    const files = path === undefined ? ['src/duration.js', 'src/timer.js'] : [path];
    const found: string[] = [];
    for (const file of files) {
      const lines = (await readFile(join(this.#root, file), 'utf8')).split('\n');
      for (const [index, line] of lines.entries()) {
        if (new RegExp(pattern).test(line)) found.push(`${file}:${index + 1}:${line}`);
      }
    }
    return { content: found.join('\n') || 'No matches.' };
  }

  async #edit({ file_path, old_string, new_string }: z.infer<typeof inputs.Edit>): Promise<Outcome> {
    const text = await readFile(join(this.#root, file_path), 'utf8');
    if (!this.#seen.has(file_path)) return { content: 'read it first', is_error: true };
    if (text.split(old_string).length !== 2) return { content: 'old_string was not found', is_error: true };
    await writeFile(
      join(this.#root, file_path),
      text.replace(old_string, () => new_string),
    );
    return { content: `Edited ${file_path}` };
  }

  async #bash(command: string): Promise<Outcome> {
    if (!this.#mayRun) return { content: 'denied: commands are not allowed here', is_error: true };
    const call = this.commands.length + 1;
    const { exitCode, output } = await shell(command, this.#root);
    this.commands.push({ call, command, exitCode, output });
    return {
      content: `[call ${call}] exit code ${exitCode}\n${output}`,
      ...(exitCode === 0 ? {} : { is_error: true }),
    };
  }
}

/** Runs a command line and tells how it ended. */
export function shell(command: string, cwd: string): Promise<{ exitCode: number; output: string }> {
  return new Promise((resolve) => {
    const child = execFile('/bin/sh', ['-c', command], { cwd }, (_error, stdout, stderr) => {
      resolve({ exitCode: child.exitCode ?? -1, output: stdout + stderr });
    });
  });
}

/** Writes the files of a project, by path. */
export async function writeProject(root: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
}
