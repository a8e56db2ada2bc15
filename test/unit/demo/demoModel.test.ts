import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseAnswer } from '../../../src/agent/context/answer';
import { demoReply } from '../../../src/demo/demoModel';
import { type DemoRequest, parseRequest, readSituation } from '../../../src/demo/demoRequest';
import { type StreamEvent, streamEvents } from '../../../src/demo/messageStream';
import { findPlaybook, type Playbook, playbookProblems, type Step } from '../../../src/demo/playbook';
import { samplePlaybook } from '../../../src/demo/samplePlaybook';
import type { ContentBlock, Message } from '../../../src/model/messages';
import { textOf, toolUsesOf } from '../../../src/model/messages';
import { resumeInstruction } from '../../../src/model/run';
import { parseVerdict } from '../../../src/verify/grammar';
import { generatePlaybook } from '../../fakes/generatedPlaybook';

const runs = process.env['TRIBUTARY_LONG'] ? 2_000 : 100;

function text(value: string): ContentBlock {
  return { type: 'text', text: value };
}

function request(system: string, ...messages: Message[]): DemoRequest {
  return { system, messages, isStreaming: true };
}

function user(...texts: string[]): Message {
  return { role: 'user', content: texts.map(text) };
}

describe('The situation of a demo request', () => {
  it('is read from the agent’s line, the kind’s line and the objective’s line', () => {
    const situation = readSituation(
      request('Rules\nAgent: verification\nmore', user('Docs', 'Run kind: fix\nObjective: Mend it\n\nGo.')),
    );
    assert.deepEqual(situation, { agent: 'verification', isFix: true, objective: 'Mend it' });
  });

  it('is not led astray by docs that hold such lines themselves', () => {
    const situation = readSituation(
      request('Agent: general', user('# Docs\nObjective: from the docs', 'Objective: the real one')),
    );
    assert.equal(situation.objective, 'the real one');
    assert.equal(situation.isFix, false);
  });

  it('is not led astray by a difference, a finding or an instruction after the task', () => {
    const situation = readSituation(
      request(
        'Agent: general',
        user(
          '<task>\nObjective: the real one\n</task>',
          'Objective: of a patch',
          'Run kind: fix\n\nObjective: x',
        ),
      ),
    );
    assert.deepEqual([situation.objective, situation.isFix], ['the real one', true]);
  });

  it('keeps the further lines of an objective up to a blank line or the next label', () => {
    const of = (told: string): string => readSituation(request('', user(told))).objective;
    assert.equal(of('Objective: one\ntwo\n\nthree'), 'one\ntwo');
    assert.equal(of('Objective: one\nScope: **'), 'one');
    assert.equal(of('Objective:\n  one'), 'one');
    assert.equal(of('no objective'), '');
  });

  it('takes no agent from the middle of a line', () => {
    assert.equal(readSituation(request('The Agent: general is', user('x'))).agent, '');
  });
});

describe('A demo objective', () => {
  const find = (objective: string) => findPlaybook([samplePlaybook], objective);

  it('is known whatever its white space, letter case or last full stop', () => {
    assert.equal(
      find(`  ${samplePlaybook.objective.toUpperCase().replaceAll(' ', '\n ')}. `),
      samplePlaybook,
    );
  });

  it('is not known when something was added or left out', () => {
    assert.equal(find(`${samplePlaybook.objective} and more`), undefined);
    assert.equal(find(samplePlaybook.objective.slice(0, -1)), undefined);
    assert.equal(find(''), undefined);
  });
});

