import type { ToolCall, ToolOutcome, ToolSet } from '../../src/agent/tools/tool';
import type { ToolSpec, ToolUseBlock } from '../../src/model/messages';

export type FakeTool = (use: ToolUseBlock, call: ToolCall) => ToolOutcome | Promise<ToolOutcome>;

const ok: FakeTool = (use) => ({ content: `ran ${use.name}`, isError: false, mayHaveChanged: false });

/** Tools that do what a test says; `Bash` is the one that counts as a command. */
export class FakeToolSet implements ToolSet {
  readonly specs: readonly ToolSpec[];
  /** Calls in the order they began. */
  readonly calls: { readonly use: ToolUseBlock; readonly call: ToolCall }[] = [];
  private readonly tools: Readonly<Record<string, FakeTool>>;

  constructor(tools: Readonly<Record<string, FakeTool>> = { Read: ok, Write: ok, Bash: ok }) {
    this.tools = tools;
    this.specs = Object.keys(tools).map((name) => ({
      name,
      description: `The fake ${name}.`,
      input_schema: { type: 'object' as const },
    }));
  }

  isCommand(name: string): boolean {
    return name === 'Bash';
  }

  async run(use: ToolUseBlock, call: ToolCall): Promise<ToolOutcome> {
    this.calls.push({ use, call });
    const tool = this.tools[use.name];
    if (tool === undefined) return { content: `no tool ${use.name}`, isError: true, mayHaveChanged: false };
    return tool(use, call);
  }
}
