import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { createAnthropicModel } from '../../src/agent/anthropicModel';
import type { ModelMessage, ModelRequest } from '../../src/agent/languageModel';
import { type ModelFailure, modelFailureOf } from '../../src/agent/modelFailure';
import { paramsFor } from '../../src/agent/modelTable';
import type { ErrorCode } from '../../src/base/errors';
import { languageModelContract, modelRequest } from './support/modelContract';
import type { Reply } from './support/sse';
import { type HttpFault, type StrictServer, startStrictServer } from './support/strictServer';

const key = { kind: 'apiKey', value: 'test-key' } as const;
const token = { kind: 'authToken', value: 'test-token' } as const;
const hello: Reply = { content: [{ type: 'text', text: 'Hello' }] };

describe('The Anthropic model, as a LanguageModel', () => {
  languageModelContract(async () => {
    const server = await startStrictServer();
    return {
      model: createAnthropicModel({ credentials: key, baseUrl: server.url }),
      answerWith: (replies) => server.script(replies),
      failMidway: (errorType) =>
        server.script([{ ...hello, fault: { kind: 'error', before: 'content_block_stop', errorType } }]),
      dispose: () => server.close(),
    };
  });
});

describe('The Anthropic model on the wire', () => {
  let server: StrictServer;
  beforeEach(async () => {
    server = await startStrictServer();
  });
  afterEach(() => server.close());

  interface AskOptions {
    readonly credentials?: { kind: 'apiKey' | 'authToken'; value: string };
    readonly baseUrl?: string;
    readonly request?: Partial<ModelRequest>;
    readonly firstEventMs?: number;
    readonly totalMs?: number;
    readonly signal?: AbortSignal;
  }

  const ask = (options: AskOptions = {}): Promise<ModelMessage> =>
    createAnthropicModel({
      credentials: options.credentials ?? key,
      baseUrl: options.baseUrl ?? server.url,
      ...(options.firstEventMs === undefined ? {} : { firstEventMs: options.firstEventMs }),
      ...(options.totalMs === undefined ? {} : { totalMs: options.totalMs }),
    }).stream(modelRequest(options.request), () => undefined, options.signal ?? new AbortController().signal);

  const failureOf = async (options: AskOptions = {}): Promise<ModelFailure & { raw: unknown }> => {
    try {
      await ask(options);
    } catch (error) {
      return { ...modelFailureOf(error), raw: error };
    }
    return assert.fail('the request did not fail');
  };

  describe('credentials', () => {
    it('sends a key as X-Api-Key and as bearer, and nothing else', async () => {
      await ask();
      const headers = server.requests[0]?.headers;
      assert.equal(headers?.['x-api-key'], 'test-key');
      assert.equal(headers?.authorization, 'Bearer test-key');
      assert.equal(headers?.['anthropic-beta'], undefined);
    });

    it('sends a token as bearer only', async () => {
      await ask({ credentials: token });
      const headers = server.requests[0]?.headers;
      assert.equal(headers?.['x-api-key'], undefined);
      assert.equal(headers?.authorization, 'Bearer test-token');
    });

    it('reads no key, no address and no header from the environment', async () => {
      const variables = {
        ANTHROPIC_API_KEY: 'env-key',
        ANTHROPIC_AUTH_TOKEN: 'env-token',
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        ANTHROPIC_CUSTOM_HEADERS: 'Authorization: Bearer env-header\nX-Api-Key: env-header\nX-Other: yes',
        ANTHROPIC_LOG: 'debug',
      };
      await withEnvironment(variables, () => ask({ credentials: token }));
      const headers = server.requests[0]?.headers;
      assert.equal(headers?.authorization, 'Bearer test-token');
      assert.equal(headers?.['x-api-key'], undefined);
      assert.equal(headers?.['x-other'], undefined);
    });

    it('never shows the key in an error, even when the server echoes it', async () => {
      server.script([
        { status: 400, type: 'invalid_request_error', message: 'bad key test-key in header' },
        { status: 500, body: '<html>test-key</html>' },
        { ...hello, fault: { kind: 'error', before: 3, message: 'test-key is bad' } },
      ]);
      const model = createAnthropicModel({ credentials: key, baseUrl: server.url });
      for (let attempt = 0; attempt < 3; attempt += 1) {
        await assert.rejects(
          model.stream(modelRequest(), () => undefined, new AbortController().signal),
          (error: unknown) => {
            assert.ok(!inspect(error, { depth: 20, showHidden: true }).includes('test-key'));
            return true;
          },
        );
      }
    });

    it('does not follow a redirect, which would carry the key to another host', async () => {
      const other = await startStrictServer();
      try {
        server.script([{ status: 307, headers: { location: `${other.url}/v1/messages` } }]);
        const failure = await failureOf();
        assert.equal(failure.code, 'notTheApi');
        assert.equal(other.requests.length, 0);
      } finally {
        await other.close();
      }
    });
  });

  describe('the request', () => {
    it('is accepted with system, tools, thinking and effort of a model in our table', async () => {
      await ask({ request: { params: paramsFor('claude-sonnet-5-5', 32_000) } });
      assert.deepEqual(server.refusals, []);
      const body = server.requests[0]?.body;
      assert.deepEqual(body?.['thinking'], { type: 'adaptive', display: 'summarized' });
      assert.deepEqual(body?.['output_config'], { effort: 'high' });
      assert.equal(body?.['max_tokens'], 32_000);
    });

    it('carries no thinking and no effort for a model we do not know', async () => {
      await ask({ request: { params: paramsFor('some-gateway-model', 100) } });
      const body = server.requests[0]?.body ?? {};
      assert.equal('thinking' in body, false);
      assert.equal('output_config' in body, false);
      assert.equal(server.requests[0]?.headers['anthropic-beta'], undefined);
    });

    it('sends back what the model said, thinking and unknown blocks included, as it came', async () => {
      server.script([
        {
          content: [
            { type: 'thinking', thinking: 'First thoughts' },
            { type: 'text', text: '\n\n' },
            { type: 'thinking', thinking: 'Second thoughts' },
            { type: 'text', text: 'Reading.' },
            { type: 'other', block: { type: 'x_new_block', data: { b: 1, a: [2] } } },
            { type: 'tool_use', name: 'Read', input: { file_path: 'a' } },
          ],
          withUnknowns: true,
        },
        hello,
      ]);
      const first = await ask();
      assert.deepEqual(
        first.content.map((block) => block.type),
        ['thinking', 'thinking', 'text', 'x_new_block', 'tool_use'],
      );
      const id = String(first.content.at(-1)?.['id']);
      const messages = [
        ...modelRequest().messages,
        { role: 'assistant' as const, content: [...first.content] },
        { role: 'user' as const, content: [{ type: 'tool_result', tool_use_id: id, content: 'text' }] },
      ];
      const second = await ask({ request: { messages } });
      assert.deepEqual(server.refusals, []);
      assert.equal(second.content[0]?.['text'], 'Hello');
    });

    it('sends the same bytes for blocks that were stored and read back', async () => {
      const messages = [{ role: 'user' as const, content: [{ text: 'a', type: 'text' }] }];
      await ask({ request: { messages } });
      await ask({ request: { messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] } });
      assert.equal(server.requests[0]?.rawBody, server.requests[1]?.rawBody);
    });
  });

  describe('the stream', () => {
    it('is put together across chunk borders inside characters and events', async () => {
      const text = 'Grüße 👩‍👩‍👧 "quoted" \\ end';
      server.script([
        {
          content: [
            { type: 'text', text },
            { type: 'tool_use', name: 'Read', input: { file_path: text } },
          ],
          chunkBytes: 1,
          deltaChars: 3,
        },
      ]);
      const message = await ask();
      assert.equal(message.content[0]?.['text'], text);
      assert.deepEqual(message.content[1]?.['input'], { file_path: text });
    });

    it('is not disturbed by events, deltas and blocks that nobody knows yet', async () => {
      server.script([{ content: [{ type: 'text', text: 'a long enough text' }], withUnknowns: true }]);
      const message = await ask();
      assert.deepEqual(message.content, [{ type: 'text', text: 'a long enough text' }]);
    });

    it('counts usage once: later counts replace earlier ones', async () => {
      server.script([{ ...hello, usage: { input_tokens: 100, output_tokens: 42 } }]);
      const { usage } = await ask();
      assert.deepEqual(usage, { requests: 1, input: 100, output: 42, cacheRead: 0, cacheWrite: 0 });
    });

    it('drops blank text, which the API would refuse when it comes back', async () => {
      server.script([{ content: [{ type: 'text', text: '\n' }] }]);
      assert.deepEqual((await ask()).content, []);
    });

    for (const kind of ['drop', 'end'] as const) {
      for (const before of [1, 4, 'content_block_stop', 'message_delta', 'message_stop']) {
        it(`is \`cutStream\` when the connection ends (${kind}) before ${before}`, async () => {
          server.script([{ ...hello, fault: { kind, before } }]);
          const failure = await failureOf();
          assert.equal(failure.code, 'cutStream');
          assert.equal(failure.details.isRetryable, true);
          assert.equal(failure.details.partialText, before === 1 ? '' : 'Hello');
        });
      }
    }

    it('keeps a tool call whose input is no JSON object as one that can be answered and sent back', async () => {
      for (const rawInput of ['{"file_path": "a', '[1]', 'null', '{"a": "b" "c"}', '"text"']) {
        server.script([{ content: [{ type: 'tool_use', name: 'Read', input: {}, rawInput }] }]);
        const [block] = (await ask()).content;
        assert.deepEqual(block?.['input'], { INVALID_JSON: rawInput });
      }
    });

    it('is `cutStream` when the connection ends in the middle of a tool input', async () => {
      server.script([
        {
          content: [
            { type: 'text', text: 'Reading' },
            { type: 'tool_use', name: 'Read', input: { file_path: 'a/long/path/to/a/file.ts' } },
          ],
          fault: { kind: 'drop', before: 9 },
        },
      ]);
      const failure = await failureOf();
      assert.equal(failure.code, 'cutStream');
      assert.equal(failure.details.partialText, 'Reading');
    });

    it('keeps what is whole of an answer that was cut by max_tokens in a tool input', async () => {
      server.script([
        {
          content: [
            { type: 'text', text: 'Writing' },
            { type: 'tool_use', name: 'Write', input: {}, rawInput: '{"file_path": "a", "content": "hal' },
          ],
          stopReason: 'max_tokens',
        },
      ]);
      const message = await ask();
      assert.equal(message.stopReason, 'max_tokens');
      assert.deepEqual(message.content, [{ type: 'text', text: 'Writing' }]);
    });

    it('says what a cut request has cost so far', async () => {
      server.script([{ ...hello, usage: { input_tokens: 900 }, fault: { kind: 'end', before: 5 } }]);
      assert.equal((await failureOf()).details.usage?.input, 900);
    });
  });

  describe('the clocks', () => {
    it('stalls after the given silence, and pings do not count', async () => {
      for (const kind of ['silence', 'pings'] as const) {
        server.script([{ ...hello, fault: { kind, before: 'content_block_stop' } }]);
        const failure = await failureOf({ request: { silenceMs: 60 }, firstEventMs: 5_000 });
        assert.equal(failure.code, 'stalled');
        assert.equal(failure.details.isRetryable, true);
        assert.equal(failure.details.partialText, 'Hello');
        assert.equal(await server.requests.at(-1)?.closed, 'aborted');
      }
    });

    it('waits longer for the first event than for the next ones', async () => {
      server.script([{ ...hello, fault: { kind: 'pings', before: 0 } }]);
      const started = Date.now();
      const failure = await failureOf({ request: { silenceMs: 20 }, firstEventMs: 150 });
      assert.equal(failure.code, 'stalled');
      assert.ok(Date.now() - started >= 145);
    });

    it('does not stall a slow answer that keeps coming', async () => {
      server.script([{ content: [{ type: 'text', text: 'a'.repeat(200) }], deltaChars: 10, delayMs: 15 }]);
      const message = await ask({ request: { silenceMs: 150 }, firstEventMs: 150 });
      assert.equal(String(message.content[0]?.['text']).length, 200);
    });

    it('ends a request that takes longer than the whole time allowed', async () => {
      server.script([{ content: [{ type: 'text', text: 'a'.repeat(5_000) }], deltaChars: 5, delayMs: 5 }]);
      assert.equal((await failureOf({ totalMs: 100 })).code, 'stalled');
    });
  });

  describe('refusals and failures over HTTP', () => {
    const cases: readonly [HttpFault, ErrorCode, boolean][] = [
      [{ status: 400, type: 'invalid_request_error' }, 'badRequest', false],
      [
        { status: 400, type: 'invalid_request_error', message: 'prompt is too long: 9 > 8' },
        'requestTooLarge',
        false,
      ],
      [{ status: 401, type: 'authentication_error' }, 'wrongKey', false],
      [{ status: 402, type: 'billing_error' }, 'forbidden', false],
      [{ status: 403, type: 'permission_error' }, 'forbidden', false],
      [{ status: 404, type: 'not_found_error', message: 'model: nope' }, 'unknownModel', false],
      [{ status: 404, body: '<html>no such page</html>' }, 'notTheApi', false],
      [{ status: 405, body: '' }, 'notTheApi', false],
      [{ status: 408, type: 'timeout_error' }, 'serverError', true],
      [{ status: 409, type: 'conflict_error' }, 'serverError', true],
      [{ status: 413, type: 'request_too_large' }, 'requestTooLarge', false],
      [{ status: 429, type: 'rate_limit_error' }, 'rateLimited', true],
      [{ status: 500, type: 'api_error' }, 'serverError', true],
      [{ status: 502, body: '<html>bad gateway</html>' }, 'serverError', true],
      [{ status: 503, body: '' }, 'serverError', true],
      [{ status: 529, type: 'overloaded_error' }, 'overloaded', true],
      [{ status: 200, body: '<html>log in</html>' }, 'notTheApi', false],
      [
        { status: 200, body: '{"choices": []}', headers: { 'content-type': 'application/json' } },
        'notTheApi',
        false,
      ],
    ];
    for (const [fault, code, isRetryable] of cases) {
      it(`names ${fault.status} ${fault.type ?? fault.body ?? ''} \`${code}\`, asked once`, async () => {
        server.script([fault]);
        const failure = await failureOf();
        assert.equal(failure.code, code);
        assert.equal(failure.details.isRetryable, isRetryable);
        assert.equal(server.requests.length, 1, 'the SDK itself never asks again');
      });
    }

    it('tells the wait that the server asks for, in seconds or as a date', async () => {
      server.script([
        { status: 429, type: 'rate_limit_error', headers: { 'retry-after': '7' } },
        {
          status: 529,
          type: 'overloaded_error',
          headers: { 'retry-after': new Date(Date.now() + 60_000).toUTCString() },
        },
        { status: 429, type: 'rate_limit_error', headers: { 'retry-after': 'soon' } },
      ]);
      assert.equal((await failureOf()).details.retryAfterMs, 7_000);
      const dated = (await failureOf()).details.retryAfterMs ?? 0;
      assert.ok(dated > 50_000 && dated <= 60_000);
      assert.equal((await failureOf()).details.retryAfterMs, undefined);
    });

    it('carries the id of the request, for a report to whoever runs the server', async () => {
      server.script([{ status: 500, type: 'api_error' }]);
      assert.equal((await failureOf()).details.requestId, 'req_test_error');
    });

    it('names a wrong key `wrongKey`', async () => {
      assert.equal((await failureOf({ credentials: { kind: 'apiKey', value: 'no' } })).code, 'wrongKey');
    });
  });

  describe('a server that cannot be reached', () => {
    it('is `unreachable` and not asked again when the connection is refused', async () => {
      const failure = await failureOf({ baseUrl: `http://127.0.0.1:${await freePort()}` });
      assert.equal(failure.code, 'unreachable');
      assert.equal(failure.details.isRetryable, false);
      assert.match(failure.message, /ECONNREFUSED/);
    });

    it('is `unreachable` when there is no such host, or no TLS behind https', async () => {
      for (const baseUrl of ['http://no-such-host.invalid', server.url.replace('http:', 'https:')]) {
        assert.equal((await failureOf({ baseUrl })).code, 'unreachable');
      }
    });

    it('may pass when the connection is reset before an answer', async () => {
      const resetting = createServer((socket) => socket.resetAndDestroy());
      await new Promise<void>((resolve) => resetting.listen(0, '127.0.0.1', resolve));
      const address = resetting.address();
      const port = typeof address === 'object' ? address?.port : 0;
      try {
        const failure = await failureOf({ baseUrl: `http://127.0.0.1:${port}` });
        assert.equal(failure.code, 'unreachable');
        assert.equal(failure.details.isRetryable, true);
      } finally {
        await new Promise((resolve) => resetting.close(resolve));
      }
    });

    it('never shows the password of a base URL', async () => {
      const failure = await failureOf({ baseUrl: 'http://someone:pass%40word@127.0.0.1:9' });
      assert.ok(!inspect(failure, { depth: 20 }).includes('pass%40word'));
      assert.ok(!inspect(failure, { depth: 20 }).includes('pass@word'));
    });
  });

  describe('cancellation', () => {
    for (const [name, reply] of [
      ['before the first event', { ...hello, fault: { kind: 'silence', before: 0 } }],
      ['in the middle of an answer', { ...hello, fault: { kind: 'silence', before: 4 } }],
    ] as const) {
      it(`closes the connection at once ${name}`, async () => {
        server.script([reply]);
        const controller = new AbortController();
        const failing = failureOf({ signal: controller.signal });
        await server.waitForRequests(1);
        controller.abort('user');
        assert.equal((await failing).code, 'cancelled');
        assert.equal(await server.requests[0]?.closed, 'aborted');
      });
    }

    it('leaves no listener on the signal and no timer behind, whatever the end', async () => {
      const controller = new AbortController();
      let listeners = 0;
      const { signal } = controller;
      const add = signal.addEventListener.bind(signal);
      const remove = signal.removeEventListener.bind(signal);
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners += 1;
        add(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners -= 1;
        remove(...args);
      };
      const timers = watchTimers('/src/agent/');
      server.script([
        hello,
        { status: 500, type: 'api_error' },
        { ...hello, fault: { kind: 'drop', before: 4 } },
      ]);
      await ask({ signal });
      await failureOf({ signal });
      await failureOf({ signal });
      assert.equal(listeners, 0);
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(timers.stop(), []);
    });
  });
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 9;
}

async function withEnvironment(
  variables: Record<string, string>,
  body: () => Promise<unknown>,
): Promise<void> {
  const saved = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  Object.assign(process.env, variables);
  try {
    await body();
  } finally {
    for (const [name, value] of Object.entries(saved)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/** Follows the timers that code under `folder` starts; `stop` answers where those still armed were started. */
function watchTimers(folder: string): { stop(): string[] } {
  const armed = new Map<number, string>();
  const hook = createHook({
    init: (id, type) => {
      const stack = new Error('started').stack ?? '';
      if (type === 'Timeout' && stack.includes(folder)) armed.set(id, stack);
    },
    destroy: (id) => void armed.delete(id),
  }).enable();
  return {
    stop: () => {
      hook.disable();
      return [...armed.values()];
    },
  };
}
