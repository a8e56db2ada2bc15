import assert from 'node:assert/strict';
import { isObject } from './support/strictRules';
import { type StrictServer, startStrictServer } from './support/strictServer';

type Json = Record<string, unknown>;
const text = (said: string): Json => ({ type: 'text', text: said });
const user = (...content: unknown[]): Json => ({ role: 'user', content });
const assistant = (...content: unknown[]): Json => ({ role: 'assistant', content });
const use = (id: string): Json => ({ type: 'tool_use', id, name: 'Read', input: {} });
const result = (id: string, more: Json = {}): Json => ({
  type: 'tool_result',
  tool_use_id: id,
  content: 'x',
  ...more,
});
const marked = { cache_control: { type: 'ephemeral' } };
const tool = { name: 'Read', input_schema: { type: 'object' } };

describe('The strict server', () => {
  let server: StrictServer;
  beforeEach(async () => {
    server = await startStrictServer();
  });
  afterEach(() => server.close());

  const good = { model: 'claude-sonnet-5-5', max_tokens: 10, stream: true, messages: [user(text('hi'))] };
  const goodHeaders: Record<string, string> = {
    'content-type': 'application/json',
    'anthropic-version': '2026-10-21',
    'x-api-key': 'test-key',
  };

  const send = async (body: unknown, headers = goodHeaders): Promise<{ status: number; message: string }> => {
    const raw = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(`${server.url}/v1/messages`, { method: 'POST', headers, body: raw });
    const answer: unknown = response.ok ? await response.text() : await response.json();
    const error = isObject(answer) && isObject(answer['error']) ? answer['error'] : {};
    return { status: response.status, message: String(error['message'] ?? '') };
  };

  it('takes a good request', async () => {
    assert.equal((await send(good)).status, 200);
    assert.equal((await send({ ...good, messages: [user(text('a')), user(text('b'))] })).status, 200);
    assert.deepEqual(server.refusals, []);
  });

  const refused: readonly [string, Json, RegExp][] = [
    ['an unknown key', { foo: 1 }, /foo: Extra inputs/],
    ['a sampling parameter', { temperature: 0 }, /temperature: Extra inputs/],
    ['no max_tokens', { max_tokens: undefined }, /max_tokens: Field required/],
    ['max_tokens of zero', { max_tokens: 0 }, /max_tokens/],
    ['no messages', { messages: [] }, /at least one message/],
    ['an assistant that begins', { messages: [assistant(text('a'))] }, /first message/],
    ['empty content', { messages: [user()] }, /non-empty content/],
    ['empty text', { messages: [user(text(''))] }, /must be non-empty/],
    ['blank text', { messages: [user(text(' \n'))] }, /non-whitespace/],
    ['blank text as a string', { messages: [{ role: 'user', content: ' ' }] }, /non-whitespace/],
    ['an unknown role', { messages: [{ role: 'tool', content: 'x' }] }, /role/],
    [
      'two assistants',
      { messages: [user(text('a')), assistant(text('b')), assistant(text('c')), user(text('d'))] },
      /alternate/,
    ],
    ['prefill', { messages: [user(text('a')), assistant(text('b'))] }, /prefill/],
    [
      'prefill with a blank end',
      { messages: [user(text('a')), assistant(text('b '))] },
      /trailing whitespace/,
    ],
    [
      'a call without a result',
      { messages: [user(text('a')), assistant(use('t1')), user(text('b'))] },
      /without `tool_result`/,
    ],
    ['a call at the end', { messages: [user(text('a')), assistant(use('t1'))] }, /without `tool_result`/],
    [
      'half of the results',
      { messages: [user(text('a')), assistant(use('t1'), use('t2')), user(result('t1'))] },
      /t2/,
    ],
    ['a result for nothing', { messages: [user(result('t1'))] }, /unexpected `tool_use_id`/],
    [
      'a result a message late',
      { messages: [user(text('a')), assistant(use('t1')), user(result('t1')), user(result('t1'))] },
      /unexpected/,
    ],
    [
      'two results for a call',
      { messages: [user(text('a')), assistant(use('t1')), user(result('t1'), result('t1'))] },
      /single result/,
    ],
    [
      'a result after text',
      { messages: [user(text('a')), assistant(use('t1')), user(text('b'), result('t1'))] },
      /must come first/,
    ],
    [
      'an empty error',
      {
        messages: [
          user(text('a')),
          assistant(use('t1')),
          user(result('t1', { is_error: true, content: '' })),
        ],
      },
      /cannot be empty/,
    ],
    [
      'an id twice',
      {
        messages: [
          user(text('a')),
          assistant(use('t1')),
          user(result('t1')),
          assistant(use('t1')),
          user(result('t1')),
        ],
      },
      /unique/,
    ],
    ['a bad id', { messages: [user(text('a')), assistant(use('t 1')), user(result('t 1'))] }, /pattern/],
    [
      'an input that is no object',
      { messages: [user(text('a')), assistant({ ...use('t1'), input: 'x' }), user(result('t1'))] },
      /input/,
    ],
    [
      'thinking from the user',
      { messages: [user({ type: 'thinking', thinking: 'x', signature: 's' })] },
      /not allowed/,
    ],
    [
      'thinking that nobody signed',
      {
        messages: [
          user(text('a')),
          assistant({ type: 'thinking', thinking: 'x', signature: 's' }),
          user(text('b')),
        ],
      },
      /signature/,
    ],
    ['an unknown block', { messages: [user({ type: 'mystery' })] }, /does not match/],
    ['an extra key in a block', { messages: [user({ ...text('a'), note: 1 })] }, /note: Extra inputs/],
    ['a bad tool name', { tools: [{ ...tool, name: 'a b' }] }, /pattern/],
    ['a tool twice', { tools: [tool, tool] }, /unique/],
    [
      'a schema that is no object',
      { tools: [{ ...tool, input_schema: { type: 'string' } }] },
      /input_schema/,
    ],
    ['a bad system prompt', { system: { text: 'x' } }, /system/],
    ['an empty system block', { system: [text('')] }, /non-empty/],
    [
      'five breakpoints',
      { messages: [user(...['a', 'b', 'c', 'd', 'e'].map((said) => ({ ...text(said), ...marked })))] },
      /maximum of 4/,
    ],
    [
      'a breakpoint on empty text',
      { messages: [user({ ...text(''), ...marked })] },
      /cache_control cannot be set/,
    ],
    [
      'a breakpoint of another kind',
      { messages: [user({ ...text('a'), cache_control: { type: 'forever' } })] },
      /ephemeral/,
    ],
    [
      'adaptive thinking on an old model',
      { model: 'claude-haiku-4-5', thinking: { type: 'adaptive' } },
      /not supported/,
    ],
    [
      'thinking by budget on a new model',
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      /not supported/,
    ],
    ['an effort on a foreign model', { model: 'other', output_config: { effort: 'high' } }, /effort/],
    ['an effort it does not know', { output_config: { effort: 'huge' } }, /effort/],
  ];
  for (const [name, changes, message] of refused) {
    it(`refuses ${name}`, async () => {
      const answer = await send({ ...good, ...changes });
      assert.equal(answer.status, 400);
      assert.match(answer.message, message);
      assert.equal(server.refusals.length, 1);
    });
  }

  it('refuses what is no JSON, and a version it does not know', async () => {
    assert.equal((await send('{"model":')).status, 400);
    assert.equal((await send(good, { ...goodHeaders, 'anthropic-version': '1999-01-01' })).status, 400);
    const { 'anthropic-version': _version, ...without } = goodHeaders;
    assert.equal((await send(good, without)).status, 400);
  });

  it('answers 401 without a key, with a wrong one, and with one wrong beside a right one', async () => {
    const { 'x-api-key': _key, ...without } = goodHeaders;
    assert.equal((await send(good, without)).status, 401);
    assert.equal((await send(good, { ...goodHeaders, 'x-api-key': 'no' })).status, 401);
    assert.equal((await send(good, { ...goodHeaders, authorization: 'Bearer no' })).status, 401);
    assert.equal((await send(good, { ...without, authorization: 'Bearer test-token' })).status, 200);
  });

  it('answers 404 for a model it does not have', async () => {
    const other = await startStrictServer({ unknownModels: ['nope'] });
    try {
      const response = await fetch(`${other.url}/v1/messages`, {
        method: 'POST',
        headers: goodHeaders,
        body: JSON.stringify({ ...good, model: 'nope' }),
      });
      assert.equal(response.status, 404);
    } finally {
      await other.close();
    }
  });
});