describe('A request to the demo', () => {
  const call = { type: 'tool_use', id: 't1', name: 'Read', input: {} };
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'x' };
  const good = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] };
  const asked = { role: 'user', content: 'hi' };
  const called = { role: 'assistant', content: [call] };
  const answered = (...content: unknown[]) => ({
    ...good,
    messages: [asked, called, { role: 'user', content }],
  });

  for (const [title, body] of [
    ['plain text', good],
    [
      'a system prompt in blocks',
      { ...good, system: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] },
    ],
    ['a call with its result', answered(result)],
    ['a result, then words', answered(result, { type: 'text', text: 'and' })],
    [
      'blocks we do not know',
      { ...good, messages: [{ role: 'user', content: [{ type: 'image', source: {} }] }] },
    ],
  ] as const) {
    it(`is taken: ${title}`, () => assert.equal(parseRequest(body).kind, 'request'));
  }

  for (const [title, body, message] of [
    ['no object', [], /not an object/],
    ['no model', { ...good, model: undefined }, /model/],
    ['no max_tokens', { ...good, max_tokens: 0 }, /max_tokens/],
    ['no messages', { ...good, messages: [] }, /at least one/],
    ['an unknown role', { ...good, messages: [{ role: 'system', content: 'x' }] }, /messages\.0/],
    ['the assistant first', { ...good, messages: [called] }, /first message/],
    [
      'the assistant last',
      { ...good, messages: [asked, { role: 'assistant', content: 'x' }] },
      /last message/,
    ],
    ['an empty message', { ...good, messages: [{ role: 'user', content: [] }] }, /must not be empty/],
    ['a blank text', { ...good, messages: [{ role: 'user', content: ' ' }] }, /non-empty/],
    ['a call without a result', { ...good, messages: [asked, called, asked] }, /needs exactly one/],
    ['two results of one call', answered(result, result), /exactly one/],
    ['a result of no call', answered(result, { ...result, tool_use_id: 't2' }), /unexpected/],
    ['words before the result', answered({ type: 'text', text: 'a' }, result), /come first/],
    ['a system prompt that is no text', { ...good, system: 3 }, /system/],
  ] as const) {
    it(`is refused: ${title}`, () => {
      const parsed = parseRequest(body);
      assert.equal(parsed.kind, 'refused');
      assert.match(parsed.kind === 'refused' ? parsed.message : '', message);
    });
  }
});

/** Walks a playbook with results that the test makes up; answers with the last text. */
function walk(
  playbook: Playbook,
  agent: string,
  kind: string,
  outcome: (name: string, turn: number) => { text: string; isError: boolean },
): string {
  const messages: Message[] = [user(`Run kind: ${kind}\nObjective: ${playbook.objective}`)];
  for (let turn = 1; turn <= 60; turn += 1) {
    const reply = demoReply([playbook], request(`Agent: ${agent}`, ...messages));
    const uses = toolUsesOf(reply.content);
    assert.equal(reply.stopReason, uses.length > 0 ? 'tool_use' : 'end_turn');
    if (uses.length === 0) return textOf(reply.content);
    const results = uses.map((use) => {
      const { text: content, isError } = outcome(use.name, turn);
      return { type: 'tool_result', tool_use_id: use.id, content, is_error: isError };
    });
    messages.push({ role: 'assistant', content: [...reply.content] }, { role: 'user', content: results });
    const body = { model: 'm', max_tokens: 1, messages };
    assert.equal(parseRequest(body).kind, 'request');
  }
  assert.fail('the playbook did not come to an end');
}

