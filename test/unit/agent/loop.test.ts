import assert from 'node:assert/strict';
import { agentLoop, type LoopDeps, type LoopInput, type LoopOutcome } from '../../../src/agent/agentLoop';
import { rebuildMessages } from '../../../src/agent/context/rebuildMessages';
import { delay } from '../../../src/base/async';
import { TributaryError } from '../../../src/base/errors';
import type { NewEntry } from '../../../src/model/transcript';
import { FakeToolSet } from '../../fakes/fakeToolSet';
import { type ModelScript, ScriptedModel, type ScriptedReply } from '../../fakes/scriptedModel';
import { recordedTranscript } from '../../fakes/transcripts';
import type { Reply } from '../../wire/support/sse';

const text = (said: string): Reply => ({ content: [{ type: 'text', text: said }] });
const calls = (...names: string[]): Reply => ({
  content: names.map((name) => ({ type: 'tool_use', name, input: { n: name } })),
});

class Rig {
  readonly controller = new AbortController();
  readonly entries: NewEntry[] = [];
  readonly waits: number[] = [];
  readonly turnsChanged: number[] = [];
  readonly queue: string[] = [];
  readonly model: ScriptedModel;
  readonly tools: FakeToolSet;
  deps: LoopDeps;
  input: LoopInput = {
    system: [{ type: 'text', text: 'system' }],
    params: { model: 'claude-sonnet-5-5', maxTokens: 1000 },
    messages: [{ role: 'user', content: [{ type: 'text', text: 'do it' }] }],
    maxTurns: 50,
    silenceMs: 1000,
  };

  constructor(script: readonly ScriptedReply[] | ModelScript, tools = new FakeToolSet()) {
    this.model = new ScriptedModel(script);
    this.tools = tools;
    let clock = 0;
    this.deps = {
      model: this.model,
      tools,
      append: async (entry) => void this.entries.push(entry),
      onLive: () => undefined,
      afterTurn: async (turn) => void this.turnsChanged.push(turn),
      takeMessages: async () => this.queue.splice(0).map((text, index) => ({ id: `m${index + 1}`, text })),
      random: () => 0,
      delay: async (ms) => void this.waits.push(ms),
      now: () => {
        clock += 5;
        return new Date(clock);
      },
    };
  }

  run(): Promise<LoopOutcome> {
    return agentLoop(this.deps, this.input, this.controller.signal);
  }

  types(): string[] {
    return this.entries.map((entry) => entry.type);
  }

  of<T extends NewEntry['type']>(type: T): Extract<NewEntry, { type: T }>[] {
    return this.entries.filter((entry): entry is Extract<NewEntry, { type: T }> => entry.type === type);
  }

  /** What a follow-up would send: the first message as the supervisor wrote it, then our entries. */
  rebuilt(): ReturnType<typeof rebuildMessages> {
    const first: NewEntry = {
      type: 'user',
      content: [...(this.input.messages[0]?.content ?? [])],
      origin: 'instruction',
    };
    return rebuildMessages(recordedTranscript([first, ...this.entries]));
  }
}

async function assertFollowUpIsValid(rig: Rig): Promise<void> {
  const messages = rig.rebuilt();
  const next = new ScriptedModel([text('fine')]);
  const last = messages.at(-1);
  const more = { type: 'text', text: 'and now?' };
  const asked =
    last?.role === 'user'
      ? [...messages.slice(0, -1), { role: 'user' as const, content: [...last.content, more] }]
      : [...messages, { role: 'user' as const, content: [more] }];
  await next.stream(
    { ...rig.input, tools: rig.tools.specs, messages: asked },
    () => undefined,
    new AbortController().signal,
  );
  assert.deepEqual(next.refusals, []);
}

