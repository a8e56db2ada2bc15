// What the Messages API refuses, checked the way the API does: the first problem found is answered with 400.
import { createHash } from 'node:crypto';

export type JsonObject = Readonly<Record<string, unknown>>;

export interface RuleOptions {
  /** `anthropic-version` of the request; decides whether sampling parameters exist. */
  readonly version: string;
  /** Block types beyond the documented ones that the server itself sent. */
  readonly extraBlockTypes?: ReadonlySet<string>;
  /** Content of answers that ended with `pause_turn`, as JSON: these may stand last. */
  readonly paused?: ReadonlySet<string>;
}

/** Models that take `thinking: {type: adaptive}` and an effort. Others refuse both. */
const adaptiveModels =
  /^claude-(?:(?:sonnet|opus|haiku|fable|mythos)-5(?:-\d)?|(?:opus|sonnet)-4-6|opus-4-[78])$/;

const topLevel = new Set(
  (
    'model messages max_tokens cache_control container diagnostics inference_geo metadata output_config ' +
    'service_tier speed stop_sequences stream system thinking tool_choice tools'
  ).split(' '),
);
const sampling = new Set(['temperature', 'top_p', 'top_k']);

const blockKeys: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text', 'cache_control', 'citations'],
  image: ['type', 'source', 'cache_control', 'transformations'],
  document: ['type', 'source', 'cache_control', 'citations', 'context', 'title'],
  thinking: ['type', 'thinking', 'signature'],
  redacted_thinking: ['type', 'data'],
  tool_use: ['type', 'id', 'name', 'input', 'cache_control', 'caller', 'toolset_name'],
  tool_result: ['type', 'tool_use_id', 'content', 'is_error', 'cache_control', 'toolset_name'],
};
const allowedIn: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image', 'document', 'tool_result'],
  assistant: ['text', 'thinking', 'redacted_thinking', 'tool_use'],
};

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The reason why the API would answer 400, or `undefined` when it would take the body. */
export function problemOf(body: unknown, options: RuleOptions): string | undefined {
  try {
    checkBody(body, options);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

class Refusal extends Error {}

function refuseIf(condition: boolean, message: string): void {
  if (condition) throw new Refusal(message);
}

function objectAt(value: unknown, where: string): JsonObject {
  if (!isObject(value)) throw new Refusal(`${where}: Input should be an object`);
  return value;
}

function arrayAt(value: unknown, where: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Refusal(`${where}: Input should be a valid list`);
  return value;
}

function stringAt(value: unknown, where: string): string {
  if (typeof value !== 'string') throw new Refusal(`${where}: Input should be a valid string`);
  return value;
}

function checkBody(value: unknown, options: RuleOptions): void {
  const body = objectAt(value, 'body');
  for (const key of Object.keys(body)) {
    const isKnown = topLevel.has(key) || (sampling.has(key) && options.version === '2023-06-01');
    refuseIf(!isKnown, `${key}: Extra inputs are not permitted`);
  }
  refuseIf(stringAt(body['model'], 'model') === '', 'model: String should have at least 1 character');
  refuseIf(body['max_tokens'] === undefined, 'max_tokens: Field required');
  const max = body['max_tokens'];
  refuseIf(
    typeof max !== 'number' || !Number.isInteger(max) || max < 1,
    'max_tokens: Input should be a positive integer',
  );
  refuseIf(typeof max === 'number' && max > 128_000, `max_tokens: ${String(max)} > 128000`);
  checkSystem(body['system']);
  checkTools(body['tools']);
  checkThinking(body);
  checkMessages(body, options);
  const breakpoints = countBreakpoints(body);
  refuseIf(
    breakpoints > 4,
    `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints}.`,
  );
}

function checkSystem(system: unknown): void {
  if (system === undefined || typeof system === 'string') return;
  for (const [index, item] of arrayAt(system, 'system').entries()) {
    const block = objectAt(item, `system.${index}`);
    refuseIf(block['type'] !== 'text', `system.${index}.type: Input should be 'text'`);
    checkText(block, `system.${index}`);
  }
}

function checkTools(tools: unknown): void {
  if (tools === undefined) return;
  const names = new Set<string>();
  for (const [index, item] of arrayAt(tools, 'tools').entries()) {
    const where = `tools.${index}`;
    const tool = objectAt(item, where);
    const known = ['name', 'description', 'input_schema', 'cache_control', 'type', 'strict'];
    for (const key of Object.keys(tool)) {
      refuseIf(!known.includes(key), `${where}.${key}: Extra inputs are not permitted`);
    }
    const name = stringAt(tool['name'], `${where}.name`);
    refuseIf(!/^[a-zA-Z0-9_-]{1,128}$/.test(name), `${where}.name: String should match pattern`);
    refuseIf(names.has(name), `tools: Tool names must be unique.`);
    names.add(name);
    const schema = objectAt(tool['input_schema'], `${where}.input_schema`);
    refuseIf(schema['type'] !== 'object', `${where}.input_schema.type: Input should be 'object'`);
    checkCacheControl(tool, where);
  }
}

function checkThinking(body: JsonObject): void {
  const model = stringAt(body['model'], 'model');
  const isAdaptive = adaptiveModels.test(model);
  if (body['thinking'] !== undefined) {
    const thinking = objectAt(body['thinking'], 'thinking');
    const type = thinking['type'];
    refuseIf(
      !['adaptive', 'enabled', 'disabled', 'between_tools'].includes(String(type)),
      `thinking.type: Input tag '${String(type)}' is not known`,
    );
    refuseIf(type === 'adaptive' && !isAdaptive, 'adaptive thinking is not supported on this model');
    refuseIf(type === 'enabled' && isAdaptive, '"thinking.type.enabled" is not supported for this model');
    const display = thinking['display'];
    refuseIf(
      display !== undefined && display !== 'summarized' && display !== 'omitted',
      'thinking.display: Input should be summarized or omitted',
    );
  }
  if (body['output_config'] !== undefined) {
    const effort = objectAt(body['output_config'], 'output_config')['effort'];
    const isKnown = ['low', 'medium', 'high', 'xhigh', 'max'].includes(String(effort));
    refuseIf(effort !== undefined && !isKnown, 'output_config.effort: Input should be low, medium, high...');
    refuseIf(effort !== undefined && !isAdaptive, 'This model does not support the effort parameter.');
  }
}

function checkMessages(body: JsonObject, options: RuleOptions): void {
  const messages = arrayAt(body['messages'], 'messages');
  refuseIf(messages.length === 0, 'messages: at least one message is required');
  let open: string[] = [];
  const seen = new Set<string>();
  let lastRole = '';
  for (const [index, item] of messages.entries()) {
    const where = `messages.${index}`;
    const message = objectAt(item, where);
    for (const key of Object.keys(message)) {
      refuseIf(key !== 'role' && key !== 'content', `${where}.${key}: Extra inputs are not permitted`);
    }
    const role = stringAt(message['role'], `${where}.role`);
    refuseIf(role !== 'user' && role !== 'assistant', `${where}.role: Input should be 'user' or 'assistant'`);
    refuseIf(index === 0 && role !== 'user', 'messages: first message must use the "user" role');
    const blocks = blocksOf(message['content'], where);
    checkBlocks(blocks, role, where, options);
    if (role === 'user') {
      checkResults(blocks, open, where);
      open = [];
    } else {
      const previous = messages[index - 1];
      const wasPaused =
        isObject(previous) && (options.paused?.has(JSON.stringify(previous['content'])) ?? false);
      refuseIf(
        lastRole === 'assistant' && !wasPaused,
        `${where}: roles must alternate between "user" and "assistant"`,
      );
      open = openUses(blocks, seen, where);
    }
    const isLast = index === messages.length - 1;
    refuseIf(
      open.length > 0 && isLast,
      `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}`,
    );
    if (isLast && role === 'assistant') checkPrefill(message, blocks, options);
    lastRole = role;
  }
}

function blocksOf(content: unknown, where: string): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  const blocks = arrayAt(content, `${where}.content`);
  refuseIf(blocks.length === 0, `${where}: all messages must have non-empty content`);
  return blocks.map((block, index) => objectAt(block, `${where}.content.${index}`));
}

function checkBlocks(blocks: readonly JsonObject[], role: string, where: string, options: RuleOptions): void {
  for (const [index, block] of blocks.entries()) {
    const at = `${where}.content.${index}`;
    const type = stringAt(block['type'], `${at}.type`);
    if (options.extraBlockTypes?.has(type)) continue;
    const keys = blockKeys[type];
    if (keys === undefined) throw new Refusal(`${at}: Input tag '${type}' does not match any expected tag`);
    refuseIf(
      !(allowedIn[role] ?? []).includes(type),
      `${at}: ${type} blocks are not allowed in ${role} messages`,
    );
    for (const key of Object.keys(block)) {
      refuseIf(!keys.includes(key), `${at}.${key}: Extra inputs are not permitted`);
    }
    if (type === 'text') checkText(block, at);
    else checkCacheControl(block, at);
    if (type === 'thinking') {
      refuseIf(
        stringAt(block['signature'], `${at}.signature`) === '',
        `${at}: Invalid \`signature\` in \`thinking\` block`,
      );
      stringAt(block['thinking'], `${at}.thinking`);
    }
    if (type === 'tool_result') checkResultContent(block, at);
  }
}

function checkText(block: JsonObject, where: string): void {
  const text = stringAt(block['text'], `${where}.text`);
  refuseIf(
    text === '' && block['cache_control'] !== undefined,
    'cache_control cannot be set for empty text blocks',
  );
  refuseIf(text === '', `${where}: text content blocks must be non-empty`);
  refuseIf(text.trim() === '', `${where}: text content blocks must contain non-whitespace text`);
  checkCacheControl(block, where);
}

function checkCacheControl(block: JsonObject, where: string): void {
  const control = block['cache_control'];
  if (control === undefined || control === null) return;
  refuseIf(
    !isObject(control) || control['type'] !== 'ephemeral',
    `${where}.cache_control.type: Input should be 'ephemeral'`,
  );
}

function checkResultContent(block: JsonObject, where: string): void {
  const content = block['content'];
  const isError = block['is_error'] === true;
  if (content === undefined || typeof content === 'string') {
    refuseIf(isError && (content ?? '') === '', `${where}: content cannot be empty if \`is_error\` is true`);
    return;
  }
  const parts = arrayAt(content, `${where}.content`);
  refuseIf(isError && parts.length === 0, `${where}: content cannot be empty if \`is_error\` is true`);
  for (const [index, item] of parts.entries()) {
    const part = objectAt(item, `${where}.content.${index}`);
    const type = String(part['type']);
    refuseIf(
      !['text', 'image', 'document', 'search_result'].includes(type),
      `${where}.content.${index}: Input tag '${type}' does not match any expected tag`,
    );
    if (type === 'text') checkText(part, `${where}.content.${index}`);
    refuseIf(
      isError && type !== 'text',
      `${where}: all content must be type \`text\` if \`is_error\` is true`,
    );
  }
}

/** The results a user message must begin with: one for each open call, none else. */
function checkResults(blocks: readonly JsonObject[], open: readonly string[], where: string): void {
  const given: string[] = [];
  let sawOther = false;
  for (const [index, block] of blocks.entries()) {
    if (block['type'] !== 'tool_result') {
      sawOther = true;
      continue;
    }
    const id = stringAt(block['tool_use_id'], `${where}.content.${index}.tool_use_id`);
    refuseIf(
      sawOther && open.length > 0,
      `${where}: \`tool_result\` blocks must come first in the content of the message after \`tool_use\``,
    );
    refuseIf(
      !open.includes(id),
      `${where}.content.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`,
    );
    refuseIf(
      given.includes(id),
      `${where}: each tool_use must have a single result. Found multiple for: ${id}`,
    );
    given.push(id);
  }
  const missing = open.filter((id) => !given.includes(id));
  refuseIf(
    missing.length > 0,
    `${where}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`,
  );
}

function openUses(blocks: readonly JsonObject[], seen: Set<string>, where: string): string[] {
  const open: string[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block['type'] !== 'tool_use') continue;
    const at = `${where}.content.${index}`;
    const id = stringAt(block['id'], `${at}.id`);
    refuseIf(!/^[a-zA-Z0-9_-]+$/.test(id), `${at}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
    refuseIf(
      !/^[a-zA-Z0-9_-]{1,200}$/.test(String(block['name'])),
      `${at}.name: String should match pattern`,
    );
    refuseIf(!isObject(block['input']), `${at}.input: Input should be an object`);
    refuseIf(seen.has(id), `messages: \`tool_use\` ids must be unique`);
    seen.add(id);
    open.push(id);
  }
  return open;
}

