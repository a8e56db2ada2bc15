import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';

const execute = promisify(execFile);

/** Runs git and answers its first line. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute('git', args, { cwd, maxBuffer: 64 * 1024 * 1024 });
  return stdout.trimEnd();
}

/** The same with variables and input. */
export function gitWith(
  { cwd, env, input }: { cwd: string; env?: Record<string, string>; input?: string },
  ...args: string[]
): Promise<string> {
  const running = execute('git', args, { cwd, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 });
  if (input !== undefined) running.child.stdin?.end(input);
  return running.then(({ stdout }) => stdout.trimEnd());
}

/** The SDK with nothing around it; address and key come from the environment. */
export function bareClient(): Anthropic {
  return new Anthropic({ maxRetries: 0 });
}

/** Starts one model request; streamed, as the product does it. */
export function ask(client: Anthropic, messages: Anthropic.MessageParam[]): Promise<Anthropic.Message> {
  return client.messages
    .stream({ model: 'claude-sonnet-5', max_tokens: 8192, tools, messages })
    .finalMessage();
}

const tools: Anthropic.Tool[] = ['Read', 'Grep', 'Edit', 'Bash'].map((name) => ({
  name,
  description: name,
  input_schema: { type: 'object' },
}));