describe('The demo model', () => {
  const outcomes = fc.infiniteStream(
    fc.constantFrom(
      { text: '[call 1] exit code 0\nok', isError: false },
      { text: '[call 2] exit code 1\nbad', isError: true },
      { text: 'denied', isError: true },
      { text: 'src/duration.js:6:  matchAll', isError: false },
      { text: '', isError: false },
    ),
  );

  for (const [title, agent, kind] of [
    ['a first Run', 'general', 'first'],
    ['a fix', 'implementer', 'fix'],
    ['a verification', 'verification', 'verify'],
    ['an exploration', 'explore', 'first'],
  ] as const) {
    it(`comes to an end with all five sections in ${title}, whatever the tools say`, () => {
      fc.assert(
        fc.property(outcomes, (stream) => {
          const answer = walk(
            samplePlaybook,
            agent,
            kind,
            () => stream.next().value ?? { text: '', isError: true },
          );
          assert.match(
            answer,
            /^SUMMARY: .+\n\nCHANGES:\n[\s\S]+\n\nEVIDENCE:\n[\s\S]+\n\nRISKS:\n[\s\S]+\n\nBLOCKERS:\n[\s\S]+$/,
          );
          assert.equal(parseVerdict(answer) !== 'none', agent === 'verification');
        }),
        { numRuns: runs },
      );
    });
  }

  it('never passes a tree on which one of its commands failed or did not run', () => {
    fc.assert(
      fc.property(outcomes, (stream) => {
        let isClean = true;
        const answer = walk(samplePlaybook, 'verification', 'verify', (name) => {
          const outcome = stream.next().value ?? { text: '', isError: true };
          if (name === 'Bash' && !outcome.text.startsWith('[call 1]')) isClean = false;
          return outcome;
        });
        if (parseVerdict(answer) === 'PASS') assert.ok(isClean);
      }),
      { numRuns: runs },
    );
  });

  it('plays a step that was interrupted again, under new call ids', () => {
    const first = user(`Objective: ${samplePlaybook.objective}`);
    const reply = demoReply([samplePlaybook], request('Agent: general', first));
    const results = toolUsesOf(reply.content).map((use) => ({
      type: 'tool_result',
      tool_use_id: use.id,
      content: 'interrupted; may have taken effect',
      is_error: true,
    }));
    const again = demoReply(
      [samplePlaybook],
      request(
        'Agent: general',
        first,
        { role: 'assistant', content: [...reply.content] },
        { role: 'user', content: results },
      ),
    );
    const [before, after] = [toolUsesOf(reply.content), toolUsesOf(again.content)];
    assert.deepEqual(
      after.map((use) => [use.name, use.input]),
      before.map((use) => [use.name, use.input]),
    );
    assert.notEqual(after[0]?.id, before[0]?.id);
  });

  it('goes on when the user speaks between two steps', () => {
    const first = user(`Objective: ${samplePlaybook.objective}`);
    const reply = demoReply([samplePlaybook], request('Agent: general', first));
    const results = toolUsesOf(reply.content).map((use) => ({
      type: 'tool_result',
      tool_use_id: use.id,
      content: 'x',
    }));
    const next = demoReply(
      [samplePlaybook],
      request(
        'Agent: general',
        first,
        { role: 'assistant', content: [...reply.content] },
        { role: 'user', content: [...results, text('hurry')] },
      ),
    );
    assert.equal(next.stopReason, 'tool_use');
  });

  describe('after its final answer', () => {
    const playbook: Playbook = {
      id: 'p',
      objective: 'x',
      scenes: [
        {
          agents: ['general', 'verification'],
          when: 'any',
          steps: [{ id: 'end', say: 'SUMMARY: done\nCHANGES:\n- a.js: mended' }],
        },
      ],
    };
    const said = (agent: string, message: string): string => {
      const answered: Message = { role: 'assistant', content: [text('SUMMARY: done')] };
      const reply = demoReply(
        [playbook],
        request(`Agent: ${agent}`, user('Objective: x'), answered, user(message)),
      );
      assert.equal(reply.stopReason, 'end_turn');
      return textOf(reply.content);
    };

    it('answers a message with the news that it did nothing, in the summary itself, and claims no change', () => {
      const answer = parseAnswer(said('general', 'Also support minutes.'));
      assert.match(
        answer.summary,
        /^This is the scripted demo model\..*cannot work on this message.*nothing/,
      );
      assert.deepEqual([answer.changes, answer.evidence, answer.missing], [[], [], []]);
      assert.equal(answer.blockers.length, 1);
    });

    it('gives a verification no pass for a message', () => {
      assert.equal(parseVerdict(said('verification', 'and now?')), 'PARTIAL');
    });

    it('gives the same answer when the Run was cut off behind it and goes on', () => {
      assert.equal(said('general', resumeInstruction), 'SUMMARY: done\nCHANGES:\n- a.js: mended');
    });
  });

  it('plays no part in a conversation that somebody else began, nor for an agent it has none for', () => {
    const first = user(`Objective: ${samplePlaybook.objective}`);
    const foreign = demoReply(
      [samplePlaybook],
      request(
        'Agent: general',
        first,
        { role: 'assistant', content: [text('I am another model.')] },
        user('go on'),
      ),
    );
    assert.match(textOf(foreign.content), /nothing was done/);
    const plan = demoReply([samplePlaybook], request('Agent: plan', first));
    assert.match(textOf(plan.content), /no part for the agent "plan"/);
  });

  it('reads the exit code of a command from its result, or from its success where none is told', () => {
    const playbook: Playbook = {
      id: 'p',
      objective: 'x',
      scenes: [
        {
          agents: ['general'],
          when: 'any',
          steps: [
            { id: 'a', say: 'a', calls: [{ name: 'Bash', input: { command: 'c' } }], next: [{ to: 'end' }] },
            { id: 'end', say: '{{Bash.call}}/{{Bash.exitCode}}/{{Bash.output}}' },
          ],
        },
      ],
    };
    const said = (result: string, isError: boolean) =>
      walk(playbook, 'general', 'first', () => ({ text: result, isError }));
    assert.equal(said('[call 3]\nout\n[exit code 7]', true), '3/7/out');
    assert.equal(said('[call 3]\nNot allowed: no\n[not run]', true), '3/(unknown)/Not allowed: no');
    assert.equal(said('[call 3] exit code 7\nout', true), '3/7/out');
    assert.equal(said('[call 3] exited with code 7', true), '3/7/');
    assert.equal(said('[call 3]\nout\nExit code: 7', true), '3/7/out\nExit code: 7');
    assert.equal(said('[call 3]\nout', false), '3/0/out');
    assert.equal(said('[call 3] timed out\nout', true), '3/(unknown)/out');
    assert.equal(said('denied', true), '(unknown)/(unknown)/denied');
  });
});

