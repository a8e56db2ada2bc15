import * as z from 'zod';

/**
 * Messages in the shape of the Messages API. Blocks we do not know are carried through untouched: a
 * resumed or forked conversation must be the same to the byte.
 */
export const contentBlockSchema = z.looseObject({ type: z.string() });
export type ContentBlock = z.infer<typeof contentBlockSchema>;

export const textBlockSchema = z.looseObject({ type: z.literal('text'), text: z.string() });
export const toolUseBlockSchema = z.looseObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
});
export type ToolUseBlock = z.infer<typeof toolUseBlockSchema>;

export const toolResultBlockSchema = z.object({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.union([z.string(), z.array(contentBlockSchema)]),
  is_error: z.boolean().optional(),
});
export type ToolResultBlock = z.infer<typeof toolResultBlockSchema>;

export const messageSchema = z.object({
  role: z.enum(['user', 'assistant']),
  content: z.array(contentBlockSchema),
});
export type Message = z.infer<typeof messageSchema>;

/** A tool as the model is told of it. `input_schema` is JSON Schema. */
export const toolSpecSchema = z.lazy(() =>
  z.object({
    name: z.string(),
    description: z.string(),
    input_schema: z.looseObject({ type: z.literal('object') }),
  }),
);
export type ToolSpec = z.infer<typeof toolSpecSchema>;

/** Why the model stopped, in the API's words; one we do not know is kept as it came. */
export const stopReasonSchema = z.string();

/** What a request carries besides messages; constant within a Run, so that the cached prefix holds. */
export const modelParamsSchema = z.lazy(() =>
  z.object({
    model: z.string(),
    maxTokens: z.number().int().positive(),
    thinking: z.looseObject({ type: z.string() }).optional(),
    effort: z.string().optional(),
  }),
);
export type ModelParams = z.infer<typeof modelParamsSchema>;

/** The text of a message: its text blocks joined by a blank line. */
export function textOf(content: readonly ContentBlock[]): string {
  return content
    .flatMap((block) => {
      const text = textBlockSchema.safeParse(block);
      return text.success ? [text.data.text] : [];
    })
    .join('\n\n');
}

/** The tool calls of an assistant message, in the model's order. */
export function toolUsesOf(content: readonly ContentBlock[]): ToolUseBlock[] {
  return content.flatMap((block) => {
    const use = toolUseBlockSchema.safeParse(block);
    return use.success ? [use.data] : [];
  });
}

const brokenInputSchema = z.strictObject({ INVALID_JSON: z.string() });

/** What stands for the input of a tool call that is no JSON object: the API takes only objects back. */
export function brokenInput(json: string): Record<string, unknown> {
  return { INVALID_JSON: json };
}

/** Whether an input is what `brokenInput` made. */
export function isBrokenInput(input: unknown): boolean {
  return brokenInputSchema.safeParse(input).success;
}

/** The input of a tool that runs a command. */
export const commandInputSchema = z.looseObject({ command: z.string() });
