import assert from 'node:assert/strict';
import type { LanguageModel, ModelRequest } from '../../../src/agent/languageModel';
import { modelFailureOf } from '../../../src/agent/modelFailure';
import { TributaryError } from '../../../src/base/errors';
import type { LiveEvent } from '../../../src/model/transcript';
import type { Reply } from './sse';

/** A model under test, told what to answer next. */
export interface ModelUnderTest {
  readonly model: LanguageModel;
  answerWith(replies: readonly Reply[]): void;
  /** Ends the request with this API error type in the middle of an answer whose text is `Hello`. */
  failMidway(errorType: string): void;
  dispose(): Promise<void>;
}

export function modelRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: [{ type: 'text', text: 'You are a test.' }],
    tools: [{ name: 'Read', description: 'Reads a file.', input_schema: { type: 'object' } }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    params: { model: 'claude-sonnet-5-5', maxTokens: 1000 },
    silenceMs: 10_000,
    ...changes,
  };
}

/** What every LanguageModel promises; the real one and the fake run the same. */
export function languageModelContract(create: () => Promise<ModelUnderTest>): void {
  let under: ModelUnderTest;
  beforeEach(async () => {
    under = await create();
  });
  afterEach(() => under.dispose());

  const ask = async (
    request = modelRequest(),
    signal = new AbortController().signal,
  ): Promise<{ message: Awaited<ReturnType<LanguageModel['stream']>>; live: LiveEvent[] }> => {
    const live: LiveEvent[] = [];
    const message = await under.model.stream(request, (event) => live.push(event), signal);
    return { message, live };
  };

  it('answers the whole message, its stop reason and its usage', async () => {
    under.answerWith([
      {
        content: [{ type: 'text', text: 'Hello, world' }],
        usage: {
          input_tokens: 5,
          output_tokens: 7,
          cache_read_input_tokens: 3,
          cache_creation_input_tokens: 2,
        },
      },
    ]);
    const { message } = await ask();
    assert.deepEqual(message.content, [{ type: 'text', text: 'Hello, world' }]);
    assert.equal(message.stopReason, 'end_turn');
    assert.equal(message.model, 'claude-sonnet-5-5');
    assert.deepEqual(message.usage, { requests: 1, input: 5, output: 7, cacheRead: 3, cacheWrite: 2 });
  });

  it('forwards text and thinking while they come, in order', async () => {
    under.answerWith([
      {
        content: [
          { type: 'thinking', thinking: 'Let me see' },
          { type: 'text', text: 'Seen.' },
        ],
        deltaChars: 4,
      },
    ]);
    const { live, message } = await ask();
    const joined = (type: LiveEvent['type']): string =>
      live.flatMap((event) => (event.type === type && 'text' in event ? [event.text] : [])).join('');
    assert.equal(joined('thinking.delta'), 'Let me see');
    assert.equal(joined('text.delta'), 'Seen.');
    assert.equal(live[0]?.type, 'thinking.delta');
    assert.equal(message.content[0]?.['thinking'], 'Let me see');
    assert.notEqual(message.content[0]?.['signature'], '');
  });

  it('gives tool calls their parsed input and unique ids', async () => {
    const call = { type: 'tool_use', name: 'Read', input: { file_path: 'ä "b".ts', limit: 3 } } as const;
    under.answerWith([{ content: [call, { ...call, input: {} }] }]);
    const { message } = await ask();
    assert.equal(message.stopReason, 'tool_use');
    assert.deepEqual(
      message.content.map((block) => block['input']),
      [{ file_path: 'ä "b".ts', limit: 3 }, {}],
    );
    assert.notEqual(message.content[0]?.['id'], message.content[1]?.['id']);
  });

  it('throws `cancelled` when the signal is aborted before the request', async () => {
    under.answerWith([{ content: [{ type: 'text', text: 'never' }] }]);
    const controller = new AbortController();
    controller.abort('user');
    await assert.rejects(ask(modelRequest(), controller.signal), (error: unknown) => {
      assert.ok(error instanceof TributaryError);
      assert.equal(error.code, 'cancelled');
      return true;
    });
  });

  it('throws `cancelled` when the signal is aborted in the middle of an answer', async () => {
    under.answerWith([
      {
        content: [{ type: 'text', text: 'Hello there' }],
        fault: { kind: 'silence', before: 'content_block_stop' },
      },
    ]);
    const controller = new AbortController();
    const asked = under.model.stream(modelRequest(), () => controller.abort('user'), controller.signal);
    await assert.rejects(asked, (error: unknown) => modelFailureOf(error).code === 'cancelled');
  });

  for (const [type, code, isRetryable] of [
    ['overloaded_error', 'overloaded', true],
    ['api_error', 'serverError', true],
    ['rate_limit_error', 'rateLimited', true],
    ['invalid_request_error', 'badRequest', false],
    ['authentication_error', 'wrongKey', false],
  ] as const) {
    it(`names an in-band ${type} \`${code}\` and keeps the text so far apart`, async () => {
      under.failMidway(type);
      await assert.rejects(ask(), (error: unknown) => {
        const failure = modelFailureOf(error);
        assert.equal(failure.code, code);
        assert.equal(failure.details.isRetryable, isRetryable);
        assert.equal(failure.details.partialText, 'Hello');
        return true;
      });
    });
  }
}
