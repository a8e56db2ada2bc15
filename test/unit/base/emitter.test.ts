import assert from 'node:assert/strict';
import { Emitter } from '../../../src/base/emitter';

describe('Emitter', () => {
  it('goes on to the other listeners when one throws', () => {
    const emitter = new Emitter<number>();
    const seen: number[] = [];
    emitter.event(() => {
      throw new Error('listener');
    });
    emitter.event((value) => void seen.push(value));
    emitter.fire(1);
    assert.deepEqual(seen, [1]);
  });

  it('counts the same function subscribed twice as two subscriptions', () => {
    const emitter = new Emitter<number>();
    let calls = 0;
    const listener = (): void => {
      calls += 1;
    };
    const first = emitter.event(listener);
    emitter.event(listener);
    first.dispose();
    emitter.fire(1);
    assert.equal(calls, 1);
    assert.equal(emitter.listenerCount, 1);
  });
});