/** Only an answer that ended with `pause_turn` may stand last, as it was. */
function checkPrefill(message: JsonObject, blocks: readonly JsonObject[], options: RuleOptions): void {
  if (options.paused?.has(JSON.stringify(message['content']))) return;
  const text = blocks.at(-1)?.['text'];
  refuseIf(
    typeof text === 'string' && text !== text.trimEnd(),
    'messages: final assistant content cannot end with trailing whitespace',
  );
  throw new Refusal(
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  );
}

function countBreakpoints(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countBreakpoints(item), 0);
  if (!isObject(value)) return 0;
  const own = isObject(value['cache_control']) ? 1 : 0;
  const inner = ['messages', 'system', 'tools', 'content'].reduce(
    (sum, key) => sum + countBreakpoints(value[key]),
    0,
  );
  return own + inner;
}

/** A text that is equal for two prefixes exactly when the API takes them for the same; no `cache_control`. */
function prefixText(body: JsonObject, messageIndex: number, before: readonly unknown[]): string {
  const messages = Array.isArray(body['messages']) ? body['messages'].slice(0, messageIndex) : [];
  const flat = messages.flatMap((message: unknown) => {
    if (!isObject(message)) return [];
    const content = message['content'];
    const blocks = Array.isArray(content) ? content : [{ type: 'text', text: content }];
    return blocks.map((block: unknown) => [message['role'], block]);
  });
  const own = before.map((block) => ['assistant', block]);
  const system =
    typeof body['system'] === 'string' ? [{ type: 'text', text: body['system'] }] : body['system'];
  return JSON.stringify([system, body['tools'], [...flat, ...own]], (key, item: unknown) =>
    key === 'cache_control' ? undefined : item,
  );
}

/** The signature of a thinking block: bound to its text, to the model and to everything that stood before it. */
export function signatureFor(
  body: JsonObject,
  messageIndex: number,
  before: readonly unknown[],
  thinking: string,
): string {
  return createHash('sha256')
    .update(JSON.stringify([body['model'], thinking]))
    .update(prefixText(body, messageIndex, before))
    .digest('base64');
}

/** The first thinking block whose signature does not fit what stands before it. */
export function alteredThinking(body: JsonObject): string | undefined {
  const messages = Array.isArray(body['messages']) ? body['messages'] : [];
  for (const [index, message] of messages.entries()) {
    if (!isObject(message) || message['role'] !== 'assistant' || !Array.isArray(message['content'])) continue;
    for (const [at, block] of message['content'].entries()) {
      if (!isObject(block) || block['type'] !== 'thinking') continue;
      const expected = signatureFor(body, index, message['content'].slice(0, at), String(block['thinking']));
      if (block['signature'] !== expected) {
        return (
          `messages.${index}.content.${at}: Invalid \`signature\` in \`thinking\` block. ` +
          'The block is bound to a different conversation.'
        );
      }
    }
  }
  return undefined;
}