describe('A playbook', () => {
  it('is sound: the sample, and any that is generated', () => {
    assert.deepEqual(playbookProblems(samplePlaybook), []);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (seed) => {
        assert.deepEqual(playbookProblems(generatePlaybook(seed).playbook), []);
        assert.deepEqual(generatePlaybook(seed), generatePlaybook(seed));
      }),
      { numRuns: runs },
    );
  });

  it('is plain data', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(samplePlaybook)), samplePlaybook);
  });

  for (const [title, steps, problem] of [
    ['without a step', [], /no step/],
    [
      'with a name twice',
      [
        { id: 'a', say: 'x' },
        { id: 'a', say: 'y' },
      ],
      /stands twice/,
    ],
    [
      'with a step that leads nowhere',
      [{ id: 'a', say: 'x', calls: [{ name: 'Diff', input: {} }] }],
      /leads nowhere/,
    ],
    [
      'with branches that may all fail',
      [
        {
          id: 'a',
          say: 'x',
          calls: [{ name: 'Diff', input: {} }],
          next: [{ when: { result: 'Diff', isError: true }, to: 'a' }],
        },
      ],
      /may lead nowhere/,
    ],
    ['that goes on without a call', [{ id: 'a', say: 'x', next: [{ to: 'a' }] }], /without a call/],
    ['that ends without a word', [{ id: 'a', say: '' }], /says nothing/],
  ] satisfies [string, Step[], RegExp][]) {
    it(`is refused ${title}`, () => {
      const problems = playbookProblems({
        id: 'p',
        objective: 'x',
        scenes: [{ agents: ['general'], when: 'any', steps }],
      });
      assert.match(problems.join('; '), problem);
    });
  }
});

describe('The stream of a reply', () => {
  it('holds the whole reply, in the order of the API, and cuts no character in two', () => {
    const block = fc.oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }).map(text),
      fc.record({
        type: fc.constant('tool_use'),
        id: fc.constant('t'),
        name: fc.constant('Read'),
        input: fc.dictionary(fc.string(), fc.string({ unit: 'grapheme' })),
      }),
    );
    fc.assert(
      fc.property(fc.array(block, { minLength: 1, maxLength: 4 }), (content) => {
        const events: StreamEvent[] = [
          ...streamEvents({ content, stopReason: 'end_turn' }, { id: 'm', inputTokens: 1 }),
        ];
        assert.deepEqual(
          [events[0]?.type, events.at(-2)?.type, events.at(-1)?.type],
          ['message_start', 'message_delta', 'message_stop'],
        );
        const parts = content.map(() => '');
        for (const event of events) {
          if (event.type !== 'content_block_delta') continue;
          const piece = String(Object(event['delta']).text ?? Object(event['delta']).partial_json);
          assert.doesNotThrow(() => encodeURIComponent(piece));
          parts[Number(event['index'])] += piece;
        }
        const wanted = content.map((one) =>
          'text' in one ? one['text'] : JSON.stringify(Object(one).input),
        );
        assert.deepEqual(parts, wanted);
      }),
      { numRuns: runs },
    );
  });
});