describe('agentLoop', () => {
  describe('a conversation', () => {
    it('ends completed with the text of the last answer, and writes each step before the next', async () => {
      const rig = new Rig([calls('Read', 'Bash'), text('All done.')]);
      const outcome = await rig.run();
      assert.deepEqual(outcome, {
        kind: 'completed',
        text: 'All done.',
        turns: 2,
        usage: { requests: 2, input: 20, output: 2, cacheRead: 0, cacheWrite: 0 },
      });
      assert.deepEqual(rig.types(), [
        'message.started',
        'message',
        'usage',
        'tool.started',
        'tool.ended',
        'tool.started',
        'tool.ended',
        'message.started',
        'message',
        'usage',
      ]);
      assert.deepEqual(rig.model.refusals, []);
    });

    it('runs the calls one after another in the order of the model', async () => {
      const order: string[] = [];
      const slow = new FakeToolSet({
        Read: async () => {
          order.push('Read starts');
          await new Promise((resolve) => setImmediate(resolve));
          order.push('Read ends');
          return { content: 'x', isError: false, mayHaveChanged: false };
        },
        Bash: () => {
          order.push('Bash');
          return { content: 'y', isError: false, mayHaveChanged: false };
        },
      });
      await new Rig([calls('Read', 'Bash'), text('ok')], slow).run();
      assert.deepEqual(order, ['Read starts', 'Read ends', 'Bash']);
    });

    it('has `tool.started` on disk before the tool runs', async () => {
      const seen: string[][] = [];
      const rig: Rig = new Rig(
        [calls('Read'), text('ok')],
        new FakeToolSet({
          Read: () => {
            seen.push(rig.types());
            return { content: 'x', isError: false, mayHaveChanged: false };
          },
        }),
      );
      await rig.run();
      assert.equal(seen[0]?.at(-1), 'tool.started');
    });

    it('sends all results in one user message, in order, and then what the user said meanwhile', async () => {
      const rig: Rig = new Rig((_request, index) => {
        if (index === 0) rig.queue.push('also look at b', '  ', 'and c');
        return index === 0 ? calls('Read', 'Write') : text('ok');
      });
      await rig.run();
      const sent = rig.model.requests[1]?.messages.at(-1);
      assert.equal(sent?.role, 'user');
      assert.deepEqual(
        sent?.content.map((block) => block['text'] ?? block['content']),
        ['ran Read', 'ran Write', 'also look at b', 'and c'],
      );
      assert.deepEqual(
        rig.of('user').map((entry) => entry.origin),
        ['user', 'user'],
      );
    });

    it('goes on when the user said something before the model ended its turn', async () => {
      const rig: Rig = new Rig((_request, index) => {
        if (index === 0) rig.queue.push('one more thing');
        return text(index === 0 ? 'first' : 'second');
      });
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'completed' && outcome.text, 'second');
      assert.equal(rig.model.requests[1]?.messages.at(-1)?.content[0]?.['text'], 'one more thing');
    });

    it('counts commands, and only commands, from the number it is given', async () => {
      const rig = new Rig([calls('Bash', 'Read', 'Bash'), text('ok')]);
      rig.input = { ...rig.input, firstCall: 7 };
      await rig.run();
      assert.deepEqual(
        rig.of('tool.started').map((entry) => entry.call),
        [7, undefined, 8],
      );
      assert.deepEqual(
        rig.tools.calls.map(({ call }) => call.call),
        [7, undefined, 8],
      );
    });

    it('reports a Turn whose tool may have changed files, once, after its results', async () => {
      const write = new FakeToolSet({
        Read: () => ({ content: 'r', isError: false, mayHaveChanged: false }),
        Write: () => ({ content: 'w', isError: false, mayHaveChanged: true }),
      });
      const rig = new Rig([calls('Read'), calls('Write', 'Write', 'Read'), text('ok')], write);
      await rig.run();
      assert.deepEqual(rig.turnsChanged, [2]);
    });

    it('keeps what a tool gave exactly as it is sent', async () => {
      const tools = new FakeToolSet({
        Read: () => ({ content: [{ type: 'text', text: ' ' }], isError: false, mayHaveChanged: false }),
        Bash: () => ({ content: '', isError: true, exitCode: 1, outputPath: 'out/1', mayHaveChanged: false }),
      });
      const rig = new Rig([calls('Read', 'Bash'), text('ok')], tools);
      await rig.run();
      const ended = rig.of('tool.ended');
      assert.deepEqual(
        ended.map((entry) => entry.content),
        ['(no output)', '(no output)'],
      );
      assert.equal(ended[1]?.exitCode, 1);
      assert.equal(ended[1]?.outputPath, 'out/1');
      assert.deepEqual(rig.model.refusals, []);
    });
  });

  describe('stop reasons', () => {
    const cases: readonly [string, ScriptedReply, string][] = [
      ['max_tokens in a text', { ...text('half'), stopReason: 'max_tokens' }, 'maxTokens'],
      ['refusal', { ...text('no'), stopReason: 'refusal' }, 'refusal'],
      ['refusal with nothing said', { content: [], stopReason: 'refusal' }, 'refusal'],
      ['a full context', { ...text('so'), stopReason: 'model_context_window_exceeded' }, 'contextFull'],
      ['a reason nobody knows', { ...text('so'), stopReason: 'brand_new' }, 'unknownStop'],
      ['an empty answer', { content: [] }, 'emptyAnswer'],
      ['a blank answer', text(' \n'), 'emptyAnswer'],
      ['tool_use without a call', { ...text('I will'), stopReason: 'tool_use' }, 'unknownStop'],
    ];
    for (const [name, reply, reason] of cases) {
      it(`takes ${name} for no success but \`${reason}\``, async () => {
        const rig = new Rig([reply]);
        const outcome = await rig.run();
        assert.equal(outcome.kind, 'failed');
        assert.equal(outcome.kind === 'failed' && outcome.reason, reason);
        await assertFollowUpIsValid(rig);
      });
    }

    it('runs no tool of an answer that was cut, and still gives every call its result', async () => {
      for (const stopReason of ['max_tokens', 'refusal', 'model_context_window_exceeded', 'odd']) {
        const rig = new Rig([{ ...calls('Write', 'Bash'), stopReason }]);
        const outcome = await rig.run();
        assert.equal(outcome.kind, 'failed');
        assert.deepEqual(rig.tools.calls, []);
        assert.equal(rig.of('tool.ended').length, 2);
        assert.ok(rig.of('tool.ended').every((entry) => entry.isError));
        await assertFollowUpIsValid(rig);
      }
    });

    it('runs the calls of an answer that says end_turn all the same', async () => {
      const rig = new Rig([{ ...calls('Read'), stopReason: 'end_turn' }, text('ok')]);
      assert.equal((await rig.run()).kind, 'completed');
      assert.equal(rig.tools.calls.length, 1);
    });

    it('takes a stop sequence for an end', async () => {
      const rig = new Rig([{ ...text('ok'), stopReason: 'stop_sequence' }]);
      assert.equal((await rig.run()).kind, 'completed');
    });

    it('sends a paused answer back as it is, at most five times in a row', async () => {
      const paused = { ...text('still at it'), stopReason: 'pause_turn' };
      const five = new Rig([paused, paused, paused, paused, paused, text('there')]);
      assert.equal((await five.run()).kind, 'completed');
      assert.deepEqual(five.model.requests[1]?.messages.at(-1), {
        role: 'assistant',
        content: [{ type: 'text', text: 'still at it' }],
      });
      const endless = new Rig([paused]);
      const outcome = await endless.run();
      assert.equal(outcome.kind === 'failed' && outcome.reason, 'limit');
      assert.equal(endless.model.requests.length, 6);
    });

    it('ends with `limit` after the last turn allowed, its results kept', async () => {
      const rig = new Rig([calls('Read')]);
      rig.input = { ...rig.input, maxTurns: 3 };
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'failed' && outcome.reason, 'limit');
      assert.equal(outcome.turns, 3);
      assert.equal(rig.of('tool.ended').length, 3);
      await assertFollowUpIsValid(rig);
    });
  });

  describe('retries', () => {
    it('waits 1 s, doubling to 60 s, eight times, and shows each', async () => {
      const rig = new Rig([{ fail: 'overloaded', isRetryable: true }]);
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'failed' && outcome.reason, 'overloaded');
      assert.deepEqual(
        rig.waits,
        [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * 1000),
      );
      assert.deepEqual(
        rig.of('retry').map((entry) => entry.waitMs),
        rig.waits,
      );
      assert.equal(rig.of('message.started').length, 9);
      assert.equal(rig.of('message.cut').length, 9);
    });

    it('spreads the waits, so that many Runs do not come back together', async () => {
      const rig = new Rig([{ fail: 'overloaded', isRetryable: true }, text('ok')]);
      rig.deps = { ...rig.deps, random: () => 1 };
      await rig.run();
      assert.deepEqual(rig.waits, [500]);
    });

    it('obeys what the server asks for before its own backoff, but not for days', async () => {
      const rig = new Rig([
        { fail: 'rateLimited', isRetryable: true, retryAfterMs: 90_000 },
        { fail: 'rateLimited', isRetryable: true, retryAfterMs: 86_400_000 },
        text('ok'),
      ]);
      assert.equal((await rig.run()).kind, 'completed');
      assert.deepEqual(rig.waits, [90_000, 3_600_000]);
    });

    it('asks again after a cut answer, whose half is in the transcript but never sent', async () => {
      const rig = new Rig([
        {
          content: [{ type: 'text', text: 'half of it' }],
          usage: { input_tokens: 33 },
          fault: { kind: 'drop', before: 'content_block_stop' },
        },
        text('whole'),
      ]);
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'completed' && outcome.text, 'whole');
      assert.equal(rig.of('message.cut')[0]?.partialText, 'half of it');
      assert.deepEqual(rig.model.requests[1]?.messages, rig.model.requests[0]?.messages);
      assert.equal(outcome.usage.input, 43, 'a cut request is paid for, too');
      assert.equal(outcome.usage.requests, 2);
    });

    it('gives up at once where asking again cannot help', async () => {
      const rig = new Rig([{ fail: 'wrongKey' }]);
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'failed' && outcome.reason, 'wrongKey');
      assert.deepEqual(rig.waits, []);
      assert.deepEqual(rig.types(), ['message.started', 'message.cut']);
    });

    it('takes an error of ours in the model for a failure, not for a crash', async () => {
      const rig = new Rig(() => {
        throw new RangeError('a bug');
      });
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'failed' && outcome.reason, 'internal');
    });
  });

  describe('cancellation', () => {
    it('reaches the stream; what had come is kept as cut', async () => {
      const rig = new Rig([
        {
          content: [{ type: 'text', text: 'Hello' }],
          fault: { kind: 'silence', before: 'content_block_stop' },
        },
      ]);
      rig.deps = { ...rig.deps, onLive: () => rig.controller.abort('user') };
      const outcome = await rig.run();
      assert.deepEqual(outcome.kind === 'cancelled' && outcome.reason, 'user');
      assert.deepEqual(rig.of('message.cut')[0], {
        type: 'message.cut',
        turn: 1,
        partialText: 'Hello',
        reason: 'user',
      });
    });

    it('reaches the tool, and every call left gets a result that says why', async () => {
      const tools = new FakeToolSet({
        Bash: (_use, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () =>
              resolve({ content: 'killed', isError: true, exitCode: null, mayHaveChanged: true }),
            );
            rig.controller.abort('user');
          }),
        Read: () => assert.fail('must not run'),
      });
      const rig: Rig = new Rig([calls('Bash', 'Read', 'Read')], tools);
      const outcome = await rig.run();
      assert.equal(outcome.kind, 'cancelled');
      assert.deepEqual(
        rig.of('tool.ended').map((entry) => entry.content),
        ['killed', 'not run: stopped by the user', 'not run: stopped by the user'],
      );
      assert.ok(
        rig.of('tool.ended').every((entry) => entry.isStopped === true),
        'stopped, not failed',
      );
      assert.deepEqual(rig.turnsChanged, [1], 'what the stopped tool changed gets its Snapshot');
      await assertFollowUpIsValid(rig);
    });

    it('of files that could not be put there says that a call which waited for them never ran', async () => {
      const tools = new FakeToolSet({
        Bash: () => {
          rig.controller.abort('worktree');
          return Promise.reject(new Error('the set-up failed'));
        },
      });
      const rig: Rig = new Rig([calls('Bash')], tools);
      await rig.run();
      assert.deepEqual(
        rig.of('tool.ended').map((entry) => entry.content),
        ['not run: the files could not be put there'],
      );
      assert.deepEqual(rig.turnsChanged, []);
    });

    it('does not call a command stopped that had failed by itself', async () => {
      const tools = new FakeToolSet({
        Bash: () => {
          rig.controller.abort('user');
          return { content: 'no', isError: true, exitCode: 1, mayHaveChanged: false };
        },
      });
      const rig: Rig = new Rig([calls('Bash')], tools);
      await rig.run();
      assert.deepEqual(
        rig.of('tool.ended').map(({ isError, isStopped }) => [isError, isStopped]),
        [[true, undefined]],
      );
    });

    it('reaches the wait before a retry', async () => {
      const rig = new Rig([{ fail: 'overloaded', isRetryable: true, retryAfterMs: 3_000_000 }]);
      rig.deps = {
        ...rig.deps,
        delay: (ms, signal) => {
          setImmediate(() => rig.controller.abort('shutdown'));
          return delay(ms, signal);
        },
      };
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'cancelled' && outcome.reason, 'shutdown');
      assert.equal(rig.model.requests.length, 1);
    });

    it('keeps the first reason', async () => {
      const rig = new Rig([text('never')]);
      rig.controller.abort('timeout');
      rig.controller.abort('user');
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'cancelled' && outcome.reason, 'timeout');
      assert.deepEqual(rig.entries, []);
    });

    it('does not lose a whole answer that came together with the stop', async () => {
      const rig: Rig = new Rig([calls('Read', 'Write')]);
      rig.deps = {
        ...rig.deps,
        append: async (entry) => {
          rig.entries.push(entry);
          if (entry.type === 'message') rig.controller.abort('user');
        },
      };
      assert.equal((await rig.run()).kind, 'cancelled');
      assert.deepEqual(rig.tools.calls, []);
      await assertFollowUpIsValid(rig);
    });
  });

  describe('what goes wrong around it', () => {
    it('gives the model the error of a tool that throws, and goes on', async () => {
      const logged: string[] = [];
      const tools = new FakeToolSet({
        Read: () => {
          throw new Error('broken tool');
        },
      });
      const rig = new Rig([calls('Read'), text('ok')], tools);
      const ignore = (): void => undefined;
      rig.deps = {
        ...rig.deps,
        logger: { debug: ignore, info: ignore, warn: ignore, error: (message) => void logged.push(message) },
      };
      assert.equal((await rig.run()).kind, 'completed');
      assert.equal(rig.of('tool.ended')[0]?.content, 'the tool failed: broken tool');
      assert.equal(logged.length, 1);
      assert.deepEqual(rig.turnsChanged, [1], 'nobody knows how far it came');
    });

    it('ends when the transcript cannot be written, before the tool runs', async () => {
      const rig: Rig = new Rig([calls('Write')]);
      rig.deps = {
        ...rig.deps,
        append: async (entry) => {
          if (entry.type === 'tool.started') throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
        },
      };
      await assert.rejects(rig.run(), (error: unknown) => {
        assert.ok(error instanceof TributaryError);
        assert.equal(error.code, 'diskFull');
        return true;
      });
      assert.deepEqual(rig.tools.calls, []);
    });
  });

  describe('an answer without its form', () => {
    const mend = (answer: string): string | undefined =>
      answer.includes('SUMMARY') ? undefined : 'please add the sections';

    it('is asked to mend it once, as the host, and whatever comes is kept', async () => {
      const rig = new Rig([text('no form'), text('still none')]);
      rig.deps = { ...rig.deps, mend };
      const outcome = await rig.run();
      assert.equal(outcome.kind === 'completed' && outcome.text, 'still none');
      assert.equal(rig.model.requests.length, 2);
      assert.deepEqual(rig.of('user'), [
        { type: 'user', content: [{ type: 'text', text: 'please add the sections' }], origin: 'host' },
      ]);
    });

    it('is not asked when the form is there', async () => {
      const rig = new Rig([text('SUMMARY: fine')]);
      rig.deps = { ...rig.deps, mend };
      await rig.run();
      assert.equal(rig.model.requests.length, 1);
    });

    it('stands when mending it brings nothing, or fails', async () => {
      for (const second of [{ content: [] }, { fail: 'wrongKey' } as const]) {
        const rig = new Rig([text('no form'), second]);
        rig.deps = { ...rig.deps, mend };
        const outcome = await rig.run();
        assert.equal(outcome.kind === 'completed' && outcome.text, 'no form');
      }
    });

    it('stands when no turn is left to mend it', async () => {
      const rig = new Rig([text('no form')]);
      rig.deps = { ...rig.deps, mend };
      rig.input = { ...rig.input, maxTurns: 1 };
      assert.equal((await rig.run()).kind, 'completed');
    });
  });
});
