import * as z from 'zod';
import { messageOf } from '../../base/errors';
import type { ToolSpec, ToolUseBlock } from '../../model/messages';
import { bashTool } from './bashTool';
import { diffTool } from './diffTool';
import { editTool } from './editTool';
import { globTool } from './globTool';
import { grepTool } from './grepTool';
import { failure } from './outcome';
import { readTool } from './readTool';
import { reportCheckTool, reportFindingTool } from './reportTools';
import { todoTool } from './todoTool';
import type { Tool, ToolCall, ToolContext, ToolName, ToolOutcome, ToolSet } from './tool';
import { writeTool } from './writeTool';

/** A tool with its input type closed over, so that different ones stand in one table. */
interface BoundTool {
  readonly spec: ToolSpec;
  readonly isCommand: boolean;
  run(input: unknown, call: ToolCall, context: ToolContext): Promise<ToolOutcome>;
}

const bound: Readonly<Record<ToolName, BoundTool>> = {
  Read: bind(readTool),
  Write: bind(writeTool),
  Edit: bind(editTool),
  Glob: bind(globTool),
  Grep: bind(grepTool),
  Bash: bind(bashTool),
  TodoWrite: bind(todoTool),
  Diff: bind(diffTool),
  ReportCheck: bind(reportCheckTool),
  ReportFinding: bind(reportFindingTool),
};

/** What a model is told of these tools: the same bytes for every Run of a role. */
export function toolSpecs(names: readonly ToolName[]): readonly ToolSpec[] {
  return names.map((name) => bound[name].spec);
}

/** The tools of one Run. `names` is the cap of its role: nothing else is sent, nothing else runs. */
export function createToolSet(names: readonly ToolName[], context: ToolContext): ToolSet {
  const tools = new Map<string, BoundTool>(names.map((name) => [name, bound[name]]));
  return {
    specs: [...tools.values()].map((tool) => tool.spec),
    isCommand: (name) => tools.get(name)?.isCommand ?? false,
    async run(use: ToolUseBlock, call: ToolCall): Promise<ToolOutcome> {
      const tool = tools.get(use.name);
      if (!tool)
        return failure(`There is no tool ${use.name} here. There are: ${[...tools.keys()].join(', ')}.`);
      try {
        return await tool.run(use.input, call, context);
      } catch (error) {
        // A tool's own fault must not end the Run: the model is told, as of any other failure.
        return failure(`${use.name} failed: ${messageOf(error)}`);
      }
    },
  };
}

function bind<Input>(tool: Tool<Input>): BoundTool {
  let spec: ToolSpec | undefined;
  return {
    // At the first question: a command line that runs no agent never asks.
    get spec() {
      spec ??= { name: tool.name, description: tool.description, input_schema: schemaOf(tool.input) };
      return spec;
    },
    isCommand: tool.isCommand,
    async run(raw, call, context) {
      const parsed = tool.input.safeParse(raw);
      if (!parsed.success) return failure(issuesText(tool.name, parsed.error));
      return tool.run(parsed.data, call, context);
    },
  };
}

/** JSON Schema without what costs tokens and says nothing to a model. */
function schemaOf(input: z.ZodType): ToolSpec['input_schema'] {
  const schema = z.toJSONSchema(input, {
    io: 'input',
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  const { $schema: _schema, ...rest } = schema;
  return { ...rest, type: 'object' };
}

function issuesText(name: string, error: z.ZodError): string {
  const issues = error.issues.map((issue) => {
    const where = issue.path.join('.');
    return where === '' ? issue.message : `${where}: ${issue.message}`;
  });
  return `${name} was not run, its input is wrong: ${issues.join('; ')}.`;
}
