import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { agentLoop } from '../../../src/agent/agentLoop';
import { missingMessageText, rebuildMessages } from '../../../src/agent/context/rebuildMessages';
import type { ContentBlock, Message } from '../../../src/model/messages';
import type { NewEntry } from '../../../src/model/transcript';
import { joinMessages } from '../../../src/tasks/conversation';
import { FakeToolSet } from '../../fakes/fakeToolSet';
import { ScriptedModel } from '../../fakes/scriptedModel';
import { recordedTranscript } from '../../fakes/transcripts';
import type { Reply, ReplyBlock } from '../../wire/support/sse';
import { alteredThinking, problemOf } from '../../wire/support/strictRules';

const user = (text: string): NewEntry => ({
  type: 'user',
  content: [{ type: 'text', text }],
  origin: 'instruction',
});
const use = (id: string): ContentBlock => ({ type: 'tool_use', id, name: 'Read', input: { id } });
const message = (content: ContentBlock[], stopReason = 'tool_use'): NewEntry => ({
  type: 'message',
  turn: 1,
  model: 'm',
  content,
  stopReason,
});
const started = (toolUseId: string): NewEntry => ({
  type: 'tool.started',
  turn: 1,
  toolUseId,
  name: 'Read',
  input: {},
});
const ended = (toolUseId: string, content: string): NewEntry => ({
  type: 'tool.ended',
  turn: 1,
  toolUseId,
  name: 'Read',
  content,
  isError: false,
  durationMs: 1,
});
const rebuilt = (...entries: NewEntry[]): Message[] => rebuildMessages(recordedTranscript(entries));

