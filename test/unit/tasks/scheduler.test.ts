import assert from 'node:assert/strict';
import { Scheduler } from '../../../src/tasks/scheduler';

function gate(): { readonly opened: Promise<void>; open: () => void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** Lets everything that is ready run. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const never = new AbortController().signal;

/** A Run for each gate, which ends when it opens; `started`: those that got a slot, in order. */
function holdSlots(scheduler: Scheduler, gates: readonly ReturnType<typeof gate>[]) {
  const started: number[] = [];
  const all = gates.map((one, index) =>
    scheduler.inSlot(async () => {
      started.push(index);
      await one.opened;
    }, never),
  );
  return { started, all };
}

describe('Scheduler', () => {
  it('runs at most as many Runs as there are slots, the others in order of asking', async () => {
    const scheduler = new Scheduler(() => 2);
    const gates = [gate(), gate(), gate(), gate()];
    const { started, all } = holdSlots(scheduler, gates);
    await turn();
    assert.deepEqual(started, [0, 1]);
    gates[1]?.open();
    await all[1];
    await turn();
    assert.deepEqual(started, [0, 1, 2]);
    for (const one of gates) one.open();
    await Promise.all(all);
    assert.deepEqual(started, [0, 1, 2, 3]);
    assert.equal(scheduler.runningCount, 0);
  });

  it('goes by the limit of now: a lowered one admits nobody before enough have ended, a raised one more at once', async () => {
    let limit = 2;
    const scheduler = new Scheduler(() => limit);
    const gates = [gate(), gate(), gate(), gate(), gate()];
    const { started, all } = holdSlots(scheduler, gates);
    limit = 1;
    gates[0]?.open();
    await all[0];
    await turn();
    assert.deepEqual(started, [0, 1]);
    limit = 3;
    gates[1]?.open();
    await all[1];
    await turn();
    assert.deepEqual(started, [0, 1, 2, 3, 4]);
    for (const one of gates) one.open();
    await Promise.all(all);
  });

  it('gives a slot back when a Run throws', async () => {
    const scheduler = new Scheduler(() => 1);
    await assert.rejects(scheduler.inSlot(async () => Promise.reject(new Error('broken')), never));
    assert.equal(await scheduler.inSlot(async () => 'next', never), 'next');
  });

  it('lets go of a Run that is stopped while it waits, without losing the slot', async () => {
    const scheduler = new Scheduler(() => 1);
    const first = gate();
    const holding = scheduler.inSlot(() => first.opened, never);
    const stop = new AbortController();
    const waiting = scheduler.inSlot(async () => assert.fail('a stopped Run must not start'), stop.signal);
    stop.abort('user');
    await assert.rejects(waiting);
    first.open();
    await holding;
    assert.equal(scheduler.runningCount, 0);
  });
});
