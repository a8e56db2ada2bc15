import assert from 'node:assert/strict';
import { agentLoop, type LoopInput, type LoopOutcome } from '../../src/agent/agentLoop';
import { createAnthropicModel } from '../../src/agent/anthropicModel';
import { rebuildMessages } from '../../src/agent/context/rebuildMessages';
import { paramsFor } from '../../src/agent/modelTable';
import { delay } from '../../src/base/async';
import type { NewEntry } from '../../src/model/transcript';
import { joinMessages } from '../../src/tasks/conversation';
import { FakeToolSet } from '../fakes/fakeToolSet';
import { recordedTranscript } from '../fakes/transcripts';
import type { Reply } from './support/sse';
import { type StrictServer, startStrictServer } from './support/strictServer';

const said = (text: string): Reply => ({ content: [{ type: 'text', text }] });
const thinkAndCall = (...names: string[]): Reply => ({
  content: [
    { type: 'thinking', thinking: `I need ${names.join(' and ')}` },
    { type: 'text', text: 'Looking.' },
    ...names.map((name) => ({ type: 'tool_use' as const, name, input: { file_path: `${name}.ts` } })),
  ],
});

describe('agentLoop with the real SDK against a strict server', () => {
  let server: StrictServer;
  let entries: NewEntry[];
  beforeEach(async () => {
    server = await startStrictServer();
    entries = [];
  });
  afterEach(() => server.close());

  const first: NewEntry = { type: 'user', content: [{ type: 'text', text: 'do it' }], origin: 'instruction' };
  const start: LoopInput = {
    system: [{ type: 'text', text: 'You are a test.' }],
    params: paramsFor('claude-sonnet-5-5', 1000),
    messages: [{ role: 'user', content: first.content }],
    maxTurns: 20,
    silenceMs: 5_000,
  };

  const run = (
    input: LoopInput = start,
    signal = new AbortController().signal,
    tools = new FakeToolSet(),
  ): Promise<LoopOutcome> =>
    agentLoop(
      {
        model: createAnthropicModel({
          credentials: { kind: 'apiKey', value: 'test-key' },
          baseUrl: server.url,
        }),
        tools,
        append: async (entry) => void entries.push(entry),
        onLive: () => undefined,
        afterTurn: () => Promise.resolve(),
        takeMessages: async () => [],
        random: () => 0,
        delay: (ms, waiting) => delay(Math.min(ms, 5), waiting),
        now: () => new Date(0),
      },
      input,
      signal,
    );

  it('thinks, calls tools and answers, and the server has nothing to refuse', async () => {
    server.script([thinkAndCall('Read', 'Bash'), thinkAndCall('Write'), said('SUMMARY: done')]);
    const outcome = await run();
    assert.equal(outcome.kind, 'completed');
    assert.deepEqual(server.refusals, []);
    assert.equal(server.requests.length, 3);
  });

  it('sends a prefix that stays the same to the byte from turn to turn', async () => {
    server.script([thinkAndCall('Read'), thinkAndCall('Bash'), said('done')]);
    await run();
    const bodies = server.requests.map((request) => withoutMarkers(request.rawBody));
    for (const [index, body] of bodies.entries()) {
      const next = bodies[index + 1];
      if (next === undefined) continue;
      assert.equal(next.head, body.head);
      assert.deepEqual(next.messages.slice(0, body.messages.length), body.messages);
    }
  });

  it('marks at most four blocks, the last of them the end of the newest message', async () => {
    server.script([thinkAndCall('Read'), thinkAndCall('Bash'), thinkAndCall('Read'), said('done')]);
    await run();
    for (const request of server.requests) {
      const marks = request.rawBody.match(/"cache_control"/g)?.length ?? 0;
      assert.ok(marks >= 2 && marks <= 4);
      assert.match(request.rawBody, /"cache_control":\{"type":"ephemeral"\}\}\]\}\],"stream":true\}$/);
    }
  });

  it('comes through an overloaded server, a cut stream and a bad gateway', async () => {
    server.script([
      { status: 529, type: 'overloaded_error' },
      { ...said('half an answer'), fault: { kind: 'drop', before: 4 } },
      { status: 502, body: '<html>bad gateway</html>' },
      { ...said('half'), fault: { kind: 'error', before: 4 } },
      said('whole'),
    ]);
    const outcome = await run();
    assert.equal(outcome.kind === 'completed' && outcome.text, 'whole');
    assert.deepEqual(
      entries.flatMap((entry) => (entry.type === 'retry' ? [entry.code] : [])),
      ['overloaded', 'cutStream', 'serverError', 'overloaded'],
    );
  });

  it('never runs a tool whose input was cut', async () => {
    const call = {
      type: 'tool_use',
      name: 'Write',
      input: { file_path: 'a', content: 'x'.repeat(90) },
    } as const;
    server.script([{ content: [call], fault: { kind: 'end', before: 6 } }, said('no need')]);
    const tools = new FakeToolSet();
    assert.equal((await run(start, undefined, tools)).kind, 'completed');
    assert.deepEqual(tools.calls, []);
  });

  it('never runs a tool whose input is no JSON object: the model is told so, once, and may send it again', async () => {
    const broken = { type: 'tool_use', name: 'Write', input: {}, rawInput: '{"file_path": "a' } as const;
    const good = { type: 'tool_use', name: 'Read', input: { file_path: 'a' } } as const;
    server.script([{ content: [broken, good] }, said('so be it')]);
    const tools = new FakeToolSet({
      Read: () => ({ content: 'text', isError: false, mayHaveChanged: false }),
    });
    assert.equal((await run(start, undefined, tools)).kind, 'completed');
    assert.deepEqual(
      tools.calls.map(({ use }) => use.name),
      ['Read'],
    );
    assert.equal(server.requests.length, 2, 'nothing is asked again');
    const results = JSON.stringify(server.requests.at(-1)?.body['messages']);
    assert.match(results, /not run: the input of this call is no JSON object/);
    assert.deepEqual(server.refusals, []);
  });

  it('goes on, byte for byte, from a transcript of a Run that was stopped inside a tool', async () => {
    const controller = new AbortController();
    const tools = new FakeToolSet({
      Read: () => ({ content: 'text', isError: false, mayHaveChanged: false }),
      Bash: () => {
        controller.abort('user');
        return { content: 'killed', isError: true, exitCode: null, mayHaveChanged: true };
      },
    });
    server.script([thinkAndCall('Read'), thinkAndCall('Bash', 'Read'), said('on we go')]);
    assert.equal((await run(start, controller.signal, tools)).kind, 'cancelled');
    const before = server.requests.length;

    const messages = joinMessages(rebuildMessages(recordedTranscript([first, ...entries])), [
      { role: 'user', content: [{ type: 'text', text: 'please continue' }] },
    ]);
    const outcome = await run({ ...start, messages }, undefined, tools);
    assert.equal(outcome.kind, 'completed');
    assert.deepEqual(server.refusals, [], 'the signatures of its thinking still hold');
    const [last, next] = [server.requests[before - 1], server.requests[before]].map((request) =>
      withoutMarkers(request?.rawBody ?? ''),
    );
    assert.equal(next?.head, last?.head);
    assert.deepEqual(next?.messages.slice(0, last?.messages.length), last?.messages);
  });

  it('is refused when anything before a thinking block was changed', async () => {
    server.script([thinkAndCall('Read'), said('done')]);
    await run();
    const messages = rebuildMessages(
      recordedTranscript([{ ...first, content: [{ type: 'text', text: 'do something else' }] }, ...entries]),
    );
    const more = { role: 'user' as const, content: [{ type: 'text', text: 'and?' }] };
    const outcome = await run({ ...start, messages: [...messages, more] });
    assert.equal(outcome.kind === 'failed' && outcome.reason, 'badRequest');
    assert.match(server.refusals[0] ?? '', /bound to a different conversation/);
  });

  it('closes the connection when it is stopped in the middle of an answer', async () => {
    server.script([{ ...said('a long story'), fault: { kind: 'silence', before: 4 } }]);
    const controller = new AbortController();
    const running = run(start, controller.signal);
    await server.waitForRequests(1);
    controller.abort('shutdown');
    const outcome = await running;
    assert.equal(outcome.kind === 'cancelled' && outcome.reason, 'shutdown');
    assert.equal(await server.requests[0]?.closed, 'aborted');
  });
});

/** A body without its cache markers: what stands before the messages, and each block of them. */
function withoutMarkers(rawBody: string): { head: string; messages: string[] } {
  const plain = rawBody.replaceAll(',"cache_control":{"type":"ephemeral"}', '');
  const [head = '', tail = ''] = plain.split('"messages":');
  const messages: { role: string; content: unknown[] }[] = JSON.parse(tail.replace(/,"stream":true\}$/, ''));
  return {
    head,
    messages: messages.flatMap(({ role, content }) =>
      content.map((block) => `${role} ${JSON.stringify(block)}`),
    ),
  };
}
