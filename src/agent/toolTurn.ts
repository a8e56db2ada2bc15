import { cancelReasonOf } from '../base/async';
import { messageOf } from '../base/errors';
import { type ContentBlock, isBrokenInput, type ToolUseBlock } from '../model/messages';
import type { LoopDeps } from './agentLoop';
import { notRunBecause, notRunText, sendableContent, toolResult } from './context/toolResults';
import type { ToolOutcome } from './tools/tool';

const brokenInputText = `${notRunText}: the input of this call is no JSON object. Send the call again with its whole input, quotes and line breaks in strings escaped.`;

/** Runs the tool calls of a Turn one after another: each has exactly one result, on disk and in the answer. */
export class ToolTurn {
  private readonly deps: Pick<LoopDeps, 'tools' | 'append' | 'now' | 'logger'>;
  private readonly signal: AbortSignal;
  private nextCall: number;

  constructor(deps: ToolTurn['deps'], firstCall: number, signal: AbortSignal) {
    this.deps = deps;
    this.nextCall = firstCall;
    this.signal = signal;
  }

  /** Once cancelled, the calls that are left get a result that says so. */
  async run(
    uses: readonly ToolUseBlock[],
    turn: number,
  ): Promise<{ readonly results: ContentBlock[]; readonly mayHaveChanged: boolean }> {
    const results: ContentBlock[] = [];
    let mayHaveChanged = false;
    for (const use of uses) {
      if (this.signal.aborted) {
        const why = notRunBecause(cancelReasonOf(this.signal));
        results.push(await this.notRun(use, turn, why, { isStopped: true }));
        continue;
      }
      if (isBrokenInput(use.input)) {
        results.push(await this.notRun(use, turn, brokenInputText));
        continue;
      }
      const outcome = await this.use(use, turn);
      mayHaveChanged ||= outcome.mayHaveChanged;
      results.push(toolResult(use.id, outcome.content, outcome.isError));
    }
    return { results, mayHaveChanged };
  }

  /** Gives every call a result without running it. */
  async close(uses: readonly ToolUseBlock[], turn: number, text: string): Promise<void> {
    for (const use of uses) await this.notRun(use, turn, text);
  }

  private async use(use: ToolUseBlock, turn: number): Promise<ToolOutcome> {
    const { id: toolUseId, name, input } = use;
    const call = this.deps.tools.isCommand(name) ? { call: this.nextCall++ } : {};
    // On disk before it runs: after a kill it is known that the call may have taken effect.
    await this.deps.append({ type: 'tool.started', turn, toolUseId, name, input, ...call });
    const startedAt = this.deps.now().getTime();
    const outcome = await this.outcomeOf(use, call);
    const content = sendableContent(outcome.content, outcome.isError);
    await this.deps.append({
      type: 'tool.ended',
      turn,
      toolUseId,
      name,
      content,
      isError: outcome.isError,
      ...(this.isStopped(outcome) ? { isStopped: true } : {}),
      durationMs: Math.max(0, this.deps.now().getTime() - startedAt),
      ...call,
      ...(outcome.exitCode === undefined ? {} : { exitCode: outcome.exitCode }),
      ...(outcome.outputPath === undefined ? {} : { outputPath: outcome.outputPath }),
    });
    return { ...outcome, content };
  }

  private async outcomeOf(use: ToolUseBlock, call: { readonly call?: number }): Promise<ToolOutcome> {
    try {
      return await this.deps.tools.run(use, { toolUseId: use.id, signal: this.signal, ...call });
    } catch (error) {
      const { aborted } = this.signal;
      const reason = aborted ? cancelReasonOf(this.signal) : undefined;
      // Tools wait for their files: without them it never began.
      if (reason === 'worktree')
        return { content: notRunBecause(reason), isError: true, mayHaveChanged: false };
      if (!aborted) this.deps.logger?.error('a tool threw', { tool: use.name, error });
      const content = aborted ? 'stopped; may have taken effect' : `the tool failed: ${messageOf(error)}`;
      // Nobody knows how far it came.
      return { content, isError: true, mayHaveChanged: true };
    }
  }

  /** A command that came to an exit code of its own had failed before anybody stopped it. */
  private isStopped({ isError, exitCode }: ToolOutcome): boolean {
    return this.signal.aborted && isError && typeof exitCode !== 'number';
  }

  private async notRun(
    use: ToolUseBlock,
    turn: number,
    text: string,
    how: { readonly isStopped?: true } = {},
  ): Promise<ContentBlock> {
    const { id: toolUseId, name } = use;
    const ended = { toolUseId, name, content: text, isError: true, ...how, durationMs: 0 };
    await this.deps.append({ type: 'tool.ended', turn, ...ended });
    return toolResult(toolUseId, text, true);
  }
}