describe('rebuildMessages', () => {
  it('gives a call that began without a result "interrupted", one that never began "not run"', () => {
    const messages = rebuilt(
      user('go'),
      message([use('a'), use('b'), use('c')]),
      started('a'),
      ended('a', 'A'),
      started('b'),
    );
    assert.deepEqual(messages.at(-1), {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'A' },
        {
          type: 'tool_result',
          tool_use_id: 'b',
          content: 'interrupted; may have taken effect',
          is_error: true,
        },
        { type: 'tool_result', tool_use_id: 'c', content: 'not run', is_error: true },
      ],
    });
  });

  it('leaves out cut answers, refused answers and everything that is not the conversation', () => {
    const messages = rebuilt(
      { type: 'state', state: 'running' },
      user('go'),
      { type: 'message.started', turn: 1 },
      { type: 'message.cut', turn: 1, partialText: 'half', reason: 'cutStream' },
      { type: 'retry', attempt: 1, code: 'cutStream', message: '', waitMs: 1 },
      { type: 'note', code: 'x', text: 'y' },
      message([{ type: 'text', text: 'I will not' }], 'refusal'),
      message([], 'end_turn'),
    );
    assert.deepEqual(messages, [{ role: 'user', content: [{ type: 'text', text: 'go' }] }]);
  });

  it('puts results first and what the user said after them, in one message', () => {
    const messages = rebuilt(user('go'), message([use('a')]), user('wait'), ended('a', 'A'), user('and b'));
    assert.deepEqual(
      messages.at(-1)?.content.map((block) => block['text'] ?? block['content']),
      ['A', 'wait', 'and b'],
    );
  });

  it('keeps a paused answer and its continuation apart, as they were sent', () => {
    const said = (text: string): ContentBlock[] => [{ type: 'text', text }];
    const messages = rebuilt(
      user('go'),
      message(said('one'), 'pause_turn'),
      message(said('two'), 'end_turn'),
    );
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'assistant'],
    );
  });

  it('says so where a message was lost, and keeps the rest a conversation', () => {
    const said = (text: string): ContentBlock[] => [{ type: 'text', text }];
    const messages = rebuilt(message(said('one'), 'end_turn'), message(said('two'), 'end_turn'));
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user', 'assistant'],
    );
    assert.equal(messages[0]?.content[0]?.['text'], missingMessageText);
  });

  it('lets a transcript that goes on from another begin with the assistant', () => {
    const transcript = recordedTranscript([message([use('a')]), ended('a', 'A')], {
      resumes: recordedTranscript([]).header.runId,
    });
    assert.equal(rebuildMessages(transcript)[0]?.role, 'assistant');
  });

  describe('of a random Run, killed at any entry', () => {
    const word = fc.stringMatching(/^[a-zäß🙂 ]{0,12}$/u);
    const block: fc.Arbitrary<ReplyBlock> = fc.oneof(
      fc.record({ type: fc.constant('text' as const), text: word }),
      fc.record({ type: fc.constant('thinking' as const), thinking: word }),
      fc.record({
        type: fc.constant('tool_use' as const),
        name: fc.constantFrom('Read', 'Bash', 'Unknown'),
        input: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.jsonValue({ maxDepth: 2 })),
      }),
    );
    const reply: fc.Arbitrary<Reply> = fc.record(
      {
        content: fc.array(block, { maxLength: 5 }),
        stopReason: fc.constantFrom('tool_use', 'end_turn', 'max_tokens', 'pause_turn', 'refusal', 'odd'),
        fault: fc.record({ kind: fc.constantFrom('drop' as const, 'error' as const), before: fc.nat(12) }),
      },
      { requiredKeys: ['content'] },
    );
    const plan = fc.record({
      replies: fc.array(reply, { minLength: 1, maxLength: 7 }),
      waiting: fc.array(fc.option(word), { maxLength: 8 }),
      stopAt: fc.option(fc.nat(30)),
      cutAt: fc.nat(60),
    });

    it('is a request that the API takes, with the bytes that were sent before', async () => {
      await fc.assert(
        fc.asyncProperty(plan, async ({ replies, waiting, stopAt, cutAt }) => {
          const first = user('do it');
          const entries: NewEntry[] = [first];
          const controller = new AbortController();
          const model = new ScriptedModel([...replies, { content: [{ type: 'text', text: 'end' }] }]);
          const tools = new FakeToolSet();
          const messages = first.type === 'user' ? [{ role: 'user' as const, content: first.content }] : [];
          const system = [{ type: 'text', text: 's' }];
          const params = { model: 'claude-sonnet-5-5', maxTokens: 9 };
          const queue = [...waiting];
          const deps = {
            model,
            tools,
            append: async (entry: NewEntry): Promise<void> => {
              entries.push(entry);
              if (entries.length === stopAt) controller.abort('user');
            },
            onLive: () => undefined,
            afterTurn: () => Promise.resolve(),
            takeMessages: async () =>
              queue
                .splice(0, 1)
                .flatMap((text) => (text === undefined || text === null ? [] : { id: 'm1', text })),
            random: () => 0,
            delay: () => Promise.resolve(),
            now: () => new Date(0),
          };
          await agentLoop(deps, { system, params, messages, maxTurns: 12, silenceMs: 1 }, controller.signal);
          assert.deepEqual(model.refusals, []);

          const whole = rebuildMessages(recordedTranscript(entries));
          const cut = rebuildMessages(
            recordedTranscript(entries.slice(0, Math.max(1, cutAt % entries.length))),
          );
          const more: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'go on' }] }];
          for (const again of [whole, cut]) {
            const body: Record<string, unknown> = {
              model: params.model,
              max_tokens: 9,
              system,
              tools: tools.specs,
              messages: joinMessages(again, more),
            };
            assert.equal(problemOf(body, { version: '2026-10-21', paused: pausedIn(entries) }), undefined);
            assert.equal(alteredThinking(body), undefined);
          }
          for (const request of model.requests) {
            assertSamePrefix(request.messages, whole);
          }
        }),
        {
          numRuns: process.env['TRIBUTARY_LONG'] ? 20_000 : 300,
          ...(process.env['TRIBUTARY_LONG'] ? {} : { seed: 7 }),
        },
      );
    }).timeout(60_000);
  });
});

function pausedIn(entries: readonly NewEntry[]): Set<string> {
  return new Set(
    entries.flatMap((entry) =>
      entry.type === 'message' && entry.stopReason === 'pause_turn' ? [JSON.stringify(entry.content)] : [],
    ),
  );
}

/** Every block that was sent stands in the same place, byte for byte. */
function assertSamePrefix(sent: readonly Message[], rebuiltMessages: readonly Message[]): void {
  const flat = (messages: readonly Message[]): string[] =>
    messages.flatMap(({ role, content }) => content.map((block) => `${role} ${JSON.stringify(block)}`));
  const before = flat(sent);
  assert.deepEqual(flat(rebuiltMessages).slice(0, before.length), before);
}
