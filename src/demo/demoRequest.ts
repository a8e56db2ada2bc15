import {
  type ContentBlock,
  contentBlockSchema,
  type Message,
  messageSchema,
  type ToolResultBlock,
  textBlockSchema,
  toolResultBlockSchema,
  toolUsesOf,
} from '../model/messages';

/** A request as the Messages API takes it, reduced to what the demo looks at. */
export interface DemoRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly isStreaming: boolean;
}

export type ParsedRequest =
  | { readonly kind: 'request'; readonly request: DemoRequest }
  | { readonly kind: 'refused'; readonly message: string };

/** Reads a body and holds it against the rules of the API that a client can break by mistake. */
export function parseRequest(body: unknown): ParsedRequest {
  if (!isRecord(body)) return refused('the body is not an object');
  if (typeof body['model'] !== 'string' || body['model'] === '') return refused('model: Field required');
  const maxTokens = body['max_tokens'];
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1) {
    return refused('max_tokens: must be a positive integer');
  }
  const system = systemText(body['system']);
  if (system === undefined) return refused('system: must be text or a list of text blocks');
  if (!Array.isArray(body['messages']) || body['messages'].length === 0) {
    return refused('messages: at least one message is required');
  }
  const messages: Message[] = [];
  for (const [index, raw] of body['messages'].entries()) {
    const message = messageSchema.safeParse(withBlocks(raw));
    if (!message.success) return refused(`messages.${index}: not a message`);
    messages.push(message.data);
  }
  const problem = conversationProblem(messages);
  if (problem !== undefined) return refused(problem);
  return { kind: 'request', request: { system, messages, isStreaming: body['stream'] === true } };
}

function refused(message: string): ParsedRequest {
  return { kind: 'refused', message };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function systemText(system: unknown): string | undefined {
  if (system === undefined) return '';
  if (typeof system === 'string') return system;
  if (!Array.isArray(system)) return undefined;
  const texts = system.map((block) => textBlockSchema.safeParse(block).data?.text);
  return texts.some((text) => text === undefined) ? undefined : texts.join('\n');
}

/** The API takes plain text for a message's content as well. */
function withBlocks(raw: unknown): unknown {
  if (!isRecord(raw) || typeof raw['content'] !== 'string') return raw;
  return { ...raw, content: [{ type: 'text', text: raw['content'] }] };
}

function conversationProblem(messages: readonly Message[]): string | undefined {
  if (messages[0]?.role !== 'user') return 'messages.0: the first message must be from the user';
  if (messages.at(-1)?.role !== 'user') return 'messages: the last message must be from the user';
  for (const [index, message] of messages.entries()) {
    if (message.content.length === 0) return `messages.${index}: content must not be empty`;
    const blank = message.content.some((block) => textBlockSchema.safeParse(block).data?.text.trim() === '');
    if (blank) return `messages.${index}: text content blocks must be non-empty`;
    const problem = resultsProblem(messages, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Each call has exactly one result in the next message, before anything else; no result stands alone. */
function resultsProblem(messages: readonly Message[], index: number): string | undefined {
  const message = messages[index];
  if (message === undefined || message.role === 'assistant') return undefined;
  const before = messages[index - 1];
  const calls = before?.role === 'assistant' ? toolUsesOf(before.content).map((use) => use.id) : [];
  const results = resultsOf(message.content);
  const answered = results.map((result) => result.tool_use_id);
  const stray = answered.find((id) => !calls.includes(id));
  if (stray !== undefined) return `messages.${index}: unexpected tool_use_id in tool_result: ${stray}`;
  const open = calls.find((id) => answered.filter((answer) => answer === id).length !== 1);
  if (open !== undefined) return `messages.${index}: tool_use ${open} needs exactly one tool_result`;
  const isFirst = message.content.slice(0, results.length).every((block) => block.type === 'tool_result');
  return isFirst ? undefined : `messages.${index}: tool_result blocks must come first`;
}

export function resultsOf(content: readonly ContentBlock[]): ToolResultBlock[] {
  return content.flatMap((block) => toolResultBlockSchema.safeParse(block).data ?? []);
}

/** The text of a tool result; images and the like have none. */
export function resultText(result: ToolResultBlock): string {
  if (typeof result.content === 'string') return result.content;
  return result.content
    .map((block) => contentBlockSchema.safeParse(block).data)
    .flatMap((block) => textBlockSchema.safeParse(block).data?.text ?? [])
    .join('\n');
}

/** Who asks for what: all that decides which scene is played. */
export interface Situation {
  readonly agent: string;
  readonly isFix: boolean;
  /** Empty when the request names none. */
  readonly objective: string;
}

/**
 * Reads the three markers of a Run's request: `Agent: name` on a line of the system prompt, `Run kind: fix`
 * and `Objective: text` on lines of the first user message. Docs, differences and findings stand in blocks of
 * that message too, so the block that begins with the task counts, else the last one with an objective.
 */
export function readSituation(request: DemoRequest): Situation {
  const agent = /^Agent: *(\S+) *$/m.exec(request.system)?.[1] ?? '';
  const texts = (request.messages[0]?.content ?? []).flatMap(
    (block) => textBlockSchema.safeParse(block).data?.text ?? [],
  );
  const task = texts.find((text) => /^(?:<task(?:_\d+)?>\s*)?Objective:/.test(text));
  const told = task ?? texts.findLast((text) => /^Objective:/m.test(text)) ?? '';
  const isFix = texts.some((text) => /^Run kind: *fix *$/m.test(text));
  return { agent, isFix, objective: objectiveOf(told) };
}

/** The objective ends at a blank line or at the next `Name: value` line. */
function objectiveOf(text: string): string {
  const lines = text.split(/\r?\n/);
  const start = lines.findIndex((line) => line.startsWith('Objective:'));
  if (start < 0) return '';
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line.trim() === '' || /^[A-Z][A-Za-z ]{0,30}:|^<\/task/.test(line));
  const first = (lines[start] ?? '').slice('Objective:'.length);
  return [first, ...(end < 0 ? rest : rest.slice(0, end))].join('\n').trim();
}
