import assert from 'node:assert/strict';
import { Throttle } from '../../../src/editor/throttle';

describe('a throttle', () => {
  it('acts at once, then once per interval however often it is asked, and never loses the last asking', async () => {
    const times: number[] = [];
    let done: () => void = () => undefined;
    const third = new Promise<void>((resolve) => {
      done = resolve;
    });
    const throttle = new Throttle(20, () => {
      times.push(performance.now());
      if (times.length === 2) throttle.ask();
      if (times.length === 3) done();
    });
    for (let index = 0; index < 50; index += 1) throttle.ask();
    assert.equal(times.length, 1);
    await third;
    throttle.dispose();
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    assert.ok(
      gaps.every((gap) => gap >= 15),
      String(gaps),
    );
  });

  it('does nothing more once disposed', async () => {
    let count = 0;
    const throttle = new Throttle(1, () => {
      count += 1;
    });
    throttle.ask();
    throttle.ask();
    throttle.dispose();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(count, 1);
  });
});
