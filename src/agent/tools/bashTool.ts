import { join } from 'node:path';
import * as z from 'zod';
import { type CommandLine, type CommandResult, runCommand } from '../../process/runCommand';
import { guardCommand } from './guard';
import { readOnlyCommand, readOnlyList } from './readOnlyCommand';
import { ThrottledText } from './throttledText';
import type { Tool, ToolCall, ToolContext, ToolOutcome } from './tool';

const defaultTimeoutMs = 120_000;
const maxTimeoutMs = 600_000;
/** What the model is sent; the rest is in a file. */
const maxOutputBytes = 30_000;
const liveIntervalMs = 50;

const input = z.object({
  command: z.string().min(1),
  timeout: z.number().positive().describe('ms, default 120000, at most 600000').optional(),
  description: z.string().optional(),
});
type Input = z.infer<typeof input>;

export const bashTool: Tool<Input> = {
  name: 'Bash',
  description:
    'Runs a command in the root with closed input. Each call is a new shell; what it leaves running is ended with it. Git that leaves this worktree, or touches stash, config, tags or remotes, is refused.',
  input,
  isCommand: true,
  async run(wish, call, context) {
    const decision = await decide(wish.command, call, context);
    if (decision.kind === 'refused') return refusal(call, decision.message);
    const live = new ThrottledText(liveIntervalMs, (text) =>
      context.onLive({ type: 'tool.output', toolUseId: call.toolUseId, text }),
    );
    const run = (): Promise<CommandResult> =>
      runCommand({
        command: decision.command,
        cwd: context.root,
        env: context.commandEnv,
        timeoutMs: Math.min(wish.timeout ?? defaultTimeoutMs, maxTimeoutMs),
        signal: call.signal,
        maxOutputBytes,
        overflowPath: join(context.outDirectory, `${fileNameOf(call.toolUseId)}.txt`),
        onOutput: (text) => live.add(text),
      });
    // What is known to write nothing is not looked after.
    const { result, alarm } = decision.isReadOnly
      ? { result: await run(), alarm: undefined }
      : await context.around(wish.command, run);
    live.end();
    const outcome = outcomeOf(result, call, decision.isReadOnly);
    return alarm === undefined ? outcome : { ...outcome, content: `${outcome.content}\n${alarm}` };
  },
};

type Decision =
  | { kind: 'run'; command: CommandLine; isReadOnly: boolean }
  | { kind: 'refused'; message: string };

/** Guard first, since what it refuses is never asked; then the policy of the role; then the user. */
async function decide(command: string, call: ToolCall, context: ToolContext): Promise<Decision> {
  const refused = (message: string): Decision => ({ kind: 'refused', message });
  if (context.shell === 'none') return refused('Refused: this agent runs no commands.');
  const guarded = await guardCommand(command, { ...context, env: context.commandEnv });
  if (guarded.kind === 'refused') return refused(guarded.message);
  const readOnly = await readOnlyCommand(command, context);
  if (readOnly.kind === 'allowed') {
    const isRipgrep = readOnly.file === 'rg' && context.ripgrepPath !== '';
    const file = isRipgrep ? context.ripgrepPath : readOnly.file;
    return { kind: 'run', command: { kind: 'args', file, args: readOnly.args }, isReadOnly: true };
  }
  if (context.shell === 'readOnly') {
    return refused(
      `Refused: ${readOnly.reason}. This agent runs one simple command at a time, of: ${readOnlyList}; no pipe, redirection, variable or option that runs or writes; paths inside the root.`,
    );
  }
  const run: Decision = { kind: 'run', command: { kind: 'shell', text: command }, isReadOnly: false };
  if (context.allowedCommands.includes(command.trim())) return run;
  if (call.signal.aborted) return refused('Not run: stopped.');
  const answer = await context.askPermission(
    { toolUseId: call.toolUseId, tool: 'Bash', command },
    call.signal,
  );
  return answer.kind === 'allowed' ? run : refused(`Not allowed: ${answer.reason}`);
}

/** Without an exit code: nothing ran, so nothing was observed. */
function refusal(call: ToolCall, message: string): ToolOutcome {
  return {
    content: `${headOf(call)}${message}\n[not run]`,
    isError: true,
    mayHaveChanged: false,
  };
}

function outcomeOf(
  result: CommandResult,
  call: ToolCall,
  isReadOnly: boolean,
): ToolOutcome & { readonly content: string } {
  const { overflowPath } = result;
  const rest =
    overflowPath !== undefined
      ? `[the whole output is in ${overflowPath}; Read and Grep open it]\n`
      : result.isTruncated
        ? '[the middle of the output was not kept]\n'
        : '';
  const output = result.output === '' || result.output.endsWith('\n') ? result.output : `${result.output}\n`;
  return {
    content: `${headOf(call)}${output}${rest}${endOf(result, call.signal)}`,
    isError: result.reason !== 'exited' || result.exitCode !== 0,
    exitCode: result.exitCode,
    ...(overflowPath === undefined ? {} : { outputPath: overflowPath }),
    mayHaveChanged: !isReadOnly && result.reason !== 'notStarted',
  };
}

function headOf(call: ToolCall): string {
  return call.call === undefined ? '' : `[call ${call.call}]\n`;
}

function endOf(result: CommandResult, signal: AbortSignal): string {
  const how = result.exitCode !== null ? `exit code ${result.exitCode}` : `signal ${result.signal ?? 'none'}`;
  switch (result.reason) {
    case 'exited':
      return `[${how}]`;
    case 'timeout':
      return `[timed out after ${Math.round(result.durationMs)} ms and was ended; ${how}]`;
    case 'cancelled':
      return `[stopped (${String(signal.reason)}); may have taken effect; ${how}]`;
    case 'notStarted':
      return result.startError === 'CWD_MISSING'
        ? '[not started: the folder of this Run is gone]'
        : `[not started: ${result.startError ?? 'unknown reason'}]`;
  }
}

/** Ids come from the model's side: only what is harmless in a file name is kept. */
function fileNameOf(toolUseId: string): string {
  return toolUseId.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100) || 'output';
}
