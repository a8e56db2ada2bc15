import assert from 'node:assert/strict';
import fc from 'fast-check';
import * as z from 'zod';
import { command, type Envelope, notification, request } from '../../../src/protocol/define';
import { type HostEnd, hostEnd } from '../../../src/protocol/hostEnd';
import { type PageEnd, pageEnd } from '../../../src/protocol/pageEnd';

const api = {
  double: request(z.object({ number: z.number() }), z.number()),
  press: command(z.object({ key: z.string().max(3) })),
  tell: notification(z.object({ text: z.string() })),
};
type TestApi = typeof api;

/** Both ends, joined as an editor joins them: what one posts the other receives as a copy. */
class Pair {
  readonly refusedByHost: string[] = [];
  readonly refusedByPage: string[] = [];
  readonly told: string[] = [];
  readonly pressed: string[] = [];
  readonly sentToPage: Envelope[] = [];
  answer: (number: number) => Promise<unknown> = async (number) => number * 2;
  readonly host: HostEnd<TestApi>;
  readonly page: PageEnd<TestApi>;

  constructor() {
    this.host = hostEnd(
      api,
      {
        post: (message) => {
          this.sentToPage.push(message);
          this.page.receive(structuredClone(message));
        },
        onRefused: (reason) => this.refusedByHost.push(reason),
      },
      {
        // The schema of the answer is the page's to hold.
        double: ({ number }) => this.answer(number) as Promise<number>,
        press: ({ key }) => {
          if (key === 'bad') throw new Error('stuck');
          this.pressed.push(key);
        },
      },
    );
    this.page = pageEnd(
      api,
      {
        post: (message) => this.host.receive(structuredClone(message)),
        onRefused: (reason) => this.refusedByPage.push(reason),
      },
      { tell: ({ text }) => void this.told.push(text) },
    );
  }
}

describe('The two ends of the protocol', () => {
  let pair: Pair;
  beforeEach(() => {
    pair = new Pair();
  });

  it('carry requests with their answers, commands and notifications', async () => {
    assert.equal(await pair.page.host.double({ number: 21 }), 42);
    pair.page.host.press({ key: 'a' });
    pair.host.page.tell({ text: 'hello' });
    assert.deepEqual([pair.pressed, pair.told], [['a'], ['hello']]);
    assert.deepEqual([pair.refusedByHost, pair.refusedByPage], [[], []]);
  });

  it('keep the answers of requests that overlap apart', async () => {
    const waits: (() => void)[] = [];
    pair.answer = (number) => new Promise((resolve) => waits.push(() => resolve(number)));
    const first = pair.page.host.double({ number: 1 });
    const second = pair.page.host.double({ number: 2 });
    for (const go of waits.reverse()) go();
    assert.deepEqual(await Promise.all([first, second]), [1, 2]);
  });

  it('give a failure of the host back to who asked, and log it', async () => {
    pair.answer = async () => {
      throw new Error('no disk');
    };
    await assert.rejects(pair.page.host.double({ number: 1 }), /no disk/);
    assert.deepEqual(pair.refusedByHost, ['request "double": no disk']);
  });

  it('refuse an answer that is not as agreed', async () => {
    pair.answer = async () => 'many';
    await assert.rejects(pair.page.host.double({ number: 1 }), /number/);
    assert.equal(pair.refusedByPage.length, 1);
  });

  const wrong: readonly (readonly [string, unknown, RegExp])[] = [
    ['that is no object', 'hello', /^no message/],
    ['of an unknown kind', { kind: 'order', method: 'press' }, /^no message/],
    ['with an unknown method', { kind: 'command', method: 'explode', params: {} }, /there is no such method/],
    [
      'whose method is a property of every object',
      { kind: 'command', method: 'constructor', params: {} },
      /there is no such method/,
    ],
    [
      'of the wrong kind for its method',
      { kind: 'command', method: 'double', params: { number: 1 } },
      /there is no such method/,
    ],
    [
      'that only a host sends',
      { kind: 'notification', method: 'tell', params: { text: '' } },
      /a page sends no/,
    ],
    ['with wrong parameters', { kind: 'command', method: 'press', params: { key: 7 } }, /key: /],
    ['with parameters too long', { kind: 'command', method: 'press', params: { key: 'long' } }, /key: /],
    ['whose handler throws', { kind: 'command', method: 'press', params: { key: 'bad' } }, /stuck/],
  ];
  for (const [what, message, reason] of wrong) {
    it(`a message ${what} is refused by the host and logged, without its content`, async () => {
      pair.host.receive(message);
      await Promise.resolve();
      assert.equal(pair.refusedByHost.length, 1);
      assert.match(pair.refusedByHost[0] ?? '', reason);
      assert.deepEqual(pair.pressed, []);
    });
  }

  it('a wrong request is answered with a failure, so that nobody waits for ever', () => {
    pair.host.receive({ kind: 'request', id: 7, method: 'double', params: {} });
    assert.deepEqual(
      pair.sentToPage.map(({ kind }) => kind),
      ['failure'],
    );
    assert.equal(pair.refusedByPage.length, 1, 'this page has not asked');
  });

  it('whatever arrives, neither end throws nor calls a handler with something else than agreed', () => {
    fc.assert(
      fc.property(fc.oneof(fc.anything(), envelopes), (message) => {
        const one = new Pair();
        one.host.receive(message);
        one.page.receive(message);
        for (const text of [...one.told, ...one.pressed]) assert.equal(typeof text, 'string');
      }),
    );
  });
});

const envelopes = fc.record({
  kind: fc.constantFrom('request', 'command', 'notification', 'answer', 'failure'),
  id: fc.oneof(fc.integer(), fc.anything()),
  method: fc.oneof(fc.constantFrom('double', 'press', 'tell', '__proto__', 'toString'), fc.string()),
  params: fc.anything(),
  result: fc.anything(),
  message: fc.oneof(fc.string(), fc.anything()),
});
